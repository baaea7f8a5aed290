package unit

import (
	"cmp"
	"slices"

	"hdrkit/hdrlog"
)

// Assumption is the notice that the unit of a log is unknown.
const Assumption = "the log does not state its unit, so its values are taken as nanoseconds: -in names another unit"

// Scale returns how to print the values of a log whose unit is found, or unknown.
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

// Readable returns the scale for people, by typical values of rows in the unit of the log: s if
// there are none. If that unit is known and the user asks for no other, it is the largest unit in
// which their median is at least 0.05. Readable sorts the values.
func (o *Options) Readable(s hdrlog.Scale, typical ...float64) hdrlog.Scale {
	if s.In == 0 || o.Unit != "" || o.Ratio != 0 || len(typical) == 0 {
		return s
	}
	slices.Sort(typical)
	median := typical[len(typical)/2]
	best := hdrlog.Nanosecond
	for _, u := range units {
		if median >= s.In.Per(u)/20 {
			best = u
		}
	}
	return hdrlog.Scale{Ratio: s.In.Per(best), Unit: best.String(), In: s.In, Assumed: s.Assumed}
}

// Divide returns a value divided by a unit ratio, as [hdrlog.Scale.Of] does.
func Divide(v, ratio float64) float64 { return hdrlog.Scale{Ratio: ratio}.Of(v) }
