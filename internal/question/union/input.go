package union

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/scan"
)

// aheadOfAll is the number of intervals, of all inputs, that are held to have them in order. The
// share of an input lies between leastAhead and mostAhead. Logs of several tags are often a few
// lines out of order; all intervals of a log that is further out are held.
const aheadOfAll, leastAhead, mostAhead = 16384, 16, 4096

// maxTime is the latest time taken, in milliseconds, some 35,000 years from the epoch. There a
// float64 of seconds still distinguishes milliseconds, and twice the sum of two times does not
// overflow.
const maxTime = 1 << 50

// interval is one that is to be united with others.
type interval struct {
	scan.Place
	start, end int64 // milliseconds, on the time line of the result
	tag        []byte
	sum        *merge.Sum
	double     bool
}

// before orders intervals by time, and where that is the same by where they come from.
func before(i, j interval) bool {
	return cmp.Or(cmp.Compare(i.start, j.start), cmp.Compare(i.Input, j.Input), cmp.Compare(i.Line, j.Line)) < 0
}

// sums are used again for other intervals. Five kilobytes for each, left to the garbage collector,
// took a twelfth of a union's time.
var sums = sync.Pool{New: func() any { return new(merge.Sum) }}

// charge charges for intervals in memory.
func (u *union) charge(intervals, bytes int) error {
	if err := u.account.Add(intervals, bytes); err != nil {
		return scan.Fatal{Err: err}
	}
	return nil
}

// put gives a sum back.
func (u *union) put(sum *merge.Sum) {
	u.charge(-1, -sum.Size())
	sums.Put(sum)
}

// decode makes an interval of what is visited.
func (u *union) decode(_ int, v scan.Visit, i *interval) error {
	tag := u.tag(v.Interval)
	start, end := u.times(v.Interval)
	if err := check(tag, start, end); err != nil {
		return err
	}
	sum := sums.Get().(*merge.Sum)
	sum.Reset()
	took, err := v.Decode(scan.Want{Text: true}, sum)
	if err != nil {
		sums.Put(sum)
		return err
	}
	*i = interval{v.Place, start, end, bytes.Clone(tag), sum, took.Double}
	return u.charge(1, sum.Size())
}

// tag returns the tag that an interval has in the result.
func (u *union) tag(i *hdrlog.Interval) []byte {
	return hdrlog.StandardTag(u.scan.By.Row("", i.Tag)) // rows that add up all tags are the same in all inputs
}

// times returns when an interval starts and ends on the time line of the result, in milliseconds.
func (u *union) times(i *hdrlog.Interval) (start, end int64) {
	start, end = clamp(float64(i.StartMillis())), clamp(float64(i.EndMillis()))
	if u.options.Relative {
		length := end - start
		start = clamp(float64(start - logline.Millis(i.LogStart)))
		end = start + length
	}
	return start, max(start, end)
}

// check returns a [hdrlog.SyntaxError] if the result cannot hold an interval of a tag.
func check(tag []byte, start, end int64) error {
	if start < -maxTime || end > maxTime {
		return &hdrlog.SyntaxError{Field: "start", Err: hdrlog.ErrTime}
	}
	if err := hdrlog.CheckTag(tag); err != nil {
		return &hdrlog.SyntaxError{Field: "tag", Err: err}
	}
	return nil
}

// clamp returns v truncated, and what is far beyond maxTime not as far.
func clamp(v float64) int64 {
	return int64(max(min(v, 4*maxTime), -4*maxTime))
}

// prepare finds out in what order the inputs are, and returns how many intervals of each to hold to
// have them in order: all of one that is far from in order. All pipes are read at the same time,
// since one program may write to several.
func (u *union) prepare() (lookAheads []int, err error) {
	inputs := u.scan.Inputs
	if err := atOnce(len(inputs), len(inputs), func(n int) error {
		if inputs[n].Size > 0 {
			return nil
		}
		return u.spool(&inputs[n])
	}); err != nil {
		return nil, err
	}
	lookAheads, errs := make([]int, len(inputs)), make([]error, len(inputs))
	atOnce(len(inputs), 2*u.scan.Workers, func(n int) error { // three inputs of a size keep two cores busy to the end
		lookAheads[n], errs[n] = u.order(n)
		return nil
	})
	var unordered []string
	for n := range inputs {
		if errs[n] != nil {
			return nil, errs[n]
		}
		if lookAheads[n] == u.lookAhead {
			lookAheads[n] = math.MaxInt
			unordered = append(unordered, inputs[n].Name)
		}
	}
	if len(unordered) > 0 && u.options.Warn != nil {
		others := ""
		if n := len(unordered) - 1; n > 0 {
			others = fmt.Sprintf(" and %d more", n)
		}
		u.options.Warn("%s%s: lines are far from in order of time, so all intervals are held in memory", unordered[0],
			others)
	}
	return lookAheads, nil
}

// atOnce calls do with each number below count, at most so many calls at the same time. After an
// error it does not wait for the others: a pipe may never end.
func atOnce(count, most int, do func(n int) error) error {
	errs, places := make(chan error, count), make(chan struct{}, most)
	for n := range count {
		go func() {
			places <- struct{}{}
			defer func() { <-places }()
			errs <- do(n)
		}()
	}
	for range count {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// order looks through an input, without decoding anything. It finds out the units of its tags, and
// when it starts. It returns how many intervals must be held to have them in order: u.lookAhead if
// it takes that many or more.
func (u *union) order(input int) (lookAhead int, err error) {
	quiet := *u.scan
	quiet.Progress = nil // it is read again
	log, err := quiet.Open(input, 0)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	base, seen := int64(math.MaxInt64), make(map[string]bool)
	var key []byte
	// The latest start so far, as of each of the last intervals, u.lookAhead of them at least.
	latest := make([]int64, 0, 2*u.lookAhead)
	for log.Scan() {
		r := log.Record()
		if r.Kind == hdrlog.Comment || r.Kind == hdrlog.BaseTime {
			u.survey.mu.Lock()
			u.survey.units.Comment(log.Name(), r.Text)
			u.survey.mu.Unlock()
		}
		i := r.Interval
		if r.Kind != hdrlog.IntervalRecord || !u.scan.Select(input, &i) {
			continue
		}
		tag := u.tag(&i)
		if key = merge.AppendKey(key[:0], tag); !seen[string(key)] {
			seen[string(key)] = true
			u.survey.mu.Lock()
			u.survey.units.Uses(tag, log.Name())
			u.survey.mu.Unlock()
		}
		start, end := u.times(&i)
		if check(tag, start, end) != nil {
			continue
		}
		logStart := clamp(float64(logline.Millis(i.LogStart)))
		if u.options.Relative {
			logStart = 0
		}
		base = min(base, start, logStart)
		if lookAhead == u.lookAhead {
			continue
		}
		held := 0
		for held < len(latest) && latest[len(latest)-1-held] > start {
			held++
		}
		lookAhead = min(max(lookAhead, held), u.lookAhead)
		if len(latest) == cap(latest) {
			latest = latest[:copy(latest, latest[len(latest)/2:])]
		}
		if held > 0 {
			start = latest[len(latest)-1]
		}
		latest = append(latest, start)
	}
	u.survey.mu.Lock()
	defer u.survey.mu.Unlock()
	u.survey.base = min(u.survey.base, base)
	return lookAhead, log.Err()
}
