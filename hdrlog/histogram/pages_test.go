package histogram

import (
	"bytes"
	"errors"
	"hdrkit/hdrlog/internal/logtest"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPages changes histograms in all ways. After each change it checks the pages, and compares all
// statistics with those of plain loops over all slots.
func TestPages(t *testing.T) {
	for round := range logtest.Rounds(200) {
		c := changer{t: t, r: rand.New(rand.NewPCG(9, uint64(round)))}
		c.h, c.other = newHistogram(t, c.layout()), newHistogram(t, c.layout())
		recorder, err := NewRecorder(c.layout())
		if err != nil {
			t.Fatal(err)
		}
		c.recorder = recorder
		for range 30 {
			way := c.change()
			checkPages(t, way, c.h)
			if t.Failed() {
				t.Fatalf("round %d", round)
			}
			if c.r.IntN(4) == 0 {
				c.h, c.other = c.other, c.h
			}
		}
	}
}

// A changer changes h, with the help of another histogram.
type changer struct {
	t        *testing.T
	r        *rand.Rand
	h, other *Histogram
	recorder *Recorder
	decoder  Decoder
}

func (c *changer) layout() Layout {
	return []Layout{{Digits: 3}, {Digits: 3}, {Digits: 4}, {Digits: 2, Lowest: 100}, {Digits: 1}, {Digits: 0}}[c.r.IntN(6)].normalized()
}

// value returns a value, in most cases far from the others.
func (c *changer) value() int64 { return c.r.Int64N(1<<40) >> c.r.IntN(40) }

// counts returns the number of empty slots, -n, and the count of a slot, in turns.
func (c *changer) counts() (counts []int64) {
	for range 1 + c.r.IntN(20) {
		if gap := 1 + c.r.Int64N(1<<c.r.IntN(11)); gap > 1 {
			counts = append(counts, -gap)
		}
		for range 1 + c.r.IntN(1<<c.r.IntN(7)) {
			counts = append(counts, c.r.Int64N(3)<<c.r.IntN(20))
		}
	}
	return counts
}

// payload returns a payload in the layout of h or another one.
func (c *changer) payload(version int) []byte {
	layout := c.layout()
	if c.r.IntN(2) == 0 {
		layout = c.h.layout
	}
	head := header{version: version, word: 4, digits: int32(layout.Digits), lowest: layout.Lowest}
	counts := c.counts()
	var all []int64
	for _, n := range counts {
		if n < 0 {
			all = append(all, make([]int64, -n)...)
		} else {
			all = append(all, n)
		}
	}
	slots := layout.SlotsFor(math.MaxInt64)
	switch {
	case version < 2:
		return head.plain(words(4, all[:min(len(all), slots)]...))
	case len(all) > slots:
		return head.plain(zigZags(1, -2, 3))
	}
	return head.plain(zigZags(counts...))
}

// change changes h, and returns in which way.
func (c *changer) change() (way string) {
	check := func(err error, may ...error) {
		if err != nil && !slices.ContainsFunc(may, func(one error) bool { return errors.Is(err, one) }) {
			c.t.Fatalf("%s: %v", way, err)
		}
	}
	ways := []string{"record", "version 0", "version 1", "version 2", "corrupt", "decode", "add", "add and subtract", "subtract",
		"correct", "correct itself", "reset", "take", "coarsen", "refine", "clone"}
	way = ways[c.r.IntN(len(ways))]
	switch way {
	case "record":
		for range c.r.IntN(5) {
			check(c.h.RecordN(c.value(), c.r.Int64N(3)))
		}
	case "version 0", "version 1", "version 2":
		p, err := c.decoder.OpenBinary(c.payload(int(way[len(way)-1] - '0')))
		check(err)
		check(p.AddTo(c.h))
	case "corrupt":
		p, err := c.decoder.OpenBinary(append(c.payload(2), 0x80))
		if err == nil && p.AddTo(c.h) == nil {
			c.t.Fatal("a corrupt payload was added")
		}
	case "decode":
		p, err := c.decoder.OpenBinary(c.payload(2))
		check(err)
		check(p.Decode(c.h))
	case "add":
		check(c.h.Add(c.other))
	case "add and subtract":
		check(c.h.Add(c.other))
		check(c.h.Subtract(c.other))
	case "subtract":
		check(c.h.Subtract(c.other), ErrRange)
	case "correct":
		check(c.other.CorrectInto(c.h, float64(max(1, c.other.Max()/(1+c.r.Int64N(300))))))
	case "correct itself":
		check(c.h.CorrectInto(c.h, float64(max(1, c.h.Max()/(1+c.r.Int64N(300))))))
	case "reset":
		check(c.h.Reset(c.layout()))
	case "take":
		for range 5 {
			check(c.recorder.Record(c.value()))
		}
		check(c.recorder.Take(c.h))
	case "coarsen":
		c.other.CoarsenInto(c.h, c.r.IntN(6))
	case "refine":
		check(c.h.Refine(c.layout()))
	case "clone":
		c.h = c.h.Clone()
	}
	if c.h.TotalCount() > 1<<50 { // before it overflows
		c.h.Reset(c.layout())
	}
	return way
}

// checkPages checks that each slot with a count lies in a marked page, and that all passes over the
// marked pages find the same as one over all slots.
func checkPages(t *testing.T, way string, h *Histogram) {
	t.Helper()
	paged := h
	if len(h.sparse) > 0 {
		if len(h.counts) > 0 || len(h.pages) > 0 {
			t.Fatalf("%s: %d slots beside %d of a list", way, len(h.counts), len(h.sparse))
		}
		paged = h.Clone()
		paged.spread()
	}
	if len(paged.pages)*pageSize != len(paged.counts) {
		t.Fatalf("%s: %d pages for %d slots", way, len(paged.pages), len(paged.counts))
	}
	var slots []slotCount
	var total int64
	for i, n := range paged.counts[:cap(paged.counts)] {
		if n == 0 {
			continue
		}
		if i >= len(paged.counts) {
			t.Fatalf("%s: %d values in the spare capacity", way, n)
		}
		if paged.pages[i/pageSize] == 0 {
			t.Errorf("%s: slot %d has %d values, but its page is not marked", way, paged.base+i, n)
		}
		slots = append(slots, slotCount{paged.base + i, n})
		total += n
	}
	if total != h.total {
		t.Fatalf("%s: %d values of %d", way, total, h.total)
	}
	var buckets []Bucket
	var mean, deviation float64
	for _, s := range slots {
		buckets = append(buckets, Bucket{h.layout.LowestAt(s.index), h.layout.HighestAt(s.index), s.n})
		mean += float64(float64(h.layout.medianAt(s.index)) * float64(s.n))
	}
	if got := slices.Collect(h.Recorded()); !slices.Equal(got, buckets) {
		t.Errorf("%s: recorded %v, want %v", way, got, buckets)
	}
	var want Bucket // the lowest and the highest
	if len(slots) > 0 {
		want = Bucket{Low: buckets[0].Low, High: buckets[len(buckets)-1].High}
		if h.minPlusOne > 0 { // of coarser counts
			want.Low = min(want.Low, h.minPlusOne-1)
		}
		mean /= float64(total)
		for _, s := range slots {
			apart := float64(h.layout.medianAt(s.index)) - mean
			deviation += float64(float64(apart*apart) * float64(s.n))
		}
		deviation = math.Sqrt(deviation / float64(total))
	}
	if h.Min() != want.Low || h.Max() != want.High || h.Mean() != mean || h.StdDev() != deviation {
		t.Errorf("%s: min %d, max %d, mean %v, deviation %v, want %+v, %v, %v", way, h.Min(), h.Max(), h.Mean(), h.StdDev(), want, mean, deviation)
	}
	percentiles := []float64{0, 1, 50, 50, 99, 99.9, 100}
	at := h.AppendValuesAtPercentiles(nil, percentiles)
	for n, p := range percentiles {
		var value, seen int64
		for _, s := range slots {
			if seen += s.n; seen >= h.rank(p) {
				value = h.layout.HighestAt(s.index)
				if p == 0 {
					value = want.Low
				}
				break
			}
		}
		if got := h.ValueAtPercentile(p); got != value || at[n] != value {
			t.Errorf("%s: %d and %d at %v%%, want %d", way, got, at[n], p, value)
		}
	}
	middle := buckets[len(buckets)/4 : len(buckets)-len(buckets)/4]
	for len(middle) > 0 {
		var count int64
		for _, b := range middle {
			count += b.Count
		}
		low, high := middle[0].Low, middle[len(middle)-1].High
		if got := h.CountBetween(low, high); got != count {
			t.Errorf("%s: %d values from %d to %d, want %d", way, got, low, high, count)
		}
		middle = middle[:len(middle)/2]
	}
	raw, _ := appendPlainly(nil, paged.counts, paged.base)
	if got := h.AppendCounts(nil); h.total > 0 && !bytes.Equal(got, raw) {
		t.Errorf("%s: encoded % x, want % x", way, got, raw)
	}
	all := *paged
	all.pages = bytes.Repeat([]byte{1}, len(all.pages))
	if got, want := slices.Collect(h.Percentiles(5)), slices.Collect(all.Percentiles(5)); !slices.Equal(got, want) {
		t.Errorf("%s: steps %v, want %v", way, got, want)
	}
	for digits := range h.layout.Digits + 1 {
		coarser := newHistogram(t, Layout{Digits: digits, Lowest: h.layout.Lowest})
		for _, s := range slots {
			record(t, coarser, h.layout.LowestAt(s.index), s.n)
		}
		got := newHistogram(t, Layout{Digits: 1})
		record(t, got, 1<<30, 1)
		h.CoarsenInto(got, digits)
		if diff := difference(got, coarser); diff != "" {
			t.Errorf("%s: %d digits: %s", way, digits, diff)
		}
	}
}

// TestFarApart makes histograms of two groups of values far apart in several ways. A pass over the
// counts takes only the pages of the two.
func TestFarApart(t *testing.T) {
	const low, high = 1000, 1 << 61
	recorded := newHistogram(t, Layout{Digits: 5})
	for n := range int64(20) { // in successive slots
		record(t, recorded, low+n, 1)
		record(t, recorded, high+n<<44, 1)
	}
	binary, err := recorded.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	var coarse Histogram
	recorded.CoarsenInto(&coarse, 5)
	v2 := open(t, binary)
	var d Decoder
	p, err := d.OpenBinary(binary)
	if err != nil {
		t.Fatal(err)
	}
	descending := newHistogram(t, Layout{Digits: 5})
	record(t, descending, high, 1)
	record(t, descending, low, 1)
	again := recorded.Clone()
	record(t, again, 1<<50, 1)
	if err := p.Decode(again); err != nil {
		t.Fatal(err)
	}
	moved := recorded.Clone()
	moved.Reset(Layout{Digits: 5})
	record(t, moved, high, 1)
	record(t, moved, low, 1)
	var sum Histogram
	if err := errors.Join(sum.Add(v2), p.AddTo(&sum), sum.Add(recorded)); err != nil {
		t.Fatal(err)
	}
	finer := newHistogram(t, Layout{Digits: 3})
	record(t, finer, low, 1)
	record(t, finer, high, 1)
	if err := finer.Refine(Layout{Digits: 5}); err != nil {
		t.Fatal(err)
	}
	for way, h := range map[string]*Histogram{
		"recorded": recorded, "descending": descending, "decoded": v2, "decoded again": again, "moved": moved,
		"sum": &sum, "cloned": recorded.Clone(), "coarse": &coarse, "finer": finer,
	} {
		slots := 0
		for _, counts := range h.segments() {
			slots += len(counts)
		}
		if slots > 2*pageSize || len(h.counts) < 1<<20 && len(h.sparse) == 0 {
			t.Errorf("%s: a pass over %d of %d slots", way, slots, len(h.counts))
		}
	}
}

// TestSmallRoom: a histogram takes memory for the slots between its values, and not for those below
// them.
func TestSmallRoom(t *testing.T) {
	t.Parallel()
	h, err := New(Layout{Digits: 3, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Record(900); err != nil {
		t.Fatal(err)
	}
	if n := len(h.counts); n != pageSize {
		t.Errorf("it has %d slots, not %d", n, pageSize)
	}
}
