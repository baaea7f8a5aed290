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

// Histories keep the intervals of each tag of each input, to find out which of them was bad, and
// when. Their memory has a bound: intervals of long logs become windows.
type Histories struct {
	// Sums has a sum of each history, which [Histories.Who] needs. Times has the maximum of each
	// interval, which [Histories.Worst] and [Histories.Omission] need.
	Sums, Times bool
	// Most is the memory in bytes that times may take, if it is above 0. Above it, intervals become
	// windows, as they do if memory is short, and those of logs that go on lose their older half.
	Most int

	sums map[string]*flow.Row // by the key of a history

	decoder *scan.Decoder // decodes payloads that are kept

	key []byte
	all map[string]*history
	// order has all of them once somebody asked, nil if an interval came since.
	order []*history
	extent
	budget               budget
	err                  error
	streaming, truncated bool // see Follow, Truncated
}

// An extent is the range of time of all pieces, and the length of the longest ones.
type extent struct {
	// length is that of the longest interval, and coarse the size of the windows that pieces were
	// merged to, 0 if they were not.
	length, coarse int64
	ran            merge.Span // from the first start to the last end
}

// A budget is the memory that pieces take.
type budget struct {
	free    []piece // memory of the next pieces
	bytes   int
	account *ledger.Account
	charge  ledger.Charge
}

// take charges for so many histories.
func (r *budget) take(histories int) { r.charge.Set(r.account, histories, r.bytes) }

// A history has the intervals of a tag of an input.
type history struct {
	key    string
	input  string
	tag    []byte
	pieces []*piece
	kept   []*piece // those with payloads: the ones with maxima above floor
	floor  float64
	// factor is that of the unit of its values, see [hdrlog.Scale.Factor]: logs are compared in one
	// unit.
	factor float64
}

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
	payload []byte     // the payload of an interval, nil for a window
	sum     *merge.Sum // the sum of a window, nil for an interval
}

// compared returns the highest value in the unit in which logs are compared.
func (p *piece) compared() float64 { return p.highest * p.history.factor }

func (p *piece) size() int {
	size := 80 // 80 is a piece and its pointer in a list
	if p.counts != nil {
		size += 32 + cap(p.payload)
		if p.sum != nil {
			size += p.sum.Size()
		}
	}
	return size
}

// slab is the number of pieces whose memory is allocated at once: a log of a day has half a
// million.
const slab = 256

