package report

import (
	"math"
	"slices"

	"hdrkit/output"
)

// maxima are [output.Maxima] that are drawn.
type maxima output.Maxima

// maximaOf returns the maxima of a summary.
func maximaOf(s *output.Summary) *maxima { return (*maxima)(&s.Maxima) }

// bars are the heights of a sparkline.
var bars = []rune("▁▂▃▄▅▆▇█")

// bar returns the bar with a number, or the nearest one. The bars of maxima begin at 0, and those
// of a trend at its lowest value, so that a change can be seen.
func bar(n float64) rune { return bars[min(max(int(n), 0), len(bars)-1)] }

// sparkline draws the maxima between start and end, in milliseconds since the epoch, with width
// characters. The highest value of all has the full height. A span without a maximum, or with one
// of 0, is a space.
func (m *maxima) sparkline(start, end int64, width int, highest float64) string {
	line := make([]rune, width)
	span := float64(end-start) / float64(width)
	for n := range line {
		line[n] = ' '
		from, to := float64(start)+float64(n)*span, float64(start)+float64(n+1)*span
		if n == 0 {
			from -= float64(m.Step) / 2 // the first and the last span may have their middle outside
		}
		if n == width-1 {
			to += float64(m.Step) / 2
		}
		value := m.between(from, to)
		if math.IsNaN(value) && 2*float64(m.Length) > span {
			value = m.around(from)
		}
		if value > 0 {
			line[n] = bar(math.Ceil(value/highest*float64(len(bars))) - 1)
		}
	}
	return string(line)
}

// cells returns how many characters sparklines between start and end can have: as many as there are
// intervals.
func cells(summaries []*output.Summary, start, end int64) int {
	length := int64(1)
	for _, s := range summaries {
		length = max(length, s.Maxima.Length)
	}
	return int(min((end-start+length/2)/length, mostSparkline))
}

// between returns the maximum of the spans whose middle is from from to to, NaN if there is none.
func (m *maxima) between(from, to float64) float64 {
	if m.Step <= 0 {
		return math.NaN()
	}
	first := math.Ceil((from-float64(m.Start))/float64(m.Step) - 0.5)
	last := math.Ceil((to-float64(m.Start))/float64(m.Step)-0.5) - 1
	highest := math.NaN()
	for n := max(int(first), 0); n < len(m.Values) && n <= int(last); n++ {
		if v := m.Values[n]; !(v <= highest) && !math.IsNaN(v) {
			highest = v
		}
	}
	return highest
}

// around returns the lower of the values before and after a time, NaN if an interval between them
// is missing. Timers are late, so a span of time may have no middle of an interval although none is
// missing.
func (m *maxima) around(at float64) float64 {
	step, length := float64(m.Step), float64(m.Length)
	recorded := func(v float64) bool { return !math.IsNaN(v) }
	split := min(max(int(math.Ceil((at-float64(m.Start))/step-0.5)), 0), len(m.Values))
	last, next := split-1, slices.IndexFunc(m.Values[split:], recorded)
	for last >= 0 && !recorded(m.Values[last]) {
		last--
	}
	if last < 0 || next < 0 || float64(split+next-last)*step > max(1.5*length, length+step) {
		return math.NaN()
	}
	return min(m.Values[last], m.Values[split+next])
}

// highest returns the highest value, NaN if there is none.
func (m *maxima) highest() float64 {
	return m.between(float64(m.Start), float64(m.Start)+float64(m.Step)*float64(len(m.Values)))
}
