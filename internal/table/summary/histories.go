package summary

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/flow"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// Histories keep what each tag of each input recorded, to find out which of them was bad, and when,
// in memory that does not grow with the log: intervals of long logs become windows.
type Histories struct {
	// Sums has a sum of each history, which [Histories.Who] needs. Times has the maximum of each
	// interval, which [Histories.Worst] and [Histories.Omission] need. Counts, which implies Times,
	// is for [output.Moment.Count]: Worst reads the counts of moments from their inputs again.
	// Those of pipes, which can be read only once, are kept.
	Sums, Times, Counts bool
	// Most is the memory in bytes above which times are not kept at all, if it is above 0.
	Most int

	sums    map[string]*flow.Result // by history, or by tag behind the number of any input
	scan    *scan.Scan
	decoder *scan.Decoder

	free []piece // memory of the next pieces
	key  []byte
	all  map[string]*history
	// length is that of the longest interval, and coarse the size of the windows that pieces were
	// merged to, 0 if they were not.
	length, coarse int64
	first, last    int64 // start and end of all
	bytes          int
	account        *ledger.Account
	charge         ledger.Charge
	err            error
}

// A history is what a tag of an input recorded.
type history struct {
	key    string
	input  string
	tag    []byte
	all    bool // payloads are kept
	pieces []*piece
	kept   []*piece // with payloads, if only some have them: those with maxima above floor
	floor  float64
}

// inputNumber returns the number of the input.
func (own *history) inputNumber() int { return int(binary.BigEndian.Uint32([]byte(own.key))) }

// A piece is one interval, or what the intervals of a window add up to. Highest is the highest
// value in the unit of the log, and peak the start of the interval that has it.
type piece struct {
	history    *history
	Start, End int64
	highest    float64
	peak       int64
	count      int64 // of values
	line       int   // of the interval
	*counts          // nil if only its maximum is kept
}

// counts are those of a piece.
type counts struct {
	payload []byte     // of an interval
	sum     *merge.Sum // of a window
}

func (own *piece) size() int {
	size := 80 // with its place in a list
	if own.counts != nil {
		size += 32 + cap(own.payload)
		if own.sum != nil {
			size += own.sum.Size()
		}
	}
	return size
}

// slab is the number of pieces whose memory is allocated at once: a log of a day has half a
// million.
const slab = 256

// addPiece adds a copy of a piece to a history.
func (p *Histories) addPiece(to *history, own piece) *piece {
	if len(p.free) == 0 {
		p.free = make([]piece, slab)
	}
	at := &p.free[0]
	*at, p.free = own, p.free[1:]
	to.pieces = append(to.pieces, at)
	return at
}

const (
	// leastWindows is the number of windows that a run has at least.
	leastWindows = 64
	// mostKept is the number of intervals of a history whose payloads are kept: those with the
	// highest maxima.
	mostKept = 16
)

// appendHistory appends a key of a tag of an input.
func appendHistory(key []byte, input int, tag []byte) []byte {
	return merge.AppendKey(binary.BigEndian.AppendUint32(key, uint32(input)), tag)
}

// tagOf returns the key of the tag in the key of a history.
func tagOf(key string) string { return key[4:] }

// start makes the histories those of a scan.
func (p *Histories) start(s *scan.Scan) {
	rows := s.By.Inputs() || s.By.AddsTags() // whose sums are not those of tags
	p.Sums, p.Times = p.Sums || p.Counts && rows, p.Times || p.Counts
	p.scan, p.account = s, s.Memory.Open("times of tags and logs", "choose tags with -incT")
	p.decoder = scan.NewDecoder(s.Expected, scan.NewPayloads(s.Memory))
}

// take keeps an interval.
func (p *Histories) take(r *flow.Result) error {
	v := r.Visit
	p.keep(v.Input, v.Name, v.Tag, piece{Start: v.StartMillis(), End: v.EndMillis(), highest: r.Stats.Max.Float(), count: r.Stats.Count, line: v.Line}, v.Payload)
	return nil
}

// keep keeps a piece, and a copy of its payload if that is needed.
func (p *Histories) keep(input int, name string, tag []byte, one piece, payload []byte) {
	if p.err != nil {
		return
	}
	if one.End, one.peak = max(one.Start, one.End), one.Start; p.all == nil {
		p.all = make(map[string]*history)
		p.first, p.last = one.Start, one.End
	}
	p.key = appendHistory(p.key[:0], input, tag)
	one.history = p.all[string(p.key)]
	if one.history == nil {
		one.history = &history{key: string(p.key), input: name, tag: bytes.Clone(tag), all: p.Counts && p.scan.Inputs[input].Once}
		p.all[one.history.key] = one.history
	}
	own := p.addPiece(one.history, one)
	if own.history.all || own.highest > own.history.floor {
		own.counts = &counts{payload: bytes.Clone(payload)}
	}
	p.length = max(p.length, own.End-own.Start, 1)
	p.first, p.last = min(p.first, own.Start), max(p.last, own.End)
	if p.bytes += own.size(); !own.history.all && own.counts != nil {
		p.bytes -= own.history.keepFew(own)
	}
	p.charge.Set(p.account, len(p.all), p.bytes)
	if p.Most > 0 && p.bytes > p.Most {
		p.err = errMost
		p.all, p.bytes = nil, 0
	} else if crowded := p.account.Crowded(); crowded != nil {
		p.coarsen(crowded)
	}
	p.charge.Set(p.account, len(p.all), p.bytes)
}

