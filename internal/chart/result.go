package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hdrkit/internal/chart/axis"
	"hdrkit/output"
)

// mostNamed is the number of characters of a label in a result. The table below it has all.
const mostNamed = 40

// Results are sentences about a picture that answers a question, the first of which is its title if
// it has no other. Only reports and charts of load have some.
func (p *Picture) Results() []string {
	switch p.Type {
	case Report:
		if text := p.Result(); text != "" {
			return []string{text}
		}
	case Load:
		return p.LoadResults()
	}
	return nil
}

// Result says in one line what the run shows: whether the limits hold, and how far and how long
// they do not. Without limits it is the sentence of hdrsum.
func (p *Picture) Result() string {
	if len(p.Summary) == 0 {
		return ""
	}
	var parts, labels []string
	for _, s := range p.Summary {
		labels = append(labels, Named(s.Label))
	}
	labels = Distinct(labels, func(label string) bool { return utf8.RuneCountInString(label) <= mostNamed })
	if len(p.Limits) == 0 {
		return p.headline(labels).String()
	}
	add := func(name string, value func(s *Summary) float64, limit *Limit) {
		n := 0
		for i := range p.Summary {
			if value(&p.Summary[i]) > value(&p.Summary[n]) {
				n = i
			}
		}
		top := &p.Summary[n]
		text := name + " " + axis.Value(p.Unit, value(top))
		if len(p.Summary) > 1 {
			text = name + " of " + labels[n] + " " + axis.Value(p.Unit, value(top))
		}
		if value(top) <= limit.Value {
			text += " holds"
		} else {
			text += " above " + axis.Value(p.Unit, limit.Value) + p.since(limit)
		}
		parts = append(parts, text)
	}
	for n := range p.Limits {
		add(p.Limits[n].Name(), func(s *Summary) float64 { return s.Limited[n] }, &p.Limits[n])
	}
	return strings.Join(parts, ", ")
}

// headline returns the sentence of hdrsum, with the labels of the series.
func (p *Picture) headline(labels []string) output.Headline {
	at := ""
	_, to, _ := p.TimeRange()
	if len(p.Worst) > 0 {
		at = output.TimeIn(p.Worst[0].Peak+p.Origin, p.Origin, p.Origin+int64(to), p.Location())
	}
	var rows []output.HeadlineRow
	for n, s := range p.Summary {
		r := output.HeadlineRow{Max: s.Max, MaxTime: at, At: func(percentile float64) (value, above float64) {
			return s.Percentiles[slices.Index(Levels, percentile)], float64(s.Count) * (100 - percentile) / 100
		}}
		if len(labels) > 1 {
			r.Name = labels[n]
		}
		rows = append(rows, r)
	}
	return output.NewHeadline(rows, func(v float64) string { return axis.Value(p.Unit, v) })
}

// since says how long all series together are above a limit, and since when, or nothing if they are
// not.
func (p *Picture) since(limit *Limit) string {
	all := Breaches([]Series{p.Total}, []Limit{*limit})
	if len(all) == 0 {
		return ""
	}
	total := int64(0)
	for _, span := range all {
		total += int64(span.End - span.Start)
	}
	if total >= 1000 { // timers are late
		total = (total + 50) / 100 * 100
	}
	from, to, _ := p.TimeRange()
	at := axis.Since(all[0].Start/1000, max(-from, to)/1000)
	if start := int64(all[0].Start) + p.Origin; output.Dated(start) {
		at = p.clock(start).Format(time.TimeOnly) + " " + p.Location().String()
	}
	return fmt.Sprintf(", %s from %s", axis.Length(total), at)
}

// Breaches returns the times in which a line is above a limit that holds for it, in order.
func Breaches(series []Series, limits []Limit) (all []Point) {
	var spans []Point
	for _, l := range limits {
		for _, s := range series {
			for _, line := range s.Lines {
				for _, point := range line.Points {
					// A limit for all values holds for each line of values.
					if (line.Name == l.Name() || l.Percentile == 0 && line.Name != RateName) && point.Value > l.Value {
						spans = append(spans, point)
					}
				}
			}
		}
	}
	slices.SortFunc(spans, func(a, b Point) int { return cmp.Compare(a.Start, b.Start) })
	for _, s := range spans {
		if n := len(all) - 1; n >= 0 && s.Start <= all[n].End+TypicalLength(spans[:1])/2 {
			all[n].End = max(all[n].End, s.End)
		} else {
			all = append(all, s)
		}
	}
	return all
}
