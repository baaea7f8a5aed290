package output

import (
	"fmt"
	"math"
	"strconv"

	"hdrkit/hdrlog/histogram"
)

// A Row is a point of a time series: an interval, or several that were merged. Values are in the units of the log.
type Row struct {
	// Tag is nil for untagged intervals.
	Tag []byte
	// Start and End are in milliseconds since the epoch.
	Start, End int64
	// Relative is how long after the start of the log it starts, Length how long it is, Covered how much of that was
	// recorded, all in seconds.
	Relative, Length, Covered float64

	Stats
	// Window is the moving window that ends with the row, nil if there is none.
	Window *Window
	// Total is what was recorded with this tag up to the end of the row.
	Total Total
	// TotalsOnly is set where that is all there is to show.
	TotalsOnly bool
}

// Stats are what is shown of a histogram.
type Stats struct {
	Count     int64
	Min, Mean float64
	Max       float64
	// Percentiles are the values at [Options.Percentiles].
	Percentiles []float64
	// Buckets are how many values lie at or below each of [Bounds], where those are wanted.
	Buckets []int64
}

// A Window is what a moving window shows: how many values were recorded in it, the one at its percentile, and the highest.
type Window struct {
	Count      int64
	Value, Max float64
}

// A Total adds up the values of a tag.
type Total struct {
	Count int64
	Sum   float64
	// Buckets are as in [Stats]; their bounds are those of doubles if Double is set.
	Buckets []int64
	Double  bool
}

// A RowWriter writes rows in a format. What comes before the first is written with it, so that no rows are no output.
type RowWriter interface {
	Row(r *Row) error
	// Close writes what comes after the last row.
	Close() error
}

// perSecond returns how many values a second were recorded, NaN or infinite for no time.
func (r *Row) perSecond() float64 { return float64(r.Count) / r.Covered }

// A column is a figure of a row.
type column struct {
	name  string
	value func(r *Row) float64 // NaN where there is none
}

// valueColumns returns the figures of a row in printed units.
func valueColumns(o *Options) []column {
	scaled := func(value func(r *Row) float64) func(r *Row) float64 {
		return func(r *Row) float64 {
			if r.Count == 0 {
				return math.NaN()
			}
			return value(r) / o.Ratio
		}
	}
	columns := []column{
		{"per_second", (*Row).perSecond},
		{"min", scaled(func(r *Row) float64 { return r.Min })},
		{"mean", scaled(func(r *Row) float64 { return r.Mean })},
	}
	for n, p := range o.Percentiles {
		columns = append(columns, column{percentileName(p), scaled(func(r *Row) float64 { return r.Percentiles[n] })})
	}
	columns = append(columns, column{"max", scaled(func(r *Row) float64 { return r.Max })})
	if !o.Moving {
		return columns
	}
	moving := func(value func(w *Window) float64) func(r *Row) float64 {
		return func(r *Row) float64 {
			if r.Window.Count == 0 {
				return math.NaN()
			}
			return value(r.Window) / o.Ratio
		}
	}
	return append(columns,
		column{"window_" + percentileName(o.MovingPercentile), moving(func(w *Window) float64 { return w.Value })},
		column{"window_max", moving(func(w *Window) float64 { return w.Max })})
}

// windowCount is the name of the column that says how many values are in the moving window.
const windowCount = "window_count"

func percentileName(p float64) string { return "p" + shortest(p) }

// seconds formats seconds to the millisecond.
func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }

// Histogram bounds for buckets: powers of two, since with any precision a slot ends there.
const (
	bounds      = 43
	firstDouble = -20 // the exponent of the first bound of doubles
)

// Bounds returns the highest values of the buckets that [OpenMetrics] has, but for the last, which takes all. Of
// integers it is one less than a power of two, for so the slots of histograms end, up to 2^42-1. Of doubles it is what comes
// just before a power of two, from 2^-20 to 2^22.
func Bounds(double bool) []float64 {
	all := make([]float64, bounds)
	for n := range all {
		if double {
			all[n] = math.Nextafter(math.Ldexp(1, n+firstDouble), 0)
		} else {
			all[n] = math.Ldexp(1, n) - 1
		}
	}
	return all
}

// Measure returns what is shown of h. Percentiles and Buckets are appended to those of reuse.
func Measure(h *histogram.Histogram, o *Options, reuse Stats) Stats {
	s := Stats{
		Count: h.TotalCount(), Min: h.Float(h.Min()), Mean: h.Mean(), Max: h.Float(h.Max()),
		Percentiles: reuse.Percentiles[:0], Buckets: reuse.Buckets[:0],
	}
	var room [16]int64 // on the stack, for as many percentiles as anyone asks for
	for _, value := range h.AppendValuesAtPercentiles(room[:0], o.Percentiles) {
		s.Percentiles = append(s.Percentiles, h.Float(value))
	}
	if !o.Buckets {
		return s
	}
	all := Bounds(h.Double())
	n := 0
	var count int64
	for bucket := range h.Recorded() {
		for n < len(all) && h.Float(bucket.High) > all[n] {
			s.Buckets = append(s.Buckets, count)
			n++
		}
		count += bucket.Count
	}
	for ; n < len(all); n++ {
		s.Buckets = append(s.Buckets, count)
	}
	return s
}

// Add adds the values of a row.
func (t *Total) Add(s *Stats, double bool) error {
	if s.Count > math.MaxInt64-t.Count {
		return histogram.ErrOverflow
	}
	t.Count += s.Count
	t.Sum += s.Mean * float64(s.Count)
	if s.Buckets == nil {
		return nil
	}
	if t.Buckets == nil {
		t.Buckets, t.Double = make([]int64, len(s.Buckets)), double
	}
	if t.Double != double {
		return fmt.Errorf("%w in buckets", histogram.ErrKind)
	}
	for n, count := range s.Buckets {
		t.Buckets[n] += count
	}
	return nil
}
