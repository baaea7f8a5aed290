package merge

// A Span is a span of time: from Start up to End, but without that. Both are milliseconds since
// the epoch.
type Span struct{ Start, End int64 }

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
