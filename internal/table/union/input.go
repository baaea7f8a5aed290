package union

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/heap"
	"hdrkit/internal/scan"
)

// aheadOfAll is the number of intervals, of all inputs, that are held to have them in order. The
// share of an input lies between leastAhead and mostAhead. Logs of several tags are often a few
// lines out of order; only what is further out is sorted.
const aheadOfAll, leastAhead, mostAhead = 16384, 16, 4096

// maxTime is the latest time taken, in milliseconds, some 35,000 years from the epoch. There a
// float64 of seconds still distinguishes milliseconds, and twice the sum of two times does not
// overflow.
const maxTime = 1 << 50

// interval is one that is to be united with others.
type interval struct {
	scan.Place
	start, end int64 // milliseconds, on the time line of the result
	tagged     *tagged
	sum        *merge.Sum
	extent     scan.Extent
}

// before orders intervals by time, and where that is the same by where they come from.
func (i *interval) before(j *interval) bool {
	return cmp.Or(cmp.Compare(i.start, j.start), cmp.Compare(i.Input, j.Input), cmp.Compare(i.Line, j.Line)) < 0
}

// sums are used again for other intervals. Five kilobytes for each, left to the garbage collector,
// took a twelfth of a union's time.
var sums = sync.Pool{New: func() any { return new(merge.Sum) }}

// hold charges for intervals in memory.
func (u *union) hold(intervals, bytes int) error {
	if err := u.account.Add(intervals, bytes); err != nil {
		return scan.Fatal{Err: err}
	}
	return nil
}

// put gives a sum back.
func (u *union) put(sum *merge.Sum) {
	u.hold(-1, -sum.Size())
	sums.Put(sum)
}

// decode makes an interval of what is visited.
func (u *union) decode(_ int, v scan.Visit, i *interval) error {
	start, end, _, err := u.place(v.Interval)
	if err != nil {
		return err
	}
	sum := sums.Get().(*merge.Sum)
	sum.Reset()
	took, err := v.Take(scan.Want{}, sum)
	if err != nil {
		sums.Put(sum)
		return err
	}
	*i = interval{v.Place, start, end, u.found.of(u.tag(v.Interval)), sum, took.Extent}
	return u.hold(1, sum.Size())
}

// tag returns the tag that an interval has in the result.
func (u *union) tag(i *hdrlog.Interval) []byte {
	return hdrlog.StandardTag(u.scan.By.Row("", i.Tag)) // rows that add up all tags are the same in all inputs
}

// place returns when an interval starts and ends on the time line of the result, and when its log
// starts or it does, whichever is earlier, in milliseconds. The error is a [hdrlog.SyntaxError]:
// the result cannot hold the interval.
func (u *union) place(i *hdrlog.Interval) (start, end, log int64, err error) {
	start, end = clamp(float64(i.StartMillis())), clamp(float64(i.EndMillis()))
	log = clamp(math.Round(i.LogStart * 1000))
	if u.options.Relative {
		length := end - start
		start = clamp(float64(start) - i.LogStart*1000)
		end, log = start+length, 0
	}
	end = max(start, end)
	if start < -maxTime || end > maxTime {
		return 0, 0, 0, &hdrlog.SyntaxError{Field: "start", Err: hdrlog.ErrTime}
	}
	if err := hdrlog.CheckTag(u.tag(i)); err != nil {
		return 0, 0, 0, &hdrlog.SyntaxError{Field: "tag", Err: err}
	}
	return start, end, min(start, log), nil
}

// clamp returns v truncated, and what is far beyond maxTime not as far.
func clamp(v float64) int64 {
	return int64(max(min(v, 4*maxTime), -4*maxTime))
}

// source is an input, or a sorted part of it, whose intervals are nearly in order.
type source struct {
	part      scan.Part
	lookAhead int // the number of intervals to hold to have them in order
}

