package merge

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/internal/logtest"
)

// TestWindowOf has the examples of the package documentation, and times before the epoch.
func TestWindowOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name          string
		start, length float64
		size, want    int64
	}{
		{"whole", 10, 10, 10000, 10000},
		{"early timer", 9.998, 10.001, 10000, 10000},
		{"middle on an edge", 5, 10, 10000, 10000},
		{"middle before an edge", 4.999, 10, 10000, 0},
		{"truncated start and end", 9.9995, 0.001, 10000, 0},
		{"no length", 10, 0, 10000, 10000},
		{"longer than a window", 0, 60, 10000, 30000},
		{"before the epoch", -10, 10, 10000, -10000},
		{"middle on the epoch", -5, 10, 10000, 0},
		{"one millisecond before the epoch", -0.001, 0, 10000, -10000},
		{"smallest window", 0.001, 0.001, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := hdrlog.Interval{Start: test.start, Length: test.length}
			want := Span{test.want, test.want + test.size}
			if got := WindowOf(i.StartMillis(), i.EndMillis(), test.size); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// intervals returns the intervals of a log without its malformed lines, with memory of their own.
func intervals(t testing.TB, log string) (all []hdrlog.Interval) {
	t.Helper()
	r := hdrlog.NewReader(strings.NewReader(log), "log")
	for r.Scan() {
		if rec := r.Record(); rec.Kind == hdrlog.IntervalRecord {
			all = append(all, rec.Clone().Interval)
		}
	}
	return all
}

// testLogs returns the logs in testdata.
func testLogs(t testing.TB) map[string]string {
	t.Helper()
	logs := make(map[string]string)
	for _, pattern := range []string{"logs/*.hdr", "dialects/*.h*"} {
		names, err := filepath.Glob("../../testdata/" + pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			logs[filepath.Base(name)] = string(text)
		}
	}
	return logs
}

// fields returns the line of a sum.
func fields(t testing.TB, s *Sum) string {
	t.Helper()
	text, err := s.AppendFields(nil, 1468800000000)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readable returns the intervals that s can take, of the kind of the first.
func readable(all []hdrlog.Interval) (good []hdrlog.Interval) {
	double := false
	for _, i := range all {
		var s Sum
		if s.Add(&i) == nil && (len(good) == 0 || double == (s.Layout().Ratio != 0)) {
			double = s.Layout().Ratio != 0
			good = append(good, i)
		}
	}
	return good
}

// tree adds up intervals in a random grouping, and sends some sums as bytes.
func tree(t testing.TB, random *rand.Rand, all []hdrlog.Interval) *Sum {
	t.Helper()
	s := new(Sum)
	var err error
	switch {
	case len(all) == 1:
		err = s.Add(&all[0])
	case len(all) < 5 || random.IntN(3) == 0:
		s.Reset()
		for n := range all {
			err = errors.Join(err, s.Add(&all[n]))
		}
	default:
		cut := 1 + random.IntN(len(all)-1)
		a, b := tree(t, random, all[:cut]), tree(t, random, all[cut:])
		s.counts.small = random.IntN(2) == 0
		err = errors.Join(s.Merge(a), s.Merge(new(Sum)), s.Merge(b))
	}
	if err != nil {
		t.Fatal(err)
	}
	received := new(Sum)
	switch random.IntN(4) {
	case 0, 1:
		return s
	case 2:
		data, err := s.AppendPacked(nil)
		if err := errors.Join(err, received.SetPacked(data)); err != nil {
			t.Fatal(err)
		}
		if s.Intervals() == 1 { // it has no text any more
			return s
		}
		return received
	}
	data, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := received.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	return received
}

// TestCombiner proves that a sum is the same in whatever order and groups its intervals are added,
// and that it holds what the histograms of the intervals add up to.
func TestCombiner(t *testing.T) {
	t.Parallel()
	for name, log := range testLogs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := readable(intervals(t, log))
			if name == "huge-counts.hdr" || len(all) == 0 {
				return // huge counts do not add up; TestSumErrors has such
			}
			random := rand.New(rand.NewPCG(1, 2))
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			var want *histogram.Histogram
			var start, end int64
			for n, i := range all {
				own := new(histogram.Histogram)
				if err := new(histogram.Decoder).Decode(own, i.Payload); err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					want = own
					start = i.StartMillis()
					end = i.EndMillis()
				} else if err := want.Add(own); err != nil {
					t.Fatal(err)
				}
				start, end = min(start, i.StartMillis()), max(end, i.EndMillis())
			}
			line := ""
			for range 5 {
				s := tree(t, random, all)
				h, err := s.Histogram(new(histogram.Histogram))
				if err != nil {
					t.Fatal(err)
				}
				if s.Intervals() != int64(len(all)) || s.Start != start || s.End != end || h.Layout() != want.Layout() ||
					!slices.Equal(slices.Collect(h.Recorded()), slices.Collect(want.Recorded())) {
					t.Errorf("%d intervals from %d to %d, %d values", s.Intervals(), s.Start, s.End, h.TotalCount())
				}
				if got := fields(t, s); line != "" && got != line {
					t.Errorf("%s\nand in another order\n%s", got, line)
				} else {
					line = got
				}
				random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			}
		})
	}
}

