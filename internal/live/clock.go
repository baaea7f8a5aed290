package live

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"
	"time"

	"hdrkit/hdrlog/merge"
)

// DefaultIdle is the time for which a window waits for an input without new data, if the user
// states no time and the intervals of the input are short. See newClock.
const DefaultIdle = 5 * time.Second

// Early is how far in the future the end of a complete window may lie. Later windows wait until
// their time comes: a monitoring system that gets a sample of tomorrow refuses those of today.
const Early = time.Minute

// maxAhead is the number of open windows beyond which [clock.Next] does not read on in the inputs
// that open further windows. It bounds the memory of open windows. When all inputs have data, it
// costs nothing.
const maxAhead = 512

// maxFuture is the number of open windows beyond which logs that are ahead are not read any
// further. It is an hour of windows of a second.
const maxFuture = 3600

// A clock decides when windows are complete, while their logs are still written. It does not read
// logs, and does not wait: the caller passes the intervals and the time.
//
// An input has passed a window when it has shown an interval of a later window. A window is
// complete when each input has passed it or does not hold it back. An input with unread data holds
// back every window that it has not passed. At the end of its data, an input holds a window back
// until the idle time after the first other input has passed the window. An input holds back no
// windows
//
//   - after twice the idle time without an interval, until it shows one,
//   - after the idle time since the last write to its file before the end of the file was first
//     reached, until it shows a further interval; a file that was rotated long ago holds back none,
//   - if its last interval came late by more than the idle time, until it catches up; the clock of
//     its machine may be slow,
//   - if its last interval is too far in the future, see [pace.isTooFarAhead],
//   - when it has ended.
//
// When no input holds back a window, all windows are complete that end before the present time. No
// window is complete that ends later than [Early] after the present time.
//
// An interval is late, and must not be merged, if its window or a later one was handed out.
//
// A clock can continue an earlier run, which has handed out the windows up to previousRunUntil.
// These windows have no further intervals. They are complete when the inputs have shown again what
// they had shown in that run. An input that shows old intervals again may show them out of order.
// So it holds back windows for its slack longer. After twice the idle time at the end of its data,
// it holds back none.
//
// The zero value is not usable: call newClock. A clock is not safe for concurrent use.
type clock struct {
	windows          *merge.Windows
	idle             time.Duration
	inputs           []*pace
	holder           int   // index of the input that held back windows when the clock last looked
	completeUntil    int64 // windows that end at or before this time are complete
	handedUntil      int64 // end of the last window that was handed out
	previousRunUntil int64 // windows that end at or before this time were handed out in an earlier run
	// passes say when each window that is not complete was first passed, in the order of both
	// times.
	passes []pass
	// draining is set at the end: all rest of the logs is read, however many windows that opens.
	draining bool
}

// A pass is the time at which the first input passed the windows that end at or before end.
type pass struct {
	end int64
	at  time.Time
}

// A pace says how far one input of a clock has come.
type pace struct {
	clock *clock
	input *input // the merger's input, nil in tests and for a search
	// hasUnread reports whether the log has data that were not read; nil reports false.
	hasUnread func() bool

	latestMiddle    int64         // the latest middle of an interval, in milliseconds since the epoch
	passedUntil     int64         // the end of the last window that the log has passed
	passedAhead     int64         // what passedUntil becomes when the last interval is not too far ahead any more
	longestInterval time.Duration // the length of the longest interval
	lastShown       time.Time     // when the log showed an interval last, or joined
	fileWritten     time.Time     // when the file was written last before its end was reached; zero after a later interval
	atEnd           bool          // all data were read
	silent          bool          // the log showed nothing for long
	behind          bool          // the last interval was so late that no window waits for the next one
	ahead           bool          // the last interval is too far ahead
	showsAgain      bool          // the log shows intervals that it has shown in an earlier run
	slack           int64         // the largest backward step in time, in milliseconds, rounded up to windows
}

// never is a time before all intervals.
const never = math.MinInt64

// newClock returns a clock with windows of size milliseconds. If idle is 0, the idle time of an
// input is [DefaultIdle], or twice the length of its longest interval if that is longer: a reader
// may hold an interval until the next interval shows whether its second number is a length or an
// end.
func newClock(size int64, idle time.Duration) *clock {
	return &clock{
		windows:          merge.NewWindows(size),
		idle:             idle,
		completeUntil:    never,
		handedUntil:      never,
		previousRunUntil: never,
	}
}

// Join adds an input that has data to read. Before an input at the end of its data stops holding
// back a window, the clock calls unread, unless that is nil. It returns true if data have come that
// were not read.
func (l *clock) Join(now time.Time, unread func() bool) *pace {
	in := &pace{clock: l, hasUnread: unread, latestMiddle: never, passedUntil: never, lastShown: now}
	l.inputs = append(l.inputs, in)
	return in
}

