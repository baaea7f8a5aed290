package live

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/clitest"
)

// A rig is a clock with windows of a second and a fake clock. Inputs are named by letters.
type rig struct {
	*clock
	t      *testing.T
	now    time.Time
	inputs map[string]*pace
	unread map[string]bool
}

func newRig(t *testing.T, idle time.Duration, names ...string) *rig {
	r := &rig{clock: newClock(1000, idle), t: t, now: time.Unix(1e6, 0), inputs: map[string]*pace{}, unread: map[string]bool{}}
	for _, name := range names {
		r.join(name)
	}
	return r
}

func (r *rig) join(name string) {
	r.inputs[name] = r.Join(r.now, func() bool { return r.unread[name] })
}

// sum returns a sum of one interval, in milliseconds.
func sum(t testing.TB, start, end int64, values ...int64) *merge.Sum {
	t.Helper()
	var h histogram.Histogram
	if err := h.Reset(histogram.Layout{Digits: 3}); err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if err := h.Record(v); err != nil {
			t.Fatal(err)
		}
	}
	s := new(merge.Sum)
	payload, err := new(histogram.Encoder).AppendBase64(nil, &h)
	if err != nil {
		t.Fatal(err)
	}
	i := &hdrlog.Interval{Start: float64(start) / 1000, Length: float64(end-start) / 1000, Payload: payload}
	if err := s.Add(i); err != nil {
		t.Fatal(err)
	}
	return s
}

// show has an input show an interval and then wait at its end, as a log that is written does.
func (r *rig) show(name string, start, end int64) (late bool) {
	r.t.Helper()
	in := r.inputs[name]
	in.Show(r.now, start, end)
	late = in.clock.isLate(merge.WindowOf(start, end, 1000).End)
	if !late {
		if err := in.clock.windows.Merge(nil, 0, sum(r.t, start, end, 1)); err != nil {
			r.t.Fatal(err)
		}
	}
	in.atEnd = true
	return late
}

// complete checks what has become complete: START-COUNT for each window, in seconds.
func (r *rig) complete(want ...string) {
	r.t.Helper()
	var got []string
	for m := range r.Complete(r.now) {
		got = append(got, fmt.Sprintf("%d-%d", m.Window.Start/1000, m.Intervals()))
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("at %v: complete are %q, not %q", r.now.Sub(time.Unix(1e6, 0)), got, want)
	}
}

func (r *rig) pass(d time.Duration) { r.now = r.now.Add(d) }

func TestClockPassing(t *testing.T) {
	// The clock of b is 0.3 s ahead, and the middle of an interval decides.
	r := newRig(t, 0, "a", "b")
	r.show("a", 0, 1000)
	r.show("b", 300, 1300)
	r.complete()
	r.show("a", 1000, 2000)
	r.complete() // b has not passed [0, 1000)
	r.show("b", 1300, 2300)
	r.complete("0-2")
	r.complete()
	r.show("b", 2300, 3300)
	r.show("b", 3300, 4300)
	r.complete()
	r.show("a", 2499, 3500) // the middle is 2999
	r.complete("1-2")
	r.show("a", 2500, 3500) // the middle is 3000
	r.complete("2-2")
}

