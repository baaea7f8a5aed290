package collect

// What tests see of a collector and its windows.

// SetMost sets how many points a line has until it is thinned.
func (c *Collector) SetMost(points int) { c.maxPoints = points }

// Wide returns how long the windows are that workers add up, in milliseconds.
func (c *Collector) Wide() int64 { return c.widths.workers.Load() }

// Set sets when the window of an interval is, in milliseconds, and the value of its measure.
func (i *Interval) Set(start, end int64, value float64) {
	i.window.Start, i.window.Begin, i.window.End, i.values = start, start, end, []float64{value}
}

// ExactSum adds up numbers as windows do, those up to half and the others apart.
func ExactSum(all []float64, half int) float64 {
	var one, two window
	for n, v := range all {
		w := &one
		if n >= half {
			w = &two
		}
		w.addToSum(v, 0)
	}
	one.addToSum(two.Sum, two.roundoff)
	return one.Sum + one.roundoff
}
