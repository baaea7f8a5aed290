package merge

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"
)

// DefaultIdle is the time that an input without new data holds a window back, see [NewLive].
const DefaultIdle = 5 * time.Second

// mostAhead is the number of open windows at which [Live.Next] stops reading ahead of an input that
// holds them open. It bounds memory, and costs nothing where all inputs have data.
const mostAhead = 512

// Live decides when the windows of logs that are still written are complete. It does not read and
// it does not wait: the caller passes the intervals and the time.
//
// An input has passed a window when it has shown an interval of a later one. A window is complete
// when every input has passed it, or does not hold it back. An input that has data that were not
// read holds back every window that it has not passed. At the end of its data, an input holds a
// window back until the idle time after the first other input has passed it. It holds back nothing
//
//   - after twice the idle time without an interval, until it shows one,
//   - if its last interval came late by more than the idle time, as that of a machine whose clock
//     is slow does, until it catches up,
//   - if its last interval is too far in the future, see [LiveInput.Ahead],
//   - when it has ended.
//
// When no input holds back anything, all windows are complete that end before the caller's time.
//
// An interval whose window is already complete is late: [LiveInput.Add] does not merge it.
//
// The zero value is not usable: call [NewLive]. A Live is not safe for concurrent use.
type Live struct {
	windows *Windows
	idle    time.Duration
	inputs  []*LiveInput
	done    int64 // windows that end at or before this are complete
	// passes says when the first input passed windows: in order of both, from the first window
	// that is not complete.
	passes []pass
	now    time.Time // of the last Complete
}

// A pass says when the first input passed the windows that end at or before end.
type pass struct {
	end int64
	at  time.Time
}

// A LiveInput is one log of a Live.
type LiveInput struct {
	live   *Live
	unread func() bool

	position int64         // the latest middle of an interval, in milliseconds since the epoch
	passed   int64         // the end of the last window that it has passed
	far      int64         // what passed would be if the last interval were not too far ahead
	longest  time.Duration // the length of its longest interval
	shown    time.Time     // when it showed the last interval, or joined
	atEnd    bool          // all its data were read
	silent   bool          // it showed nothing for long
	behind   bool          // its last interval came too late to wait for the next one
	ahead    bool          // its last interval is too far ahead
	ended    bool
}

// never is the position before the first interval.
const never = math.MinInt64

// NewLive returns a Live with windows of size milliseconds. If idle is 0, the idle time of an input
// is [DefaultIdle], or the length of its longest interval if that is longer.
func NewLive(size int64, idle time.Duration) *Live {
	return &Live{windows: NewWindows(size), idle: idle, done: never}
}

// Join adds an input, which has data to read. Unread, which may be nil, is asked before an input
// that is at its end stops holding back a window: it returns true if data have come that were not
// read.
func (l *Live) Join(now time.Time, unread func() bool) *LiveInput {
	in := &LiveInput{live: l, unread: unread, position: never, passed: never, shown: now}
	l.inputs = append(l.inputs, in)
	return in
}

// Show says that the input has an interval from start to end, in milliseconds since the epoch. It
// returns true if the interval is late. Call it for every interval in the order of the log, and Add
// for those that are not late and wanted.
func (in *LiveInput) Show(now time.Time, start, end int64) (late bool) {
	l := in.live
	middle := floorDiv(start+end, 2)
	at := WindowOf(start, end, l.windows.Size())
	in.shown, in.silent = now, false
	before := in.ahead
	if in.ahead = in.Ahead(now, middle); in.ahead {
		in.position, in.far = middle, at.Start
		return at.End <= l.done
	}
	in.longest = max(in.longest, time.Duration(min(end-start, int64(math.MaxInt64/time.Millisecond)))*time.Millisecond)
	if in.position = max(in.position, middle); before {
		in.position = middle
	}
	in.passed = max(in.passed, at.Start)
	in.behind = in.position < l.done && time.Duration(min(l.done-in.position, int64(math.MaxInt64/time.Millisecond)))*time.Millisecond > in.idle()
	l.pass(in.passed, now)
	return at.End <= l.done
}

// Ahead reports whether a middle of an interval, in milliseconds since the epoch, is so far in the
// future that the clock of the log must be wrong: it is ahead by more than the idle time both of
// now and of the lower median of the inputs. Logs of the past never are, and neither is the only
// log. Such an interval passes only the windows that end before now. It is kept until its time
// comes.
func (in *LiveInput) Ahead(now time.Time, middle int64) bool {
	latest := middle - in.idle().Milliseconds()
	if latest <= now.UnixMilli() {
		return false
	}
	as, all := 1, len(in.live.inputs)
	for _, other := range in.live.inputs {
		if other != in && other.position >= latest {
			as++
		}
	}
	return as < all/2+1
}

// pass says that the windows that end at or before end were passed.
func (l *Live) pass(end int64, at time.Time) {
	if (len(l.passes) == 0 || end > l.passes[len(l.passes)-1].end) && end > l.done {
		l.passes = append(l.passes, pass{end, at})
	}
}

// Add adds a sum to its window, as [Windows.Merge] does.
func (in *LiveInput) Add(tag []byte, logStart float64, s *Sum) error {
	return in.live.windows.Merge(tag, logStart, s)
}

// SetAtEnd says whether all data of the input were read.
func (in *LiveInput) SetAtEnd(atEnd bool) { in.atEnd = atEnd }

// End says that the input shows no further interval.
func (in *LiveInput) End() {
	in.ended = true
	in.live.inputs = slices.DeleteFunc(in.live.inputs, func(other *LiveInput) bool { return other == in })
}

