package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"hdrkit/output"
)

// colours are those of the words that verdicts begin with.
var colours = map[string]string{"FAILS": red, "NOT PROVEN": yellow, "HOLDS": green}

// Verdict returns a sentence as a terminal shows it: the word of a verdict in its colour.
func Verdict(sentence string, colour bool) string {
	word, rest := Judged(sentence)
	if word == "" || !colour {
		return sentence
	}
	return coloured(word, colours[word]) + ":" + rest
}

// leading returns the findings at the top of a report: the verdict if there are limits, and then
// what hurts most, or the two that do.
func leading(all []output.Finding) (top []output.Finding) {
	judged := len(all) > 0 && all[0].Verdict()
	for n := range all {
		if n > 0 && judged && all[n].Verdict() {
			continue
		}
		top = append(top, all[n])
		if len(top) == 2 {
			break
		}
	}
	return top
}

// Top returns the sentences at the top of a report, and what to type next, see [WithNext].
func Top(all []output.Finding, complete func(command string) string) []string {
	return WithNext(leading(all), complete)
}

// Headline returns the sentences at the top of a picture or a page, where nobody can type.
func Headline(all []output.Finding) (lines []string) {
	for _, f := range leading(all) {
		lines = append(lines, f.Sentence)
	}
	return lines
}

// next is what the line begins with that has the command to type next.
const next = "Next: "

// WithNext returns the sentences of findings, and then a line with the command to type next, unless
// a sentence names one. Complete adds the logs to a command.
func WithNext(all []output.Finding, complete func(command string) string) (lines []string) {
	command := ""
	named := false
	for n := range all {
		f := &all[n]
		lines = append(lines, f.Sentence)
		named = named || f.Option != "" && strings.Contains(f.Sentence, f.Option)
		command = cmp.Or(command, f.Option)
	}
	if command != "" && !named {
		lines = append(lines, next+complete(command))
	}
	return lines
}

// Line returns a line of the top of a report as a terminal shows it. A command is not broken, so
// that a shell can take it.
func (t *Table) Line(line string) string {
	if strings.HasPrefix(line, next) {
		return line
	}
	return Verdict(t.Wrap(line), t.Colour)
}

// Judged divides a sentence into the word of a verdict and the rest. The word is empty if it is no
// verdict.
func Judged(sentence string) (word, rest string) {
	word, rest, found := strings.Cut(sentence, ":")
	if !found || colours[word] == "" {
		return "", sentence
	}
	return word, rest
}

// Write writes the sentences at the top of a report, then its figures, and last all verdicts if
// there are several. In Markdown, the top has all findings.
func Write(
	w io.Writer, t *Table, top []string, found []output.Finding, figures func(w io.Writer) error,
) error {
	if t.Markdown {
		for n, f := range found {
			text := t.Escape(f.Sentence)
			if n == 0 {
				text = "**" + text + "**\n"
			} else {
				text = "- " + text
			}
			fmt.Fprintln(w, text)
		}
		if len(found) > 1 {
			fmt.Fprintln(w)
		}
		return figures(w)
	}
	for _, line := range top {
		fmt.Fprintln(w, t.Line(line))
	}
	fmt.Fprintln(w)
	if err := figures(w); err != nil {
		return err
	}
	verdicts := slices.DeleteFunc(slices.Clone(found), func(f output.Finding) bool { return !f.Verdict() })
	if len(verdicts) < 2 { // the top has one
		return nil
	}
	fmt.Fprintln(w)
	for _, f := range verdicts {
		fmt.Fprintln(w, t.Line(f.Sentence))
	}
	return nil
}

// WriteList writes a line for each finding: its sentence, and the option to type next. A terminal
// has lines that end at words.
func (t *Table) WriteList(w io.Writer, found []output.Finding) error {
	for n := range found {
		f := &found[n]
		line := t.Line(f.Sentence)
		if f.Option != "" && !strings.Contains(f.Sentence, f.Option) {
			last := t.Wrap(f.Sentence)
			last = last[strings.LastIndexByte(last, '\n')+1:]
			if t.Width > 0 && textWidth(last)+2+textWidth(f.Option) > t.Width {
				line += "\n"
			}
			line += "  " + f.Option
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
