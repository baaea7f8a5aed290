package merge

// Logs tells for how long the intervals of a window were recorded, to divide their values by. The
// intervals of several logs begin at different times, so together they span more than the window,
// though each log has only as much in it as fits. The zero value has none.
type Logs struct {
	All  []LogSpan
	last int // index of the log that was added to last
}

// A LogSpan is when the first interval of a log starts and when the last one ends, in milliseconds
// since the epoch. Key tells the log from others.
type LogSpan struct {
	Key        float64
	Start, End int64
}

// Add adds an interval of the log with a key.
func (l *Logs) Add(key float64, start, end int64) {
	for n := range l.All {
		at := (l.last + n) % len(l.All) // intervals of one log, or of all in turn, are quick
		if s := &l.All[at]; s.Key == key {
			s.Start, s.End, l.last = min(s.Start, start), max(s.End, end), at
			return
		}
	}
	l.All = append(l.All, LogSpan{key, start, end})
}

// Recorded returns the length of the longest span in milliseconds.
func (l *Logs) Recorded() (longest int64) {
	for _, s := range l.All {
		longest = max(longest, s.End-s.Start)
	}
	return longest
}

// Size returns about how many bytes l takes.
func (l *Logs) Size() int { return 24 * cap(l.All) }
