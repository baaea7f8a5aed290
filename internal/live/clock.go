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

// DefaultIdle is the time that an input without new data holds a window back, see [newClock].
const DefaultIdle = 5 * time.Second

// Early is how far in the future a window may end that is complete. A later one waits until its
// time comes: monitoring systems that get a sample of tomorrow refuse those of today.
const Early = time.Minute

// mostAhead is the number of open windows at which [clock.Next] stops reading ahead of an input
// that holds them open. It bounds memory, and costs nothing where all inputs have data.
const mostAhead = 512

// mostFuture is the number of open windows at which a log that is ahead is read no further. It
// takes an hour of windows of a second.
const mostFuture = 3600

// A clock decides when the windows of logs that are still written are complete. It does not read
// and it does not wait: the caller passes the intervals and the time.
//
// An input has passed a window when it has shown an interval of a later one. A window is complete
// when every input has passed it, or does not hold it back. An input that has data that were not
// read holds back every window that it has not passed. At the end of its data, an input holds a
// window back until the idle time after the first other input has passed it. It holds back nothing
//
//   - after twice the idle time without an interval, until it shows one,
//   - if its file was not written for the idle time, until it shows more than it had when it was
//     found,
//   - if its last interval came late by more than the idle time, as that of a machine whose clock
//     is slow does, until it catches up,
//   - if its last interval is too far in the future, see [pace.Ahead],
//   - when it has ended.
//
// When no input holds back anything, all windows are complete that end before the caller's time. No
// window is complete that ends later than [Early] after that time.
//
// An interval is late, and must not be merged, if its window was handed out, or one that ends
// later.
//
// A clock goes on where an earlier run was. Windows that end at or before previousRunUntil have no
// further intervals: they are complete when the inputs have shown again what they had shown. An
// input that shows it again may be out of order, so it holds back every window that it has not
// passed by its slack. After twice the idle time at the end of its data, it holds back nothing.
//
// The zero value is not usable: call [newClock]. A clock is not safe for concurrent use.
type clock struct {
	windows          *merge.Windows
	idle             time.Duration
	inputs           []*pace
	first            int   // the index of the input that held back windows when the clock last looked
	completeUntil    int64 // windows that end at or before this are complete
	handedUntil      int64 // the end of the last window that was handed out
	previousRunUntil int64 // windows that end at or before this were handed out in an earlier run
	// passes says when the first input passed windows: in order of both, from the first window
	// that is not complete.
	passes []pass
	// ending is set when the rest is read, however many windows that opens: see [clock.Next].
	ending bool
}

// A pass says when the first input passed the windows that end at or before end.
type pass struct {
	end int64
	at  time.Time
}

// A pace is how far one log of a clock is.
type pace struct {
	clock  *clock
	input  *input // the merger's, nil if there is none
	unread func() bool

	position    int64         // the latest middle of an interval, in milliseconds since the epoch
	passed      int64         // the end of the last window that it has passed
	passedAhead int64         // passed, if the last interval were not too far ahead
	longest     time.Duration // the length of its longest interval
	shown       time.Time     // when it showed the last interval, or joined
	written     time.Time     // when its file was written last before it joined; zero if it has shown more since
	atEnd       bool          // all its data were read
	silent      bool          // it showed nothing for long
	behind      bool          // its last interval came so late that nothing waits for the next one
	ahead       bool          // its last interval is too far ahead
	again       bool          // it shows again what it had shown in an earlier run
	slack       int64         // the largest step back in time between two intervals, in windows, in milliseconds
}

// never is the position before the first interval.
const never = math.MinInt64

// newClock returns a clock with windows of size milliseconds. If idle is 0, the idle time of an
// input is [DefaultIdle], or twice the length of its longest interval if that is longer: a reader
// may hold an interval until the next one shows whether its second number is a length or an end.
func newClock(size int64, idle time.Duration) *clock {
	return &clock{
		windows:          merge.NewWindows(size),
		idle:             idle,
		completeUntil:    never,
		handedUntil:      never,
		previousRunUntil: never,
	}
}