var errMost = errors.New("the times of intervals take too much memory")

// keepFew adds a piece to those with payloads. If they are many, it drops the payloads of those
// with the lowest maxima, and returns the bytes that this frees.
func (own *history) keepFew(more *piece) (freed int) {
	if own.kept = append(own.kept, more); len(own.kept) < 2*mostKept {
		return 0
	}
	slices.SortStableFunc(own.kept, func(a, b *piece) int { return cmp.Compare(b.highest, a.highest) })
	own.floor = own.kept[mostKept].highest
	for _, low := range own.kept[mostKept:] {
		freed += low.size()
		low.counts = nil
		freed -= low.size()
	}
	own.kept = own.kept[:mostKept]
	return freed
}

// coarsen merges pieces to windows until half of their memory is free. If windows would be too
// long, nothing is kept, and the error is crowded.
func (p *Histories) coarsen(crowded error) {
	most := p.bytes / 2
	for p.coarse = max(p.coarse, p.length); p.err == nil; p.coarse *= 2 {
		if p.pack(); p.bytes <= most {
			return
		}
		if (p.last-p.first)/p.coarse < leastWindows {
			p.err = crowded
		}
	}
	p.all, p.bytes = nil, 0
}

// pack makes the pieces of each history windows in the order of time. Without a size, each interval
// stays a piece.
func (p *Histories) pack() {
	at := func(own *piece) int64 { return own.Start }
	if p.coarse > 0 {
		at = func(own *piece) int64 { return merge.WindowOf(own.Start, own.End, p.coarse).Start }
	}
	p.bytes = 0
	for _, part := range p.all {
		order := func(a, b *piece) int { return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.Start, b.Start)) }
		if !slices.IsSortedFunc(part.pieces, order) {
			slices.SortStableFunc(part.pieces, order)
		}
		if p.coarse > 0 {
			p.mergePieces(part, at)
		}
		for _, own := range part.pieces {
			p.bytes += own.size()
		}
	}
}

// mergePieces makes one piece of those of a history at the same time. It copies them, since one
// that stays keeps the memory of others.
func (p *Histories) mergePieces(part *history, at func(*piece) int64) {
	old := part.pieces
	part.pieces, part.kept = nil, nil
	var m *piece
	for _, own := range old {
		if !part.all {
			own.counts = nil
		}
		if m == nil || at(m) != at(own) {
			m = p.addPiece(part, *own)
			continue
		}
		if own.highest > m.highest {
			m.highest, m.peak = own.highest, own.peak
		}
		m.count += own.count
		if m.End = max(m.End, own.End); part.all {
			sum, err := p.sumOf(m)
			more, err2 := p.sumOf(own)
			if err = cmp.Or(err, err2); err == nil {
				err = sum.Merge(more)
			}
			p.err = cmp.Or(p.err, err)
		}
	}
	for _, own := range part.pieces {
		if own.counts != nil && own.sum != nil {
			p.err = cmp.Or(p.err, own.sum.Compact())
		}
	}
}

// sumOf returns the counts of a piece as a sum, which the piece keeps.
func (p *Histories) sumOf(own *piece) (*merge.Sum, error) {
	if own.sum == nil {
		h, err := p.countsOf(own, nil)
		if err != nil {
			return nil, err
		}
		own.counts = &counts{sum: new(merge.Sum)}
		if err := own.sum.AddHistogram(own.Start, own.End, h); err != nil {
			return nil, err
		}
	}
	return own.sum, nil
}

// countsOf returns the counts of a piece that keeps them. They are valid until it is called again.
func (p *Histories) countsOf(own *piece, scratch *histogram.Histogram) (*histogram.Histogram, error) {
	if own.sum != nil {
		return own.sum.Histogram(scratch)
	}
	took, err := p.decoder.Visit(&hdrlog.Interval{Payload: own.payload}, scan.Place{}).Take(scan.Want{Counts: true})
	return took.Counts, err
}

// Shares returns the shares of all values that were recorded in the intervals at the times of
// moments. It goes through the intervals once: a log of a day has half a million.
func (p *Histories) Shares(moments []output.Moment) []float64 {
	shares, all := make([]float64, len(moments)), 0.0
	for _, part := range p.all {
		for _, own := range part.pieces {
			count := float64(own.count)
			all += count
			for n := range moments {
				if own.Start < moments[n].End && own.End > moments[n].Start {
					shares[n] += count
				}
			}
		}
	}
	for n := range shares {
		shares[n] /= all
	}
	return shares
}

// inOrder returns all histories in the order of inputs, then of tags. Their pieces are in the order
// of time afterwards.
func (p *Histories) inOrder() (all []*history, err error) {
	p.pack()
	for _, key := range slices.Sorted(maps.Keys(p.all)) {
		all = append(all, p.all[key])
	}
	return all, p.err
}
