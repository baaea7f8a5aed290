package output

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// A Row is one point of a time series: an interval, or a window of several intervals.
type Row struct {
	// Tag is nil for untagged intervals.
	Tag []byte
	// Start and End are in milliseconds since the epoch.
	Start, End int64
	// Scale says how the values are printed, all rows of a series in the same unit.
	Scale hdrlog.Scale
	// Relative is the time from the first start of all logs to the start of the row, Length the
	// length of the row, and Covered the time for which its intervals were recorded, in seconds.
	Relative, Length, Covered float64

	Stats
	// Moving is the moving window that ends with the row, with a percentile, nil if there is none.
	// All rows of a series have one, or none has.
	Moving *Stats
	// Counts are all counts of the row, for a consumer that asked for them. They are valid as long
	// as the row.
	Counts *histogram.Histogram
	// Shares are figures of all Counts, see [Figure.OfCounts], the same ones in all rows of a
	// series.
	Shares []Figure
	// Total is everything that was recorded with this tag up to the end of the row.
	Total Total
	// TotalsOnly is set if only Total may be shown.
	TotalsOnly bool
}

// Stats are the figures of a histogram, in the unit of the log.
type Stats struct {
	Count    int64
	Min, Max Value
	Mean     float64
	// Percentiles are the values at the same percentiles in all rows of a series.
	Percentiles []PercentileValue
	// Moved is what to add to Count for the rate: see [merge.Recorded].
	Moved float64
}

// A PercentileValue is the value at a percentile.
type PercentileValue struct {
	Percentile float64 // 0 to 100
	Value      Value
}

// A Total adds up the values of a tag.
type Total struct {
	Count int64
	Sum   float64
}

// A RowWriter writes rows in a format. It writes what precedes the first row together with that
// row, so a series without rows is empty.
type RowWriter interface {
	Row(r *Row) error
	// Close writes what follows the last row.
	Close() error
}

// A rowFormat is a [RowWriter] of a format that needs no end.
type rowFormat struct {
	columns []column
	// write writes a row. The first one comes with the heading, if there is one.
	write func(r *Row, columns []column, first bool) error
}

func (f *rowFormat) Row(r *Row) error {
	first := f.columns == nil
	if first {
		f.columns = columns(r)
	}
	return f.write(r, f.columns, first)
}

func (f *rowFormat) Close() error { return nil }

// ErrPoint is the error for a row that a format cannot hold. The writer can take other rows after
// it.
var ErrPoint = errors.New("cannot be a point")

// A Field is a figure of a row, by the name of its column in [Timeline].
type Field struct {
	Name  string
	Count bool  // it is a number of values
	Whole int64 // which one
	// Value is in printed units, not a number or infinite if there is none.
	Value float64
}

// Points returns a writer of rows for a format that takes figures as numbers. The fields are valid
// until write returns.
func Points(write func(r *Row, fields []Field) error) RowWriter {
	var fields []Field
	return &rowFormat{write: func(r *Row, columns []column, _ bool) error {
		fields = fields[:0]
		for n := range columns {
			c := &columns[n]
			v := c.value(r)
			fields = append(fields, Field{c.name, c.counts(r), v.integer, c.scaleOf(r).Of(v.float)})
		}
		return write(r, fields)
	}}
}

// A column is a figure of a row.
type column struct {
	name  string
	value func(r *Row) Value // none if there is no value
	unit  *string            // of printed values, nil if the figure has none
}

// scaleOf returns the scale of the figure in a row.
func (c *column) scaleOf(r *Row) hdrlog.Scale {
	if c.unit == nil {
		return hdrlog.Scale{}
	}
	return r.Scale
}

// append appends the figure, or missing if there is none.
func (c *column) append(to []byte, r *Row, missing string) []byte {
	v := c.value(r)
	if math.IsNaN(v.float) || math.IsInf(v.float, 0) {
		return append(to, missing...)
	}
	return v.append(to, c.scaleOf(r))
}

// head returns the name of the column, with the unit of its values if units is set and it is known.
func (c *column) head(units bool) string {
	if units && c.unit != nil && *c.unit != "" {
		return c.name + "_" + *c.unit
	}
	return c.name
}

// columns returns the columns of a series that begins with a row.
func columns(first *Row) (all []column) {
	printed := first.Scale.Unit
	add := func(name string, f Figure, of func(r *Row) *Stats) {
		c := column{name, func(r *Row) Value { return f.Of(of(r), r.Covered) }, &printed}
		if f.Unitless() {
			c.unit = nil
		}
		all = append(all, c)
	}
	for _, f := range first.figures(Count, Throughput, Min, Mean) {
		add(strings.Replace(f.String(), Throughput, "per_second", 1), f, func(r *Row) *Stats { return &r.Stats })
	}
	for _, f := range first.Shares {
		name := f.String()
		if f.Name == Over {
			name = "percent_" + name
		}
		all = append(all, column{name, func(r *Row) Value { return FloatValue(f.Share(r.Counts, r.Scale)) }, nil})
	}
	if first.Moving != nil {
		for _, f := range append(first.Moving.figures(), Figure{Name: Count}) {
			add("window_"+f.String(), f, func(r *Row) *Stats { return r.Moving })
		}
	}
	return all
}

// figures returns figures with names, those at the percentiles of s, and the maximum.
func (s *Stats) figures(names ...string) (all []Figure) {
	for _, name := range names {
		all = append(all, Figure{Name: name})
	}
	for _, p := range s.Percentiles {
		all = append(all, Figure{Percentile: p.Percentile})
	}
	return append(all, Figure{Name: Max})
}

// ifAny returns v, or none if the count is zero.
func ifAny(count int64, v Value) Value {
	if count == 0 {
		return none
	}
	return v
}

// counts reports whether the figure is a number of values.
func (c *column) counts(r *Row) bool { return c.unit == nil && c.value(r).whole }

// countOf returns a number of values.
func countOf(n int64) Value { return Value{float: float64(n), integer: n, whole: true} }

// appendSeconds appends seconds with three decimals.
func appendSeconds(to []byte, s float64) []byte { return strconv.AppendFloat(to, s, 'f', 3, 64) }

// StatsOf returns the figures of h, with its values at percentiles. It reuses the memory of reuse.
func StatsOf(h *histogram.Histogram, percentiles []float64, reuse Stats) Stats {
	s := RanksOf(h, percentiles, reuse)
	s.Mean = h.Mean()
	return s
}

// RanksOf is [StatsOf] without the mean, which takes longer than all else.
func RanksOf(h *histogram.Histogram, percentiles []float64, reuse Stats) Stats {
	s := Stats{
		Count:       h.TotalCount(),
		Min:         ValueOf(h, h.Min()),
		Max:         ValueOf(h, h.Max()),
		Percentiles: reuse.Percentiles[:0],
	}
	var room [16]int64 // on the stack, enough for the usual number of percentiles
	for n, value := range h.AppendValuesAtPercentiles(room[:0], percentiles) {
		s.Percentiles = append(s.Percentiles, PercentileValue{percentiles[n], ValueOf(h, value)})
	}
	return s
}

// Add adds the values of a row.
func (t *Total) Add(s *Stats) error {
	if s.Count > math.MaxInt64-t.Count {
		return histogram.ErrOverflow
	}
	t.Count += s.Count
	t.Sum += s.Mean * float64(s.Count)
	return nil
}
