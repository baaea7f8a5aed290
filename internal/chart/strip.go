package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// A Strip has a row for each log: the ratio of its 99th percentile to that of the median log, in a
// window from each of Starts to the same of Ends. A slow machine is a row of another colour.
type Strip struct {
	Starts []int64    `json:"starts"`
	Ends   []int64    `json:"ends"`
	Rows   []StripRow `json:"rows"`

	logs int // those without a row, too
}

// A StripRow has a ratio for each window: 0 where the log has no values. Short is a label for a
// narrow place.
type StripRow struct {
	Label  string    `json:"label"`
	Short  string    `json:"short"`
	Ratios []float32 `json:"ratios"`
}

// MostRows is the number of logs in a strip: more are too many to read. Short labels have at most
// mostShort letters.
const (
	MostRows  = 12
	mostShort = 16
)

// Strip returns the strip of the logs, or nil if few windows have values of several. It has at most
// so many rows: those that differ most from the median.
func (p *Picture) Strip(most int) *Strip {
	if len(p.Nodes) < 2 || most < 2 {
		return nil
	}
	width := float64(p.NodeWindow)
	at := func(point Point) int { return int(math.Floor((point.Middle() + float64(p.Origin)) / width)) }
	first, last := math.MaxInt, math.MinInt
	for _, node := range p.Nodes {
		for _, point := range node.Lines[0].Points {
			first, last = min(first, at(point)), max(last, at(point))
		}
	}
	if first > last {
		return nil
	}
	windows := make([]Point, last-first+1) // their times; those without values are empty
	all := make([][]float64, len(windows)) // the percentiles of all logs
	for n := range windows {
		windows[n] = Point{Start: math.Inf(1), End: math.Inf(-1)}
	}
	own := make([][]float64, len(p.Nodes))
	for i, node := range p.Nodes {
		own[i] = make([]float64, len(windows))
		for _, point := range node.Lines[0].Points {
			if n := at(point) - first; point.Value > 0 {
				w := &windows[n]
				w.Start, w.End = min(w.Start, point.Start), max(w.End, point.End)
				own[i][n] = point.Value
				all[n] = append(all[n], point.Value)
			}
		}
	}
	recorded, several := 0, 0
	for n, values := range all {
		w := &windows[n]
		if len(values) == 0 {
			w.Start = float64(first+n)*width - float64(p.Origin)
			w.End = w.Start
		} else if n > 0 && w.Start-windows[n-1].End < width/2 { // timers are late
			windows[n-1].End = w.Start
		}
		recorded += min(len(values), 1)
		several += min(len(values)/2, 1)
	}
	if 2*several < recorded || several == 0 { // such as the parts of one log
		return nil
	}
	st := &Strip{logs: len(p.Nodes)}
	for _, w := range windows {
		st.Starts, st.Ends = append(st.Starts, int64(w.Start)), append(st.Ends, int64(w.End))
	}
	differ := map[string]float64{}
	for i, node := range p.Nodes {
		row := StripRow{Label: node.Label, Ratios: make([]float32, len(windows))}
		sum, count := 0.0, 0.0
		for n, v := range own[i] {
			if v > 0 {
				ratio := v / middle(all[n])
				rounded, _ := strconv.ParseFloat(strconv.FormatFloat(ratio, 'g', 3, 64), 32)
				row.Ratios[n] = float32(rounded)
				sum += math.Abs(math.Log(ratio))
				count++
			}
		}
		differ[row.Label] = sum / max(count, 1)
		st.Rows = append(st.Rows, row)
	}
	st.Rows, _ = Highest(st.Rows, func(row *StripRow) float64 { return differ[row.Label] }, most)
	var labels []string
	for _, row := range st.Rows {
		labels = append(labels, row.Label)
	}
	for n, short := range Distinct(labels, func(str string) bool { return utf8.RuneCountInString(str) <= mostShort }) {
		st.Rows[n].Short = short
	}
	return st
}

// middle returns the median. That of an even number of values is the geometric mean of the two in
// the middle, so that two logs differ from it by the same factor.
func middle(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return math.Sqrt(values[(n-1)/2] * values[n/2])
}

// Title says what the strip shows.
func (st *Strip) Title() string {
	title := "p99 of each log / median log"
	if rest := st.logs - len(st.Rows); rest > 0 {
		title += fmt.Sprintf("; the %d of %d logs that differ most", len(st.Rows), st.logs)
	}
	return title
}
