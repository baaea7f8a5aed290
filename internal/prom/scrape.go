package prom

import (
	"bytes"
	"iter"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/live"
	"hdrkit/output"
	"hdrkit/tags"
)

// A Collector answers scrapes. It is safe for concurrent use.
type Collector struct {
	options Options
	states  func() []live.State
	scrapes chan struct{} // has one for each scrape that is answered

	mu      sync.Mutex
	totals  totals
	window  int64              // the end of the last complete window
	current map[string]figures // of the tags in it
}

// figures are what a tag has in the last complete window, in printed units.
type figures struct {
	quantiles []float64
	max       float64
}

// NewCollector returns a collector. States, which may be nil, returns how far the inputs are.
func NewCollector(o Options, states func() []live.State) *Collector {
	if states == nil {
		states = func() []live.State { return nil }
	}
	c := &Collector{options: o, states: states, scrapes: make(chan struct{}, mostScrapes), current: make(map[string]figures)}
	c.totals = newTotals(&c.options)
	return c
}

// Window adds what a tag has in a window that is complete, which ends at end in milliseconds since
// the epoch.
func (c *Collector) Window(tag []byte, end int64, h *histogram.Histogram) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, err := c.totals.add(tag, h)
	if err != nil {
		return err
	}
	if end > c.window {
		c.window = end
		clear(c.current)
	}
	if h.TotalCount() == 0 {
		return nil
	}
	f := figures{max: t.of(h.Float(h.Max()))}
	for _, p := range c.options.Percentiles {
		f.quantiles = append(f.quantiles, t.of(h.Float(h.ValueAtPercentile(p))))
	}
	c.current[tags.Text(tag)] = f
	return nil
}

// Late adds what came after its window. Only the totals have it.
func (c *Collector) Late(tag []byte, h *histogram.Histogram) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.totals.add(tag, h)
	return err
}

// Handler returns what answers requests: /metrics and /-/healthy.
func (c *Collector) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", c.metrics)
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("healthy\n"))
	})
	return mux
}

const (
	// mostScrapes is the number of scrapes that are answered at a time.
	mostScrapes = 2
	// tagsAtOnce is the number of tags whose metrics are in memory for a scrape.
	tagsAtOnce = 500
)

// metrics writes native histograms if the scraper takes protocol buffers, and classic buckets
// otherwise. It writes a family piece by piece.
func (c *Collector) metrics(w http.ResponseWriter, r *http.Request) {
	select {
	case c.scrapes <- struct{}{}:
		defer func() { <-c.scrapes }()
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "other scrapes are being answered", http.StatusServiceUnavailable)
		return
	}
	format := expfmt.NegotiateIncludingOpenMetrics(r.Header)
	w.Header().Set("Content-Type", string(format))
	asProtobuf := format.FormatType() == expfmt.TypeProtoDelim
	var piece bytes.Buffer
	encoder := expfmt.NewEncoder(&piece, format)
	last := ""
	for family := range c.families(asProtobuf) {
		piece.Reset()
		if err := encoder.Encode(family); err != nil {
			panic(http.ErrAbortHandler) // part of the answer is sent
		}
		text := piece.Bytes()
		for !asProtobuf && family.GetName() == last && bytes.HasPrefix(text, []byte("#")) { // what all pieces begin with
			_, text, _ = bytes.Cut(text, []byte("\n"))
		}
		last = family.GetName()
		if _, err := w.Write(text); err != nil {
			return
		}
	}
	piece.Reset()
	if closer, ok := encoder.(expfmt.Closer); ok {
		closer.Close() // writes to memory
	}
	w.Write(piece.Bytes())
}

// families iterates over all metrics, in pieces of families.
func (c *Collector) families(native bool) iter.Seq[*dto.MetricFamily] {
	return func(yield func(*dto.MetricFamily) bool) {
		c.mu.Lock()
		keys := slices.Sorted(maps.Keys(c.totals.tags))
		c.mu.Unlock()
		for _, kind := range []func(keys []string, native bool) *dto.MetricFamily{c.values, c.quantiles, c.highest} {
			for some := range slices.Chunk(keys, tagsAtOnce) {
				c.mu.Lock()
				f := kind(some, native)
				c.mu.Unlock()
				if len(f.Metric) > 0 && !yield(f) {
					return
				}
			}
		}
		for _, f := range c.own() {
			if len(f.Metric) > 0 && !yield(f) {
				return
			}
		}
	}
}

// values returns the histograms of some tags.
func (c *Collector) values(keys []string, native bool) *dto.MetricFamily {
	f := family(c.options.Metric, dto.MetricType_HISTOGRAM, "All values recorded since the start, by tag.")
	for _, key := range keys {
		t := c.totals.tags[key]
		f.Metric = append(f.Metric, &dto.Metric{Label: tagLabel(t.tag), Histogram: c.histogram(t, native)})
	}
	return f
}

