package output

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// A Headline says in two sentences what a run shows. What is empty is not known.
type Headline struct {
	// Figure is a percentile such as p99, Value the highest one with its unit, and Of the tag that
	// has it, empty if there is only one.
	Figure, Value, Of string
	// Worst is the maximum with its unit, WorstOf the tag that has it, and At when that was.
	Worst, WorstOf, At string
}

// HeadlineOf returns the headline of summaries. Only percentiles with enough values above them
// count.
func HeadlineOf(summaries []*Summary, scale Scale, zone *time.Location) (h Headline) {
	value := func(s *Summary, v float64) float64 { return scale.By(s.Factor).of(v) }
	text := func(v float64) string {
		number := significant(v, 4)
		if strings.Contains(number, ".") && !strings.Contains(number, "e") {
			number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
		}
		return number + spaced(scale.Unit)
	}
	name := func(s *Summary) string {
		if len(summaries) == 1 {
			return ""
		}
		return s.Name()
	}
	highest := 0.0
	for _, p := range HeadlinePercentiles {
		for _, s := range summaries {
			counts := s.Counts()
			if v := value(s, counts.Float(counts.ValueAtPercentile(p))); Above(counts, p) >= few && v > highest {
				highest, h.Figure, h.Value, h.Of = v, Figure{Percentile: p}.String(), text(v), name(s)
			}
		}
		if h.Figure != "" {
			break
		}
	}
	highest = 0
	for _, s := range summaries {
		counts := s.Counts()
		if v := value(s, counts.MaxFloat()); counts.TotalCount() > 0 && v > highest {
			highest, h.Worst, h.WorstOf, h.At = v, text(v), name(s), ""
			if len(s.Maxima.Values) > 0 {
				h.At = TimeIn(s.Maxima.Peak, s.Start, s.End, zone)
			}
		}
	}
	return h
}

// HeadlinePercentiles are those that a headline may have: the first one with enough values.
var HeadlinePercentiles = []float64{99, 90, 50}

// Enough is the number of values above a percentile from which a headline may have it.
const Enough = few

func (h Headline) String() string {
	text := ""
	switch {
	case h.Figure != "" && h.Of != "":
		text = fmt.Sprintf("%s of %s is %s, the highest. ", h.Figure, h.Of, h.Value)
	case h.Figure != "":
		text = fmt.Sprintf("%s is %s. ", h.Figure, h.Value)
	}
	of := ""
	if h.WorstOf != "" {
		of = " (" + h.WorstOf + ")"
	}
	switch {
	case h.Worst == "":
	case h.At != "":
		text += fmt.Sprintf("Worst moment: %s, %s%s.", h.At, h.Worst, of)
	default:
		text += fmt.Sprintf("The maximum is %s%s.", h.Worst, of)
	}
	return text
}

// firstDate is in milliseconds since the epoch. Earlier times count from the start of a run.
const firstDate = 365 * 24 * 3600 * 1000

// TimeIn returns a time in a run, all in milliseconds since the epoch: the time of the day, with
// the date if the run has several, or the time after the start if that has no date.
func TimeIn(at, start, end int64, zone *time.Location) string {
	zone = cmp.Or(zone, time.UTC)
	clock := func(ms int64) time.Time { return time.UnixMilli(ms).In(zone) }
	switch {
	case start < firstDate:
		return shortDuration(at-start) + " after the start"
	case clock(start).Format(time.DateOnly) != clock(end).Format(time.DateOnly):
		return clock(at).Format(time.DateTime) + " " + zone.String()
	}
	return clock(at).Format(time.TimeOnly) + " " + zone.String()
}

// spaced returns a unit behind a space, or nothing if there is none.
func spaced(unit string) string {
	if unit == "" {
		return ""
	}
	return " " + unit
}
