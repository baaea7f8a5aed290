package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Fleet is a chart of many logs over time, with a row for each log. A colour means a ratio: the
// percentile of the log at this time, divided by the median of all logs. A heat map of more than
// [MaxTogether] logs becomes a fleet, since many heat maps would look alike.
var Fleet = &Type{
	Name:     "fleet",
	What:     "many logs over time",
	Measures: Timeline.Measures,
	Chart:    Chart{Marks: Rows, Empty: nothing},
	Shows:    Shows{Findings: true},
}

// Ratios are the rows of a [Fleet] chart.
type Ratios struct {
	// Line is the name of the line that is compared, such as p99.
	Line string
	// Rows are in descending order of their values for the whole time.
	Rows []RatioRow
	// From is the start of the first column, in milliseconds from the origin, and Width the length
	// of each column in milliseconds.
	From, Width float64
	// Most is the ratio at the end of the scale of colours.
	Most float64
}

// A RatioRow is a row of a [Fleet] chart: one log, or one tag of a log.
type RatioRow struct {
	Label string
	// Value is the percentile of the log for the whole time.
	Value float64
	// Ratios are the percentiles of the log divided by the median of all logs, by column. They are
	// NaN where the log has no values.
	Ratios []float64
}

// RatiosOf returns the rows of a [Fleet] chart from the lines with a name. Values has the values of
// series for the whole time by label. Series are compared with one another if tags has the same
// text for their labels.
func (p *Picture) RatiosOf(line string, values map[string]float64, tags map[string]string) *Ratios {
	from, to, ok := timeRange(p.Series)
	if !ok {
		from, to = 0, 0
	}
	width := float64(max(p.Precision.Aggregate, 1))
	r := &Ratios{
		Line:  line,
		From:  float64(WindowAt(int64(from)+p.Time.Origin, int64(width)) - p.Time.Origin),
		Width: width,
	}
	columns := int(max(to-width/2-r.From, 0)/width) + 1
	groups := make(map[string][]*RatioRow)
	for _, s := range p.Series {
		row := &RatioRow{Label: s.Label, Value: values[s.Label], Ratios: slices.Repeat([]float64{math.NaN()}, columns)}
		for _, l := range s.Lines {
			if l.Name != line {
				continue
			}
			for _, point := range l.Points {
				at := min(max(int((point.Middle()-r.From)/width), 0), columns-1)
				if !(row.Ratios[at] > point.Value) { // several windows may lie in one column
					row.Ratios[at] = point.Value
				}
			}
		}
		groups[tags[s.Label]] = append(groups[tags[s.Label]], row)
	}
	for _, rows := range groups {
		divideByMedian(rows, columns)
		for _, row := range rows {
			r.Rows = append(r.Rows, *row)
		}
	}
	slices.SortFunc(r.Rows, func(a, b RatioRow) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Label, b.Label))
	})
	r.Most = r.most()
	return r
}

// divideByMedian divides the values in each column by the median of the column.
func divideByMedian(rows []*RatioRow, columns int) {
	for n := range columns {
		var values []float64
		for _, row := range rows {
			if v := row.Ratios[n]; !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		middle := median(values)
		for _, row := range rows {
			if middle > 0 {
				row.Ratios[n] /= middle
			} else if row.Ratios[n] == middle {
				row.Ratios[n] = 1 // all the lower ones are 0
			}
		}
	}
}

// most returns the ratio at the end of the scale of colours: the lowest power of two, from 2 to 16,
// such that 99% of all ratios lie between its inverse and itself.
func (r *Ratios) most() float64 {
	const least, largest, beyond = 2, 16, 0.01
	var logarithms []float64
	for _, row := range r.Rows {
		for _, ratio := range row.Ratios {
			if !math.IsNaN(ratio) {
				logarithms = append(logarithms, math.Abs(math.Log2(ratio)))
			}
		}
	}
	slices.Sort(logarithms)
	most := float64(least)
	if n := len(logarithms); n > 0 {
		for most < largest && logarithms[int(float64(n)*(1-beyond))] > math.Log2(most) {
			most *= 2
		}
	}
	return most
}

// Part returns the place of a ratio on the scale of colours, from 0 to 1.
func (r *Ratios) Part(ratio float64) float64 { return ratioPart(ratio, r.Most) }

// Ticks returns the labels of the scale of colours.
func (r *Ratios) Ticks() (ticks []Tick) {
	for ratio := 1 / r.Most; ratio <= r.Most; ratio *= 2 {
		label := strconv.FormatFloat(ratio, 'f', -1, 64)
		if ratio < 1 {
			label = fmt.Sprintf("1/%.0f", 1/ratio)
		}
		switch ratio {
		case 1 / r.Most:
			label += " or less"
		case r.Most:
			label += " or more"
		}
		ticks = append(ticks, Tick{r.Part(ratio), label})
	}
	return ticks
}
