package prom

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/encoding/protowire"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
	"hdrkit/internal/live"
	"hdrkit/internal/live/push"
	"hdrkit/output"
)

// counted returns a histogram of values, each as often as it is there.
func counted(t testing.TB, layout histogram.Layout, values ...int64) *histogram.Histogram {
	t.Helper()
	h, err := histogram.New(layout)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if err := h.Record(v); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// absolute returns the buckets and their counts.
func absolute(n *dto.Histogram) map[int]int64 {
	all := map[int]int64{}
	bucket, delta, count := 0, 0, int64(0)
	for _, s := range n.PositiveSpan {
		bucket += int(s.GetOffset())
		for range s.GetLength() {
			count += n.PositiveDelta[delta]
			delta++
			all[bucket] = count
			bucket++
		}
	}
	return all
}

func TestBuckets(t *testing.T) {
	layout := histogram.Layout{Digits: 3}
	for _, test := range []struct {
		name   string
		schema int
		ratio  float64
		values []int64
		want   map[int]int64
		zero   uint64
	}{
		{"powers of two", 0, 1, []int64{1, 2, 4, 8}, map[int]int64{0: 1, 1: 1, 2: 1, 3: 1}, 0},
		{"above a power of two", 0, 1, []int64{3, 5, 9}, map[int]int64{2: 1, 3: 1, 4: 1}, 0},
		{"zero", 5, 1, []int64{0, 0, 1}, map[int]int64{0: 1}, 2},
		{"ratio first", 0, 8, []int64{1, 8, 9, 64}, map[int]int64{-3: 1, 0: 1, 1: 1, 3: 1}, 0},
		{"wide", -4, 1, []int64{1, 2, 65536, 65537}, map[int]int64{0: 1, 1: 1, 2: 2}, 0}, // the slot of 65536 ends above it
		{"gaps", 1, 1, []int64{1, 1, 1, 1000, 1001}, map[int]int64{0: 3, 20: 2}, 0},
		{"nothing", 5, 1, nil, map[int]int64{}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := native(counted(t, layout, test.values...), test.ratio, test.schema)
			if got := absolute(n); fmt.Sprint(got) != fmt.Sprint(test.want) || n.GetZeroCount() != test.zero {
				t.Errorf("got %v and %d zeros", got, n.GetZeroCount())
			}
		})
	}
}

// TestBucketsHold checks that no count is lost and that each bucket holds the highest value of each
// of its slots.
func TestBucketsHold(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for schema := MinSchema; schema <= 8; schema++ {
		for _, ratio := range []float64{1, 1e6, 1e9, 0.001} {
			layout := histogram.Layout{Digits: random.IntN(6)}
			if schema%2 == 0 {
				layout.Ratio = 1.0 / 1024
			}
			var values []int64
			for range clitest.Rounds(1000) {
				values = append(values, random.Int64N(1<<(1+random.IntN(50))))
			}
			h := counted(t, layout, values...)
			n := native(h, ratio, schema)
			want := map[int]int64{}
			var zero uint64
			width := math.Exp2(math.Exp2(float64(-schema)))
			for slot := range h.Recorded() {
				v := h.Float(slot.High) / ratio
				if v == 0 {
					zero += uint64(slot.Count)
					continue
				}
				// The bounds of a bucket, from the definition.
				bucket := 0
				for math.Pow(width, float64(bucket)) < v*(1-1e-12) {
					bucket++
				}
				for math.Pow(width, float64(bucket-1)) >= v*(1-1e-12) {
					bucket--
				}
				want[bucket] += slot.Count
			}
			if got := absolute(n); fmt.Sprint(got) != fmt.Sprint(want) || n.GetZeroCount() != zero {
				t.Fatalf("schema %d, ratio %v: got %v and %d zeros, want %v and %d", schema, ratio, got, n.GetZeroCount(), want, zero)
			}
		}
	}
}

