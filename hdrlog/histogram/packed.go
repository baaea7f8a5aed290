package histogram

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"slices"
)

// Packed holds the counts of a histogram in about a tenth of the memory of a [Histogram]. Use it to
// keep many histograms. The zero value has no layout and no counts.
//
// The counts are pairs of varints as in [encoding/binary], one pair for each slot with a count, in
// ascending order. The first number of a pair is the number of empty slots before the slot, the
// second is the count.
type Packed struct {
	layout Layout
	total  int64
	slots  int // one more than the index of the last slot with a count
	bytes  []byte
}

// Pack makes p hold the counts of h with at most digits significant digits. It uses the memory of
// p.
func (p *Packed) Pack(h *Histogram, digits int) {
	layout := h.layout
	layout.Digits = max(min(layout.Digits, digits), 0)
	to := packer{bytes: p.bytes[:0]}
	half := layout.SubBuckets() / 2
	// One slot of layout is 1<<finer slots of h.
	finer := h.layout.halfMagnitude() - layout.halfMagnitude()
	// From this slot of h on, that holds throughout.
	simple := half << finer
	for begin, fine := range h.segments() {
		var rest []int64
		if finer == 3 && begin+len(fine) > simple {
			whole := max(simple-begin, 0)
			fine, rest = fine[:whole], fine[whole:]
		}
		for ; len(fine) > 0; fine, begin = fine[8:], begin+8 {
			eight := (*[8]int64)(fine)
			if sumEight(eight) == 0 {
				continue // as in most cases
			}
			for i, n := range eight {
				if n == 0 {
					continue
				}
				index := begin + i
				switch {
				case finer == 0:
				case index >= simple:
					index = index>>finer + finer*half
				default:
					index = layout.IndexOf(h.layout.LowestAt(index))
				}
				to.add(index, n)
			}
		}
		if len(rest) > 0 {
			to.end()
			to.eights(rest, begin>>finer+finer*half)
		}
	}
	to.end()
	*p = Packed{layout, h.total, to.next, to.bytes}
}

// Copy makes p hold the same as q, in the memory of p.
func (p *Packed) Copy(q Packed) {
	*p = Packed{q.layout, q.total, q.slots, append(p.bytes[:0], q.bytes...)}
}

// Layout returns the layout of the histogram.
func (p Packed) Layout() Layout { return p.layout }

// spanWith returns the number of slots that h has if it also has room for the counts.
func (p Packed) spanWith(h *Histogram) int {
	c := cursor{left: p.bytes, index: -1}
	if !c.next() {
		return len(h.counts)
	}
	return h.spanWith(c.index, p.slots-1)
}

// TotalCount returns the number of recorded values.
func (p Packed) TotalCount() int64 { return p.total }

// Size returns the size of the packed counts in bytes.
func (p Packed) Size() int { return len(p.bytes) }

// AppendCounts appends the packed counts to dst.
func (p Packed) AppendCounts(dst []byte) []byte { return append(dst, p.bytes...) }

// Slots iterates over the slots with a count, in ascending order: index and count.
func (p Packed) Slots() iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		c := cursor{left: p.bytes, index: -1}
		for c.next() {
			if !yield(c.index, c.count) {
				return
			}
		}
	}
}

// Unpack makes h hold the same as p, in the memory of h.
func (p Packed) Unpack(h *Histogram) {
	h.reset(p.layout)
	p.addTo(h)
}

// Histogram returns a new histogram that holds the same as p.
func (p Packed) Histogram() *Histogram {
	h := &Histogram{layout: p.layout}
	p.addTo(h)
	return h
}

// AddTo adds the counts to h. It returns the errors of [Histogram.Add]; h is then unchanged.
func (p Packed) AddTo(h *Histogram) error {
	if h.layout.Lowest == 0 || !h.layout.Shares(p.layout) {
		return h.Add(p.Histogram())
	}
	if p.total > math.MaxInt64-h.total {
		return ErrOverflow
	}
	h.layout.Lowest = min(h.layout.Lowest, p.layout.Lowest)
	p.addTo(h)
	return nil
}

// addTo adds the counts to h. Contract: h has the same slots as p, and the sum of the totals fits
// an int64.
func (p Packed) addTo(h *Histogram) {
	c := cursor{left: p.bytes, index: -1}
	for c.next() {
		h.add(c.index, c.count)
	}
}

// As returns the counts in the layout that is as fine as both p and layout. It returns the errors
// of [Histogram.Refine].
func (p Packed) As(layout Layout) (Packed, error) {
	if err := layout.Validate(); err != nil {
		return p, err
	}
	finest, err := p.layout.finest(layout.normal())
	if err != nil {
		return p, err
	}
	return p.as(finest)
}

