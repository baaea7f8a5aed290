package flow

import (
	"bytes"
	"cmp"
	"math"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
)

// A double is what a plan has whose windows may become longer. Until they have become twice as long
// once, each interval is handed over by itself. From then on they only double, so it does not
// matter in which order intervals are added, or whether those of a window were added up before.
type double struct {
	first, last int64 // start and end of what was added
	packed      int   // bytes of the windows after they were packed
	across      int   // bytes of the intervals that rates have until windows only double
	err         error
}

// acrossBytes is what [merge.Rates] take for an interval that windows may share, in a slice that
// grows.
const acrossBytes = 48

// looseBytes is what windows may take beside twice what they took when they were packed.
const looseBytes = 32 << 20

// leastWindows is the number of windows below which they do not become longer for lack of memory.
const leastWindows = 24

// takeDouble takes an interval, and what its row has in a window.
func (p *state) takeDouble(v scan.Visit, r *Result) {
	d := &p.double
	if d.err != nil {
		return
	}
	start, end := v.Span()
	length := lengthOf(end - start)
	if p.table.Size() == 0 {
		p.table = merge.NewTable[Result](max(p.Window, length, usualLength(p.run.scan.Inputs)))
		d.first, d.last = start, end
	}
	d.first, d.last = min(d.first, start), max(d.last, end)
	if d.across += acrossBytes; p.size.Load() > 0 {
		d.across = 0
	}
	size := p.table.Size()
	if length > size && p.size.Load() == 0 {
		size = length
	}
	for length > size || (d.last-d.first)/size > p.Most {
		size *= 2
		p.size.Store(size)
	}
	if size > p.table.Size() || p.bytes > 2*d.packed+looseBytes {
		p.pack(size)
	}
	p.addCoarse(r)
}

// lengthOf returns the length in milliseconds that an interval was to have: the nearest one that is
// a digit and a half in tens, since timers are early and late. So the windows of several logs have
// one length, whatever log comes first.
func lengthOf(length int64) int64 {
	best := int64(1)
	for ten := int64(1); ten <= length; ten *= 10 {
		for _, tens := range []int64{2, 3, 4, 5, 6, 8, 10, 12, 15} {
			if at := tens * ten; abs(at-length) < abs(best-length) {
				best = at
			}
		}
	}
	return best
}

// looked is how many of the first intervals of a log tell how long its intervals are.
const looked = 32

// usualLength returns the length of windows for the first intervals of inputs that can be read
// twice. Windows that have become twice as long cannot become those of another length, so it must
// not matter which of several inputs comes first. Errors come again when the inputs are read.
func usualLength(inputs []scan.Input) (length int64) {
	if len(inputs) == 1 {
		return 0
	}
	for n := range inputs {
		in := &inputs[n]
		if in.Once {
			continue
		}
		file, err := in.Open()
		if err != nil {
			continue
		}
		r := in.NewReader(file, 4<<10)
		for seen := 0; seen < looked && r.Scan(); {
			if record := r.Record(); record.Kind == hdrlog.IntervalRecord {
				seen++
				start, end := scan.Visit{Interval: &record.Interval}.Span()
				length = max(length, lengthOf(end-start))
			}
		}
		r.Close()
		file.Close()
	}
	return length
}

func abs(n int64) int64 { return max(n, -n) }

// addCoarse adds what a row has in a window, or in a part of it.
func (p *state) addCoarse(r *Result) {
	d := &p.double
	if r == nil || r.alone && r.Coarse.Intervals() == 0 {
		return // a worker has it
	}
	p.put(r)
	for d.err == nil {
		p.charge.Set(p.Account, 1, p.bytes+d.across)
		crowded := p.Account.Crowded()
		if crowded == nil {
			return
		}
		p.size.Store(2 * p.table.Size())
		if p.pack(p.size.Load()); (d.last-d.first)/p.table.Size() < leastWindows {
			d.err = crowded
		}
	}
	p.table, p.bytes, p.rates = merge.NewTable[Result](p.table.Size()), 0, merge.Rates{}
	p.charge.Set(p.Account, 0, 0)
}

// put adds coarse counts to a window.
func (p *state) put(r *Result) {
	counts, before := &r.Sum, 0
	if r.alone {
		counts = &r.Coarse
	}
	own := p.table.At(r.Row, counts.Start, counts.End, func(at merge.Span) *Result {
		if r.alone {
			return &Result{Row: bytes.Clone(r.Row), Window: at}
		}
		r.Window = at
		return r
	})
	if own != r {
		if own.Intervals() > 0 {
			before = own.bytes()
		}
		p.double.err = cmp.Or(p.double.err, own.Sum.Merge(counts))
	}
	p.bytes += own.bytes() - before
}

// pack makes windows of a size, which take little memory.
func (p *state) pack(size int64) {
	old := p.table
	p.table, p.bytes = merge.NewTable[Result](size), 0
	for r := range old.Before(math.MaxInt64) {
		p.put(r)
	}
	p.bytes = 0
	for r := range p.table.Open() {
		p.double.err = cmp.Or(p.double.err, r.Sum.Compact())
		p.bytes += r.bytes()
	}
	p.double.packed = p.bytes
	if p.size.Load() > 0 { // windows only double from now on
		p.rates.Pack(size)
		p.double.across = 0
	}
}

// closeDouble hands out all windows.
func (p *state) closeDouble(n int) error {
	for w := range p.run.workers {
		own := &p.run.workers[w]
		for _, r := range own.plans[n].rows {
			own.leave(n, r)
		}
		for _, r := range own.plans[n].left {
			if p.double.err == nil {
				p.addCoarse(r)
			}
		}
	}
	p.Err, p.Rates = p.double.err, &p.rates
	defer p.charge.Set(p.Account, 0, 0)
	for r := range p.table.Before(math.MaxInt64) {
		if err := p.Emit(r); err != nil {
			return err
		}
	}
	return nil
}
