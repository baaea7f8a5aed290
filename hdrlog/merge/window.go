package merge

// A Span is a span of time: from Start up to End, but without that. Both are milliseconds since
// the epoch.
type Span struct{ Start, End int64 }

// meets reports whether two spans have time in common.
func (s Span) meets(other Span) bool { return s.Start < other.End && s.End > other.Start }

// WindowOf returns the span of the window of size milliseconds to which an interval from start to
// end belongs. Size is at least 1. Times are more than 2^60 away from the ends of an int64.
func WindowOf(start, end, size int64) Span {
	k := floorDiv(start+end, 2*size)
	return Span{k * size, (k + 1) * size}
}

// floorDiv divides and rounds down. B is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// An InputSpan is when the intervals of an input began and ended.
type InputSpan struct {
	Input int
	Span
}

// InputSpans are when the intervals of some inputs began and ended, each input once. The zero value
// is empty.
type InputSpans struct {
	All []InputSpan

	last int // index of the input that was found last
}

// Add takes in an interval of an input, or what several span. The search begins at the input that
// was found last: the next interval is mostly of the same input, or of the one after it. To begin
// at the first input is quadratic.
func (s *InputSpans) Add(input int, start, end int64) {
	for range s.All {
		s.last %= len(s.All)
		if i := &s.All[s.last]; i.Input == input {
			i.Start = min(i.Start, start)
			i.End = max(i.End, end)
			return
		}
		s.last++
	}
	s.last = len(s.All)
	s.All = append(s.All, InputSpan{input, Span{start, end}})
}