// quantiles returns those of the last window, of some tags.
func (c *Collector) quantiles(keys []string, _ bool) *dto.MetricFamily {
	f := family(c.options.Metric+"_window", dto.MetricType_GAUGE, "Exact quantiles of the last complete window, by tag.")
	for _, key := range keys {
		own, ok := c.current[key]
		for n, p := range c.options.Percentiles {
			if ok {
				label := append(pair("quantile", quantile(p)), tagLabel(c.totals.tags[key].tag)...)
				f.Metric = append(f.Metric, &dto.Metric{Label: label, Gauge: &dto.Gauge{Value: &own.quantiles[n]}})
			}
		}
	}
	return f
}

// highest returns the maxima of the last window, of some tags.
func (c *Collector) highest(keys []string, _ bool) *dto.MetricFamily {
	f := family(c.options.Metric+"_window_max", dto.MetricType_GAUGE, "The maximum of the last complete window, by tag.")
	for _, key := range keys {
		if own, ok := c.current[key]; ok {
			f.Metric = append(f.Metric, &dto.Metric{Label: tagLabel(c.totals.tags[key].tag), Gauge: &dto.Gauge{Value: &own.max}})
		}
	}
	return f
}

// histogram returns a total as a native histogram, or with classic buckets.
func (c *Collector) histogram(t *total, asNative bool) *dto.Histogram {
	all := c.totals.counts(t)
	h := &dto.Histogram{SampleCount: proto.Uint64(uint64(all.TotalCount())), SampleSum: proto.Float64(t.of(t.sum))}
	if !asNative {
		for _, b := range output.StatsOf(all, nil, true, output.Stats{}).Buckets {
			h.Bucket = append(h.Bucket, &dto.Bucket{
				UpperBound: proto.Float64(t.of(b.Bound)), CumulativeCount: proto.Uint64(uint64(b.Count)),
			})
		}
		return h
	}
	n := buckets(all, t.ratio, c.options.Schema)
	h.Schema, h.ZeroThreshold, h.ZeroCount = proto.Int32(int32(c.options.Schema)), proto.Float64(0), proto.Uint64(n.zero)
	for _, s := range n.spans {
		h.PositiveSpan = append(h.PositiveSpan, &dto.BucketSpan{Offset: proto.Int32(s.offset), Length: proto.Uint32(s.length)})
	}
	h.PositiveDelta = n.deltas
	if len(n.spans) == 0 {
		// Prometheus recognizes a native histogram by a span.
		h.PositiveSpan = []*dto.BucketSpan{{Offset: proto.Int32(0), Length: proto.Uint32(0)}}
	}
	return h
}

// own returns the metrics of the command itself.
func (c *Collector) own() []*dto.MetricFamily {
	lines := family("hdrsum_lines_total", dto.MetricType_COUNTER, "Lines read, by input.")
	skipped := family("hdrsum_skipped_lines_total", dto.MetricType_COUNTER, "Malformed lines, by input.")
	late := family("hdrsum_late_intervals_total", dto.MetricType_COUNTER, "Intervals that came after their window was complete, by input.")
	lag := family("hdrsum_input_lag_seconds", dto.MetricType_GAUGE, "Time since the end of the last interval, by input.")
	now := float64(time.Now().UnixMilli())
	for _, s := range c.states() {
		label := pair("input", tags.Text([]byte(s.Name)))
		counter := func(n int64) *dto.Metric {
			return &dto.Metric{Label: label, Counter: &dto.Counter{Value: proto.Float64(float64(n))}}
		}
		lines.Metric = append(lines.Metric, counter(s.Lines))
		skipped.Metric = append(skipped.Metric, counter(s.Skipped))
		late.Metric = append(late.Metric, counter(s.Late))
		if s.End != 0 && !s.Ended {
			lag.Metric = append(lag.Metric, &dto.Metric{Label: label, Gauge: &dto.Gauge{Value: proto.Float64((now - float64(s.End)) / 1000)}})
		}
	}
	return []*dto.MetricFamily{lines, skipped, late, lag}
}

func family(name string, kind dto.MetricType, help string) *dto.MetricFamily {
	return &dto.MetricFamily{Name: &name, Type: &kind, Help: &help}
}

func pair(name, value string) []*dto.LabelPair {
	return []*dto.LabelPair{{Name: &name, Value: &value}}
}

// tagLabel returns the label of a tag, none for untagged intervals.
func tagLabel(tag []byte) []*dto.LabelPair {
	if tag == nil {
		return nil
	}
	return pair("tag", tags.Text(tag))
}
