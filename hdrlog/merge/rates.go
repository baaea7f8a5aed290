package merge

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Rates know how many values a row recorded in a window, and for how long its inputs ran there. The
// rate of the row is the first divided by the second.
//
//   - An interval spreads its values evenly over its length, whatever window its middle lies in.
//   - An input runs from the start of its first interval to the end of its last one. It counts for
//     a row in a window if it has an interval of the row that starts before the window ends.
//
// Parts of intervals are added up in fixed point, so the order of additions makes no difference.
// The zero value is ready to use.
type Rates struct {
	inputs map[int]*Span       // when each ran
	rows   map[string]*rateRow // by [AppendKey]
	every  bool                // across has all intervals of a row
	key    []byte
	spans  []Span
	// any is for how long any input ran in the window anyOf. It is the same for all rows of the
	// window, until changed says that an input ran since then.
	any     int64
	anyOf   Span
	changed bool
}

// Values returns the number of values recorded in a window that has count values.
func (r Recorded) Values(count float64) float64 {
	if r.Every {
		return r.Moved
	}
	return max(count+r.Moved, 0)
}

// Add adds the values and the times of a row in another window, whose counts are not kept.
func (r *Recorded) Add(other Recorded) {
	r.Moved += other.Moved
	r.Millis += other.Millis
	r.Any += other.Any
}

// A rateRow is the part of a row in [Rates]. It is small: there may be a million rows of one input.
type rateRow struct {
	inputs []rateInput // in the order of their numbers
	across *across     // nil if the row never had any
}

// A rateInput is an input of a row, and when its first interval of the row starts.
type rateInput struct {
	number int
	start  int64
}

// began takes in that the row has an interval of an input that starts at a time.
func (row *rateRow) began(input int, start int64) {
	n, known := slices.BinarySearchFunc(row.inputs, input, func(i rateInput, number int) int {
		return cmp.Compare(i.number, number)
	})
	if !known {
		row.inputs = slices.Insert(row.inputs, n, rateInput{input, start})
	}
	row.inputs[n].start = min(row.inputs[n].start, start)
}

// across has the intervals of a row that do not lie within one window.
type across struct {
	intervals []rateInterval
	sorted    bool
}

// A rateInterval is an interval with a number of values. Windows that end at or before From have no
// part of it.
type rateInterval struct {
	Span
	Count, From int64
}

// Recorded says how many values a row recorded in a window, given its counts, and for how long its
// inputs ran there.
type Recorded struct {
	// Moved is the number of values to add to that of the counts. Values recorded in the window, of
	// intervals that other windows count, make it larger. Values recorded elsewhere, of intervals
	// that this window counts, make it smaller.
	Moved float64
	// Every says that Moved is the number of all values, and that the counts do not matter.
	Every bool
	// Millis is for how long the inputs of the row ran in the window, and Any for how long any did,
	// in milliseconds.
	Millis, Any int64
}

// Crosses reports whether an interval lies in several windows of size milliseconds.
func Crosses(start, end, size int64) bool {
	w := WindowOf(start, end, size)
	return start < w.Start || end > w.End
}

// Add adds an interval of a row with count values. All windows of later calls have a multiple of
// size, or any size if that is 0. Only an interval that [Crosses] such windows is kept. Windows
// that end at or before the time from have no part of the interval.
func (r *Rates) Add(row []byte, input int, start, end, count, from, size int64) {
	r.Ran(input, start, end)
	r.key = AppendKey(r.key[:0], row)
	known := r.rows[string(r.key)]
	if known == nil {
		if r.rows == nil {
			r.rows = make(map[string]*rateRow)
		}
		known = new(rateRow)
		r.rows[string(r.key)] = known
	}
	known.began(input, start)
	r.every = r.every || size == 0
	if count > 0 && (size == 0 || Crosses(start, end, size)) {
		if known.across == nil {
			known.across = new(across)
		}
		known.across.sorted = false
		known.across.intervals = append(known.across.intervals, rateInterval{Span{start, end}, count, from})
	}
}

// Ran takes in that an input ran from start to end, whatever the row of its interval. Call it
// before the windows are taken that are complete because of this interval.
func (r *Rates) Ran(input int, start, end int64) {
	r.changed = true
	if r.inputs == nil {
		r.inputs = make(map[int]*Span)
	}
	if ran := r.inputs[input]; ran == nil {
		r.inputs[input] = &Span{start, end}
	} else {
		ran.Start, ran.End = min(ran.Start, start), max(ran.End, end)
	}
}

// Input returns when an input ran so far. It is false if nothing is known of it.
func (r *Rates) Input(input int) (ran Span, ok bool) {
	if known := r.inputs[input]; known != nil {
		return *known, true
	}
	return Span{}, false
}

// anyIn returns for how long any input ran in a window.
func (r *Rates) anyIn(w Span) int64 {
	if r.changed || r.anyOf != w {
		r.spans = r.spans[:0]
		for _, ran := range r.inputs {
			if ran.meets(w) {
				r.spans = append(r.spans, *ran)
			}
		}
		r.any = within(r.spans, w)
		r.anyOf = w
		r.changed = false
	}
	return r.any
}

