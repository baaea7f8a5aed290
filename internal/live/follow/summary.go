package follow

import (
	"fmt"
	"strings"
)

// A Summary is messages about logs. It says once what is the same of many.
type Summary struct {
	texts []string
	names map[string][]string // of logs, by text
}

// Add adds a message about a log.
func (s *Summary) Add(name, text string) {
	if s.names == nil {
		s.names = make(map[string][]string)
	}
	if s.names[text] == nil {
		s.texts = append(s.texts, text)
	}
	s.names[text] = append(s.names[text], name)
}

// mostNames is the number of logs that a message names.
const mostNames = 3

// Say calls say with each message and the first logs that it is about.
func (s *Summary) Say(say func(names, text string)) {
	for _, text := range s.texts {
		names := s.names[text]
		if more := len(names) - mostNames; more > 0 {
			names = names[:mostNames]
			text += fmt.Sprintf(" (and %d more)", more)
		}
		say(strings.Join(names, ", "), text)
	}
}
