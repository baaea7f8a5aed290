package output

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// A Row is one point of a time series: an interval, or a window of several intervals, of one tag.
type Row struct {
	// Tag is nil for untagged intervals.
	Tag []byte
	// Start and End are in milliseconds since the epoch.
	Start, End int64
	// Scale says how to print values. All rows of a series have the same printed unit.
	Scale hdrlog.Scale
	// Relative is the time from the first start of all logs to the start of the row, in seconds.
	// Length is the length of the row, and Covered the time in which its inputs ran, in seconds.
	Relative, Length, Covered float64

	Stats
	// Moving has the figures of the moving window that ends with the row. It is nil in all rows of
	// a series without a moving window.
	Moving *Stats
	// Counts has the counts of the row, for formats and figures that need all counts. It is valid
	// as long as the row.
	Counts *histogram.Histogram
	// Shares are the figures that are computed from Counts, see [Figure.OfCounts]. They are the
	// same in all rows of a series.
	Shares []Figure
	// Total adds up all values of the tag up to the end of the row.
	Total Total
	// TotalsOnly is set if a format must write only Total.
	TotalsOnly bool
}

// Stats has the figures of a histogram, with values in the unit of the log.
type Stats struct {
	Count    int64
	Min, Max Value
	Mean     float64
	// Percentiles are the values at the same percentiles in all rows of a series.
	Percentiles []PercentileValue
	// Moved is the number to add to Count for the rate: see [merge.WindowCount.Moved].
	Moved float64
}

// A PercentileValue is the value at a percentile.
type PercentileValue struct {
	Percentile float64 // 0 to 100
	Value      Value
}

// A Total has the number of values and their sum, of one tag, in the unit of the log.
type Total struct {
	Count int64
	Sum   float64
}

// A RowWriter writes rows in a format. It writes a header together with the first row, so a series
// without rows is an empty text.
type RowWriter interface {
	Row(r *Row) error
	// Close writes the end of the format. It does not close the writer behind it.
	Close() error
}

// A rowFormat is a [RowWriter] for formats without an end.
type rowFormat struct {
	columns []column // nil before the first row
	// write writes a row, and before the first row the header.
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

// ErrPoint is the error for a row that a format cannot represent. The writer accepts other rows
// after this error.
var ErrPoint = errors.New("cannot be a point")

// A Field is a figure of a row, with the name of its column in [Timeline].
type Field struct {
	Name  string
	Count bool  // the figure is a number of values
	Whole int64 // this number, if Count is set
	// Value is in printed units. It is NaN or infinite if the row does not have the figure.
	Value float64
}

// Points returns a [RowWriter] for a format whose figures are numbers and not text. It calls write
// for each row. The fields are valid until write returns.
func Points(write func(r *Row, fields []Field) error) RowWriter {
	var fields []Field
	return &rowFormat{write: func(r *Row, columns []column, _ bool) error {
		fields = fields[:0]
		for n := range columns {
			c := &columns[n]
			v := c.value(r)
			fields = append(fields, Field{c.name, c.isCount(r), v.integer, c.scaleOf(r).Of(v.float)})
		}
		return write(r, fields)
	}}
}

// A column is a figure that all rows of a series have.
type column struct {
	name  string
	value func(r *Row) Value // none if the row does not have the figure
	unit  *string            // printed unit, nil if the figure has no unit
}

// scaleOf returns the scale of the row, or no scale if the figure has no unit.
func (c *column) scaleOf(r *Row) hdrlog.Scale {
	if c.unit == nil {
		return hdrlog.Scale{}
	}
	return r.Scale
}

// append appends the text of the figure, or missing if the row does not have the figure.
func (c *column) append(to []byte, r *Row, missing string) []byte {
	v := c.value(r)
	if math.IsNaN(v.float) || math.IsInf(v.float, 0) {
		return append(to, missing...)
	}
	return v.append(to, c.scaleOf(r))
}

// head returns the name of the column. If units is set, it includes the printed unit, if known.
func (c *column) head(units bool) string {
	if units && c.unit != nil && *c.unit != "" {
		return c.name + "_" + *c.unit
	}
	return c.name
}

// columns returns the columns of the series whose first row is first.
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

// figures returns the figures with these names, the percentiles of s, and the maximum.
func (s *Stats) figures(names ...string) (all []Figure) {
	for _, name := range names {
		all = append(all, Figure{Name: name})
	}
	for _, p := range s.Percentiles {
		all = append(all, Figure{Percentile: p.Percentile})
	}
	return append(all, Figure{Name: Max})
}

// ifAny returns v, or none if there are no values.
func ifAny(count int64, v Value) Value {
	if count == 0 {
		return none
	}
	return v
}

// isCount reports whether the figure is a number of values.
func (c *column) isCount(r *Row) bool { return c.unit == nil && c.value(r).whole }

// countOf returns a number of values as a [Value].
func countOf(n int64) Value { return Value{float: float64(n), integer: n, whole: true} }

// appendSeconds appends seconds with three decimals.
func appendSeconds(to []byte, s float64) []byte { return strconv.AppendFloat(to, s, 'f', 3, 64) }

// StatsOf returns the figures of h, with the values at percentiles (0 to 100). It reuses the memory
// of reuse.
func StatsOf(h *histogram.Histogram, percentiles []float64, reuse Stats) Stats {
	s := RanksOf(h, percentiles, reuse)
	s.Mean = h.Mean()
	return s
}

// RanksOf is [StatsOf] without the mean, which takes longer than the other figures.
func RanksOf(h *histogram.Histogram, percentiles []float64, reuse Stats) Stats {
	s := Stats{
		Count:       h.TotalCount(),
		Min:         ValueOf(h, h.Min()),
		Max:         ValueOf(h, h.Max()),
		Percentiles: reuse.Percentiles[:0],
	}
	var buffer [16]int64 // on the stack, and long enough for the usual number of percentiles
	for n, value := range h.AppendValuesAtPercentiles(buffer[:0], percentiles) {
		s.Percentiles = append(s.Percentiles, PercentileValue{percentiles[n], ValueOf(h, value)})
	}
	return s
}

// Add adds the values of a row. The error is [histogram.ErrOverflow]; t is then unchanged.
func (t *Total) Add(s *Stats) error {
	if s.Count > math.MaxInt64-t.Count {
		return histogram.ErrOverflow
	}
	t.Count += s.Count
	t.Sum += s.Mean * float64(s.Count)
	return nil
}
