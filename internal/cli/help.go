package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

const (
	// helpWidth is the width of help in characters.
	helpWidth = 80
	// shortExamples is the number of examples that -h shows.
	shortExamples = 6
	// shortHeight is the number of lines that -h has at most.
	shortHeight = 45
	// shortColumn is where the text of an option begins in -h.
	shortColumn = 22
)

// help returns what --help prints.
func help(app *cli.App) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s - %s\n\nusage: %s\n\n%s\n", app.Name, app.Usage, app.UsageText, app.Description)
	for _, g := range groups(app) {
		fmt.Fprintf(&b, "\n%s:\n", g.name)
		for _, o := range g.options {
			fmt.Fprintf(&b, "  %s\n", o.synopsis())
			for _, line := range wrap(o.text(), helpWidth-8) {
				fmt.Fprintf(&b, "        %s\n", line)
			}
		}
	}
	return b.String()
}

// synopsis returns all names of an option, and what its value is called.
func (o *option) synopsis() string {
	var names []string
	for _, name := range o.names {
		names = append(names, dashed(name))
	}
	return strings.TrimSpace(strings.Join(names, ", ") + " " + o.placeholder)
}

// text returns the description of an option with its default.
func (o *option) text() string {
	if o.value == "" {
		return o.usage
	}
	return o.usage + " (default " + o.value + ")"
}

// shortHelp returns what -h prints: each option has two lines, or one if the page would be too
// long.
func shortHelp(app *cli.App) string {
	page := shortPage(app, 2)
	if strings.Count(page, "\n") > shortHeight {
		page = shortPage(app, 1)
	}
	return page
}

func shortPage(app *cli.App, most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s - %s\n\nusage: %s\n\nexamples:\n", app.Name, app.Usage, app.UsageText)
	lines, _ := examples(app)
	for _, line := range lines[:min(shortExamples, len(lines))] {
		fmt.Fprintf(&b, "   %s\n", line)
	}
	b.WriteByte('\n')
	common := guideOf(app).Common
	for _, g := range groups(app) {
		heading := g.name + ":\n"
		for _, o := range g.options {
			if !slices.Contains(common, o.names[0]) {
				continue
			}
			b.WriteString(heading)
			heading = ""
			name := strings.TrimSpace(dashed(o.names[0]) + " " + o.placeholder)
			for _, line := range o.shortText(most) {
				fmt.Fprintf(&b, "  %-*s%s\n", shortColumn-2, name, line)
				name = ""
			}
		}
	}
	fmt.Fprintf(&b, "\nAll options: %s --help\n", app.Name)
	return b.String()
}

// shortText returns the description of an option in at most so many lines, if it can be cut at the
// end of a clause.
func (o *option) shortText(most int) []string {
	text := o.usage
	for {
		lines := wrap(text, helpWidth-shortColumn)
		end := max(strings.LastIndex(text, "; "), strings.LastIndex(text, ": "))
		if len(lines) <= most || end < 0 {
			return lines
		}
		text = text[:end]
	}
}

// wrap breaks text into lines of at most width characters.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
