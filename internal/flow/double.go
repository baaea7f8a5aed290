package flow

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
)

// A double is what a plan has whose windows may become longer. Until they have become twice as long
// once, each interval is handed over by itself. From then on they only double, so it does not
// matter in which order intervals are added, or whether those of a window were added up before.
type double struct {
	table       merge.Table[merge.Merged]
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

// takeDouble takes an interval, and what a worker hands over with it.
func (p *state) takeDouble(v scan.Visit, alone *Result, left *merge.Merged) {
	d := &p.double
	if d.err != nil {
		return
	}
	start, end := v.Span()
	length := lengthOf(end - start)
	if d.table.Size() == 0 {
		d.table = merge.NewTable[merge.Merged](max(p.Window, length, usualLength(p.run.scan.Inputs)))
		d.first, d.last = start, end
	}
	d.first, d.last = min(d.first, start), max(d.last, end)
	if d.across += acrossBytes; p.size.Load() > 0 {
		d.across = 0
	}
	size := d.table.Size()
	if length > size && p.size.Load() == 0 {
		size = length
	}
	for length > size || (d.last-d.first)/size > p.Most {
		size *= 2
		p.size.Store(size)
	}
	if size > d.table.Size() || p.bytes > 2*d.packed+looseBytes {
		p.pack(size)
	}
	if left != nil {
		p.addCoarse(left)
	}
	if alone != nil && alone.Coarse.Intervals() > 0 && d.err == nil {
		one := &merge.Merged{Tag: bytes.Clone(v.Row)}
		d.err = one.Merge(&alone.Coarse)
		p.addCoarse(one)
	}
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
func (p *state) addCoarse(m *merge.Merged) {
	d := &p.double
	p.put(m)
	for d.err == nil {
		p.charge.Set(p.Account, 1, p.bytes+d.across)
		crowded := p.Account.Crowded()
		if crowded == nil {
			return
		}
		p.size.Store(2 * d.table.Size())
		if p.pack(p.size.Load()); (d.last-d.first)/d.table.Size() < leastWindows {
			d.err = crowded
		}
	}
	d.table, p.bytes, p.rates = merge.NewTable[merge.Merged](d.table.Size()), 0, merge.Rates{}
	p.charge.Set(p.Account, 0, 0)
}

// put adds coarse counts to a window, or makes them one.
func (p *state) put(m *merge.Merged) {
	d, before := &p.double, 0
	window := d.table.At(m.Tag, m.Start, m.End, func(at merge.Span) *merge.Merged {
		m.Window = at
		return m
	})
	if window != m {
		before = window.Size()
		d.err = cmp.Or(d.err, window.Merge(&m.Sum))
	}
	p.bytes += window.Size() - before
}

// pack makes windows of a size, which take little memory.
func (p *state) pack(size int64) {
	d := &p.double
	old := d.table
	d.table, p.bytes = merge.NewTable[merge.Merged](size), 0
	for m := range old.Before(math.MaxInt64) {
		p.put(m)
	}
	p.bytes = 0
	for m := range d.table.Open() {
		d.err = cmp.Or(d.err, m.Compact())
		p.bytes += m.Size()
	}
	d.packed = p.bytes
	if p.size.Load() > 0 { // windows only double from now on
		p.rates.Pack(size)
		d.across = 0
	}
}

// closeDouble hands out all windows.
func (p *state) closeDouble(n int) {
	for w := range p.run.workers {
		for _, m := range p.run.workers[w].leaveAll(n).left {
			if p.double.err == nil {
				p.addCoarse(m)
			}
		}
	}
	p.Err, p.Rates, p.Windows = p.double.err, &p.rates, slices.Collect(p.double.table.Before(math.MaxInt64))
	p.charge.Set(p.Account, 0, 0)
}