// collector returns one of two tags.
func collector(t *testing.T) *Collector {
	t.Helper()
	c := NewCollector(Options{Metric: "latency_seconds", Scale: hdrlog.Scale{Ratio: 1000}, Percentiles: []float64{50, 99.9}})
	c.Watch(func() []live.Progress {
		return []live.Progress{{Name: "a.hdr", Lines: 7, Skipped: 2, Late: 1, End: 5000}, {Name: "b.hdr", Ended: true}}
	}, func() []string { return []string{"-of all.hdr"} }, Sender{"influx a:8086", func() push.State {
		return push.State{Sent: 5, Refused: 4, Dropped: 2, Waiting: 3, LastSuccess: time.UnixMilli(1500), Away: true}
	}})
	layout := histogram.Layout{Digits: 3}
	for _, w := range []struct {
		tag string
		end int64
		h   *histogram.Histogram
	}{
		{"rt", 1000, counted(t, layout, 100, 200)},
		{"gone", 1000, counted(t, layout, 5)},
		{"rt", 2000, counted(t, layout, 300, 400, 0)},
		{"empty", 2000, counted(t, layout)},
	} {
		if err := c.Window([]byte(w.tag), 1, w.end, false, w.h); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Window(nil, 1, 2000, false, counted(t, layout, 1000)); err != nil {
		t.Fatal(err)
	}
	if err := c.Window([]byte("rt"), 1, 1000, true, counted(t, layout, 7)); err != nil {
		t.Fatal(err)
	}
	return c
}

// scrape returns the body of /metrics.
func scrape(t *testing.T, c *Collector, accept string) (body []byte, format expfmt.Format) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	c.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	return w.Body.Bytes(), expfmt.ResponseFormat(w.Result().Header)
}

// TestClassic checks that each bucket has exactly the values up to its bound, for integers and
// doubles at any precision.
func TestClassic(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, ratio := range []float64{0, 1.0 / 1024, 1.0 / (1 << 30), 4} {
		for digits := range 6 {
			h, _ := histogram.New(histogram.Layout{Digits: digits, Lowest: 1, Ratio: ratio})
			values := []float64{}
			for range 2000 {
				v := random.Int64N(1 << (1 + random.IntN(60)))
				if random.IntN(3) == 0 {
					v = 1<<random.IntN(50) - random.Int64N(2) // at a bound
				}
				h.Record(v)
				values = append(values, h.Float(v))
			}
			for _, b := range classic(h, func(v float64) float64 { return v }) {
				var want uint64
				for _, v := range values {
					if v <= b.GetUpperBound() {
						want++
					}
				}
				if b.GetCumulativeCount() != want {
					t.Errorf("ratio %v, %d digits: %d values up to %v, want %d", ratio, digits, b.GetCumulativeCount(), b.GetUpperBound(), want)
				}
			}
		}
	}
}

