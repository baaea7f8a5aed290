package flow

import (
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// Intervals are results by themselves, in the order of the scan.
type Intervals struct {
	// Figures are found for each result. Without figures, a result has the maximum and the number
	// of values. If Counts is set, its sum has the counts. If Digits is set, Coarse has the counts
	// with at most so many significant digits.
	Figures []output.Figure
	Counts  bool
	Digits  int
	// Relative counts times from the start of each log.
	Relative bool
	// Emit takes a result, which is valid until Emit returns.
	Emit func(r *Result) error
}

// Intervals have no state.
func (k *Intervals) start(*run) state  { return k }
func (k *Intervals) part(*worker) part { return k }
func (k *Intervals) begin()            {}
func (k *Intervals) close() error      { return nil }

func (k *Intervals) want(_ scan.Visit, m *made) (scan.Want, *merge.Sum) {
	want, one := scan.Want{Max: true, Counts: k.Figures != nil || k.Digits > 0}, m.alone()
	if !k.Counts {
		return want, nil
	}
	return want, &one.Sum
}

func (k *Intervals) decoded(v scan.Visit, t *scan.Taken, failed error, m *made) error {
	one := &m.one.Result
	one.First, _ = startIn(v, k.Relative)
	one.add(v, t, failed)
	if k.Figures != nil {
		one.Stats = output.FiguresOf(t.Counts, k.Figures, one.Stats)
	} else {
		one.Stats = output.Stats{Count: t.Count, Max: output.FloatValue(t.Max), Percentiles: one.Stats.Percentiles}
	}
	if k.Digits == 0 {
		return nil
	}
	start, end := v.Span()
	return one.Coarse.AddCoarse(start, end, t.Counts, k.Digits)
}

func (k *Intervals) take(v scan.Visit, m *made) error {
	one := &m.one.Result
	one.Row = v.Row
	one.Tag = v.Tag
	one.Input = v.Input
	one.Name = v.Name
	one.Visit = v
	return k.Emit(one)
}
