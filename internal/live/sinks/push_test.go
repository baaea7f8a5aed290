package sinks

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"
	"google.golang.org/protobuf/encoding/protowire"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/clitest"
	"hdrkit/internal/live"
	"hdrkit/internal/metric"
)

// plain has values without a unit, and refuses messages.
type plain struct{ t *testing.T }

func (plain) Comment(string, []byte) error                            { return nil }
func (plain) Admit(string) error                                      { return nil }
func (plain) Kept(string, []byte)                                     {}
func (plain) Factor([]byte) (float64, error)                          { return 1, nil }
func (plain) Scale(bool) (hdrlog.Scale, error)                        { return hdrlog.Scale{Ratio: 1}, nil }
func (plain) Readable(s hdrlog.Scale, _ ...unit.Typical) hdrlog.Scale { return s }
func (plain) Unit() (hdrlog.Unit, error)                              { return 0, nil }
func (plain) Skipped() int                                            { return 0 }
func (plain) TooLate() int                                            { return 0 }
func (p plain) Skip(text string) error                                { p.t.Error(text); return nil }
func (p plain) SkipWindow(tag []byte, why error) error                { p.t.Error(why); return nil }
func (p plain) Unread(text string)                                    { p.t.Error(text) }
func (p plain) Notice(text string)                                    { p.t.Error(text) }
func (p plain) LeftOut(n int) {
	if n > 0 {
		p.t.Error(n, "left out")
	}
}

// points are what a receiver of remote write has: values by series and time.
type points struct {
	t   *testing.T
	mu  sync.Mutex
	all map[string]string
}

// ServeHTTP takes points. One that changes is wrong.
func (p *points) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	text, err := snappy.Decode(nil, body)
	if err != nil {
		p.t.Error(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	each(text, func(_ protowire.Number, series []byte) {
		labels, value := "", []byte(nil)
		each(series, func(number protowire.Number, text []byte) {
			if number == 1 {
				labels += string(text)
			} else {
				value = text
			}
		})
		var at uint64 // the last field of a sample and of a histogram
		each(value, func(_ protowire.Number, text []byte) { at, _ = protowire.ConsumeVarint(text) })
		key := fmt.Sprintf("%q %d", labels, at)
		if before, ok := p.all[key]; ok && before != string(value) {
			p.t.Errorf("%s changes from %q to %q", key, before, value)
		}
		p.all[key] = string(value)
	})
}

// each calls use for each field of a message, with its contents.
func each(message []byte, use func(number protowire.Number, text []byte)) {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		size := protowire.ConsumeFieldValue(number, kind, message[tag:])
		text := message[tag : tag+size]
		if kind == protowire.BytesType {
			text, _ = protowire.ConsumeBytes(text)
		}
		use(number, text)
		message = message[tag+size:]
	}
}

