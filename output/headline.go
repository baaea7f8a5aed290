package output

import (
	"cmp"
	"fmt"
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

// A HeadlineRow is what a row of a report says for its headline.
type HeadlineRow struct {
	Name string // empty if it is the only one
	// At returns the value at a percentile, and how many values lie above that.
	At      func(percentile float64) (value, above float64)
	Max     float64 // 0 if there are no values
	MaxTime string  // empty if it is unknown
}

// headlinePercentiles are those that a headline may have: the first one with enough values.
var headlinePercentiles = []float64{99, 90, 50}

// NewHeadline returns the headline of rows, whose values are spelled by a function. Only
// percentiles with enough values above them count.
func NewHeadline(rows []HeadlineRow, text func(value float64) string) (h Headline) {
	highest := 0.0
	for _, p := range headlinePercentiles {
		for _, r := range rows {
			if v, above := r.At(p); above >= few && v > highest {
				highest = v
				h.Figure = Figure{Percentile: p}.String()
				h.Value = text(v)
				h.Of = r.Name
			}
		}
		if h.Figure != "" {
			break
		}
	}
	highest = 0
	for _, r := range rows {
		if r.Max > highest {
			highest = r.Max
			h.Worst = text(r.Max)
			h.WorstOf = r.Name
			h.At = r.MaxTime
		}
	}
	return h
}

// HeadlineOf returns the headline of summaries.
func HeadlineOf(summaries []*Summary, scale Scale, zone *time.Location) Headline {
	var rows []HeadlineRow
	for _, s := range summaries {
		scale := scale.By(s.Factor)
		r := HeadlineRow{At: func(p float64) (value, above float64) {
			h := s.Counts()
			return scale.of(h.Float(h.ValueAtPercentile(p))), float64(Above(h, p))
		}}
		if len(summaries) > 1 {
			r.Name = s.Name()
		}
		if h := s.Counts(); h.TotalCount() > 0 {
			r.Max = scale.of(h.MaxFloat())
		}
		if len(s.Maxima.Values) > 0 {
			r.MaxTime = TimeIn(s.Maxima.Peak, s.Start, s.End, zone)
		}
		rows = append(rows, r)
	}
	return NewHeadline(rows, func(v float64) string { return Significant(v, 4) + spaced(scale.Unit) })
}

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

// Dated reports whether a time in milliseconds since the epoch is a date. Earlier ones count from
// the start of a run.
func Dated(ms int64) bool { return ms >= 365*24*3600*1000 }

// TimeIn returns a time in a run, all in milliseconds since the epoch: the time of the day, with
// the date if the run has several, or the time after the start if that has no date.
func TimeIn(at, start, end int64, zone *time.Location) string {
	zone = cmp.Or(zone, time.UTC)
	clock := func(ms int64) time.Time { return time.UnixMilli(ms).In(zone) }
	switch {
	case !Dated(start):
		return Length(at-start) + " after the start"
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
