// Package asked has what several questions about summaries share: the values of common options, one
// scale for all summaries, and the exit status that limits give a command.
package asked

import (
	"slices"
	"strconv"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/people"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/finding"
	"hdrkit/internal/gate"
	"hdrkit/internal/logs"
	"hdrkit/internal/scan"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// UsualLevel is the default confidence of intervals, in percent.
const UsualLevel = 95

// ParseLevel reads a confidence in percent, such as 95 or 95%.
func ParseLevel(text string) (float64, error) {
	level, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(level >= 50 && level <= 99.99) {
		return 0, message.Usagef("-ci %q is no confidence, which is a percentage from 50 to 99.99", text)
	}
	return level, nil
}

// Noise is the variation of figures from run to run of one version.
type Noise struct {
	// Part is the standard deviation of a percentile, as a part of the percentile.
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
		n.Part = sides.UsualNoise
	case err != nil || !(value > 0 && value <= 100):
		return n, message.Usagef("-noise %q is neither a percentage above 0, such as 4%%, nor a folder or pattern of runs", text)
	default:
		n.Part = value / 100
	}
	return n, nil
}

// ParseSame reads the largest change, in percent, of figures that are the same.
func ParseSame(text string) (float64, error) {
	percent, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(percent > 0 && percent <= 100) {
		return 0, message.Usagef("-same %q is no percentage above 0, such as 10%%", text)
	}
	return percent / 100, nil
}

// Figures are the figures of -p: values at percentiles, and shares of values above one.
type Figures struct {
	Percentiles []float64
	Shares      []output.Figure
}

// Options say what a report about several runs prints, and where to.
type Options struct {
	Units   unit.Options
	Figures Figures
	Limits  []gate.Limit
	// Undecided is the effect of an undecided limit on the status: worse, pass or fail.
	Undecided string
	// Kind is the format: table, markdown, findings, json, csv or junit. File is the output file.
	Kind, File string
}

// UsualFigures are the default figures of summaries.
const UsualFigures = "50,90,99,99.9,99.99,99.999"

// ComparedFigures are the default figures of comparisons. They are fewer, since with each further
// figure all figures need more proof.
const ComparedFigures = "50,90,99,99.9"

// ParseFigures reads figures, such as 50,p99.9,max,over(20ms). It drops repeated ones.
func ParseFigures(list string) (f Figures, err error) {
	for text := range strings.SplitSeq(list, ",") {
		figure, err := parseFigure(text)
		percentile, ranked := figure.Rank()
		switch {
		case figure.OfCounts() && err != nil:
			return f, err
		case figure.OfCounts():
			f.Shares = appendNew(f.Shares, figure)
		case ranked && err == nil:
			f.Percentiles = appendNew(f.Percentiles, percentile)
		default:
			return f, message.Usagef("%w, nor over(VALUE) or apdex(VALUE)", noPercentile(text))
		}
	}
	return f, nil
}

// ParsePercentiles reads percentiles, such as 50,p99,max. It drops repeated ones.
func ParsePercentiles(list string) (all []float64, err error) {
	for text := range strings.SplitSeq(list, ",") {
		figure, err := parseFigure(text)
		percentile, ranked := figure.Rank()
		if err != nil || !ranked {
			return nil, noPercentile(text)
		}
		all = appendNew(all, percentile)
	}
	return all, nil
}

// appendNew appends an element that the slice does not have yet.
func appendNew[T comparable](to []T, element T) []T {
	if slices.Contains(to, element) {
		return to
	}
	return append(to, element)
}

// parseFigure reads a figure of a list. It refuses the minimum, which always has a column.
func parseFigure(text string) (f output.Figure, err error) {
	name := strings.ToLower(strings.TrimSpace(text))
	if name == output.Min {
		return output.Figure{Name: name}, noPercentile(text)
	}
	return output.ParseFigure(name)
}

// noPercentile returns the error about a text that is no percentile.
func noPercentile(text string) error {
	return message.Usagef("-p: %q is neither max nor a percentile, which is a number from 0 to 100%s", text,
		people.PercentileHint(text))
}

// HaveUnit reports whether the bound of a share has a unit. Then the unit of the logs must be
// known.
func (f *Figures) HaveUnit() bool {
	return slices.ContainsFunc(f.Shares, func(s output.Figure) bool { return s.Unit != "" })
}

// Believed returns the percentiles that need intervals of confidence: those that are printed, and
// those of limits.
func Believed(percentiles []float64, limits []gate.Limit) []float64 {
	all := slices.Clone(percentiles)
	for _, l := range limits {
		if l.Name == "" && !slices.Contains(all, l.Percentile) {
			all = append(all, l.Percentile)
		}
	}
	return all
}

// A Side is the summaries of some logs that are added up.
type Side struct {
	Summaries []*output.Summary
	Logs      *logs.Logs
}

// Fit sets the scales of all summaries, and returns the scale in which they are printed. A readable
// report has a unit that suits the values. If a limit is in printed units, the unit does not depend
// on the values, since it would change the meaning of the limit.
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

// Describe adds to a document the names of its logs, and how the periods of its summaries are
// computed.
func Describe(doc *output.Document, inputs []scan.Input, mode string, d *logs.Diagnostics) {
	doc.PeriodMode, doc.SkippedLines = mode, d.Skipped()
	doc.PhasesOverlap = d.PhasesOverlap()
	for _, input := range inputs {
		doc.Inputs = append(doc.Inputs, input.Name)
	}
}

// Status returns the exit status that verdicts give a command, and says why. If all limits hold, it
// returns otherwise. Undecided is the effect of undecided limits: pass, fail, or worse, which fails
// if a limit looks worse. Hint says what would decide a limit.
func Status(std *message.Streams, verdicts []gate.Verdict, undecided, hint string, otherwise error) error {
	if failed := finding.Failed(verdicts); failed != "" {
		std.Say("%s", failed)
		return message.Status(message.Exceeded)
	}
	if open := finding.Undecided(verdicts); open != "" {
		std.Say("%s. %s", open, hint)
		worse := slices.ContainsFunc(verdicts, func(v gate.Verdict) bool { return v.Relative.Worse })
		if undecided == "fail" || undecided == "worse" && worse {
			return message.Status(message.Undecided)
		}
	}
	return otherwise
}