func TestScrapeText(t *testing.T) {
	body, _ := scrape(t, collector(t), "text/plain")
	for _, want := range []string{
		`latency_seconds_count{tag="rt"} 6`,
		`latency_seconds_sum{tag="rt"} 1.007`,
		`latency_seconds_bucket{tag="rt",le="0.007"} 2`,
		`latency_seconds_bucket{tag="rt",le="0.255"} 4`,
		`latency_seconds_bucket{tag="rt",le="+Inf"} 6`,
		`latency_seconds_count 1`,
		`latency_seconds_count{tag="gone"} 1`,
		`latency_seconds_count{tag="empty"} 0`,
		"# TYPE latency_seconds_window gauge",
		`latency_seconds_window{percentile="50",tag="rt"} 0.3`,
		`latency_seconds_window{percentile="99.9",tag="rt"} 0.4`,
		`latency_seconds_window_max{tag="rt"} 0.4`,
		`latency_seconds_window_max 1`,
		`hdrkit_lines_total{input="a.hdr"} 7`,
		`hdrkit_skipped_lines_total{input="a.hdr"} 2`,
		`hdrkit_late_intervals_total{input="a.hdr"} 1`,
		`hdrkit_input_unread{input="a.hdr"} 0`,
		`hdrkit_disk_full{output="-of all.hdr"} 1`,
		`hdrkit_push_sent_rows_total{receiver="influx a:8086"} 5`,
		`hdrkit_push_refused_rows_total{receiver="influx a:8086"} 4`,
		`hdrkit_push_dropped_rows_total{receiver="influx a:8086"} 2`,
		`hdrkit_push_waiting_rows{receiver="influx a:8086"} 3`,
		`hdrkit_push_last_success_timestamp_seconds{receiver="influx a:8086"} 1.5`,
	} {
		if !strings.Contains(string(body), want+"\n") {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	for _, absent := range []string{`_window_count`, `_window_sum`, `_window_max{tag="gone"}`, `_window_max{tag="empty"}`, `lag_seconds{input="b.hdr"}`} {
		if strings.Contains(string(body), absent) {
			t.Errorf("%s in\n%s", absent, body)
		}
	}
	for metric, end := range map[string]int64{`hdrkit_input_lag_seconds{input="a.hdr"} `: 5, "hdrkit_window_age_seconds ": 2} {
		_, rest, _ := strings.Cut(string(body), "\n"+metric)
		text, _, _ := strings.Cut(rest, "\n")
		if age, err := strconv.ParseFloat(text, 64); err != nil || math.Abs(age-float64(time.Now().Unix()-end)) > 600 {
			t.Errorf("%s is %q in\n%s", metric, text, body)
		}
	}
	open, _ := scrape(t, collector(t), "application/openmetrics-text; version=1.0.0")
	if !strings.HasSuffix(string(open), "# EOF\n") {
		t.Errorf("%s", open)
	}
}

func TestScrapeNative(t *testing.T) {
	body, format := scrape(t, collector(t),
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,text/plain;q=0.3")
	decoder := expfmt.NewDecoder(bytes.NewReader(body), format)
	found := false
	for {
		var f dto.MetricFamily
		if err := decoder.Decode(&f); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if f.GetName() != "latency_seconds" {
			continue
		}
		for _, m := range f.Metric {
			h := m.Histogram
			if len(h.Bucket) > 0 || h.GetSchema() != 5 || len(h.PositiveSpan) == 0 {
				t.Errorf("no native histogram: %v", m)
			}
			if len(m.Label) == 1 && m.Label[0].GetValue() == "rt" {
				found = true
				if h.GetSampleCount() != 6 || h.GetZeroCount() != 1 || len(h.PositiveDelta) != 5 {
					t.Errorf("%v", h)
				}
			}
		}
	}
	if !found {
		t.Error("no tag rt")
	}
}

// A measured writer notes the size of the largest piece.
type measured struct {
	*httptest.ResponseRecorder
	largest int
}

func (m *measured) Write(text []byte) (int, error) {
	m.largest = max(m.largest, len(text))
	return m.ResponseRecorder.Write(text)
}

// TestScrapePieces: text of many tags is written in pieces, so that it takes little memory, and
// each name has one family in any format.
func TestScrapePieces(t *testing.T) {
	t.Parallel()
	const tags = 1000
	c := NewCollector(Options{Metric: "rt", Percentiles: []float64{50, 99}})
	for n := range tags {
		tag := fmt.Appendf(nil, "tag%d", n)
		if err := c.Window(tag, 1, 1000, false, counted(t, histogram.Layout{Digits: 3}, int64(n+1))); err != nil {
			t.Fatal(err)
		}
	}
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	answer := &measured{ResponseRecorder: httptest.NewRecorder()}
	c.Handler().ServeHTTP(answer, request)
	if size := answer.Body.Len(); answer.largest > size/10 {
		t.Errorf("a piece of %d bytes of %d", answer.largest, size)
	}
	for _, accept := range []string{
		"text/plain",
		"application/openmetrics-text; version=1.0.0",
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text",
	} {
		body, format := scrape(t, c, accept)
		if format.FormatType() == expfmt.TypeOpenMetrics { // the decoder reads no comment at the end
			for _, family := range []string{"rt ", "rt_window ", "rt_window_max "} {
				if n := strings.Count(string(body), "# TYPE "+family); n != 1 {
					t.Errorf("%s has %d types", family, n)
				}
			}
			continue
		}
		decoder := expfmt.NewDecoder(bytes.NewReader(body), format)
		got := map[string]int{}
		for {
			var f dto.MetricFamily
			if err := decoder.Decode(&f); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(accept, err)
			}
			if got[f.GetName()] > 0 || f.GetHelp() == "" {
				t.Errorf("%s: two families of %s, or no help: %q", accept, f.GetName(), f.GetHelp())
			}
			got[f.GetName()] += len(f.Metric)
		}
		if got["rt"] != tags || got["rt_window"] != 2*tags || got["rt_window_max"] != tags {
			t.Errorf("%s: %v", accept, got)
		}
	}
}

// TestMetricsLint lets Prometheus's own tool check the names and types of all metrics.
func TestMetricsLint(t *testing.T) {
	clitest.RequireTools(t, "promtool")
	body, _ := scrape(t, collector(t), "text/plain")
	lint := exec.Command("promtool", "check", "metrics")
	lint.Stdin = bytes.NewReader(body)
	if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// TestHealth asks for what is served besides.
func TestHealth(t *testing.T) {
	some := func() []live.Progress { return []live.Progress{{Name: "a.hdr"}} }
	for _, test := range []struct {
		states func() []live.Progress
		sender func() push.State
		path   string
		code   int
		text   string
		full   func() []string
	}{
		{some, nil, "/", 404, "", nil},
		{some, nil, "/metrics", 200, "hdrkit_lines_total", nil},
		{nil, nil, "/metrics", 200, "", nil},
		{nil, nil, "/healthz", 200, "healthy", nil},
		{nil, nil, "/-/healthy", 200, "healthy", nil},
		{nil, nil, "/readyz", 503, "there is no log yet", nil},
		{some, nil, "/readyz", 200, "ready", nil},
		{func() []live.Progress { return []live.Progress{{Name: "a.hdr", Unread: "permission denied"}} }, nil, "/readyz", 503, "a.hdr is not read: permission denied", nil},
		{func() []live.Progress { return []live.Progress{{Name: "a.hdr", Unread: "permission denied"}} }, nil, "/metrics", 200, `hdrkit_input_unread{input="a.hdr"} 1`, nil},
		{func() []live.Progress { return []live.Progress{{Name: "a.hdr.1", Copy: true}} }, nil, "/metrics", 200, `hdrkit_input_copy{input="a.hdr.1"} 1`, nil},
		{func() []live.Progress {
			return []live.Progress{{Name: "a.hdr.1", Copy: true, Unread: "may be a part of a copy of a.hdr"}}
		}, nil, "/metrics", 200, `hdrkit_input_unread{input="a.hdr.1"} 1`, nil},
		{func() []live.Progress {
			return []live.Progress{{Name: "a.hdr.1", Copy: true, Unread: "may be a part of a copy of a.hdr"}}
		}, nil, "/readyz", 200, "ready", nil},
		{some, func() push.State { return push.State{} }, "/readyz", 200, "ready", nil},
		{some, func() push.State { return push.State{Away: true} }, "/readyz", 503, "the receiver a does not take rows", nil},
		{some, func() push.State { return push.State{Away: true} }, "/healthz", 200, "healthy", nil},
		{some, nil, "/readyz", 503, "the disk of -of all.hdr is full", func() []string { return []string{"-of all.hdr"} }},
	} {
		c := NewCollector(Options{})
		if c.Watch(test.states, test.full); test.sender != nil {
			c.Watch(test.states, test.full, Sender{"a", test.sender})
		}
		w := httptest.NewRecorder()
		c.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, test.path, nil))
		if w.Code != test.code || !strings.Contains(w.Body.String(), test.text) {
			t.Errorf("%s: %d %s", test.path, w.Code, w.Body)
		}
	}
}

// fields returns the fields of a message: bytes, or numbers.
func fields(t *testing.T, m []byte) map[protowire.Number][]any {
	t.Helper()
	all := map[protowire.Number][]any{}
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		m = m[max(n, 0):]
		var value any
		switch kind {
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(m)
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(m)
		case protowire.Fixed64Type:
			var bits uint64
			bits, n = protowire.ConsumeFixed64(m)
			value = math.Float64frombits(bits)
		}
		if n <= 0 && kind != protowire.BytesType {
			t.Fatal("not a message")
		}
		m = m[n:]
		all[number] = append(all[number], value)
	}
	return all
}

