package message

import (
	"fmt"
	"strings"
)

// A Group collects messages about logs or folders, and joins equal messages.
type Group struct {
	texts []string
	names map[string][]string // the names for each text
}

// Add adds a message about the log or folder with a name.
func (g *Group) Add(name, text string) {
	if g.names == nil {
		g.names = make(map[string][]string)
	}
	if g.names[text] == nil {
		g.texts = append(g.texts, text)
	}
	g.names[text] = append(g.names[text], name)
}

// maxNames is the largest number of names in a message.
const maxNames = 3

// Say calls say with each message and the first names to which it applies.
func (g *Group) Say(say func(names, text string)) {
	for _, text := range g.texts {
		names := g.names[text]
		if more := len(names) - maxNames; more > 0 {
			names = names[:maxNames]
			text += fmt.Sprintf(" (and %d more)", more)
		}
		say(strings.Join(names, ", "), text)
	}
}
