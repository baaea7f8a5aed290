package merge

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Rates compute how many values a row (a tag, or all tags) recorded in a window, and for how long
// the inputs of the row ran in it. The rate of the row is their quotient.
//
//   - The values of an interval are spread evenly over its length, so an interval that lies in two
//     windows adds values to both.
//   - An input runs from the start of its first interval to the end of its last interval. Its time
//     in a window counts for each row of which it has an interval that starts before the window
//     ends.
//
// Shares of intervals are added up in fixed point, so the order of additions makes no difference.
// The zero value is ready to use.
type Rates struct {
	inputs map[int]*Span       // time of each input
	rows   map[string]*rateRow // by [AppendKey]
	every  bool                // crossing has all intervals of a row
	key    []byte              // scratch memory for AppendKey
	spans  []Span              // scratch memory
	// anyMillis is the time in which at least one input ran in anyWindow, in milliseconds. All rows
	// of a window share it. If changed is set, it is out of date.
	anyMillis int64
	anyWindow Span
	changed   bool
}

// Values returns the number of values that a row recorded in a window whose counts have count
// values.
func (r WindowCount) Values(count float64) float64 {
	if r.Every {
		return r.Moved
	}
	return max(count+r.Moved, 0)
}

// Add adds the values and the times of the same row in another window.
func (r *WindowCount) Add(other WindowCount) {
	r.Moved += other.Moved
	r.Millis += other.Millis
	r.Any += other.Any
}

// A rateRow is a row in [Rates]. It is small, because an input can have a million rows.
type rateRow struct {
	inputs   []rateInput        // ascending by number
	crossing *crossingIntervals // nil if the row has no such interval
}

// A rateInput is an input that has intervals of a row. Start is the start of the first of them.
type rateInput struct {
	number int
	start  int64
}

// addInput notes that an input has an interval of the row that starts at start.
func (row *rateRow) addInput(input int, start int64) {
	n, known := slices.BinarySearchFunc(row.inputs, input, func(i rateInput, number int) int {
		return cmp.Compare(i.number, number)
	})
	if !known {
		row.inputs = slices.Insert(row.inputs, n, rateInput{input, start})
	}
	row.inputs[n].start = min(row.inputs[n].start, start)
}

// crossingIntervals has the intervals of a row that lie in more than one window, or all its
// intervals if [Rates.every] is set.
type crossingIntervals struct {
	intervals []rateInterval
	sorted    bool // by start
}

// A rateInterval is an interval of Count values. Windows that end at or before From ignore it.
type rateInterval struct {
	Span
	Count, From int64
}

// A WindowCount says how many values a row recorded in a window, and for how long its inputs ran in
// it. [Rates.Take] makes it.
type WindowCount struct {
	// Moved is the number of values to add to the values of the window's counts, which have whole
	// intervals. It is positive if intervals that are counted in other windows reach into this
	// window, and negative if intervals that are counted in this window reach out of it.
	Moved float64
	// Every is set if Moved is the number of all values, so that the counts of the window do not
	// matter.
	Every bool
	// Millis is the time in which an input of the row ran in the window, and Any the time in which
	// any input ran in it, in milliseconds.
	Millis, Any int64
}

// Crosses reports whether an interval lies in more than one window of size milliseconds.
func Crosses(start, end, size int64) bool {
	w := WindowOf(start, end, size)
	return start < w.Start || end > w.End
}

// Add adds an interval of a row with count values. The size of all windows of later calls is a
// multiple of size milliseconds. Add keeps only intervals that cross such windows ([Crosses]). If
// size is 0, windows can have any size, and Add keeps all intervals. Windows that end at or before
// from, in milliseconds since the epoch, ignore the interval.
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
	known.addInput(input, start)
	r.every = r.every || size == 0
	if count > 0 && (size == 0 || Crosses(start, end, size)) {
		if known.crossing == nil {
			known.crossing = new(crossingIntervals)
		}
		known.crossing.sorted = false
		known.crossing.intervals = append(known.crossing.intervals, rateInterval{Span{start, end}, count, from})
	}
}

