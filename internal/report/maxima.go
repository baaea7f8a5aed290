package report

import (
	"math"
	"slices"

	"hdrkit/output"
)

// maxima draws [output.Maxima] as a sparkline.
type maxima output.Maxima

func maximaOf(s *output.Summary) *maxima { return (*maxima)(&s.Maxima) }

// bars are the heights of a sparkline.
var bars = []rune("▁▂▃▄▅▆▇█")

// bar returns the bar with a number from 0 on. A lower or a higher number returns the first or the
// last bar.
func bar(n float64) rune { return bars[min(max(int(n), 0), len(bars)-1)] }

// sparkline returns the maxima from start to end, in milliseconds since the epoch, as width
// characters. A maximum of highest has the full height. A character without a maximum, or with a
// maximum of 0, is a space.
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
		value := m.highestBetween(from, to)
		if math.IsNaN(value) && 2*float64(m.Length) > span {
			value = m.lowerNeighbour(from)
		}
		if value > 0 {
			line[n] = bar(math.Ceil(value/highest*float64(len(bars))) - 1)
		}
	}
	return string(line)
}

// sparklineLength returns the number of characters of sparklines from start to end: at most the
// number of intervals of the summary with the longest intervals.
func sparklineLength(summaries []*output.Summary, start, end int64) int {
	length := int64(1)
	for _, s := range summaries {
		length = max(length, s.Maxima.Length)
	}
	return int(min((end-start+length/2)/length, maxSparkline))
}

// highestBetween returns the highest of the maxima whose middle is in [from, to), or NaN if there
// is none.
func (m *maxima) highestBetween(from, to float64) float64 {
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

// lowerNeighbour returns the lower of the maxima before and after a time, or NaN if an interval is
// missing between them. Timers are late, so the time of a character may have no middle of an
// interval although no interval is missing.
func (m *maxima) lowerNeighbour(at float64) float64 {
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

// highest returns the highest of all maxima, or NaN if there is none.
func (m *maxima) highest() float64 {
	return m.highestBetween(float64(m.Start), float64(m.Start)+float64(m.Step)*float64(len(m.Values)))
}
