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

// Histories keep the intervals of each tag of each input. They show which tag of which input was
// slow, and when. Their memory has a bound: intervals of long logs are merged to windows.
type Histories struct {
	// Sums has a sum of each history, which [Histories.Who] needs. Times has the maximum of each
	// interval, which [Histories.Worst] and [Histories.Omission] need.
	Sums, Times bool
	// Most is the largest memory in bytes for times, 0 if only the ledger bounds it. If they need
	// more, intervals are merged to windows. Of logs that are still written, the older half is
	// dropped instead.
	Most int

	sums map[string]*flow.Row // by the key of a history

	decoder *scan.Decoder // decodes the payloads of pieces

	key []byte
	all map[string]*history
	// order has all histories in order. It is nil if an interval came after inOrder was called.
	order []*history
	extent
	budget               budget
	err                  error
	streaming, truncated bool // see Follow, Truncated
}

// An extent is the range of time of all pieces, and the length of the longest piece.
type extent struct {
	// length is the length of the longest interval. Coarse is the size of the windows that pieces
	// were merged to, 0 if each piece is an interval.
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

// chargeFor charges the account for the bytes of a number of histories.
func (r *budget) chargeFor(histories int) { r.charge.Set(r.account, histories, r.bytes) }

// A history has the intervals of a tag of an input.
type history struct {
	key    string
	input  string
	tag    []byte
	pieces []*piece
	// withCounts are the pieces that have counts: those whose maximum is above floor.
	withCounts []*piece
	floor      float64
	// factor converts values to the unit in which logs are compared, see [hdrlog.Scale.Factor].
	factor float64
}

// A piece is one interval, or the sum of the intervals of a window.
type piece struct {
	history    *history
	Start, End int64   // in milliseconds since the epoch
	highest    float64 // the highest value in the unit of the log
	peak       int64   // the start of the interval that has the highest value
	count      int64   // number of values
	line       int     // line of the interval in its log
	*counts            // nil if the piece has no counts any more
}

// counts are the values of a piece.
type counts struct {
	payload []byte     // the payload of an interval, nil for a window
	sum     *merge.Sum // the sum of a window, nil for an interval
}

// compared returns the highest value in the unit in which logs are compared.
func (p *piece) compared() float64 { return p.highest * p.history.factor }

// size returns the memory of the piece in bytes.
func (p *piece) size() int {
	size := 80 // a piece and its pointer in a list
	if p.counts != nil {
		size += 32 + cap(p.payload)
		if p.sum != nil {
			size += p.sum.Size()
		}
	}
	return size
}

// slab is the number of pieces that are allocated together, since a log of a day has half a million
// pieces.
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
	// minWindows is the least number of windows of a run. Longer windows would show too little.
	minWindows = 64
	// maxCounted is the number of pieces of a history that keep their counts: those with the
	// highest maxima.
	maxCounted = 16
)

// appendHistory appends the key of the history of a tag of an input.
func appendHistory(key []byte, input int, tag []byte) []byte {
	return merge.AppendKey(binary.BigEndian.AppendUint32(key, uint32(input)), tag)
}

// tagOf returns the part of the key of a history that stands for the tag.
func tagOf(key string) string { return key[4:] }

// start prepares the histories for the intervals of a scan.
func (hs *Histories) start(s *scan.Scan) {
	hs.budget.account = s.Memory.Open("times of tags and logs", "choose tags with -incT")
	hs.decoder = scan.NewDecoder(s.Correction.Expected, scan.NewPayloadLimits(s.Memory))
}

// Follow prepares the histories for logs that are still written. [Histories.Window] adds their
// rows, as if these were the tags of one log without a name.
func (hs *Histories) Follow(memory *ledger.Ledger) {
	hs.streaming, hs.Times = true, true
	hs.budget.account = memory.Open("times of tags", "choose tags with -incT")
}

// Window adds the counts h of a row in a window.
func (hs *Histories) Window(w *merge.Merged, h *histogram.Histogram) {
	hs.insert(0, "", w.Tag, piece{
		Start:   w.Start,
		End:     w.End,
		highest: h.Float(h.Max()),
		count:   h.TotalCount(),
	}, counts{sum: &w.Sum})
}

// Rows reports whether the tags of histories are names of rows, as [Histories.Window] adds them.
func (hs *Histories) Rows() bool { return hs.streaming }

// Resolution returns the length in milliseconds of the windows that intervals were merged to, 0 if
// each piece is an interval.
func (hs *Histories) Resolution() int64 { return hs.coarse }

// Truncated reports whether older intervals were dropped.
func (hs *Histories) Truncated() bool { return hs.truncated }