// isLate reports whether the window with this end, or a later window, was handed out.
func (l *clock) isLate(window int64) bool {
	return window <= max(l.handedUntil, l.previousRunUntil)
}

// Show says that the input has an interval from start to end, in milliseconds since the epoch. Call
// Show for each interval in the order of the log.
func (in *pace) Show(now time.Time, start, end int64) {
	l := in.clock
	middle := (start + end) >> 1 // rounded down
	at := merge.WindowOf(start, end, l.windows.Size())
	in.lastShown = now
	in.fileWritten = time.Time{}
	in.silent = false
	wasAhead := in.ahead
	in.ahead = in.isTooFarAhead(now, middle)
	if in.ahead {
		in.latestMiddle = middle
		in.passedAhead = at.Start
		return
	}
	if !l.isLate(at.End) && in.passedUntil != never && in.passedUntil >= at.End {
		in.slack = max(in.slack, in.passedUntil-at.End+l.windows.Size())
	}
	in.longestInterval = max(in.longestInterval, between(start, end))
	in.latestMiddle = max(in.latestMiddle, middle)
	if wasAhead {
		in.latestMiddle = middle
	}
	in.passedUntil = max(in.passedUntil, at.Start)
	in.behind = between(in.latestMiddle, l.completeUntil) > in.idle()
	l.notePass(in.passedUntil, now)
}

// between returns the time from one moment to another, both in milliseconds since the epoch. It
// returns 0 if to is earlier than from, and the longest [time.Duration] if the time is longer. A
// log may state any moment.
func between(from, to int64) time.Duration {
	const longest = uint64(math.MaxInt64 / time.Millisecond)
	if to <= from {
		return 0
	}
	difference := uint64(to) - uint64(from) // uint64 subtraction does not overflow here
	return time.Duration(min(difference, longest)) * time.Millisecond
}

// isTooFarAhead reports whether the middle of an interval, in milliseconds since the epoch, is so
// far in the future that the clock of the log must be wrong. It is more than the idle time ahead
// both of the present time and of the lower median of all inputs. Logs of the past are never too
// far ahead, and the only log is not either. An interval that is too far ahead passes only windows
// that end before the present time. It is kept until its time comes.
func (in *pace) isTooFarAhead(now time.Time, middle int64) bool {
	latest := middle - in.idle().Milliseconds()
	if latest <= now.UnixMilli() {
		return false
	}
	asFar, all := 1, len(in.clock.inputs)
	for _, other := range in.clock.inputs {
		if other != in && other.latestMiddle >= latest {
			asFar++
		}
	}
	return asFar < all/2+1 // then the lower median of the latest middles is below latest
}

// notePass records that an input has passed the windows that end at or before end.
func (l *clock) notePass(end int64, at time.Time) {
	if (len(l.passes) == 0 || end > l.passes[len(l.passes)-1].end) && end > l.completeUntil {
		l.passes = append(l.passes, pass{end, at})
	}
}

// End says that the input shows no further interval. It is removed from the clock.
func (in *pace) End() {
	in.clock.inputs = slices.DeleteFunc(in.clock.inputs, func(other *pace) bool { return other == in })
}

// Stop says that the input shows no further interval in this run, but may do so in a later run. The
// input keeps holding back windows.
func (in *pace) Stop() {
	in.atEnd = true
	in.hasUnread = func() bool { return true }
}

func (in *pace) idle() time.Duration {
	if in.clock.idle > 0 {
		return in.clock.idle
	}
	return max(DefaultIdle, 2*in.longestInterval)
}

// Next returns the input to read next: of those with unread data, the one that is furthest behind.
// It returns nil if no input has unread data, or if too many open windows wait for another input.
func (l *clock) Next() *pace {
	var next *pace
	for n := range l.inputs {
		in := l.inputs[(l.holder+n)%len(l.inputs)]
		if !in.atEnd && (next == nil || in.latestMiddle < next.latestMiddle) {
			next = in
			if in.latestMiddle == never {
				break
			}
		}
	}
	if next == nil {
		return nil
	}
	if l.draining || l.showsAgain() || l.openUntil(next.latestMiddle) <= maxAhead {
		return next
	}
	for _, in := range l.inputs {
		if in.ahead && !in.atEnd && !l.crowded() { // the others may wait for its next interval
			return in
		}
	}
	return nil
}

// crowded reports whether more than maxFuture open windows end after completeUntil. Then logs that
// are ahead are not read on until some of these windows are complete.
func (l *clock) crowded() bool {
	return l.windows.Len()-l.openUntil(l.completeUntil) > maxFuture
}

