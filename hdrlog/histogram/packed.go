package histogram

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"slices"
)

// Packed holds the counts of a histogram in little memory, about a tenth of what they take in a [Histogram]: for each slot
// with a count, in ascending order, how many slots lie between the one before and it, and the count, both as the varints of
// [encoding/binary]. It is for those who keep many histograms. The zero value is of no layout and holds nothing.
type Packed struct {
	layout Layout
	bytes  []byte
}

// Pack makes p hold what h counts, in the memory that it has, as a histogram of layout: that of h, or one that differs in
// having fewer digits.
func (p *Packed) Pack(h *Histogram, layout Layout) {
	to := packer{bytes: p.bytes[:0]}
	half := layout.SubBuckets() / 2
	finer := h.layout.halfMagnitude() - layout.halfMagnitude() // slots of h to one of layout, as a power of two
	simple := half << finer                                    // from this slot on, each run of so many is one slot
	fine := h.counts
	if finer == 3 && len(fine) > simple {
		fine = fine[:simple]
	}
	low, _ := h.Filled()
	for begin := low &^ 7; begin < len(fine); begin += 8 {
		eight := fine[begin:min(begin+8, len(fine))]
		if len(eight) == 8 && sumEight((*[8]int64)(eight)) == 0 {
			continue // as most are
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
	to.end()
	if len(fine) < len(h.counts) {
		from := max(simple, low&^7)
		to.eights(h.counts[from:], from>>finer+finer*half)
	}
	p.layout, p.bytes = layout, to.bytes
}

// Copy makes p hold what q does, in the memory that p has.
func (p *Packed) Copy(q Packed) { p.layout, p.bytes = q.layout, append(p.bytes[:0], q.bytes...) }

// Layout returns which values share a slot.
func (p Packed) Layout() Layout { return p.layout }

// Bytes returns the counts as they are packed. They must not be changed.
func (p Packed) Bytes() []byte { return p.bytes }

// Slots iterates over the indexes of slots with a count, in ascending order, and the counts.
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

// Unpack makes h what was packed.
func (p Packed) Unpack(h *Histogram) {
	h.Reset(p.layout)
	p.addTo(h, 1)
}

// Histogram returns what was packed as a new histogram.
func (p Packed) Histogram() *Histogram {
	h := &Histogram{layout: p.layout}
	p.addTo(h, 1)
	return h
}

// AddTo adds the counts to h, whose slots must be those of p's layout. It must not take the total count past an int64.
func (p Packed) AddTo(h *Histogram) { p.addTo(h, 1) }

// TakeFrom takes the counts, which must have been added before, away from h.
func (p Packed) TakeFrom(h *Histogram) { p.addTo(h, -1) }

func (p Packed) addTo(h *Histogram, sign int64) {
	c := cursor{left: p.bytes, index: -1}
	for c.next() {
		h.Slots(c.index, c.index)[c.index] += sign * c.count
		h.AddTotal(sign * c.count)
	}
}

// As returns the counts in a layout that is at least as fine. The error is that of [Histogram.Refine].
func (p Packed) As(layout Layout) (Packed, error) {
	if p.layout == layout {
		return p, nil
	}
	h := p.Histogram()
	if err := h.Refine(layout); err != nil {
		return p, err
	}
	var finer Packed
	finer.Pack(h, layout)
	return finer, nil
}

// Plus returns the sum of both, in memory of its own. The error is that of [Histogram.Add].
func (p Packed) Plus(q Packed) (Packed, error) {
	if !p.layout.Shares(q.layout) {
		h := p.Histogram()
		if err := h.Add(q.Histogram()); err != nil {
			return Packed{}, err
		}
		var sum Packed
		sum.Pack(h, h.layout)
		return sum, nil
	}
	sum := packer{bytes: make([]byte, 0, len(p.bytes)+len(q.bytes))}
	total := uint64(0) // of two that are an int64 each
	a, b := cursor{left: p.bytes, index: -1}, cursor{left: q.bytes, index: -1}
	moreA, moreB := a.next(), b.next()
	for moreA || moreB {
		switch {
		case a.index < b.index:
			sum.add(a.index, a.count)
			total += uint64(a.count)
			moreA = a.next()
		case b.index < a.index:
			sum.add(b.index, b.count)
			total += uint64(b.count)
			moreB = b.next()
		default:
			sum.add(a.index, a.count+b.count)
			total += uint64(a.count) + uint64(b.count)
			moreA, moreB = a.next(), b.next()
		}
	}
	if total > math.MaxInt64 {
		return Packed{}, ErrOverflow
	}
	sum.end()
	return Packed{p.layout, sum.bytes}, nil
}

// A packer appends slots, whose indexes never descend. The last one is pending until another comes.
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

// end appends the slot that is pending.
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
	if bits.Len64(gap|count) < 8 { // as nearly always
		p.bytes = append(p.bytes, byte(gap), byte(count))
		return
	}
	p.bytes = binary.AppendUvarint(binary.AppendUvarint(p.bytes, gap), count)
}

// eights appends each eight counts as one, from index on: three digits are eight slots to one of two. That takes two thirds
// of the time of adding one by one (BenchmarkPack).
func (p *packer) eights(counts []int64, index int) {
	room := slices.Grow(p.bytes, 2*len(counts)/8+1)
	end, next := len(room), p.next
	room = room[:cap(room)]
	for ; len(counts) >= 8; counts = counts[8:] {
		n := sumEight((*[8]int64)(counts))
		gap := index - next
		index++
		if uint64(gap)|uint64(n) < 128 && end+2 <= len(room) {
			// Whether there is a count cannot be predicted: what is written for none is overwritten.
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

// A cursor stands at a slot.
type cursor struct {
	left  []byte
	index int
	count int64
}

// next advances to the next slot. It returns false, at an index higher than any, if there is none.
func (c *cursor) next() bool {
	if l := c.left; len(l) > 1 && l[0]|l[1] < 0x80 { // as nearly always
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
