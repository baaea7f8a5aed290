package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	// helpWidth is the width of help in characters.
	helpWidth = 80
	// shortHeight is the number of lines of -h. Examples fill the lines that remain beside the
	// options.
	shortHeight = 30
	// helpColumn is the column in which the description of an option begins.
	helpColumn = 22
)

// help returns the text of --help.
func (c *Command) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s - %s\n\nusage: %s\n\n%s\n", c.Streams.Name, c.Usage, c.UsageText, c.Description)
	b.WriteString(c.typeList())
	for _, g := range c.groups() {
		fmt.Fprintf(&b, "\n%s:\n", g.name)
		for _, o := range g.options {
			b.WriteString(o.helpLines(wrap(o.description(), helpWidth-helpColumn)))
		}
	}
	return b.String()
}

// helpLines returns the lines of help for an option with a wrapped description. A long name has a
// line of its own.
func (o *Option) helpLines(text []string) string {
	var b strings.Builder
	name := strings.TrimSpace(withDashes(o.Name) + " " + o.placeholder())
	if len(name) > helpColumn-3 {
		fmt.Fprintf(&b, "  %s\n", name)
		name = ""
	}
	for _, line := range text {
		fmt.Fprintf(&b, "  %-*s%s\n", helpColumn-2, name, line)
		name = ""
	}
	return b.String()
}

// synopsis returns all names of an option, and the name of its value.
func (o *Option) synopsis() string {
	var names []string
	for _, name := range o.names() {
		names = append(names, withDashes(name))
	}
	return strings.TrimSpace(strings.Join(names, ", ") + " " + o.placeholder())
}

// description returns the description of an option with its rules and its default.
func (o *Option) description() string {
	text := o.usage()
	if rules := o.rules(); rules != "" {
		text += "; " + rules
	}
	if value := cmp.Or(o.Default, o.Value.defaultText); value != "" {
		text += " (default " + value + ")"
	}
	return text
}

// shortHelp returns the text of -h, in which each option has one line.
func (c *Command) shortHelp() string {
	var b strings.Builder
	for _, g := range c.groups() {
		for _, o := range g.options {
			if slices.Contains(c.Common, o.Name) {
				b.WriteString(o.helpLines([]string{o.shortDescription()}))
			}
		}
	}
	b.WriteString(c.typeList())
	fmt.Fprintf(&b, "\nAll options: %s --help\n", c.Streams.Name)
	head := fmt.Sprintf("%s - %s\n\nusage: %s\n", c.Streams.Name, c.Usage, c.UsageText)
	lines, _ := c.examples()
	for _, line := range lines[:min(max(shortHeight-4-strings.Count(b.String(), "\n"), 0), len(lines))] {
		head += "   " + line + "\n"
	}
	return head + "\n" + b.String()
}

// typeList returns the types of -st or -type, two on each line. It is empty for a command without
// types.
func (c *Command) typeList() string {
	at := slices.IndexFunc(c.Options, func(o Option) bool { return o.Types != nil })
	if at < 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nTypes of -%s:", c.Options[at].Name)
	listed := slices.DeleteFunc(slices.Clone(c.Options[at].Types), func(t Type) bool { return t.Hidden })
	for pair := range slices.Chunk(listed, 2) {
		line := "\n  "
		for _, t := range pair {
			line += fmt.Sprintf("%-38s", fmt.Sprintf("%-13s%s", t.Name, t.What))
		}
		b.WriteString(strings.TrimRight(line, " "))
	}
	return b.String() + "\n"
}

// shortDescription returns the description of an option, cut at the end of a clause so that it fits
// in one line. If a list is cut, it ends with "...".
func (o *Option) shortDescription() string {
	text, _, _ := strings.Cut(o.usage(), "; ")
	more := ""
	for len(text+more) > helpWidth-helpColumn {
		comma, colon := strings.LastIndex(text, ", "), strings.LastIndex(text, ": ")
		if comma < 0 && colon < 0 {
			break
		}
		more = ""
		if colon >= 0 && comma > colon {
			more = ", ..."
		}
		text = text[:max(comma, colon)]
	}
	return text + more
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