// addPiece adds a copy of a piece to a history.
func (hs *Histories) addPiece(to *history, one piece) *piece {
	free := hs.budget.free
	if len(free) == 0 {
		free = make([]piece, slab)
	}
	at := &free[0]
	*at = one
	hs.budget.free = free[1:]
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
func (hs *Histories) start(s *scan.Scan) {
	hs.budget.account = s.Memory.Open("times of tags and logs", "choose tags with -incT")
	hs.decoder = scan.NewDecoder(s.Expected, scan.NewPayloads(s.Memory))
}

// Follow prepares the histories for rows of logs that are still written: [Histories.Window] adds
// these, as if they were of one log without a name.
func (hs *Histories) Follow(memory *ledger.Ledger) {
	hs.streaming, hs.Times = true, true
	hs.budget.account = memory.Open("times of tags", "choose tags with -incT")
}

// Window keeps what a row has in a window.
func (hs *Histories) Window(w *merge.Merged, h *histogram.Histogram) {
	hs.keep(0, "", w.Tag, piece{
		Start:   w.Start,
		End:     w.End,
		highest: h.Float(h.Max()),
		count:   h.TotalCount(),
	}, counts{sum: &w.Sum})
}

// Rows reports whether the tags of histories are names of rows already.
func (hs *Histories) Rows() bool { return hs.streaming }

// Resolution returns the length in milliseconds of the windows that intervals became, 0 if they
// stayed as they are.
func (hs *Histories) Resolution() int64 { return hs.coarse }

// Truncated reports whether older times are gone.
func (hs *Histories) Truncated() bool { return hs.truncated }

// take keeps an interval.
func (hs *Histories) take(v scan.Visit, highest float64, count int64) {
	if v.Again {
		return
	}
	hs.keep(v.Input, v.Name, v.Tag, piece{
		Start:   v.StartMillis(),
		End:     v.EndMillis(),
		highest: highest,
		count:   count,
		line:    v.Line,
	}, counts{payload: v.Payload})
}

// keep keeps a piece, and a copy of its counts if they are needed.
func (hs *Histories) keep(input int, name string, tag []byte, one piece, lent counts) {
	if hs.err != nil {
		return
	}
	hs.order = nil
	one.End, one.peak = max(one.Start, one.End), one.Start
	if hs.all == nil {
		hs.all = make(map[string]*history)
		hs.ran = merge.Span{Start: one.Start, End: one.End}
	}
	hs.key = appendHistory(hs.key[:0], input, tag)
	one.history = hs.all[string(hs.key)]
	if one.history == nil {
		one.history = &history{
			key:    string(hs.key),
			input:  name,
			tag:    bytes.Clone(tag),
			factor: 1,
		}
		hs.all[one.history.key] = one.history
	}
	kept := hs.addPiece(one.history, one)
	if kept.highest > kept.history.floor {
		kept.counts = &counts{payload: bytes.Clone(lent.payload)}
		if lent.sum != nil {
			kept.sum = new(merge.Sum)
			hs.err = cmp.Or(kept.sum.Merge(lent.sum), kept.sum.Compact())
		}
	}
	hs.length = max(hs.length, kept.End-kept.Start, 1)
	hs.ran.Start = min(hs.ran.Start, kept.Start)
	hs.ran.End = max(hs.ran.End, kept.End)
	hs.budget.bytes += kept.size()
	if kept.counts != nil {
		hs.budget.bytes -= kept.history.keepFew(kept)
	}
	hs.budget.take(len(hs.all))
	crowded := hs.budget.account.Crowded()
	much := hs.Most > 0 && hs.budget.bytes > hs.Most
	switch {
	case !much && crowded == nil:
	case !hs.streaming:
		hs.coarsen(cmp.Or(crowded, errMost))
	case !hs.forget():
		hs.err = errMost
		hs.all, hs.budget.bytes = nil, 0
	}
	hs.budget.take(len(hs.all))
}

// forget drops the older half of all pieces, whole windows of them. It copies the others, since one
// that stays keeps the memory of a slab. It returns false if there is one window only.
func (hs *Histories) forget() bool {
	var starts []int64
	for _, h := range hs.all {
		for _, p := range h.pieces {
			starts = append(starts, p.Start)
		}
	}
	slices.Sort(starts)
	half := len(starts) / 2
	for half < len(starts) && starts[half] == starts[0] {
		half++
	}
	if half == len(starts) {
		return false
	}
	from := starts[half]
	hs.truncated = true
	hs.budget.free, hs.budget.bytes = nil, 0
	hs.ran.Start = from
	for key, h := range hs.all {
		old := h.pieces
		h.pieces = nil
		h.kept = nil
		h.floor = 0
		for _, p := range old {
			if p.Start < from {
				continue
			}
			p = hs.addPiece(h, *p)
			hs.budget.bytes += p.size()
			if p.counts != nil {
				h.kept = append(h.kept, p)
			}
		}
		if h.pieces == nil {
			delete(hs.all, key)
		}
	}
	return true
}

var errMost = errors.New("the times of intervals take too much memory")

// keepFew adds a piece to those with payloads. If they are many, it drops the payloads of those
// with the lowest maxima, and returns the bytes that this frees.
func (h *history) keepFew(p *piece) (freed int) {
	if h.kept = append(h.kept, p); len(h.kept) < 2*mostKept {
		return 0
	}
	slices.SortStableFunc(h.kept, func(a, b *piece) int { return cmp.Compare(b.highest, a.highest) })
	h.floor = h.kept[mostKept].highest
	for _, low := range h.kept[mostKept:] {
		freed += low.size()
		low.counts = nil
		freed -= low.size()
	}
	h.kept = h.kept[:mostKept]
	return freed
}

// coarsen merges pieces to windows until half of their memory is free. If windows would be too
// long, nothing is kept, and the error is crowded.
func (hs *Histories) coarsen(crowded error) {
	most := hs.budget.bytes / 2
	for hs.coarse = cmp.Or(hs.coarse, hs.length); hs.err == nil; hs.coarse *= 2 {
		if hs.coarse < hs.length {
			continue // windows are not shorter than the longest interval
		}
		hs.pack()
		if hs.budget.bytes <= most {
			return
		}
		if (hs.ran.End-hs.ran.Start)/hs.coarse < leastWindows {
			hs.err = crowded
		}
	}
	hs.all, hs.budget.bytes = nil, 0
}

// pack makes the pieces of each history windows in the order of time. Without a size, each interval
// stays a piece.
func (hs *Histories) pack() {
	at := func(p *piece) int64 { return p.Start }
	if hs.coarse > 0 {
		at = func(p *piece) int64 { return merge.WindowOf(p.Start, p.End, hs.coarse).Start }
	}
	hs.budget.bytes = 0
	for _, h := range hs.all {
		order := func(a, b *piece) int { return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.Start, b.Start)) }
		if !slices.IsSortedFunc(h.pieces, order) {
			slices.SortStableFunc(h.pieces, order)
		}
		if hs.coarse > 0 {
			hs.mergePieces(h, at)
		}
		for _, p := range h.pieces {
			hs.budget.bytes += p.size()
		}
	}
}

