// Package report has what reports about summaries share: one scale for all of them, the comparison
// of two sides, findings around figures, and the status that limits give a command.
package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// UsualLevel is the confidence of intervals where nobody says another one, in percent.
const UsualLevel = 95

// ParseLevel reads a confidence.
func ParseLevel(text string) (float64, error) {
	level, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(level >= 50 && level <= 99.99) {
		return 0, message.Usagef("-ci %q is no confidence, which is a percentage from 50 to 99.99", text)
	}
	return level, nil
}

// Noise is how much figures vary from run to run of one version.
type Noise struct {
	// Part is the standard deviation of a percentile, as a part of it.
	Part float64
	// Runs are names of runs of one version, which show how each figure varies.
	Runs []string
}

// ParseNoise reads a percentage, or names of runs.
func ParseNoise(text string) (n Noise, err error) {
	number, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil && !percent && text != "":
		n.Runs = []string{text}
		n.Part = output.UsualNoise
	case err != nil || !(value > 0 && value <= 100):
		return n, message.Usagef("-noise %q is neither a percentage above 0, such as 4%%, nor a folder or pattern of runs", text)
	default:
		n.Part = value / 100
	}
	return n, nil
}

// Figures are the figures of -p: values at percentiles, and shares of values above one.
type Figures struct {
	Percentiles []float64
	Shares      []output.Figure
}

// Options say what a report of several runs prints, and where.
type Options struct {
	Units   unit.Options
	Figures Figures
	Limits  []gate.Limit
	// Undecided is what an undecided limit does: worse, pass or fail.
	Undecided string
	// Kind is what is written to a file: table, markdown, findings, json, csv or junit.
	Kind, File string
}

// UsualFigures are those of summaries.
const UsualFigures = "50,90,99,99.9,99.99,99.999"

// ComparedFigures are those of comparisons: each figure more asks for more proof of all.
const ComparedFigures = "50,90,99,99.9"

// ParseFigures reads figures, such as 50,p99.9,max,over(20ms).
func ParseFigures(list string) (f Figures, err error) {
	for text := range strings.SplitSeq(list, ",") {
		if name := strings.ToLower(strings.TrimSpace(text)); strings.HasPrefix(name, output.Over+"(") {
			share, err := output.ParseFigure(name)
			if err != nil {
				return f, err
			}
			f.Shares = append(f.Shares, share)
			continue
		}
		percentiles, err := logs.ParsePercentiles(text)
		if err != nil {
			return f, fmt.Errorf("%w, nor over(VALUE)", err)
		}
		f.Percentiles = append(f.Percentiles, percentiles...)
	}
	return f, nil
}

// HaveUnit reports whether a share has a unit. Then the unit of the logs must be known.
func (f *Figures) HaveUnit() bool {
	return slices.ContainsFunc(f.Shares, func(s output.Figure) bool { return s.Unit != "" })
}

// Believed returns the percentiles that have intervals: those that are printed or have a limit.
func Believed(percentiles []float64, limits []gate.Limit) []float64 {
	all := slices.Clone(percentiles)
	for _, l := range limits {
		if l.Name == "" && !slices.Contains(all, l.Percentile) {
			all = append(all, l.Percentile)
		}
	}
	return all
}

// A Side is summaries of logs that add up.
type Side struct {
	Summaries []*output.Summary
	Logs      *logs.Logs
}

// Fit finds out how to print summaries and to compare them with limits, and gives them their
// scales. A readable report chooses its unit by the values, unless a limit is in printed units:
// what such a limit means must not depend on the values.
func Fit(units *logs.Units, figures *Figures, limits []gate.Limit, readable bool, sides ...Side) (hdrlog.Scale, error) {
	if err := units.CheckLimit(gate.NeedsUnit(limits, &units.Options)); err != nil {
		return hdrlog.Scale{}, err
	}
	scale, err := units.Scale(figures.HaveUnit())
	if err != nil {
		return scale, err
	}
	chooses := readable && !gate.Bare(limits)
	var typical []unit.Typical
	highest := 0.0
	factors := make(map[*output.Summary]float64)
	for _, side := range sides {
		for _, s := range side.Summaries {
			factor, err := side.Logs.Factor(s.Tag)
			if err != nil {
				return scale, err
			}
			factors[s] = factor
			if h := s.Counts(); h.TotalCount() > 0 {
				if chooses {
					typical = append(typical, unit.TypicalOf(h, factor))
				}
				highest = max(highest, h.MaxFloat()*factor)
			}
		}
	}
	scale = units.Readable(scale, typical...)
	for s, factor := range factors {
		s.Scale = scale.Times(factor)
	}
	units.Doubt(highest)
	return scale, nil
}

// Table returns a table, which always has the maximum. It fits a width, 0 for a file.
func Table(figures Figures, markdown bool, width int, colour bool) *output.Table {
	return &output.Table{
		Percentiles: figures.Percentiles,
		Shares:      figures.Shares,
		Markdown:    markdown,
		Width:       width,
		Colour:      colour,
	}
}

// Document returns summaries of inputs for JSON.
func Document(summaries []*output.Summary, inputs []scan.Input, figures Figures, zone *time.Location, mode string, d *logs.Diagnostics) *output.Document {
	doc := output.StreamDocument(summaries, figures.Percentiles, figures.Shares, zone)
	doc.PeriodMode, doc.SkippedLines = mode, d.Skipped()
	for _, input := range inputs {
		doc.Inputs = append(doc.Inputs, input.Name)
	}
	return doc
}

// Write writes the sentences at the top of a report, then its figures, and last all verdicts if
// there are several. In Markdown, the top has all findings.
func Write(w io.Writer, t *output.Table, top []string, found []output.Finding, figures func(w io.Writer) error) error {
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
		fmt.Fprintln(w, output.Verdict(t.Wrap(line), t.Colour))
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
		fmt.Fprintln(w, output.Verdict(f.Sentence, t.Colour))
	}
	return nil
}

// WriteList writes a line for each finding: its sentence, and the option to type next.
func WriteList(w io.Writer, found []output.Finding, colour bool) error {
	for n := range found {
		f := &found[n]
		line := output.Verdict(f.Sentence, colour)
		if f.Option != "" && !strings.Contains(f.Sentence, f.Option) {
			line += "  " + f.Option
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// Status returns the status that verdicts give a command, and says why: otherwise if they hold.
// Undecided is what such limits do: pass, fail, or fail if one looks worse. Hint is what would
// decide one.
func Status(std *message.Streams, verdicts []gate.Verdict, undecided, hint string, otherwise error) error {
	failed, open, worse := gate.Count(verdicts)
	if failed > 0 {
		std.Say("%d of %d limits do not hold", failed, len(verdicts))
		return message.Status(message.Exceeded)
	}
	if open > 0 {
		beyond := ""
		if worse > 0 {
			beyond = fmt.Sprintf(", %d beyond the bound", worse)
		}
		std.Say("%d of %d limits are undecided%s. %s", open, len(verdicts), beyond, hint)
		if undecided == "fail" || undecided == "worse" && worse > 0 {
			return message.Status(message.Undecided)
		}
	}
	return otherwise
}
