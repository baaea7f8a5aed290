package output

import "math"

// Maxima are the maximum values of consecutive spans of time. The zero value has none.
type Maxima struct {
	// Start is the start of the first span, in milliseconds since the epoch, and Step the length of
	// each span.
	Start, Step int64
	// Values are in the unit of the log, NaN for a span in which nothing was recorded.
	Values []float64
}

// bars are the heights of a sparkline.
var bars = []rune("▁▂▃▄▅▆▇█")

// sparkline draws the maxima between start and end, in milliseconds since the epoch, with width
// characters. The height of a bar is in proportion to highest. A span without a maximum is a space.
func (m *Maxima) sparkline(start, end int64, width int, highest float64) string {
	line := make([]rune, width)
	span := float64(end-start) / float64(width)
	for n := range line {
		line[n] = ' '
		from, to := float64(start)+float64(n)*span, float64(start)+float64(n+1)*span
		value := m.between(from, to)
		if math.IsNaN(value) {
			continue
		}
		bar := 0
		if highest > 0 {
			bar = int(math.Ceil(value/highest*float64(len(bars)))) - 1
		}
		line[n] = bars[min(max(bar, 0), len(bars)-1)]
	}
	return string(line)
}

// between returns the maximum of the spans that overlap with the time from from to to, NaN if there
// is none.
func (m *Maxima) between(from, to float64) float64 {
	if m.Step <= 0 {
		return math.NaN()
	}
	first := math.Floor((from - float64(m.Start)) / float64(m.Step))
	last := math.Ceil((to-float64(m.Start))/float64(m.Step)) - 1
	highest := math.NaN()
	for n := max(int(first), 0); n < len(m.Values) && n <= int(last); n++ {
		if v := m.Values[n]; !(v <= highest) && !math.IsNaN(v) {
			highest = v
		}
	}
	return highest
}

// highest returns the highest value, NaN if there is none.
func (m *Maxima) highest() float64 {
	return m.between(float64(m.Start), float64(m.Start)+float64(m.Step)*float64(len(m.Values)))
}