// Join adds an input, which has data to read. Unread, which may be nil, is asked before an input
// that is at its end stops holding back a window: it returns true if data have come that were not
// read.
func (l *clock) Join(now time.Time, unread func() bool) *pace {
	in := &pace{clock: l, unread: unread, position: never, passed: never, shown: now}
	l.inputs = append(l.inputs, in)
	return in
}

// isLate reports whether the window that ends at a time was handed out, or one that ends later.
func (l *clock) isLate(window int64) bool {
	return window <= max(l.handedUntil, l.previousRunUntil)
}

// Show says that the input has an interval from start to end, in milliseconds since the epoch. Call
// it for every interval in the order of the log.
func (in *pace) Show(now time.Time, start, end int64) {
	l := in.clock
	middle := (start + end) >> 1 // rounded down
	at := merge.WindowOf(start, end, l.windows.Size())
	in.shown = now
	in.written = time.Time{}
	in.silent = false
	wasAhead := in.ahead
	in.ahead = in.Ahead(now, middle)
	if in.ahead {
		in.position = middle
		in.passedAhead = at.Start
		return
	}
	if !l.isLate(at.End) && in.passed != never && in.passed >= at.End {
		in.slack = max(in.slack, in.passed-at.End+l.windows.Size())
	}
	in.longest = max(in.longest, between(start, end))
	in.position = max(in.position, middle)
	if wasAhead {
		in.position = middle
	}
	in.passed = max(in.passed, at.Start)
	in.behind = between(in.position, l.completeUntil) > in.idle()
	l.pass(in.passed, now)
}

// between returns the time from one time to another, in milliseconds since the epoch: 0 if the
// other one is earlier, and the longest [time.Duration] if it is too long for one. A log may say
// any time.
func between(from, to int64) time.Duration {
	const longest = uint64(math.MaxInt64 / time.Millisecond)
	if to <= from {
		return 0
	}
	difference := uint64(to) - uint64(from) // right even where that of int64 overflows
	return time.Duration(min(difference, longest)) * time.Millisecond
}

// Ahead reports whether a middle of an interval, in milliseconds since the epoch, is so far in the
// future that the clock of the log must be wrong: it is ahead by more than the idle time both of
// now and of the lower median of the inputs. Logs of the past never are, and neither is the only
// log. Such an interval passes only the windows that end before now. It is kept until its time
// comes.
func (in *pace) Ahead(now time.Time, middle int64) bool {
	latest := middle - in.idle().Milliseconds()
	if latest <= now.UnixMilli() {
		return false
	}
	asFar, all := 1, len(in.clock.inputs)
	for _, other := range in.clock.inputs {
		if other != in && other.position >= latest {
			asFar++
		}
	}
	return asFar < all/2+1 // so the lower median is less
}

// pass says that the windows that end at or before end were passed.
func (l *clock) pass(end int64, at time.Time) {
	if (len(l.passes) == 0 || end > l.passes[len(l.passes)-1].end) && end > l.completeUntil {
		l.passes = append(l.passes, pass{end, at})
	}
}

// End says that the input shows no further interval.
func (in *pace) End() {
	in.clock.inputs = slices.DeleteFunc(in.clock.inputs, func(other *pace) bool { return other == in })
}

// Stop says that the input shows no further interval in this run, but may in a later one. It holds
// back what it held back before.
func (in *pace) Stop() {
	in.atEnd = true
	in.unread = func() bool { return true }
}

func (in *pace) idle() time.Duration {
	if in.clock.idle > 0 {
		return in.clock.idle
	}
	return max(DefaultIdle, 2*in.longest)
}

// Next returns the input to read next: of those that have unread data, the one that is furthest
// behind. It returns nil if none has, or if too many windows are open that wait for another input.
func (l *clock) Next() *pace {
	var next *pace
	for n := range l.inputs {
		in := l.inputs[(l.first+n)%len(l.inputs)]
		if !in.atEnd && (next == nil || in.position < next.position) {
			next = in
			if in.position == never {
				break
			}
		}
	}
	if next == nil {
		return nil
	}
	if l.ending || l.showsAgain() || l.openUntil(next.position) <= mostAhead {
		return next
	}
	for _, in := range l.inputs {
		if in.ahead && !in.atEnd && !l.crowded() { // its next interval may be one that the others wait for
			return in
		}
	}
	return nil
}

