package collect

import (
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/chart"
)

// What tests see of a collector and its windows.

// SetRoom sets how many bytes of windows are open before half of them are complete.
func (c *Collector) SetRoom(bytes int) { c.limit = bytes }

// SetMost sets how many points a line has until it is thinned.
func (c *Collector) SetMost(points int) { c.most = points }

// Bytes returns what the windows are counted as.
func (c *Collector) Bytes() int { return c.bytes }

// Wide returns how long the windows are that workers add up, in milliseconds.
func (c *Collector) Wide() int64 { return c.wide.Load() }

// Set sets when the window of an interval is, in milliseconds, and the value of its measure.
func (i *Interval) Set(start, end int64, value float64) {
	i.window.Start, i.window.Begin, i.window.End, i.values = start, start, end, []float64{value}
}

// Sizes returns what the windows of a picture take, and what their counts do.
func Sizes(all []chart.Window) (sizes, counts []int) {
	for _, w := range all {
		made := window{Window: w, counts: w.Counts.(*merge.Sum)}
		sizes = append(sizes, made.size())
		counts = append(counts, made.counts.Size())
	}
	return sizes, counts
}

// ExactSum adds up numbers as windows do, those up to half and the others apart.
func ExactSum(all []float64, half int) float64 {
	var one, two window
	for n, v := range all {
		w := &one
		if n >= half {
			w = &two
		}
		w.add(v, 0)
	}
	one.add(two.Sum, two.rest)
	return one.Sum + one.rest
}