// TestRemote decodes what is written by the numbers of prometheus/prompb.
func TestRemote(t *testing.T) {
	var body bytes.Buffer
	r := NewRemote(&body, Options{Metric: "latency", Scale: hdrlog.Scale{Ratio: 2}, Percentiles: []float64{50}})
	layout := histogram.Layout{Digits: 3}
	if err := r.Row(&output.Row{Tag: []byte("rt"), End: 1000, Counts: counted(t, layout, 2, 8, 0)}); err != nil {
		t.Fatal(err)
	}
	if err := r.Row(&output.Row{Tag: []byte("rt"), End: 2000, Counts: counted(t, layout, 2000), TotalsOnly: true}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, series := range fields(t, body.Bytes())[1] {
		s := fields(t, series.([]byte))
		var labels []string
		for _, l := range s[1] {
			pair := fields(t, l.([]byte))
			labels = append(labels, fmt.Sprintf("%s=%s", pair[1][0], pair[2][0]))
		}
		text := strings.Join(labels, ",")
		for _, sample := range s[2] {
			f := fields(t, sample.([]byte))
			text += fmt.Sprintf(" %v@%v", f[1][0], f[2][0])
		}
		for _, h := range s[4] {
			f := fields(t, h.([]byte))
			text += fmt.Sprintf(" count=%v sum=%v schema=%d zero=%v@%v", f[1][0], f[3][0], protowire.DecodeZigZag(f[4][0].(uint64)), f[6][0], f[15][0])
			for _, s := range f[11] {
				span := fields(t, s.([]byte))
				text += fmt.Sprintf(" [%d+%d]", protowire.DecodeZigZag(span[1][0].(uint64)), span[2][0])
			}
			text += fmt.Sprintf(" %v", f[12][0])
		}
		names = append(names, text)
	}
	want := []string{
		"__name__=latency,tag=rt count=3 sum=5 schema=5 zero=1@1000 [0+1] [63+1] [2 0]",
		"__name__=latency_window,percentile=50,tag=rt 1@1000",
		"__name__=latency_window_max,tag=rt 4@1000",
		"__name__=latency,tag=rt count=4 sum=1005 schema=5 zero=1@2000 [0+1] [63+1] [254+1] [2 0 0]",
	}
	if !slices.Equal(names, want) {
		t.Errorf("%s", strings.Join(names, "\n"))
	}
}

// TestRatios proves that each tag has a unit ratio of its own.
func TestRatios(t *testing.T) {
	t.Parallel()
	c := NewCollector(Options{Metric: "latency", Percentiles: []float64{50}})
	for tag, value := range map[string]int64{"us": 7, "ns": 7000} {
		if err := c.Window([]byte(tag), map[string]float64{"us": 1e3, "ns": 1}[tag], 1000, false, counted(t, histogram.Layout{Digits: 3}, value)); err != nil {
			t.Fatal(err)
		}
	}
	for _, family := range c.values(time.Now(), true) {
		for m := range family.metrics {
			got := m.Gauge.GetValue()
			if m.Histogram != nil {
				got = m.Histogram.GetSampleSum()
			}
			if got < 7000 || got > 7010 {
				t.Errorf("%s: %v", family.name, m)
			}
		}
	}
}

// A stuck is a client that does not read its answer before it is told to.
type stuck struct {
	*httptest.ResponseRecorder
	writes, reads chan struct{}
}

func (s *stuck) Write(text []byte) (int, error) {
	select {
	case s.writes <- struct{}{}:
		<-s.reads
	case <-s.reads:
	}
	return s.ResponseRecorder.Write(text)
}

// TestStuckClients scrapes while other clients do not read.
func TestStuckClients(t *testing.T) {
	t.Parallel()
	c := collector(t)
	handler, s := c.Handler(), stuck{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	for range 10 {
		go handler.ServeHTTP(&stuck{httptest.NewRecorder(), s.writes, s.reads}, request)
		select {
		case <-s.writes:
		case <-time.After(clitest.Patience):
			t.Fatal("a client that does not read holds up another")
		}
	}
	defer close(s.reads)
	answer := httptest.NewRecorder()
	if handler.ServeHTTP(answer, request); answer.Body.Len() == 0 {
		t.Error("no answer")
	}
}

// TestNewer: answers of receivers to points that they have.
func TestNewer(t *testing.T) {
	for answer, want := range map[string]bool{
		"out of order sample":            true, // Prometheus
		"duplicate sample for timestamp": true,
		"failed pushing to ingester: user=x: the sample has been rejected because another sample with a more recent timestamp has already been ingested and out-of-order samples are not allowed (err-mimir-sample-out-of-order)": true,
		"invalid label name": false,
		"":                   false,
	} {
		if isOutOfOrder([]byte(answer)) != want {
			t.Errorf("%q: %v", answer, !want)
		}
	}
}

// TestLastScrape: the end waits for a scrape that begins after it, or for as long as asked.
func TestLastScrape(t *testing.T) {
	t.Parallel()
	c := NewCollector(Options{Metric: "rt"})
	c.Watch(func() []live.Progress { return nil }, nil)
	scrape := func() {
		c.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil))
	}
	c.LastScrape(time.Hour, time.Hour) // nobody has ever asked
	scrape()
	scrape()
	c.LastScrape(time.Hour, 0)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.LastScrape(time.Hour, time.Hour)
	}()
	for {
		select {
		case <-ended:
			return
		default:
			scrape()
		}
	}
}