// prepare finds out in what order the inputs are, and sorts pipes, which can be read only once, and
// files that are far from in order. All pipes are read at the same time, since one program may
// write to several.
func (u *union) prepare(s *sorter) ([]source, error) {
	inputs := u.scan.Inputs
	orders, errs := make([]int, len(inputs)), make([]error, len(inputs))
	broken := make(chan error, len(inputs))         // of pipes: another one may never end
	places := make(chan struct{}, 2*u.scan.Workers) // three inputs of a size keep two cores busy to the end
	var looking sync.WaitGroup
	for n := range inputs {
		looking.Go(func() {
			if inputs[n].Size == 0 {
				if err := s.sort(n); err != nil {
					broken <- err
				}
				return
			}
			places <- struct{}{}
			defer func() { <-places }()
			orders[n], errs[n] = u.order(n)
		})
	}
	looked := make(chan struct{})
	go func() {
		looking.Wait()
		close(looked)
	}()
	select {
	case err := <-broken:
		return nil, err
	case <-looked:
	}
	if len(broken) > 0 {
		return nil, <-broken
	}
	var sources []source
	var unordered []int
	for n := range inputs {
		switch {
		case errs[n] != nil:
			return nil, errs[n]
		case inputs[n].Size == 0:
		case orders[n] < u.lookAhead:
			sources = append(sources, source{u.scan.Part(n), orders[n]})
		default:
			unordered = append(unordered, n)
		}
	}
	for _, n := range unordered {
		if err := s.sort(n); err != nil {
			return nil, err
		}
	}
	if len(unordered) > 0 && u.options.Warn != nil {
		others := ""
		if n := len(unordered) - 1; n > 0 {
			others = fmt.Sprintf(" and %d more", n)
		}
		u.options.Warn("%s%s: lines are far from in order of time; they are sorted first, which takes longer", inputs[unordered[0]].Name, others)
	}
	return append(sources, s.sources...), nil
}

// each calls use for the intervals of an input that the scan keeps, but those that the result
// cannot hold: with the record as it stands in the log, the start of the interval, and when its log
// starts or it does. It calls rest for the other records.
func (u *union) each(log *scan.Log, input int, use func(r *hdrlog.Record, start, base int64) error, rest func(r *hdrlog.Record, err error) error) error {
	seen := make(map[string]bool) // tags but for none, whose key is not in use
	none := false
	for log.Scan() {
		r := log.Record()
		if r.Kind == hdrlog.Comment {
			u.mu.Lock()
			u.units.Comment(log.Name(), r.Text)
			u.mu.Unlock()
		}
		if r.Kind != hdrlog.IntervalRecord {
			var wrong error // a comment has a nil *SyntaxError, which is no nil error
			if r.Err != nil {
				wrong = r.Err
			}
			if err := rest(r, wrong); err != nil {
				return err
			}
			continue
		}
		i := r.Interval
		if !u.scan.Select(input, &i) {
			if err := rest(r, nil); err != nil {
				return err
			}
			continue
		}
		if tag := u.tag(&i); tag == nil && !none || tag != nil && !seen[string(tag)] {
			none = none || tag == nil
			if tag != nil {
				seen[string(tag)] = true
			}
			u.mu.Lock()
			u.units.Uses(tag, log.Name())
			u.mu.Unlock()
		}
		start, _, base, err := u.place(&i)
		if err != nil {
			err = rest(r, err)
		} else {
			err = use(r, start, base)
		}
		if err != nil {
			return err
		}
	}
	return log.Err()
}

// order looks through an input, without decoding anything, and returns how many intervals must be
// held to have them in order: u.lookAhead if it takes that many or more.
func (u *union) order(input int) (lookAhead int, err error) {
	quiet := *u.scan
	quiet.Progress = nil // it is read again
	log, err := quiet.Open(input, 0)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	base := int64(math.MaxInt64)
	// The latest start so far, as of each of the last intervals, u.lookAhead of them at least.
	latest := make([]int64, 0, 2*u.lookAhead)
	err = u.each(log, input, func(_ *hdrlog.Record, start, earliest int64) error {
		base = min(base, earliest)
		if lookAhead == u.lookAhead {
			return nil
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
		return nil
	}, func(*hdrlog.Record, error) error { return nil })
	u.startAt(base)
	return lookAhead, err
}

// startAt has the result start at base or earlier.
func (u *union) startAt(base int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.base = min(u.base, base)
}

// stream is the intervals of a source in order of their starts.
type stream struct {
	first     interval // valid after advance returned true
	cursor    *scan.Cursor[interval]
	ahead     *heap.Heap[interval] // read but not taken
	lookAhead int
	last      int64 // the start of the last one taken
}

func newStream(c *scan.Cursor[interval], lookAhead int) *stream {
	return &stream{
		cursor: c, lookAhead: lookAhead, last: math.MinInt64,
		ahead: heap.New(func(a, b interval) bool { return a.before(&b) }),
	}
}

// advance puts the next interval in s.first. It returns false if there is none.
func (s *stream) advance() (bool, error) {
	for s.ahead.Len() <= s.lookAhead {
		ok, err := s.cursor.Next()
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		s.ahead.Push(*s.cursor.Result)
	}
	if s.ahead.Len() == 0 {
		return false, nil
	}
	s.first = s.ahead.Pop()
	if s.first.start < s.last {
		return false, fmt.Errorf("%s was written to while it was read", s.first.Name)
	}
	s.last = s.first.start
	return true, nil
}