// Complete iterates over the rows of the windows that are complete now, as [merge.Windows.Before]
// does. The caller must not leave the loop before its end, unless it does not use l any more.
func (l *clock) Complete(now time.Time) iter.Seq[*merge.Merged] {
	for _, in := range l.inputs {
		if !in.ahead {
			continue
		}
		if in.ahead = in.isTooFarAhead(now, in.latestMiddle); in.ahead {
			l.notePass(min(in.passedAhead, merge.WindowOf(now.UnixMilli(), now.UnixMilli(), l.windows.Size()).Start), now)
		} else {
			in.passedUntil = max(in.passedUntil, in.passedAhead)
			l.notePass(in.passedUntil, now)
		}
	}
	if end := l.completeEnd(now); end > l.completeUntil {
		l.completeUntil = end
		n, _ := slices.BinarySearchFunc(l.passes, end+1, func(p pass, end int64) int { return cmp.Compare(p.end, end) })
		l.passes = slices.Delete(l.passes, 0, n)
	}
	return l.handOut(l.completeUntil)
}

// handOut iterates over the rows of the windows that end at or before a time, and removes them.
func (l *clock) handOut(time int64) iter.Seq[*merge.Merged] {
	return func(yield func(*merge.Merged) bool) {
		for merged := range l.windows.Before(time) {
			l.handedUntil = max(l.handedUntil, merged.Window.End)
			if !yield(merged) {
				return
			}
		}
	}
}

// showsAgain reports whether an input still shows intervals that it has shown in an earlier run.
func (l *clock) showsAgain() bool {
	return slices.ContainsFunc(l.inputs, func(in *pace) bool { return in.showsAgain && in.input != nil })
}

// All hands out all windows up to latestEnd, since the inputs have ended or nothing waits for them
// any more.
func (l *clock) All(now time.Time) iter.Seq[*merge.Merged] {
	l.completeUntil = l.latestEnd(now)
	return l.handOut(l.completeUntil)
}

// latestEnd returns the latest end that a complete window may have.
func (l *clock) latestEnd(now time.Time) int64 { return now.Add(Early).UnixMilli() }

// completeEnd returns the end of the last window that is complete.
func (l *clock) completeEnd(now time.Time) int64 {
	least := l.previousRunUntil // only intervals that an earlier run has read belong to these windows
	if l.completeUntil < l.previousRunUntil {
		for _, in := range l.inputs {
			if in.showsAgain {
				least = min(least, in.releasedUntil(now))
			}
		}
	}
	return max(least, l.passedByAll(now))
}

// passedByAll returns the end of the last window that each input has passed or does not hold back.
func (l *clock) passedByAll(now time.Time) int64 {
	end, released := int64(never), int64(math.MaxInt64)
	if len(l.passes) > 0 {
		end = l.passes[len(l.passes)-1].end
	}
	for n := range l.inputs {
		at := (l.holder + n) % len(l.inputs)
		if released = min(released, l.inputs[at].releasedUntil(now)); released <= l.completeUntil {
			l.holder = at // fast path: the same input mostly holds back windows again
			return l.completeUntil
		}
	}
	if past := l.openUntil(now.UnixMilli()); released == math.MaxInt64 && past > 0 {
		end = max(end, l.windows.Window(past-1).End)
	}
	return min(end, released, l.latestEnd(now))
}

// openUntil returns the number of open windows that end at or before a time.
func (l *clock) openUntil(time int64) int {
	return sort.Search(l.windows.Len(), func(n int) bool { return l.windows.Window(n).End > time })
}

// releasedUntil returns the end of the last window that the input does not hold back. It sets
// silent if the input has shown nothing for long.
func (in *pace) releasedUntil(now time.Time) int64 {
	passed := in.passedUntil
	quiet := now.Sub(in.lastShown) >= 2*in.idle() || !in.fileWritten.IsZero() && now.Sub(in.fileWritten) >= in.idle()
	if in.showsAgain && !(in.atEnd && quiet) {
		if passed == never {
			return never
		}
		return passed - in.slack
	}
	if !in.atEnd {
		if in.ahead && in.clock.crowded() {
			return math.MaxInt64
		}
		return passed
	}
	unread := func() bool { return in.hasUnread != nil && in.hasUnread() }
	switch {
	case in.ahead && !in.silent && !in.clock.crowded() && unread(): // the others may wait for its next interval
		return passed
	case in.silent || in.behind || in.ahead:
		return math.MaxInt64
	}
	waited := int64(never)
	for _, p := range in.clock.passes {
		if now.Before(p.at.Add(in.idle())) {
			break
		}
		waited = p.end
	}
	if waited <= passed && !quiet {
		return passed
	}
	if unread() {
		return passed
	}
	if quiet {
		in.silent = true
		return math.MaxInt64
	}
	return waited
}