func TestClockIdle(t *testing.T) {
	t.Run("default", func(t *testing.T) {
		r := newRig(t, 0, "a", "b")
		r.show("a", 0, 1000)
		r.show("b", 0, 1000)
		r.pass(time.Second)
		r.show("a", 1000, 2000) // a passes [0, 1000)
		r.pass(time.Second)
		r.show("a", 2000, 3000) // a passes [1000, 2000)
		r.pass(4*time.Second - 1)
		r.complete()
		r.pass(1)
		r.complete("0-2")
		r.pass(time.Second - 1)
		r.complete()
		r.pass(1)
		r.complete("1-1")
		// Nobody has passed [2000, 3000), but both are silent.
		r.pass(3 * time.Second)
		r.complete() // b is silent
		r.pass(2 * time.Second)
		r.complete("2-1")
	})
	t.Run("long intervals", func(t *testing.T) {
		// The idle time of b is 16 s, since it writes every 8 s.
		r := newRig(t, 0, "a", "b")
		r.show("b", 0, 8000) // in [4000, 5000)
		r.show("a", 4000, 5000)
		r.show("a", 5000, 6000)
		r.pass(16*time.Second - 1)
		r.complete()
		r.pass(1)
		r.complete("4-2")
	})
	t.Run("as given", func(t *testing.T) {
		r := newRig(t, 2*time.Second, "a", "b")
		r.show("b", 0, 8000)
		r.show("a", 4000, 5000)
		r.show("a", 5000, 6000)
		r.pass(2 * time.Second)
		r.complete("4-2")
	})
	t.Run("unread data", func(t *testing.T) {
		r := newRig(t, 0, "a", "b")
		r.show("a", 0, 1000)
		r.show("a", 1000, 2000)
		r.pass(time.Hour)
		r.complete() // b has not been read yet
		r.inputs["b"].atEnd = true
		r.unread["b"] = true // data came at the last moment
		r.complete()
		r.unread["b"] = false
		r.complete("0-1", "1-1") // both are silent
	})
	t.Run("unread data of a log that was ahead", func(t *testing.T) {
		r := newRig(t, 0, "a", "b", "c")
		start := r.now.UnixMilli()
		r.show("a", start+86400_000, start+86401_000)
		r.unread["a"] = true
		for _, name := range []string{"b", "c"} {
			r.show(name, start, start+1000)
			r.show(name, start+1000, start+2000)
		}
		r.complete()
		if r.show("a", start, start+1000) {
			t.Error("late")
		}
		r.unread["a"] = false
		r.complete()
		r.show("a", start+1000, start+2000)
		r.complete("1000000-3")
	})
	t.Run("end", func(t *testing.T) {
		r := newRig(t, 0, "a", "b")
		r.show("b", 0, 1000)
		r.show("a", 1000, 2000)
		r.complete()
		r.inputs["b"].End()
		r.complete("0-1")
		r.inputs["a"].End()
		r.complete("1-1")
	})
	t.Run("one input", func(t *testing.T) {
		r := newRig(t, 0, "a")
		for k := range int64(5) {
			r.show("a", k*1000, k*1000+1000)
			if k == 0 {
				r.complete()
			} else {
				r.complete(fmt.Sprintf("%d-1", k-1))
			}
		}
	})
}

// TestClockAgain: windows of an earlier run wait for an input that has not shown all of it again,
// for twice the idle time.
func TestClockAgain(t *testing.T) {
	r := newRig(t, 2*time.Second, "a", "b")
	r.previousRunUntil = 2000
	b := r.inputs["b"]
	b.showsAgain, b.atEnd = true, true
	for start := int64(0); start < 4000; start += 1000 {
		r.show("a", start, start+1000)
	}
	r.pass(4*time.Second - 1)
	r.complete()
	r.pass(1)
	r.complete("2-1", "3-1")
}

// TestClockSlack: an input whose lines were out of order shows them again in that order. A window
// waits for a line that came when the input had passed it.
func TestClockSlack(t *testing.T) {
	before := newRig(t, time.Hour, "a", "b")
	before.show("a", 2000, 3000)
	before.show("a", 1000, 2000)
	slack := before.inputs["a"].slack
	if slack != 1000 {
		t.Errorf("the slack is %d", slack)
	}
	r := newRig(t, time.Hour, "a")
	a := r.inputs["a"]
	a.showsAgain = true
	a.slack = slack
	r.show("a", 1000, 2000)
	r.show("a", 2000, 3000)
	r.complete()
	if r.show("a", 1000, 2000) {
		t.Error("late")
	}
	r.show("a", 3000, 4000)
	r.complete("1-2")
}