// TestOneInterval proves that an interval which nothing joins stays as it is, and that one of
// another encoding becomes compressed and of version 2.
func TestOneInterval(t *testing.T) {
	t.Parallel()
	passed, encoded := 0, 0
	for name, log := range testLogs(t) {
		for n, i := range readable(intervals(t, log)) {
			for _, sent := range []bool{false, true} {
				var s Sum
				if err := s.Add(&i); err != nil {
					t.Fatal(err)
				}
				if sent {
					data, err := s.MarshalBinary()
					if err == nil {
						err = s.UnmarshalBinary(data)
					}
					if err != nil {
						t.Fatalf("%s, interval %d: %v", name, n, err)
					}
				}
				f := strings.Split(fields(t, &s), ",")
				if want := string(appendMax(nil, &i)); f[2] != want {
					t.Errorf("%s, interval %d: MAX is %s, was %s", name, n, f[2], want)
				}
				p, err := new(histogram.Decoder).Open(i.Payload)
				if err != nil {
					t.Fatal(err)
				}
				if _, compressed, _ := histogram.Peek(i.Payload); compressed && p.Version() == 2 {
					passed++
					if f[3] != string(i.Payload) {
						t.Errorf("%s, interval %d: the payload changed", name, n)
					}
					continue
				}
				encoded++
				var was, is histogram.Histogram
				p.Decode(&was)
				p, err = new(histogram.Decoder).Open([]byte(f[3]))
				if err != nil {
					t.Fatal(err)
				}
				p.Decode(&is)
				if _, compressed, _ := histogram.Peek([]byte(f[3])); !compressed || p.Version() != 2 ||
					!slices.Equal(slices.Collect(is.Recorded()), slices.Collect(was.Recorded())) {
					t.Errorf("%s, interval %d: version %d, compressed %t", name, n, p.Version(), compressed)
				}
			}
		}
	}
	if passed < 1000 || encoded < 10 {
		t.Errorf("%d payloads passed and %d were encoded", passed, encoded)
	}
}

