package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Fleet is a chart of many logs: a row for each over time, coloured by how many times as high its
// percentile is as the median of all logs at that time. A heat map of more than [MostTogether] logs
// becomes one, since as many maps would look alike.
var Fleet = &Type{
	Name:     "fleet",
	What:     "many logs over time",
	Measures: Timeline.Measures,
	Chart:    Chart{Marks: Rows, Empty: nothing},
	Shows:    Shows{Findings: true},
}

// Ratios are the rows of a chart of many logs.
type Ratios struct {
	// Line is the name of what is compared, such as p99.
	Line string
	// Rows have the highest value of the whole time first.
	Rows []RatioRow
	// From is when the first column starts, and Width how long each is, in milliseconds.
	From, Width float64
	// Most is the ratio at the end of the scale of colours.
	Most float64
}

// A RatioRow is a log.
type RatioRow struct {
	Label string
	// Value is that of the whole time.
	Value float64
	// Times are the ratios of the row to the median of all rows, by column. They are not numbers
	// where the row has no values.
	Times []float64
}

// RatiosOf returns the rows of the lines with a name. Whole are the values of series for the whole
// time, and kin has the same text for series that are compared with one another, both by label.
func (p *Picture) RatiosOf(line string, whole map[string]float64, kin map[string]string) *Ratios {
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
		row := &RatioRow{Label: s.Label, Value: whole[s.Label], Times: slices.Repeat([]float64{math.NaN()}, columns)}
		for _, l := range s.Lines {
			if l.Name != line {
				continue
			}
			for _, point := range l.Points {
				at := min(max(int((point.Middle()-r.From)/width), 0), columns-1)
				if !(row.Times[at] > point.Value) { // several windows may lie in one column
					row.Times[at] = point.Value
				}
			}
		}
		groups[kin[s.Label]] = append(groups[kin[s.Label]], row)
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

// divideByMedian divides the values in each column by their median.
func divideByMedian(rows []*RatioRow, columns int) {
	for n := range columns {
		var values []float64
		for _, row := range rows {
			if v := row.Times[n]; !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		middle := median(values)
		for _, row := range rows {
			if middle > 0 {
				row.Times[n] /= middle
			} else if row.Times[n] == middle {
				row.Times[n] = 1 // all the lower ones are 0
			}
		}
	}
}

// most returns the lowest power of two that nearly all ratios lie within, and their inverses.
func (r *Ratios) most() float64 {
	const least, largest, beyond = 2, 16, 0.01
	var away []float64
	for _, row := range r.Rows {
		for _, times := range row.Times {
			if !math.IsNaN(times) {
				away = append(away, math.Abs(math.Log2(times)))
			}
		}
	}
	slices.Sort(away)
	most := float64(least)
	if n := len(away); n > 0 {
		for most < largest && away[int(float64(n)*(1-beyond))] > math.Log2(most) {
			most *= 2
		}
	}
	return most
}

// Part returns the place of a ratio on the scale of colours, from 0 to 1.
func (r *Ratios) Part(times float64) float64 { return ratioPart(times, r.Most) }

// Ticks are the labels of the scale of colours.
func (r *Ratios) Ticks() (ticks []Tick) {
	for times := 1 / r.Most; times <= r.Most; times *= 2 {
		label := strconv.FormatFloat(times, 'f', -1, 64)
		if times < 1 {
			label = fmt.Sprintf("1/%.0f", 1/times)
		}
		switch times {
		case 1 / r.Most:
			label += " or less"
		case r.Most:
			label += " or more"
		}
		ticks = append(ticks, Tick{r.Part(times), label})
	}
	return ticks
}