// Take returns what a row recorded in a window. Callers take the windows of a row in the order of
// time.
func (r *Rates) Take(row []byte, w Span) (recorded Recorded) {
	recorded.Any = r.anyIn(w)
	r.key = AppendKey(r.key[:0], row)
	known := r.rows[string(r.key)]
	if known == nil {
		return recorded
	}
	r.spans = r.spans[:0]
	for _, i := range known.inputs {
		if ran := r.inputs[i.number]; ran != nil && i.start < w.End && ran.meets(w) {
			r.spans = append(r.spans, *ran)
		}
	}
	recorded.Millis = within(r.spans, w)
	recorded.Every = r.every
	if known.across != nil {
		recorded.Moved = known.across.take(w, r.every)
	}
	return recorded
}

// take returns what the intervals add to the number of values of a window, and forgets those that
// end with it. Every says that it is all values that they have there.
func (a *across) take(w Span, every bool) float64 {
	if !a.sorted {
		slices.SortFunc(a.intervals, func(a, b rateInterval) int { return cmp.Compare(a.Start, b.Start) })
		a.sorted = true
	}
	var sum fixedPoint
	n := 0
	for ; n < len(a.intervals) && a.intervals[n].Start < w.End; n++ {
		i := &a.intervals[n]
		if w.End > i.From {
			sum.add(i.Count, max(min(i.End, w.End)-max(i.Start, w.Start), 0), i.End-i.Start)
		}
		if !every && WindowOf(i.Start, i.End, w.End-w.Start) == w {
			sum.whole -= i.Count
		}
	}
	// Those that go on after the window stay in front of the others.
	over := n
	for i := n - 1; i >= 0; i-- {
		if a.intervals[i].End > w.End {
			over--
			a.intervals[over] = a.intervals[i]
		}
	}
	a.intervals = a.intervals[over:]
	return sum.float()
}

// Period returns for how long the inputs of a row ran in all, in milliseconds.
func (r *Rates) Period(row []byte) int64 { return r.PeriodTo(row, math.MaxInt64/4) }

// PeriodTo returns for how long the inputs of a row ran up to a time, in milliseconds.
func (r *Rates) PeriodTo(row []byte, end int64) int64 {
	r.key = AppendKey(r.key[:0], row)
	known := r.rows[string(r.key)]
	if known == nil {
		return 0
	}
	r.spans = r.spans[:0]
	for _, i := range known.inputs {
		if ran := r.inputs[i.number]; ran != nil {
			r.spans = append(r.spans, *ran)
		}
	}
	return within(r.spans, Span{math.MinInt64 / 4, end})
}

// Forget forgets the inputs that ended by a time. Later windows have nothing of them.
func (r *Rates) Forget(time int64) {
	r.changed = true
	for input, ran := range r.inputs {
		if ran.End > time {
			continue
		}
		delete(r.inputs, input)
		for _, known := range r.rows {
			known.inputs = slices.DeleteFunc(known.inputs, func(i rateInput) bool { return i.number == input })
		}
	}
}

// Pack forgets the intervals within windows of a size. From now on, windows have that size or a
// multiple of it.
func (r *Rates) Pack(size int64) {
	r.every = false
	for _, known := range r.rows {
		if known.across != nil {
			of := &known.across.intervals
			*of = slices.DeleteFunc(*of, func(i rateInterval) bool { return !Crosses(i.Start, i.End, size) })
		}
	}
}

// Covered returns for how long at least one span runs, in milliseconds.
func Covered(spans []Span) int64 {
	return within(spans, Span{math.MinInt64 / 4, math.MaxInt64 / 4})
}

// within returns for how long at least one span runs in a window.
func within(spans []Span, w Span) (length int64) {
	for _, s := range spans {
		if s.Start <= w.Start && s.End >= w.End {
			return w.End - w.Start
		}
	}
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	at := w.Start
	for _, s := range spans {
		if start, end := max(at, s.Start), min(s.End, w.End); end > start {
			length += end - start
			at = end
		}
	}
	return length
}

// A fixedPoint is a number of values: whole ones, and parts of 2^-32 each.
type fixedPoint struct{ whole, parts int64 }

// add adds count*part/length, where part is not above length.
func (s *fixedPoint) add(count, part, length int64) {
	if part <= 0 || part == length {
		if part > 0 {
			s.whole += count
		}
		return
	}
	high, low := bits.Mul64(uint64(count), uint64(part))
	whole, rest := bits.Div64(high, low, uint64(length))
	parts, _ := bits.Div64(rest>>32, rest<<32, uint64(length))
	s.whole, s.parts = s.whole+int64(whole), s.parts+int64(parts)
}

// float returns the number with six decimals: fixed point rounds each share. It is never -0.
func (s *fixedPoint) float() float64 {
	return math.Round((float64(s.whole)+float64(s.parts)/(1<<32))*1e6)/1e6 + 0
}