// TestClockSilent checks that an input that shows nothing for twice its idle time costs the others
// no time.
func TestClockSilent(t *testing.T) {
	r := newRig(t, 0, "a", "b")
	r.show("a", 0, 1000)
	r.show("b", 0, 1000)
	next := int64(0)
	tick := func() { // a shows the next second
		r.pass(time.Second)
		next += 1000
		r.show("a", next, next+1000)
	}
	for range 5 {
		tick()
		r.complete()
	}
	tick()
	r.complete("0-2") // 5 s after a had passed it
	for k := range int64(3) {
		tick()
		r.complete(fmt.Sprintf("%d-1", k+1))
	}
	tick()
	r.complete("4-1", "5-1", "6-1", "7-1", "8-1", "9-1")
	if !r.inputs["b"].silent {
		t.Error("b is waited for after 10 s")
	}
	tick()
	r.complete("10-1")

	// When it is back, it is waited for.
	if r.show("b", next, next+1000) || r.inputs["b"].silent {
		t.Error("b is not back")
	}
	tick()
	r.complete()
	r.show("b", next, next+1000)
	r.complete("11-2")
}

func TestClockLate(t *testing.T) {
	r := newRig(t, 0, "a", "slow")
	r.show("slow", 0, 1000)
	r.show("a", 3600_000, 3601_000) // an hour ahead
	r.show("a", 3601_000, 3602_000)
	r.pass(5 * time.Second)
	r.complete("0-1", "3600-1")
	// Another second of slow is late. It is not waited for, since the next one comes too late as
	// well.
	if !r.show("slow", 1000, 2000) {
		t.Error("an interval of a window that is complete is not late")
	}
	r.show("a", 3602_000, 3603_000)
	r.complete("3601-1")
	// An interval that is late by less than the idle time does not mean so.
	if !r.show("slow", 3601_000, 3602_000) {
		t.Error("not late")
	}
	r.show("a", 3603_000, 3604_000)
	r.complete()
	if r.show("slow", 3602_000, 3603_000) {
		t.Error("late")
	}
	r.show("slow", 3603_000, 3604_000)
	r.complete("3602-2")
	// One that joins later may be late, too.
	r.join("new")
	if !r.show("new", 3602_000, 3603_000) || r.show("new", 3603_000, 3604_000) {
		t.Error("what is late of the new input")
	}
}

// TestBetween: times so far from each other that their difference is no int64, or no duration, do
// not overflow.
func TestBetween(t *testing.T) {
	t.Parallel()
	const longest = math.MaxInt64 / time.Millisecond * time.Millisecond
	for _, test := range []struct {
		from, to int64
		want     time.Duration
	}{
		{0, 1, time.Millisecond},
		{-1, 1, 2 * time.Millisecond},
		{1, 1, 0},
		{1, 0, 0},
		{0, math.MaxInt64 / int64(time.Millisecond), longest},
		{0, math.MaxInt64/int64(time.Millisecond) + 1, longest},
		{never, 1, longest},
		{never, math.MaxInt64, longest},
		{never, never, 0},
		{math.MaxInt64, never, 0},
	} {
		if got := between(test.from, test.to); got != test.want {
			t.Errorf("from %d to %d are %v, not %v", test.from, test.to, got, test.want)
		}
	}
}

// TestClockAges: a log that is behind by more than a duration can say holds back nothing.
func TestClockAges(t *testing.T) {
	r := newRig(t, 0, "a", "old")
	r.show("a", 0, 1000)
	r.show("a", 1000, 2000)
	r.show("old", 1000, 2000)
	r.complete("0-1")
	old := r.inputs["old"]
	old.latestMiddle = never
	old.Show(r.now, never/4, never/4)
	if !old.behind {
		t.Error("the log is not behind")
	}
}

