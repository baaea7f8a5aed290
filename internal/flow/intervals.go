package flow

import (
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// Intervals is the flow that hands out a result for each interval, in the order of the scan.
type Intervals struct {
	// Figures are computed for each result. Without figures, a result has the maximum and the
	// number of values.
	Figures []output.Figure
	// Counts lets the sum of a result have the counts.
	Counts bool
	// Digits, unless 0, lets Coarse have the counts with at most this number of significant digits.
	Digits int
	// Relative counts times from the start of each log.
	Relative bool
	// Emit takes a result, which is valid until Emit returns.
	Emit func(r *Result) error
}

// The methods of an Intervals are those of a flow, of its state and of the share of each worker,
// since nothing changes while it runs.
func (k *Intervals) start(*run) state       { return k }
func (k *Intervals) newShare(*worker) share { return k }
func (k *Intervals) beginBatch()            {}
func (k *Intervals) close() error           { return nil }

func (k *Intervals) target(_ scan.Visit, p *partial) (sum *merge.Sum, needsCounts bool) {
	single := p.emptySingle()
	if k.Counts {
		sum = &single.Sum
	}
	return sum, k.Figures != nil || k.Digits > 0
}

func (k *Intervals) add(v scan.Visit, d *scan.Decoder, failed error, p *partial) (err error) {
	r := &p.single.Result
	r.First, _ = startIn(v, k.Relative)
	r.note(v, d, failed)
	if r.Stats, err = figuresOf(d, k.Figures, r.Stats); err != nil || k.Digits == 0 {
		return err
	}
	counts, err := d.Counts()
	if err != nil {
		return err
	}
	start, end := v.Span()
	return r.Coarse.AddCoarse(start, end, counts, k.Digits)
}

// figuresOf returns figures of the interval that the decoder has opened, or only the maximum and
// the number of values if figures is nil. It uses the memory of old.
func figuresOf(d *scan.Decoder, figures []output.Figure, old output.Stats) (output.Stats, error) {
	if figures == nil {
		highest, count, err := d.MaxAndCount()
		return output.Stats{Count: count, Max: output.FloatValue(highest), Percentiles: old.Percentiles}, err
	}
	counts, err := d.Counts()
	if err != nil {
		return old, err
	}
	return output.FiguresOf(counts, figures, old), nil
}

func (k *Intervals) consume(v scan.Visit, p *partial) error {
	r := &p.single.Result
	r.setSource(v)
	r.Visit = v
	return k.Emit(r)
}