// crowded reports whether more than mostFuture open windows end after completeUntil. Then logs that
// are ahead wait in their files until some of these windows are complete.
func (l *clock) crowded() bool {
	return l.windows.Len()-l.openUntil(l.completeUntil) > mostFuture
}

// Complete iterates over what the intervals of the windows that are complete now add up to, as
// [merge.Windows.Before] does. The caller must not leave the loop before its end, unless it is done
// with l.
func (l *clock) Complete(now time.Time) iter.Seq[*merge.Merged] {
	for _, in := range l.inputs {
		if !in.ahead {
			continue
		}
		if in.ahead = in.Ahead(now, in.position); in.ahead {
			l.pass(min(in.passedAhead, merge.WindowOf(now.UnixMilli(), now.UnixMilli(), l.windows.Size()).Start), now)
		} else {
			in.passed = max(in.passed, in.passedAhead)
			l.pass(in.passed, now)
		}
	}
	if end := l.complete(now); end > l.completeUntil {
		l.completeUntil = end
		n, _ := slices.BinarySearchFunc(l.passes, end+1, func(p pass, end int64) int { return cmp.Compare(p.end, end) })
		l.passes = slices.Delete(l.passes, 0, n)
	}
	return l.handOut(l.completeUntil)
}

// handOut hands out the windows that end at or before a time.
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

// showsAgain reports whether an input shows again what it had shown in an earlier run.
func (l *clock) showsAgain() bool {
	return slices.ContainsFunc(l.inputs, func(in *pace) bool { return in.again && in.input != nil })
}

// All closes all windows whose time has come: the inputs have ended, or nobody waits for them any
// more.
func (l *clock) All(now time.Time) iter.Seq[*merge.Merged] {
	l.completeUntil = l.soon(now)
	return l.handOut(l.completeUntil)
}

// soon returns the time up to which windows may be complete.
func (l *clock) soon(now time.Time) int64 { return now.Add(Early).UnixMilli() }

// complete returns the end of the last window that is complete.
func (l *clock) complete(now time.Time) int64 {
	least := l.previousRunUntil // nothing but what was shown before belongs to these windows
	if l.completeUntil < l.previousRunUntil {
		for _, in := range l.inputs {
			if in.again {
				least = min(least, in.releases(now))
			}
		}
	}
	return max(least, l.passed(now))
}

// passed returns the end of the last window that all inputs have passed, or do not hold back.
func (l *clock) passed(now time.Time) int64 {
	end, released := int64(never), int64(math.MaxInt64)
	if len(l.passes) > 0 {
		end = l.passes[len(l.passes)-1].end
	}
	for n := range l.inputs {
		at := (l.first + n) % len(l.inputs)
		if released = min(released, l.inputs[at].releases(now)); released <= l.completeUntil {
			l.first = at // the usual case, with many inputs
			return l.completeUntil
		}
	}
	if past := l.openUntil(now.UnixMilli()); released == math.MaxInt64 && past > 0 {
		end = max(end, l.windows.Window(past-1).End)
	}
	return min(end, released, l.soon(now))
}

// openUntil returns the number of open windows that end at or before a time.
func (l *clock) openUntil(time int64) int {
	return sort.Search(l.windows.Len(), func(n int) bool { return l.windows.Window(n).End > time })
}

// releases returns the end of the last window that the input does not hold back, and notes if the
// input is silent.
func (in *pace) releases(now time.Time) int64 {
	passed := in.passed
	quiet := now.Sub(in.shown) >= 2*in.idle() || !in.written.IsZero() && now.Sub(in.written) >= in.idle()
	if in.again && !(in.atEnd && quiet) {
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
	unread := func() bool { return in.unread != nil && in.unread() }
	switch {
	case in.ahead && !in.silent && !in.clock.crowded() && unread(): // maybe an interval that the others wait for
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