// TestClockAhead: a log whose clock is ahead, always or for a line, moves no window of the others
// and loses nothing itself. Its last windows come when their time comes.
func TestClockAhead(t *testing.T) {
	for _, skew := range []int64{3000, 8000, 86400_000, -3000, -8000, -86400_000} {
		for _, always := range []bool{true, false} {
			r := newRig(t, 0, "a", "b", "c")
			start := r.now.UnixMilli()
			rows, own := map[int64]int64{}, int64(0)
			take := func() {
				for m := range r.Complete(r.now) {
					rows[(m.Window.Start-start)/1000] += m.Intervals()
				}
			}
			for k := range int64(40) {
				r.pass(time.Second)
				for _, name := range []string{"a", "b", "c"} {
					at := start + k*1000
					if name == "a" && (always || k == 10) {
						at += skew
					}
					if r.show(name, at, at+1000) && name == "a" {
						own++
					} else if k == 20 && r.inputs[name].isTooFarAhead(r.now, at+500) != (name == "a" && always && skew > 5000) {
						t.Errorf("skew %d, always %v: %s is ahead, or not", skew, always, name)
					}
					take()
				}
			}
			for k := range int64(30) {
				if rows[k] < 2 {
					t.Errorf("skew %d, always %v: window %d has %d intervals", skew, always, k, rows[k])
				}
			}
			if skew > 0 && own > 0 || own > 40 || !always && own > 1 {
				t.Errorf("skew %d, always %v: a lost %d", skew, always, own)
			}
			r.pass(48 * time.Hour)
			take()
			total := own
			for _, n := range rows {
				total += n
			}
			if total != 120 || r.windows.Len() != 0 {
				t.Errorf("skew %d, always %v: %d intervals, %d windows are open", skew, always, total, r.windows.Len())
			}
		}
	}
}

// TestClockAheadAlone: when the others are silent, the windows of a log whose clock is ahead come
// one by one as the time comes.
func TestClockAheadAlone(t *testing.T) {
	r := newRig(t, time.Second, "a", "b", "c")
	start := r.now.UnixMilli()
	for k := range int64(20) {
		r.show("a", start+k*1000, start+k*1000+1000)
	}
	r.inputs["b"].atEnd = true
	r.inputs["c"].atEnd = true
	r.pass(10 * time.Second)
	n := 0
	for ; r.windows.Len() > 0; n++ {
		for m := range r.Complete(r.now) {
			if m.Window.End > r.now.UnixMilli() {
				t.Fatalf("window %d at %v", m.Window.Start-start, r.now)
			}
		}
		r.pass(time.Second)
	}
	if n < 10 || n > 21 {
		t.Errorf("complete after %d seconds", n)
	}
}

// TestClockGood: over logs with good clocks, of any time and with gaps, nothing is too far ahead,
// and nothing is late while all have data to read.
func TestClockGood(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 2))
		r := newRig(t, 0, "a", "b", "c")
		begin := r.now.UnixMilli() - random.Int64N(2)*random.Int64N(900_000_000)
		at := map[*pace]int64{}
		for _, in := range r.clock.inputs {
			at[in] = begin + random.Int64N(4000)
		}
		for range 300 {
			in := r.Next()
			if now := at[in] + 2000; now > r.now.UnixMilli() {
				r.now = time.UnixMilli(now) // a log has no interval before its end
			}
			ahead := in.isTooFarAhead(r.now, at[in]+500)
			in.Show(r.now, at[in], at[in]+1000)
			if ahead || in.clock.isLate(merge.WindowOf(at[in], at[in]+1000, 1000).End) {
				t.Fatalf("seed %d: %d is late or ahead at %v", seed, at[in], r.now)
			}
			if at[in] += 1000; random.IntN(30) == 0 {
				at[in] += random.Int64N(100_000)
			}
			for range r.Complete(r.now) {
			}
		}
	}
}