// payloadOf returns the payload of a histogram with these values.
func payloadOf(t testing.TB, l histogram.Layout, values ...int64) []byte {
	t.Helper()
	h, err := histogram.New(l)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if err := h.Record(v); err != nil {
			t.Fatal(err)
		}
	}
	text, err := new(histogram.Encoder).AppendBase64(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func intervalOf(tag string, start, length float64, payload []byte) *hdrlog.Interval {
	i := &hdrlog.Interval{Start: start, Length: length, Payload: payload, MaxHint: 1}
	if tag != "" {
		i.Tag = []byte(tag)
	}
	return i
}

var threeDigits = histogram.Layout{Digits: 3, Lowest: 1}

// TestSumErrors proves that what does not add up is a SumError, whatever is already added up, and
// leaves the sum as it was.
func TestSumErrors(t *testing.T) {
	t.Parallel()
	integer := intervalOf("", 0, 1, payloadOf(t, threeDigits, 1, 2, 3))
	double := intervalOf("", 0, 1, payloadOf(t, histogram.Layout{Digits: 3, Lowest: 1, Ratio: 1}, 5000))
	far := intervalOf("", 0, 1, payloadOf(t, histogram.Layout{Digits: 3, Lowest: 1, Ratio: 1.0 / (1 << 60)}, 5000))
	h, _ := histogram.New(threeDigits)
	h.RecordN(7, 1<<62)
	text, _ := new(histogram.Encoder).AppendBase64(nil, h)
	many := intervalOf("", 0, 1, text)
	for _, test := range []struct {
		name   string
		first  *hdrlog.Interval
		second *hdrlog.Interval
		want   error
	}{
		{"integer and double", integer, double, histogram.ErrKind},
		{"double and integer", double, integer, histogram.ErrKind},
		{"doubles far apart", double, far, histogram.ErrSpan},
		{"doubles far apart, the other way round", far, double, histogram.ErrSpan},
		{"too many counts", many, many, histogram.ErrOverflow},
	} {
		for _, copies := range []int{1, 40} {
			t.Run(fmt.Sprintf("%s/%d", test.name, copies), func(t *testing.T) {
				var s Sum
				if copies == 1 || test.want != histogram.ErrOverflow {
					for range copies {
						if err := s.Add(test.first); err != nil {
							t.Fatal(err)
						}
					}
				}
				s.Add(test.first)
				before := s.Intervals()
				var other Sum
				if err := other.Add(test.second); err != nil {
					t.Fatal(err)
				}
				err := errors.Join(s.Add(test.second), s.Merge(&other))
				if err == nil {
					_, err = s.Histogram(new(histogram.Histogram)) // some are found only here
				} else if s.Intervals() != before {
					t.Errorf("%d intervals after an error, %d before", s.Intervals(), before)
				}
				var sumErr *SumError
				if !errors.As(err, &sumErr) || !errors.Is(err, test.want) {
					t.Errorf("%v, want %v", err, test.want)
				}
			})
		}
	}
	t.Run("bad payload", func(t *testing.T) {
		var s Sum
		var sumErr *SumError
		if err := s.Add(intervalOf("", 0, 1, []byte("HISTFAAAAC"))); err == nil || errors.As(err, &sumErr) || s.Intervals() != 0 {
			t.Errorf("%v, %d intervals", err, s.Intervals())
		}
	})
	t.Run("empty", func(t *testing.T) {
		if text, err := new(Sum).AppendFields(nil, 0); err == nil {
			t.Errorf("%s", text)
		}
	})
}

// TestMemory proves that sums take little memory where their payloads take little text, in whatever
// order these come.
func TestMemory(t *testing.T) {
	fine := histogram.Layout{Digits: 5, Lowest: 1}
	far := payloadOf(t, fine, 1, 1<<61)
	near := payloadOf(t, threeDigits, 1, 2, 3)
	coarse := payloadOf(t, histogram.Layout{Digits: 1, Lowest: 1}, 1<<61)
	h, _ := histogram.New(fine)
	for v := range int64(1 << 19) {
		h.Record(v << 10)
	}
	long, err := new(histogram.Encoder).AppendBase64(nil, h) // inflated it takes some hundred times its size
	if err != nil || len(long) > 40_000 {
		t.Fatalf("%d bytes, %v", len(long), err)
	}
	for _, test := range []struct {
		name     string
		payloads [][]byte
		sums     int
	}{
		{"values far apart", [][]byte{far}, logtest.Rounds(100)},
		{"far apart after near", [][]byte{near, near, near, near, near, near, near, near, near, far}, logtest.Rounds(100)},
		{"digits of one, values of the other", [][]byte{payloadOf(t, fine, 1), coarse}, logtest.Rounds(100)},
		{"small if compressed", [][]byte{long}, 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			sums, merged := make([]Sum, test.sums), make([]Sum, test.sums)
			var want int64
			for n := range sums {
				for k := range 2 * len(test.payloads) {
					i := intervalOf("", 0, 1, test.payloads[k%len(test.payloads)])
					var one Sum
					if err := errors.Join(sums[n].Add(i), one.Add(i)); err != nil {
						t.Fatal(err)
					}
					if err := errors.Join(merged[n].Merge(&one), merged[n].Merge(&one), merged[n].Merge(&one)); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, p := range test.payloads {
				var h histogram.Histogram
				if err := new(histogram.Decoder).Decode(&h, p); err != nil {
					t.Fatal(err)
				}
				want += 2 * h.TotalCount()
			}
			var m runtime.MemStats
			runtime.GC()
			runtime.GC() // a pool keeps memory for one collection
			runtime.ReadMemStats(&m)
			if m.HeapAlloc > 64<<20 {
				t.Errorf("%d MiB", m.HeapAlloc>>20)
			}
			for n, s := range []*Sum{&sums[0], &merged[0]} {
				h, err := s.Histogram(new(histogram.Histogram))
				if err != nil || h.TotalCount() != want*int64(1+2*n) {
					t.Errorf("%v, %d values, want %d", err, h.TotalCount(), want*int64(1+2*n))
				}
			}
			runtime.KeepAlive(sums)
		})
	}
}

// TestWindows proves that windows close in order of time and tags, and that what a loop leaves
// stays open.
func TestWindows(t *testing.T) {
	t.Parallel()
	three := payloadOf(t, threeDigits, 1, 2, 3)
	ws := NewWindows(10_000)
	for _, i := range []*hdrlog.Interval{
		intervalOf("b", 21, 1, three), intervalOf("a", 3, 1, three), intervalOf("", 3, 1, three), intervalOf("a", 9, 1, three),
		intervalOf("b", 2, 1, three), intervalOf("a", 13, 1, three), intervalOf("", 14, 1, three),
	} {
		if err := ws.Add(i); err != nil {
			t.Fatal(err)
		}
	}
	if err := ws.Merge(nil, 0, new(Sum)); err != nil {
		t.Error(err)
	}
	var got []string
	take := func(m *Merged) {
		got = append(got, fmt.Sprintf("%d %t %s: %d", m.Window.Start/1000, m.Tag != nil, m.Tag, m.Intervals()))
	}
	for m := range ws.table.Open() {
		take(m)
	}
	open := got
	got = nil
	for m := range ws.Before(9_999) {
		t.Errorf("%v closed early", m.Window)
	}
	for m := range ws.Before(10_000) {
		take(m)
	}
	for m := range ws.Before(30_000) {
		take(m)
		break
	}
	if ws.Len() == 0 || ws.Window(0).End != 20_000 {
		t.Errorf("the first of %d windows does not end at 20 s", ws.Len())
	}
	for m := range ws.All() {
		take(m)
	}
	want := []string{"0 false : 1", "0 true a: 2", "0 true b: 1", "10 false : 1", "10 true a: 1", "20 true b: 1"}
	if !slices.Equal(got, want) || !slices.Equal(open, want) {
		t.Errorf("%q and open %q, want %q", got, open, want)
	}
	if ws.Len() > 0 {
		t.Error("a window is open")
	}
}

// TestManyFarApart: a sum that is a histogram from its first interval on is packed again if the
// next one lies far away.
func TestManyFarApart(t *testing.T) {
	s := Sum{counts: counts{spare: new(histogram.Histogram)}}
	for n, value := range []int64{10, 1 << 61} {
		h, err := histogram.New(histogram.Layout{Digits: 4, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Record(value); err != nil {
			t.Fatal(err)
		}
		if err := s.AddHistogram(int64(n), int64(n)+1, h); err != nil {
			t.Fatal(err)
		}
	}
	var scratch histogram.Histogram
	h, err := s.Histogram(&scratch)
	if err != nil || h.TotalCount() != 2 || s.Intervals() != 2 || s.Size() > 10_000 {
		t.Errorf("%d values of %d intervals in %d bytes, %v", h.TotalCount(), s.Intervals(), s.Size(), err)
	}
}

// TestSpares proves that sums become histograms while few bytes are taken, and that closed windows
// give their bytes back.
func TestSpares(t *testing.T) {
	t.Parallel()
	ws := NewWindows(1000)
	payload := payloadOf(t, threeDigits, 1, 1000)
	for range 3 {
		for n := range 3 {
			for range 2 {
				if err := ws.Add(intervalOf("", float64(n), 1, payload)); err != nil {
					t.Fatal(err)
				}
			}
			if err := ws.Add(intervalOf("", 1e6, 1, []byte("x"))); err == nil {
				t.Fatal("a payload of one byte was added")
			}
			ws.bytes += compactBytes / 2 // as if other windows took them
		}
		dense := 0
		for m := range ws.All() {
			if m.counts.histogram != nil {
				dense++
			}
		}
		if dense != 2 {
			t.Errorf("%d sums are histograms, want 2", dense)
		}
		ws.bytes -= 3 * compactBytes / 2
		if ws.Bytes() != 0 {
			t.Errorf("%d bytes are left", ws.Bytes())
		}
	}
}

// TestKeep: a caller can keep what a window adds up to, although the memory of windows is used
// again. It takes less then. Little memory waits after a window of many tags.
func TestKeep(t *testing.T) {
	t.Parallel()
	ws := NewWindows(1000)
	payload := payloadOf(t, threeDigits, 1, 1000)
	var kept []*Merged
	const tags = 40_000
	for second := range 3 {
		for n := range tags {
			if err := ws.Add(intervalOf(fmt.Sprint(n), float64(second), 1, payload)); err != nil {
				t.Fatal(err)
			}
		}
		for m := range ws.All() {
			if second == 2 {
				continue
			}
			before := m.Sum.Size()
			m.Keep()
			kept = append(kept, m)
			if size := m.Sum.Size(); size > before-len(payload) {
				t.Fatalf("%d bytes of %d are kept", size, before)
			}
		}
	}
	for n, k := range kept {
		if k.Window.Start != int64(n/tags)*1000 || k.Intervals() != 1 {
			t.Fatalf("%d: the window at %d has %d intervals", n, k.Window.Start, k.Intervals())
		}
		if h, err := k.Histogram(nil); err != nil || h.TotalCount() != 2 {
			t.Fatal(h.TotalCount(), err)
		}
	}
	size := 0
	for _, s := range ws.spare {
		size += s.merged.Sum.Size()
	}
	if ws.Bytes() != 0 || size > maxSpare || len(ws.spare) == 0 {
		t.Errorf("%d bytes are open, and %d spare ones in %d", ws.Bytes(), size, len(ws.spare))
	}
}

// TestMoving compares moving windows with the sum of the intervals in them.
func TestMoving(t *testing.T) {
	t.Parallel()
	for seed := range uint64(logtest.Rounds(50)) {
		random := rand.New(rand.NewPCG(seed, 1))
		length := 1 + random.Int64N(50)
		m := NewMoving(length)
		type one struct {
			end int64
			h   *histogram.Histogram
		}
		var all []one
		now := int64(0)
		for range 100 {
			now += random.Int64N(10)
			h, _ := histogram.New(histogram.Layout{Digits: 1 + random.IntN(3), Lowest: 1})
			h.RecordN(random.Int64N(1000)<<(seed%2*40), 1+random.Int64N(5))
			all = append(all, one{now, h})
			if err := m.Add(now, sumOf(t, h)); err != nil {
				t.Fatal(err)
			}
			got, err := m.Histogram(new(histogram.Histogram))
			if err != nil {
				t.Fatal(err)
			}
			want, _ := histogram.New(got.Layout())
			for _, o := range all {
				if o.end > now-length {
					want.Add(o.h)
				}
			}
			if !slices.Equal(slices.Collect(got.Recorded()), slices.Collect(want.Recorded())) {
				t.Fatalf("seed %d, at %d: %d values, want %d", seed, now, got.TotalCount(), want.TotalCount())
			}
		}
	}
}

// sumOf returns a sum of one interval.
func sumOf(t testing.TB, h *histogram.Histogram) *Sum {
	t.Helper()
	payload, err := new(histogram.Encoder).AppendBase64(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	s := new(Sum)
	if err := s.Add(&hdrlog.Interval{Length: 1, Payload: payload}); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMovingBulky proves that a window of many payloads that are compressed very well is not added
// up again for each interval.
func TestMovingBulky(t *testing.T) {
	t.Parallel()
	h, _ := histogram.New(histogram.Layout{Digits: 4, Lowest: 1})
	for value := int64(1); value < 1<<18; value += max(1, value>>14) {
		h.Record(value)
	}
	m, one := NewMoving(60_000), sumOf(t, h)
	for n := range int64(60) {
		if err := m.Add(n*1000, one); err != nil {
			t.Fatal(err)
		}
		got, err := m.Histogram(new(histogram.Histogram))
		if err != nil || got.TotalCount() != (n+1)*h.TotalCount() {
			t.Fatalf("after %d s %d values, want %d: %v", n, got.TotalCount(), (n+1)*h.TotalCount(), err)
		}
	}
	if m.all.counts.histogram == nil {
		t.Errorf("%d bytes of payloads are added up each time", m.size)
	}
}

// TestMovingEdge proves that an interval leaves when another one ends exactly the length later.
func TestMovingEdge(t *testing.T) {
	t.Parallel()
	m := NewMoving(60_000)
	h, _ := histogram.New(threeDigits)
	h.Record(1)
	for n, want := range []int64{1, 2, 3, 4, 5, 6, 6, 6} {
		if err := m.Add(int64(n)*10_000, sumOf(t, h)); err != nil {
			t.Fatal(err)
		}
		if got, err := m.Histogram(new(histogram.Histogram)); err != nil || got.TotalCount() != want {
			t.Errorf("after %d s %d intervals, want %d: %v", 10*n, got.TotalCount(), want, err)
		}
	}
}

// TestMovingKinds proves that a window that became empty takes values of another kind.
func TestMovingKinds(t *testing.T) {
	t.Parallel()
	m := NewMoving(1000)
	for n, layout := range []histogram.Layout{threeDigits, {Digits: 3, Lowest: 1, Ratio: 0.5}, threeDigits} {
		h, _ := histogram.New(layout)
		h.RecordN(5, 2)
		if err := m.Add(int64(n)*1000, sumOf(t, h)); err != nil {
			t.Fatal(err)
		}
		if got, err := m.Histogram(new(histogram.Histogram)); err != nil || got.TotalCount() != 2 || got.Layout() != h.Layout() {
			t.Errorf("%d values of %+v", got.TotalCount(), got.Layout())
		}
	}
}

// TestCorrected proves that a sum of corrected intervals has the counts of all, whether it holds
// their payloads or a histogram.
func TestCorrected(t *testing.T) {
	t.Parallel()
	const expected = 70
	for seed := range uint64(logtest.Rounds(50)) {
		random := rand.New(rand.NewPCG(seed, 2))
		sums := [2]Sum{{counts: counts{small: seed%2 == 0}}}
		var want histogram.Histogram
		for n := range 80 {
			h, _ := histogram.New(histogram.Layout{Digits: 2 + random.IntN(2), Lowest: 1})
			for range 1 + random.IntN(20) {
				h.Record(random.Int64N(1000) << (seed % 2 * 30))
			}
			var corrected histogram.Histogram
			if err := h.CorrectInto(&corrected, expected); err != nil {
				t.Fatal(err)
			}
			if err := sums[n%2].AddHistogram(0, 1000, &corrected); err != nil {
				t.Fatal(err)
			}
			want.Add(&corrected)
		}
		if seed%2 == 1 && sums[0].counts.histogram == nil {
			t.Errorf("seed %d: no histogram", seed)
		}
		if err := sums[0].Merge(&sums[1]); err != nil {
			t.Fatal(err)
		}
		got, err := sums[0].Histogram(new(histogram.Histogram))
		if err != nil || !slices.Equal(slices.Collect(got.Recorded()), slices.Collect(want.Recorded())) {
			t.Errorf("seed %d: the counts differ: %v", seed, err)
		}
	}
}

// TestEncodingErrors proves that bytes which are no sum are refused.
func TestEncodingErrors(t *testing.T) {
	t.Parallel()
	var s, several Sum
	i := intervalOf("", 1, 1, payloadOf(t, threeDigits, 1, 2, 3))
	s.Add(i)
	several.Add(i)
	several.Add(i)
	for _, sum := range []*Sum{&s, &several, new(Sum)} {
		good, err := sum.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		want, err := sum.AppendFields(nil, 500)
		got, err2 := AppendEncoded(nil, good, 500)
		if string(got) != string(want) || (err2 == nil) != (err == nil) {
			t.Errorf("%s, %v; want %s, %v", got, err2, want, err)
		}
		for n := range good {
			var got Sum
			if err := got.UnmarshalBinary(good[:n]); !errors.Is(err, ErrEncoding) || got.Intervals() != 0 {
				t.Errorf("%d of %d bytes: %v", n, len(good), err)
			}
		}
	}
	for _, data := range []string{"\x00\x00", "\x01\x00", "\x02\x00\x00", "\x02\x01\x00\x00\x00", "\x02\x01\x00\x00\x011",
		"\x02\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x011", "\x02\x01\x00\x00\x01,", "\x02\x01\x00\x00\x011HIST,"} {
		if err := new(Sum).UnmarshalBinary([]byte(data)); !errors.Is(err, ErrEncoding) {
			t.Errorf("%q: %v", data, err)
		}
	}
	s.End = 1 << 60
	if _, err := s.MarshalBinary(); !errors.Is(err, hdrlog.ErrTime) {
		t.Error(err)
	}
}

// twice returns a sum of two intervals that has room for a histogram.
func twice(t testing.TB) *Sum {
	s := new(Sum)
	i := intervalOf("", 1, 1, payloadOf(t, threeDigits, 1, 2000, 30_000))
	if err := errors.Join(s.Add(i), s.Add(i)); err != nil {
		t.Fatal(err)
	}
	return s
}

// FuzzEncoding proves that any bytes are refused or are a sum that comes to the same bytes again
// and takes part in sums.
func FuzzEncoding(f *testing.F) {
	for _, log := range testLogs(f) {
		all := readable(intervals(f, log))
		for n := 0; n < len(all); n += 7 {
			var s Sum
			for k := range min(n%3+1, len(all)-n) {
				s.Add(&all[n+k])
			}
			if data, err := s.MarshalBinary(); err == nil {
				f.Add(data)
			}
		}
	}
	f.Add([]byte{encodingVersion, 0})
	text := []byte(base64.StdEncoding.EncodeToString([]byte("x")))
	f.Add(append([]byte{encodingVersion, 1, 2, 2, 1, '1'}, text...))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s, again, sum Sum
		if err := s.UnmarshalBinary(data); err != nil {
			if !errors.Is(err, ErrEncoding) || s.Intervals() != 0 {
				t.Fatalf("%v, %d intervals", err, s.Intervals())
			}
			return
		}
		sent, err := s.MarshalBinary()
		if err != nil {
			if s.Layout().Ratio != 0 && errors.Is(err, histogram.ErrSpan) {
				return // a double histogram that the reference could not write
			}
			t.Fatal(err)
		}
		if err := again.UnmarshalBinary(sent); err != nil {
			t.Fatal(err)
		}
		sentAgain, err := again.MarshalBinary()
		if err != nil || !bytes.Equal(sent, sentAgain) {
			t.Fatalf("%v: %x becomes %x", err, sent, sentAgain)
		}
		if err := errors.Join(sum.Merge(&s), sum.Merge(new(Sum))); err != nil || sum.Intervals() != s.Intervals() {
			t.Fatal(err)
		}
		if s.Intervals() > 0 {
			if fields(t, &sum) != fields(t, &s) {
				t.Error("a copy differs")
			}
		}
		one := twice(t)
		before := fields(t, one)
		if one.Merge(&s) != nil && fields(t, one) != before {
			t.Error("Merge failed, and changed the sum")
		}
		if err := sum.Merge(&again); err == nil {
			if _, err := sum.Histogram(new(histogram.Histogram)); err != nil && !errors.Is(err, histogram.ErrOverflow) {
				t.Fatal(err)
			}
		}
	})
}

// FuzzPacked proves that any bytes are refused or are a sum, whose use may fail.
func FuzzPacked(f *testing.F) {
	for _, log := range testLogs(f) {
		all := readable(intervals(f, log))
		for n := 0; n < len(all); n += 31 {
			var s Sum
			for k := range min(n%3+1, len(all)-n) {
				s.Add(&all[n+k])
			}
			if data, err := s.AppendPacked(nil); err == nil {
				f.Add(data)
			}
		}
	}
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, data []byte) {
		var s, again Sum
		if err := s.SetPacked(data); err != nil {
			if !errors.Is(err, ErrEncoding) || s.Intervals() != 0 {
				t.Fatalf("%v, %d intervals", err, s.Intervals())
			}
			return
		}
		sent, err := s.AppendPacked(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.SetPacked(sent); err != nil || again.Intervals() != s.Intervals() {
			t.Fatalf("%v: %d intervals become %d", err, s.Intervals(), again.Intervals())
		}
		if s.counts.slots() > 1<<20 {
			return
		}
		s.Histogram(new(histogram.Histogram))
		s.Merge(&again)
		s.Compact()
	})
}

// TestBeforeAdds adds to a table while a loop takes windows out: nothing is lost.
func TestBeforeAdds(t *testing.T) {
	table := NewTable[string](1000)
	add := func(tag string, start int64) {
		table.At([]byte(tag), start, start+1, func(Span) *string { text := fmt.Sprint(tag, start); return &text })
	}
	add("b", 0)
	add("c", 0)
	add("b", 1000)
	var got []string
	for e := range table.Before(2000) {
		if got = append(got, *e); len(got) == 1 {
			add("a", 0) // a key that the loop has passed
			add("x", -1000)
		}
	}
	slices.Sort(got)
	if want := []string{"a0", "b0", "b1000", "c0", "x-1000"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestAnyOrder adds windows in any order, and takes some out in between: they come in order of
// time. Going backwards moves no window, so 200,000 of them take no longer than forwards.
func TestAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const windows = 200_000
	for _, start := range []func(n int) int64{
		func(n int) int64 { return int64(windows - n) },
		func(n int) int64 { return r.Int64N(windows) },
		func(n int) int64 { return int64(n) - r.Int64N(100) },
	} {
		table := NewTable[int64](1)
		var want, got []int64
		done := int64(math.MinInt64)
		for n := range windows {
			at := start(n)
			if at < done {
				continue
			}
			table.At(nil, at, at, func(w Span) *int64 {
				want = append(want, w.Start)
				return &w.Start
			})
			if n%10_000 == 0 {
				done = table.Next() + 50
				for e := range table.Before(done) {
					got = append(got, *e)
				}
			}
		}
		if table.Len() > 0 && (table.sorted()[0].Span.End != table.Next() || table.sorted()[table.Len()-1].Span.End < table.Next()) {
			t.Errorf("the first window is %v, and ends at %d", table.sorted()[0].Span, table.Next())
		}
		for e := range table.Before(math.MaxInt64) {
			got = append(got, *e)
		}
		slices.Sort(want)
		if !slices.Equal(got, want) || table.Len() > 0 || table.Next() != math.MaxInt64 {
			t.Errorf("%d windows, want %d in order; %d are left", len(got), len(want), table.Len())
		}
	}
}

// TestZeroWindows: the zero value has windows of a millisecond.
func TestZeroWindows(t *testing.T) {
	var ws Windows
	i := intervalOf("", 0, 1, payloadOf(t, threeDigits, 1))
	if err := ws.Add(i); err != nil || ws.Len() != 1 {
		t.Errorf("%d windows, %v", ws.Len(), err)
	}
}

// TestMinOfMixed adds up intervals of different precision, in trees of any shape, over bytes too,
// packed and as histograms: the minimum is the lowest one of all that have values.
func TestMinOfMixed(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	for range logtest.Rounds(200) {
		var all []*Sum
		lowest := int64(math.MaxInt64)
		recorded := int64(0)
		for n := range 2 + r.IntN(6) {
			layout := histogram.Layout{Digits: 1 + r.IntN(4), Lowest: []int64{1, 1, 100, 1000}[r.IntN(4)]}
			values := []int64{r.Int64N(1<<40) >> r.IntN(40), 1 << 20}
			if r.IntN(3) == 0 {
				values = nil
			}
			i := intervalOf("a", float64(n), 1, payloadOf(t, layout, values...))
			s := &Sum{counts: counts{small: r.IntN(2) == 0}}
			if err := s.Add(i); err != nil {
				t.Fatal(err)
			}
			h, err := i.Histogram()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
			recorded += h.TotalCount()
			if len(values) > 0 {
				lowest = min(lowest, h.Min())
			}
		}
		for len(all) > 1 {
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			sum := all[0]
			err := sum.Merge(all[1])
			switch r.IntN(3) {
			case 0:
				err = errors.Join(err, sum.Compact())
			case 1:
				data, err2 := sum.MarshalBinary()
				err = errors.Join(err, err2, sum.UnmarshalBinary(data))
			}
			if err != nil {
				t.Fatal(err)
			}
			all = append(all[:1], all[2:]...)
		}
		h, err := all[0].Histogram(new(histogram.Histogram))
		if lowest == math.MaxInt64 { // no values at all
			lowest = 0
		}
		if err != nil || h.Min() != lowest || h.TotalCount() != recorded {
			t.Fatalf("minimum %d of %d, want %d of %d, %v", h.Min(), h.TotalCount(), lowest, recorded, err)
		}
	}
}

// TestMinOfMoving: the minimum of a moving window rises once the interval that has it leaves.
func TestMinOfMoving(t *testing.T) {
	t.Parallel()
	m := NewMoving(2000)
	for n, want := range []int64{0, 0, 1_000_000, 1_000_000} {
		layout, value := histogram.Layout{Digits: 3, Lowest: 1}, int64(1_000_000)
		if n == 0 {
			layout, value = histogram.Layout{Digits: 3, Lowest: 1000}, 42
		}
		s := new(Sum)
		if err := errors.Join(s.Add(intervalOf("a", float64(n), 1, payloadOf(t, layout, value))), m.Add(int64(n)*1000, s)); err != nil {
			t.Fatal(err)
		}
		if h, err := m.Histogram(new(histogram.Histogram)); err != nil || want-h.Min() > 1000 {
			t.Errorf("%d: minimum %d, want %d, %v", n, h.Min(), want, err)
		}
	}
}

// TestAppendMax has MAX as logs write it.
func TestAppendMax(t *testing.T) {
	for log, want := range map[string]string{
		"3,2,1,H\n":                    "1",
		"Tag=a 1.5 2 3e0 H\n":          "3e0",
		"1,2,+Inf,H\n":                 "0.000",
		"1441812279474,2000,2769,H\n":  "2769.000",
		"0,127,1,007,2,769,HISTFAAA\n": "2.769",
	} {
		for i := range hdrlog.NewReader(strings.NewReader(log), "log").Intervals() {
			if got := string(appendMax([]byte("x"), i)); got != "x"+want {
				t.Errorf("%q: got %s, want x%s", log, got, want)
			}
		}
	}
}

// TestCoarseSize: counts of one digit, of which callers keep very many, take hardly more memory
// than their payload.
func TestCoarseSize(t *testing.T) {
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	for v := range int64(1 << 16) {
		h.Record(v)
	}
	empty := new(Sum)
	var s Sum
	if err := s.AddCoarse(0, 1000, h, 1); err != nil {
		t.Fatal(err)
	}
	packed, err := s.AppendPacked(nil)
	if err != nil {
		t.Fatal(err)
	}
	if size := s.Size() - empty.Size(); size > 2*len(packed) {
		t.Errorf("a sum of %d bytes takes %d", len(packed), size)
	}
}