// mergePieces makes one piece of those of a history at the same time. It copies them, since one
// that stays keeps the memory of others.
func (hs *Histories) mergePieces(h *history, at func(*piece) int64) {
	old := h.pieces
	h.pieces, h.kept = nil, nil
	var m *piece
	for _, p := range old {
		p.counts = nil
		if m == nil || at(m) != at(p) {
			m = hs.addPiece(h, *p)
			continue
		}
		if p.highest > m.highest {
			m.highest, m.peak = p.highest, p.peak
		}
		m.count += p.count
		m.End = max(m.End, p.End)
	}
}

// countsOf returns the counts of a piece that keeps them. They are valid until it is called again.
func (hs *Histories) countsOf(p *piece) (*histogram.Histogram, error) {
	if p.sum != nil {
		return p.sum.Histogram(nil)
	}
	took, err := hs.decoder.Visit(&hdrlog.Interval{Payload: p.payload}, scan.Place{}).Decode(scan.Want{Counts: true})
	return took.Counts, err
}

// Shares returns the shares of all values that were recorded in the intervals at the times of
// moments. It goes through the intervals once: a log of a day has half a million.
func (hs *Histories) Shares(moments []output.Moment) []float64 {
	shares, total := make([]float64, len(moments)), 0.0
	for _, h := range hs.all {
		for _, p := range h.pieces {
			count := float64(p.count)
			total += count
			for n := range moments {
				if p.Start < moments[n].End && p.End > moments[n].Start {
					shares[n] += count
				}
			}
		}
	}
	for n := range shares {
		shares[n] /= total
	}
	return shares
}

// Ran returns when the first interval begins and the last one ends.
func (hs *Histories) Ran() (start, end int64) { return hs.ran.Start, hs.ran.End }

// Inputs returns the names of the inputs that have histories, sorted.
func (hs *Histories) Inputs() (names []string) {
	for _, h := range hs.all {
		names = append(names, h.input)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Tags returns the tags that have histories.
func (hs *Histories) Tags() (all [][]byte) {
	seen := make(map[string]bool)
	for key, h := range hs.all {
		if tag := tagOf(key); !seen[tag] {
			seen[tag] = true
			all = append(all, h.tag)
		}
	}
	return all
}

// inOrder returns all histories in the order of the names of inputs, then of tags, so that no
// answer depends on the order in which inputs are given. Their pieces are in the order of time
// afterwards.
func (hs *Histories) inOrder() ([]*history, error) {
	if hs.order != nil {
		return hs.order, hs.err
	}
	hs.pack()
	hs.order = slices.SortedFunc(maps.Values(hs.all), func(a, b *history) int {
		return cmp.Or(cmp.Compare(a.input, b.input), cmp.Compare(a.key, b.key))
	})
	return hs.order, hs.err
}

// inUnit makes the histories comparable, whose values may have different units.
func (hs *Histories) inUnit(scale func(input string, tag []byte) hdrlog.Scale) {
	for _, h := range hs.all {
		h.factor = scale(h.input, h.tag).Factor()
	}
}

// byTag returns the histories of each tag, in the order in which tags first occur.
func byTag(all []*history) (groups [][]*history) {
	numbers := make(map[string]int)
	for _, h := range all {
		n, known := numbers[tagOf(h.key)]
		if !known {
			n = len(groups)
			numbers[tagOf(h.key)] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], h)
	}
	return groups
}