func TestClockNext(t *testing.T) {
	r := newRig(t, 0, "a", "b", "c")
	next := func(want string) {
		t.Helper()
		if got := r.Next(); got != r.inputs[want] {
			t.Errorf("%v is not %s", got, want)
		}
	}
	next("a")
	r.show("a", 0, 1000)
	r.inputs["a"].atEnd = false
	next("b")
	r.show("b", 5000, 6000)
	next("c")
	r.show("c", 3000, 4000)
	next("a")
	r.inputs["a"].atEnd = true
	next("")
	r.inputs["b"].atEnd = false
	r.inputs["c"].atEnd = false
	next("c")

	// While a holds windows open, b and c are not read without end.
	var read int64
	for in := r.Next(); in != nil; in = r.Next() {
		at := in.latestMiddle/1000*1000 + 1000
		in.Show(r.now, at, at+1000)
		if err := in.clock.windows.Merge(nil, 0, sum(t, at, at+1000, 1)); err != nil {
			t.Fatal(err)
		}
		if read++; read > 4*maxAhead {
			t.Fatal("memory is not bounded")
		}
	}
	if read < maxAhead {
		t.Errorf("only %d intervals are read ahead", read)
	}
	for range r.Complete(r.now) {
	}
	r.pass(10 * time.Second)
	for range r.Complete(r.now) {
	}
	if r.Next() == nil {
		t.Error("a is silent, and nothing is read")
	}
}

// TestClockAll gives inputs random delays, order and skew. What is complete and what is late add up
// to the offline result, and windows come in order.
func TestClockAll(t *testing.T) {
	for seed := range uint64(clitest.Rounds(50)) {
		random := rand.New(rand.NewPCG(seed, 1))
		names := []string{"a", "b", "c", "d"}
		r := newRig(t, time.Duration(random.IntN(3))*time.Second, names...)
		offline, again := merge.NewWindows(1000), merge.NewWindows(1000)
		last, lates := int64(never), 0
		var tags = [][]byte{nil, []byte("x"), []byte("y")}
		add := func(ws *merge.Windows, tag []byte, s *merge.Sum) {
			if err := ws.Merge(tag, 0, s); err != nil {
				t.Fatal(err)
			}
		}
		drain := func() {
			for m := range r.Complete(r.now) {
				if m.Window.Start < last {
					t.Fatalf("seed %d: window %d after %d", seed, m.Window.Start, last)
				}
				last = m.Window.Start
				add(again, m.Tag, &m.Sum)
			}
		}
		at := map[string]int64{}
		for _, name := range names {
			at[name] = random.Int64N(3000)
		}
		for range 300 {
			name := names[random.IntN(len(names))]
			if random.IntN(20) == 0 {
				at[name] += random.Int64N(20_000) // it was stopped
			}
			start := at[name] - random.Int64N(500)
			end := start + random.Int64N(1500)
			at[name] += 1000
			tag, s := tags[random.IntN(len(tags))], sum(t, start, end, random.Int64N(1e6))
			add(offline, tag, s)
			in := r.inputs[name]
			in.Show(r.now, start, end)
			if in.clock.isLate(merge.WindowOf(start, end, 1000).End) {
				lates++
				add(again, tag, s)
			} else if err := in.clock.windows.Merge(tag, 0, s); err != nil {
				t.Fatal(err)
			}
			r.inputs[name].atEnd = random.IntN(3) > 0
			r.pass(time.Duration(random.IntN(1000)) * time.Millisecond)
			drain()
		}
		for m := range r.All(r.now) {
			add(again, m.Tag, &m.Sum)
		}
		if want, got := dump(t, offline), dump(t, again); got != want {
			t.Fatalf("seed %d: with %d late intervals\n%s\nnot\n%s", seed, lates, got, want)
		}
	}
}

// dump returns what all windows have.
func dump(t *testing.T, ws *merge.Windows) string {
	t.Helper()
	var b strings.Builder
	for m := range ws.All() {
		fields, err := m.AppendFields(nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%q %s\n", m.Tag, fields)
	}
	return b.String()
}