// Silent reports whether the input holds back nothing because it shows nothing new.
func (in *LiveInput) Silent() bool { return in.silent }

func (in *LiveInput) idle() time.Duration {
	if in.live.idle > 0 {
		return in.live.idle
	}
	return max(DefaultIdle, in.longest)
}

// Open returns the number of windows that are open, and Bytes about how many bytes they take.
func (l *Live) Open() int { return len(l.windows.table.open) }

// Bytes is described at [Live.Open].
func (l *Live) Bytes() int { return l.windows.bytes }

// State returns what a later Live needs to go on: the end of the last window that was complete, and
// the windows that are open, which stay so. Give it to [Live.Resume] and [Live.Restore].
func (l *Live) State() (done int64, open iter.Seq[*Merged]) { return l.done, l.windows.Open() }

// Resume says that the windows that end at or before done were complete in an earlier Live.
func (l *Live) Resume(done int64) { l.done = done }

// Restore opens a window of an earlier Live again, with what a tag had in it.
func (l *Live) Restore(m *Merged) error {
	err := l.windows.Merge(m.Tag, m.LogStart, &m.Sum)
	if err == nil {
		own := l.windows.table.At(m.Tag, m.Start, m.End, nil)
		l.windows.bytes += m.Covered.Size() - own.Covered.Size()
		own.Covered = m.Covered
	}
	return err
}

// Next returns the input to read next: of those that have unread data, the one that is furthest
// behind. It returns nil if none has, or if too many windows are open that wait for another input.
func (l *Live) Next() *LiveInput {
	var next *LiveInput
	for _, in := range l.inputs {
		if !in.atEnd && (next == nil || in.position < next.position) {
			next = in
		}
	}
	if next == nil {
		return nil
	}
	if l.before(next.position) <= mostAhead {
		return next
	}
	for _, in := range l.inputs {
		if in.ahead && !in.atEnd { // its next interval may be one that the others wait for
			return in
		}
	}
	return nil
}

// Complete iterates over what the intervals of the windows that are complete now add up to, as
// [Windows.Before] does. The caller must not leave the loop before its end, unless it is done with
// l.
func (l *Live) Complete(now time.Time) iter.Seq[*Merged] {
	l.now = now
	for _, in := range l.inputs {
		if !in.ahead {
			continue
		}
		if in.ahead = in.Ahead(now, in.position); in.ahead {
			l.pass(min(in.far, floorDiv(now.UnixMilli(), l.windows.Size())*l.windows.Size()), now)
		} else {
			in.passed = max(in.passed, in.far)
			l.pass(in.passed, now)
		}
	}
	if end := l.complete(now); end > l.done {
		l.done = end
		n, _ := slices.BinarySearchFunc(l.passes, end+1, func(p pass, end int64) int { return cmp.Compare(p.end, end) })
		l.passes = slices.Delete(l.passes, 0, n)
	}
	return l.windows.Before(l.done)
}

// All closes all windows: the inputs have ended, or nobody waits for them any more.
func (l *Live) All() iter.Seq[*Merged] {
	l.done = math.MaxInt64
	return l.windows.All()
}

// complete returns the end of the last window that is complete.
func (l *Live) complete(now time.Time) int64 {
	end, released := int64(never), int64(math.MaxInt64)
	if len(l.passes) > 0 {
		end = l.passes[len(l.passes)-1].end
	}
	for _, in := range l.inputs {
		released = min(released, in.releases(now))
	}
	if past := l.before(now.UnixMilli()); released == math.MaxInt64 && past > 0 {
		end = max(end, l.windows.table.open[past-1].End)
	}
	return min(end, released)
}

// before returns the number of open windows that end at or before a time.
func (l *Live) before(time int64) int {
	n, _ := slices.BinarySearchFunc(l.windows.table.open, time+1, func(w *openWindow[Merged], end int64) int { return cmp.Compare(w.End, end) })
	return n
}

// releases returns the end of the last window that the input does not hold back.
func (in *LiveInput) releases(now time.Time) int64 {
	passed := in.passed
	if !in.atEnd {
		return passed
	}
	if in.silent || in.behind || in.ahead {
		return math.MaxInt64
	}
	waited := int64(never)
	for _, p := range in.live.passes {
		if now.Before(p.at.Add(in.idle())) {
			break
		}
		waited = p.end
	}
	quiet := now.Sub(in.shown) >= 2*in.idle()
	if waited <= passed && !quiet {
		return passed
	}
	if in.unread != nil && in.unread() {
		return passed
	}
	if quiet {
		in.silent = true
		return math.MaxInt64
	}
	return waited
}

// Deadline returns the first time after that of the last [Live.Complete] at which a window can
// become complete although no input shows an interval. It returns false if there is none.
func (l *Live) Deadline() (next time.Time, ok bool) {
	earlier := func(at time.Time) bool {
		if at.After(l.now) && (!ok || at.Before(next)) {
			next, ok = at, true
		}
		return at.After(l.now)
	}
	if past := l.before(l.now.UnixMilli()); past < len(l.windows.table.open) {
		earlier(time.UnixMilli(l.windows.table.open[past].End))
	}
	for _, in := range l.inputs {
		if !in.atEnd || in.silent || in.behind || in.ahead {
			continue
		}
		earlier(in.shown.Add(2 * in.idle()))
		for _, p := range l.passes {
			if p.end > in.passed && earlier(p.at.Add(in.idle())) {
				break
			}
		}
	}
	return next, ok
}