// TestLateAgain ends a push after some of its rows have arrived. The next one gets the windows and
// what came late again, in their order. No point changes, and all are there.
func TestLateAgain(t *testing.T) {
	r := &points{t: t, all: map[string]string{}}
	server := httptest.NewServer(r)
	defer server.Close()
	u, err := url.Parse(server.URL + "/api/v1/write")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	start := func() *Push {
		return NewPush(&Options{Units: plain{t}, Messages: plain{t}, Size: 1000, Percentiles: []float64{50}, EndTime: time.Hour}, u, true)
	}
	window := func(p *Push, second int64, late bool) {
		var h histogram.Histogram
		check(h.Reset(histogram.Layout{Lowest: 1, Digits: 3}))
		check(h.Record(1000))
		var sum merge.Sum
		check(sum.AddHistogram(1000*second, 1000*second+1000, &h))
		ws := merge.NewWindows(1000)
		check(ws.Merge([]byte("a"), 0, &sum))
		for m := range ws.Before(1000*second + 1000) {
			check(p.Window(&live.Window{Merged: m, Late: late, Factor: 1, Scratch: new(histogram.Histogram)}))
		}
		check(p.Flush())
	}
	past := func(p *Push) {
		window(p, 1, false)
		window(p, 0, true)
		window(p, 2, false)
		window(p, 0, true)
		window(p, 0, true)
		window(p, 4, false)
	}
	for n, has := range []int64{math.MinInt64, 0, 2000, 3000, 5000} {
		p := start()
		p.Resume(has, 5000)
		past(p)
		clitest.Await(t, "all points", nil, func() bool { return p.Sender().State().Waiting == 0 })
		if p.SentUntil() != 5000 {
			t.Errorf("the receiver has what is before %d", p.SentUntil())
		}
		window(p, int64(5+n), false)
		window(p, 0, true) // the next run shows it after its next window
		check(p.End())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// Eight windows have a total and two figures, and two late totals a point each.
	if len(r.all) != 8*3+2 {
		t.Errorf("%d points", len(r.all))
	}
}

// openMetrics returns the text of rows whose windows end at these times in milliseconds. Window n
// is late if late says so.
func openMetrics(t *testing.T, ends []int64, late func(n int) bool) string {
	t.Helper()
	var out bytes.Buffer
	r := NewRows(&Options{Units: plain{t}, Messages: plain{t}, Size: 1000, Percentiles: []float64{50}}, metric.OpenMetrics, bufio.NewWriter(&out))
	for n, end := range ends {
		var h histogram.Histogram
		err := cmp.Or(h.Reset(histogram.Layout{Lowest: 1, Digits: 3}), h.Record(1000))
		var merged merge.Merged
		err = cmp.Or(err, merged.AddHistogram(end-1, end, &h))
		merged.Tag = []byte("a")
		merged.Window = merge.Span{Start: end - 1, End: end}
		err = cmp.Or(err, r.Window(&live.Window{Merged: &merged, Late: late(n), Factor: 1, Scratch: new(histogram.Histogram)}))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestLateFirst: what comes late before the first window has a point near it, and not in 1970.
func TestLateFirst(t *testing.T) {
	t.Parallel()
	text := openMetrics(t, []int64{1_700_000_002_000, 1_700_000_006_000}, func(n int) bool { return n == 0 })
	if !strings.Contains(text, " 1.700000002001e+09\n") || !strings.Contains(text, " 1.700000006e+09\n") {
		t.Error(text)
	}
}

// TestLateOfMilliseconds: windows are a millisecond long, and an interval comes late between two of
// them. No series has two points at one time, and the last point has all values.
func TestLateOfMilliseconds(t *testing.T) {
	t.Parallel()
	const at = 1_700_000_000_000
	text := openMetrics(t, []int64{at + 1, at - 5, at + 2, at - 5}, func(n int) bool { return n%2 == 1 })
	seen := make(map[string]bool)
	last := ""
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if line[0] == '#' {
			continue
		}
		point := fields[0] + " " + fields[2]
		if seen[point] {
			t.Errorf("two points: %s", point)
		}
		seen[point] = true
		if strings.Contains(line, "_count") {
			last = line
		}
	}
	if !strings.Contains(last, " 4 1.700000000003e+09") {
		t.Errorf("%s%s", last, text)
	}
}

// TestTagsOfRows: rows keep tags only if they have totals, and these are charged.
func TestTagsOfRows(t *testing.T) {
	t.Parallel()
	for _, format := range []string{metric.Influx, metric.OpenMetrics} {
		o := &Options{Units: plain{t}, Messages: plain{t}, Size: 1000, Memory: ledger.New(1 << 20)}
		r := NewRows(o, format, bufio.NewWriter(io.Discard))
		var h histogram.Histogram
		err := cmp.Or(h.Reset(histogram.Layout{Lowest: 1, Digits: 3}), h.Record(1000))
		for n := 0; n < 10_000 && err == nil; n++ {
			var merged merge.Merged
			merged.Tag = fmt.Append(nil, n)
			merged.Window = merge.Span{Start: 1000, End: 2000}
			err = cmp.Or(merged.AddHistogram(1000, 2000, &h),
				r.Window(&live.Window{Merged: &merged, Factor: 1, Scratch: new(histogram.Histogram)}))
		}
		if full := err != nil && strings.Contains(err.Error(), "tags of rows take"); full != (format == metric.OpenMetrics) {
			t.Errorf("%s: %v", format, err)
		}
	}
}