// Plus returns the sum of both, in new memory. It returns the errors of [Histogram.Add].
func (p Packed) Plus(q Packed) (Packed, error) {
	if p.layout.Lowest == 0 {
		p.layout = q.layout
	}
	if q.layout.Lowest == 0 {
		q.layout = p.layout
	}
	if !p.layout.Shares(q.layout) {
		return p.plusOther(q)
	}
	if p.total > math.MaxInt64-q.total {
		return Packed{}, ErrOverflow
	}
	sum := packer{bytes: make([]byte, 0, len(p.bytes)+len(q.bytes))}
	a, b := cursor{left: p.bytes, index: -1}, cursor{left: q.bytes, index: -1}
	moreA, moreB := a.next(), b.next()
	for moreA || moreB {
		switch {
		case a.index < b.index:
			sum.add(a.index, a.count)
			moreA = a.next()
		case b.index < a.index:
			sum.add(b.index, b.count)
			moreB = b.next()
		default:
			sum.add(a.index, a.count+b.count)
			moreA, moreB = a.next(), b.next()
		}
	}
	sum.end()
	if cap(sum.bytes) > len(sum.bytes)*5/4 { // as where both have the same slots
		sum.bytes = slices.Clone(sum.bytes)
	}
	layout := p.layout
	layout.Lowest = min(layout.Lowest, q.layout.Lowest)
	return Packed{layout, p.total + q.total, sum.next, sum.bytes}, nil
}

// plusOther is Plus for two different layouts.
func (p Packed) plusOther(q Packed) (Packed, error) {
	layout, err := p.layout.finest(q.layout)
	if err != nil {
		return Packed{}, err
	}
	if p, err = p.as(layout); err != nil {
		return Packed{}, err
	}
	if q, err = q.as(layout); err != nil {
		return Packed{}, err
	}
	return p.Plus(q)
}

// as returns the counts in a layout that is at least as fine. The error is [ErrSpan].
func (p Packed) as(layout Layout) (Packed, error) {
	if p.layout.Shares(layout) {
		p.layout = layout
		return p, nil
	}
	finer := packer{bytes: make([]byte, 0, len(p.bytes))}
	for index, n := range p.Slots() {
		value, err := rescale(p.layout.LowestAt(index), p.layout.Ratio, layout.Ratio)
		if err != nil {
			return p, err
		}
		finer.add(layout.IndexOf(value), n)
	}
	finer.end()
	return Packed{layout, p.total, finer.next, finer.bytes}, nil
}

// A packer appends slots. Their indexes never descend. The last slot is pending until another one
// comes.
type packer struct {
	bytes []byte
	next  int // the slot after the last one appended
	index int
	count int64
}

func (p *packer) add(index int, count int64) {
	if index != p.index {
		p.end()
		p.index = index
	}
	p.count += count
}

// end appends the pending slot.
func (p *packer) end() {
	if p.count == 0 {
		return
	}
	p.append(p.index, p.count)
	p.count = 0
}

// append appends a slot.
func (p *packer) append(index int, n int64) {
	gap, count := uint64(index-p.next), uint64(n)
	p.next = index + 1
	if bits.Len64(gap|count) < 8 { // as in nearly all cases
		p.bytes = append(p.bytes, byte(gap), byte(count))
		return
	}
	p.bytes = binary.AppendUvarint(binary.AppendUvarint(p.bytes, gap), count)
}

// eights appends each eight counts as one, from index on. Eight slots of three digits are one slot
// of two digits. This takes two thirds of the time of adding one by one (BenchmarkPack).
func (p *packer) eights(counts []int64, index int) {
	room := slices.Grow(p.bytes, 2*len(counts)/8+1)
	end, next := len(room), p.next
	room = room[:cap(room)]
	for ; len(counts) >= 8; counts = counts[8:] {
		n := sumEight((*[8]int64)(counts))
		gap := index - next
		index++
		if uint64(gap)|uint64(n) < 128 && end+2 <= len(room) {
			// The processor cannot predict which slots have counts. So this writes all,
			// and the next one overwrites an empty one.
			room[end], room[end+1] = byte(gap), byte(n)
			filled := int(uint64(-n) >> 63)
			end += 2 * filled
			next += (gap + 1) & -filled
		} else if n != 0 {
			p.bytes, p.next = room[:end], next
			p.append(index-1, n)
			end, next = len(p.bytes), p.next
			room = p.bytes[:cap(p.bytes)]
		}
	}
	p.bytes, p.next = room[:end], next
}

func sumEight(c *[8]int64) int64 { return c[0] + c[1] + c[2] + c[3] + c[4] + c[5] + c[6] + c[7] }

// A cursor is a position in packed counts.
type cursor struct {
	left  []byte
	index int
	count int64
}

// next advances to the next slot. If there is none, it returns false and sets index to the largest
// int.
func (c *cursor) next() bool {
	if l := c.left; len(l) > 1 && l[0]|l[1] < 0x80 { // as in nearly all cases
		c.index += int(l[0]) + 1
		c.count = int64(l[1])
		c.left = l[2:]
		return true
	}
	return c.nextLong()
}

func (c *cursor) nextLong() bool {
	if len(c.left) == 0 {
		c.index = math.MaxInt
		return false
	}
	gap, size := binary.Uvarint(c.left)
	count, more := binary.Uvarint(c.left[size:])
	c.left = c.left[size+more:]
	c.index += int(gap) + 1
	c.count = int64(count)
	return true
}
