package merge

// A Span is a span of time that includes Start and excludes End. Both are milliseconds since the
// epoch.
type Span struct{ Start, End int64 }

func (s Span) overlaps(other Span) bool { return s.Start < other.End && s.End > other.Start }

// WindowOf returns the window of size milliseconds that contains the middle of an interval. Size is
// at least 1. Start and end lie between -2^62 and 2^62, so that no sum overflows.
func WindowOf(start, end, size int64) Span {
	k := floorDiv(start+end, 2*size)
	return Span{k * size, (k + 1) * size}
}

// floorDiv returns a/b, rounded down. B is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// An InputSpan is the time from the first start to the last end of the intervals of an input.
type InputSpan struct {
	Input int
	Span
}

// InputSpans has a span for each of several inputs. The zero value is empty.
type InputSpans struct {
	All []InputSpan

	last int // index in All of the input that Add found last
}

// Add extends the span of an input to include the time from start to end. Most intervals are of the
// same input as the interval before, or of the next input, so Add begins to search there. If it
// began at the first input, many inputs would take quadratic time.
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