// addInterval adds a visited interval. An interval that is also in another phase counts once.
func (hs *Histories) addInterval(v scan.Visit, highest float64, count int64) {
	if v.Again {
		return
	}
	hs.insert(v.Input, v.Name, v.Tag, piece{
		Start:   v.StartMillis(),
		End:     v.EndMillis(),
		highest: highest,
		count:   count,
		line:    v.Line,
	}, counts{payload: v.Payload})
}

// insert adds a piece to the history of a tag of an input. It copies the counts, which the caller
// lends, if the maximum of the piece is high enough.
func (hs *Histories) insert(input int, name string, tag []byte, one piece, lent counts) {
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
	p := hs.addPiece(one.history, one)
	if p.highest > p.history.floor {
		p.counts = &counts{payload: bytes.Clone(lent.payload)}
		if lent.sum != nil {
			p.sum = new(merge.Sum)
			hs.err = cmp.Or(p.sum.Merge(lent.sum), p.sum.Compact())
		}
	}
	hs.length = max(hs.length, p.End-p.Start, 1)
	hs.ran.Start = min(hs.ran.Start, p.Start)
	hs.ran.End = max(hs.ran.End, p.End)
	hs.budget.bytes += p.size()
	if p.counts != nil {
		hs.budget.bytes -= p.history.addCounted(p)
	}
	hs.budget.chargeFor(len(hs.all))
	crowded := hs.budget.account.Crowded()
	aboveMost := hs.Most > 0 && hs.budget.bytes > hs.Most
	switch {
	case !aboveMost && crowded == nil:
	case !hs.streaming:
		hs.coarsen(cmp.Or(crowded, errMost))
	case !hs.dropOlderHalf():
		hs.err = errMost
		hs.all, hs.budget.bytes = nil, 0
	}
	hs.budget.chargeFor(len(hs.all))
}

// dropOlderHalf drops the older half of all pieces. It drops all pieces of a window or none. It
// copies the other pieces, since one piece keeps the memory of a whole slab. It returns false if
// all pieces are of one window.
func (hs *Histories) dropOlderHalf() bool {
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
		h.withCounts = nil
		h.floor = 0
		for _, p := range old {
			if p.Start < from {
				continue
			}
			p = hs.addPiece(h, *p)
			hs.budget.bytes += p.size()
			if p.counts != nil {
				h.withCounts = append(h.withCounts, p)
			}
		}
		if h.pieces == nil {
			delete(hs.all, key)
		}
	}
	return true
}

// errMost is the error if times need more than [Histories.Most] and nothing can be dropped or
// merged.
var errMost = errors.New("the times of intervals take too much memory")

// addCounted adds a piece to those that have counts. If they are many, it drops the counts of the
// pieces with the lowest maxima. It returns the number of bytes that this frees.
func (h *history) addCounted(p *piece) (freed int) {
	if h.withCounts = append(h.withCounts, p); len(h.withCounts) < 2*maxCounted {
		return 0
	}
	slices.SortStableFunc(h.withCounts, func(a, b *piece) int { return cmp.Compare(b.highest, a.highest) })
	h.floor = h.withCounts[maxCounted].highest
	for _, low := range h.withCounts[maxCounted:] {
		freed += low.size()
		low.counts = nil
		freed -= low.size()
	}
	h.withCounts = h.withCounts[:maxCounted]
	return freed
}

// coarsen merges pieces to windows until half of their memory is free. If windows would be too
// long, it drops all histories and sets their error to crowded.
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
		if (hs.ran.End-hs.ran.Start)/hs.coarse < minWindows {
			hs.err = crowded
		}
	}
	hs.all, hs.budget.bytes = nil, 0
}

// pack sorts the pieces of each history by time, and merges them to windows of the size coarse if
// this is above 0.
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

// mergePieces merges the pieces of a history that have the same time, which at returns. It copies
// them, since one piece keeps the memory of a whole slab.
func (hs *Histories) mergePieces(h *history, at func(*piece) int64) {
	old := h.pieces
	h.pieces, h.withCounts = nil, nil
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

// countsOf returns the values of a piece that has counts. They are valid until the next call.
func (hs *Histories) countsOf(p *piece) (*histogram.Histogram, error) {
	if p.sum != nil {
		return p.sum.Histogram(nil)
	}
	if err := hs.decoder.Open(&hdrlog.Interval{Payload: p.payload}); err != nil {
		return nil, err
	}
	return hs.decoder.Counts()
}

// Shares returns for each moment which part of all values was recorded in intervals that overlap
// it. It visits each interval once, since a log of a day has half a million.
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
// answer depends on the order in which inputs are given. It sorts their pieces by time.
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

// inUnit sets the factors of histories, so that maxima of logs in different units can be compared.
// Scale returns how the values of a tag of an input are printed.
func (hs *Histories) inUnit(scale func(input string, tag []byte) hdrlog.Scale) {
	for _, h := range hs.all {
		h.factor = scale(h.input, h.tag).Factor()
	}
}

// byTag groups histories by tag, in the order in which tags first occur.
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
