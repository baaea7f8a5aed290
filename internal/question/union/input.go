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

// aheadOfAll is the number of intervals of all inputs together that are held to sort them by time.
// The share of an input lies between minAhead and maxAhead. Logs of several tags are often a few
// lines out of order. If a log is further out of order, all its intervals are held.
const aheadOfAll, minAhead, maxAhead = 16384, 16, 4096

// maxTime is the latest time of an interval in milliseconds, 35,000 years from the epoch. Up to
// this time, a float64 of seconds distinguishes milliseconds, and twice the sum of two times does
// not overflow an int64.
const maxTime = 1 << 50

// An interval is an interval of an input, on its way to a window of the result.
type interval struct {
	scan.Place
	start, end int64 // in milliseconds, on the time line of the result
	tag        []byte
	sum        *merge.Sum // its counts
	double     bool       // the counts are those of a double histogram
}

// before orders intervals by time, then by input and line.
func before(i, j interval) bool {
	return cmp.Or(cmp.Compare(i.start, j.start), cmp.Compare(i.Input, j.Input), cmp.Compare(i.Line, j.Line)) < 0
}

// sums reuses the memory of the counts of intervals. Allocating five kilobytes for each interval
// takes a twelfth of the time of a union.
var sums = sync.Pool{New: func() any { return new(merge.Sum) }}

// charge charges the account for a number of intervals and bytes, which may be negative.
func (u *union) charge(intervals, bytes int) error {
	if err := u.account.Add(intervals, bytes); err != nil {
		return scan.Fatal{Err: err}
	}
	return nil
}

// release gives back a sum for another interval.
func (u *union) release(sum *merge.Sum) {
	u.charge(-1, -sum.Size())
	sums.Put(sum)
}

// decode makes an interval of a visited one, and decodes its counts.
func (u *union) decode(d *scan.Decoder, v scan.Visit, i *interval) error {
	tag := u.tag(v.Interval)
	start, end := u.times(v.Interval)
	if err := check(tag, start, end); err != nil {
		return err
	}
	sum := sums.Get().(*merge.Sum)
	sum.Reset()
	err := d.Open(v.Interval)
	if err == nil {
		err = d.AddText(sum)
	}
	if err != nil {
		sums.Put(sum)
		return err
	}
	*i = interval{v.Place, start, end, bytes.Clone(tag), sum, d.Double()}
	return u.charge(1, sum.Size())
}

// tag returns the tag that an interval has in the result.
func (u *union) tag(i *hdrlog.Interval) []byte {
	return hdrlog.StandardTag(u.scan.Rows.By.Row("", i.Tag)) // no row depends on the input
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

// clamp truncates v, and limits it to four times maxTime, so that sums do not overflow.
func clamp(v float64) int64 {
	return int64(max(min(v, 4*maxTime), -4*maxTime))
}

// prepare looks through all inputs. It returns for each input the number of intervals that must be
// held to sort them by time, or math.MaxInt if the input is far out of order. It reads all pipes at
// the same time, since one program may write to several pipes.
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

// atOnce calls do with each number below count. At most most calls run at the same time. After an
// error it does not wait for the other calls, since a pipe may never end.
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

// order looks through an input without decoding counts. It adds the units of tags and the start of
// the input to the survey. It returns the number of intervals that must be held to sort them by
// time, but at most u.lookAhead.
func (u *union) order(input int) (lookAhead int, err error) {
	quiet := *u.scan
	quiet.Progress = nil // the second reading shows progress
	log, err := quiet.Open(input, 0)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	base, seen := int64(math.MaxInt64), make(map[string]bool)
	var key []byte
	// latest has for each of the last intervals the latest start so far. There are at least
	// u.lookAhead of them.
	latest := make([]int64, 0, 2*u.lookAhead)
	for log.Reader.Scan() {
		r := log.Reader.Record()
		if r.Kind == hdrlog.Comment || r.Kind == hdrlog.BaseTime {
			u.survey.mu.Lock()
			u.survey.units.Comment(log.Reader.Name(), r.Text)
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
			u.survey.units.Uses(tag, log.Reader.Name())
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
	return lookAhead, log.Reader.Err()
}