// Ran extends the time of an input to include an interval of any row from start to end. Call it
// before you take windows that this interval completes.
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

// Input returns the time of an input so far. It returns false for an input without intervals.
func (r *Rates) Input(input int) (ran Span, ok bool) {
	if known := r.inputs[input]; known != nil {
		return *known, true
	}
	return Span{}, false
}

// anyIn returns the milliseconds of a window in which at least one input ran.
func (r *Rates) anyIn(w Span) int64 {
	if r.changed || r.anyWindow != w {
		r.spans = r.spans[:0]
		for _, ran := range r.inputs {
			if ran.overlaps(w) {
				r.spans = append(r.spans, *ran)
			}
		}
		r.anyMillis = covered(r.spans, w)
		r.anyWindow = w
		r.changed = false
	}
	return r.anyMillis
}

// Take returns the values and times of a row in a window, and forgets the intervals that end in
// this window. Take the windows of a row in the order of time.
func (r *Rates) Take(row []byte, w Span) (recorded WindowCount) {
	recorded.Any = r.anyIn(w)
	r.key = AppendKey(r.key[:0], row)
	known := r.rows[string(r.key)]
	if known == nil {
		return recorded
	}
	r.spans = r.spans[:0]
	for _, i := range known.inputs {
		if ran := r.inputs[i.number]; ran != nil && i.start < w.End && ran.overlaps(w) {
			r.spans = append(r.spans, *ran)
		}
	}
	recorded.Millis = covered(r.spans, w)
	recorded.Every = r.every
	if known.crossing != nil {
		recorded.Moved = known.crossing.take(w, r.every)
	}
	return recorded
}

// take returns [WindowCount.Moved] of a window, and forgets the intervals that end in this window.
// If every is set, it returns the number of all values instead.
func (a *crossingIntervals) take(w Span, every bool) float64 {
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
	// Keep intervals that end after the window, in front of the intervals that start after it.
	first := n
	for i := n - 1; i >= 0; i-- {
		if a.intervals[i].End > w.End {
			first--
			a.intervals[first] = a.intervals[i]
		}
	}
	a.intervals = a.intervals[first:]
	return sum.float()
}

// Period returns the milliseconds before end in which at least one input of a row ran.
func (r *Rates) Period(row []byte, end int64) int64 {
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
	return covered(r.spans, Span{math.MinInt64 / 4, end})
}

// Forget forgets the inputs whose last interval ends at or before a time. Later windows do not
// include their time.
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

// Pack ends the time in which windows can have any size: from now on, their size is a multiple of
// size milliseconds. Pack forgets the intervals that do not cross such windows.
func (r *Rates) Pack(size int64) {
	r.every = false
	for _, known := range r.rows {
		if known.crossing != nil {
			of := &known.crossing.intervals
			*of = slices.DeleteFunc(*of, func(i rateInterval) bool { return !Crosses(i.Start, i.End, size) })
		}
	}
}

// Covered returns the number of milliseconds that lie in at least one span. It sorts the spans.
func Covered(spans []Span) int64 {
	return covered(spans, Span{math.MinInt64 / 4, math.MaxInt64 / 4})
}

// covered returns the number of milliseconds of a window that lie in at least one span. It sorts
// the spans.
func covered(spans []Span, w Span) (length int64) {
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

// A fixedPoint is the number whole + parts/2^32.
type fixedPoint struct{ whole, parts int64 }

// add adds count*part/length. Part is at most length; a part of 0 or less adds nothing.
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

// float returns the number, rounded to six decimals because each share is rounded. It is never -0.
func (s *fixedPoint) float() float64 {
	return math.Round((float64(s.whole)+float64(s.parts)/(1<<32))*1e6)/1e6 + 0
}
