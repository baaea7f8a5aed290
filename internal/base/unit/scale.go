package unit

import (
	"cmp"
	"slices"
	"strconv"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// Assumption is the notice for a log whose unit is unknown.
const Assumption = "the log does not state its unit, so its values are taken as nanoseconds: -in names another unit"

// About returns a text with the unit of printed values, or with the option that sets it.
func About(s hdrlog.Scale) string {
	switch {
	case s.Assumed:
		return "values in " + s.Unit + " (taken as ns: -in names another unit)"
	case s.Unit != "":
		return "values in " + s.Unit
	case cmp.Or(s.Ratio, 1) == 1:
		return "unit unknown: add -in ns, us, ms or s"
	}
	ratio := strconv.FormatFloat(s.Ratio, 'f', -1, 64)
	return "values divided by " + ratio + ": add -unit to name the result"
}

// Scale returns the scale for the values of a log. found is the unit that a [Finder] found for the
// log, 0 if it is unknown.
func (o *Options) Scale(found hdrlog.Unit) hdrlog.Scale {
	in := cmp.Or(found, o.In)
	to, isTime := hdrlog.ParseUnit(o.Unit)
	switch {
	case o.Ratio != 0:
		if isTime && in == 0 {
			in = hdrlog.Unit(float64(to) / o.Ratio)
		}
		return hdrlog.Scale{Ratio: o.Ratio, Unit: o.Unit, In: in, Chosen: o.Unit != ""}
	case o.Unit == "":
		return hdrlog.Scale{Ratio: 1, Unit: in.String(), In: in}
	case in == 0:
		return hdrlog.Scale{
			Ratio:   hdrlog.Nanosecond.Per(to),
			Unit:    to.String(),
			In:      hdrlog.Nanosecond,
			Chosen:  true,
			Assumed: true,
		}
	}
	return hdrlog.Scale{Ratio: in.Per(to), Unit: to.String(), In: in, Chosen: true}
}

// A Typical is the median of the values of a row that are not 0, in the unit of the log, and the
// number of these values.
type Typical struct {
	Median float64
	Count  int64
}

// TypicalOf returns the Typical of the values of h. factor converts them to the unit of the log,
// see [hdrlog.Scale.Factor].
func TypicalOf(h *histogram.Histogram, factor float64) (t Typical) {
	zeros := h.CountBetween(0, 0)
	all := h.TotalCount()
	if t.Count = all - zeros; t.Count > 0 {
		middle := float64(zeros) + float64(t.Count)/2
		t.Median = h.Float(h.ValueAtPercentile(100*middle/float64(all))) * factor
	}
	return t
}

// Readable returns the scale in which people read the values of rows. If the unit of the values is
// known and the user asks for no other, this is the largest unit in which the median of the rows'
// medians is at least 0.05, or at least 0.5 for seconds. Each median counts as often as its row has
// values, so that a rare slow row does not choose the unit. Readable returns s if there are only
// zeros. It sorts the rows.
func (o *Options) Readable(s hdrlog.Scale, rows ...Typical) hdrlog.Scale {
	if s.In == 0 || o.Unit != "" || o.Ratio != 0 {
		return s
	}
	slices.SortFunc(rows, func(a, b Typical) int { return cmp.Compare(a.Median, b.Median) })
	var left float64
	for _, t := range rows {
		left += float64(t.Count) / 2
	}
	if left == 0 {
		return s
	}
	median := 0.0
	for _, t := range rows {
		median = t.Median
		left -= float64(t.Count)
		if left < 0 {
			break
		}
	}
	best := hdrlog.Nanosecond
	for _, u := range units {
		least := s.In.Per(u) / 20
		if u == hdrlog.Second { // people read 150 ms, not 0.15 s
			least = s.In.Per(u) / 2
		}
		if median >= least {
			best = u
		}
	}
	return hdrlog.Scale{Ratio: s.In.Per(best), Unit: best.String(), In: s.In, Assumed: s.Assumed}
}

// Divide returns a value divided by a unit ratio, as [hdrlog.Scale.Of] does.
func Divide(v, ratio float64) float64 { return hdrlog.Scale{Ratio: ratio}.Of(v) }
