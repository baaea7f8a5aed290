package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"hdrkit/output"
)

// colours has the colours of the words that sentences of verdicts begin with.
var colours = map[string]string{
	output.Fails.Word():     red,
	output.Undecided.Word(): yellow,
	output.Holds.Word():     green,
}

// Verdict returns a sentence for a terminal. If it begins with the word of a verdict and colour is
// set, the word has its colour.
func Verdict(sentence string, colour bool) string {
	word, rest := Judged(sentence)
	if word == "" || !colour {
		return sentence
	}
	return coloured(word, colours[word]) + ":" + rest
}

// leadingFindings returns the findings at the top of a report: the first two, but at most one
// verdict.
func leadingFindings(all []output.Finding) (top []output.Finding) {
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

// Top returns the lines at the top of a report: the sentences of the leading findings, and the
// command to type next as [WithNext] has it.
func Top(all []output.Finding, complete func(command string) string) []string {
	return WithNext(leadingFindings(all), complete)
}

// Headline returns the sentences at the top of a picture or a page. They name no command, since a
// reader cannot type one there.
func Headline(all []output.Finding) (lines []string) {
	for _, f := range leadingFindings(all) {
		lines = append(lines, f.Sentence)
	}
	return lines
}

// nextPrefix is the beginning of the line with the command to type next.
const nextPrefix = "Next: "

// WithNext returns the sentences of findings. If a finding has an option and no sentence names it,
// the last line is the command to type next. Complete adds the names of the logs to a command.
func WithNext(all []output.Finding, complete func(command string) string) (lines []string) {
	command := ""
	hasCommand := false // a sentence names a command
	for n := range all {
		f := &all[n]
		lines = append(lines, f.Sentence)
		hasCommand = hasCommand || f.Option != "" && strings.Contains(f.Sentence, f.Option)
		command = cmp.Or(command, f.Option)
	}
	if command != "" && !hasCommand {
		lines = append(lines, nextPrefix+complete(command))
	}
	return lines
}

// Line returns a line of [Top] for a terminal, with line breaks and colour. A command stays on one
// line, so that a reader can copy it.
func (t *Table) Line(line string) string {
	if strings.HasPrefix(line, nextPrefix) {
		return line
	}
	return Verdict(t.Wrap(line), t.Colour)
}

// Judged divides a sentence into the word of its verdict and the rest. The word is empty if the
// sentence is no verdict.
func Judged(sentence string) (word, rest string) {
	word, rest, found := strings.Cut(sentence, ":")
	if !found || colours[word] == "" {
		return "", sentence
	}
	return word, rest
}

// Write writes a report: the lines of top, the figures, and all verdicts if there are several. In
// Markdown, all findings stand at the top instead.
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

// WriteList writes each finding: its sentence, and the option to type next. Lines fit the width of
// the table.
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
