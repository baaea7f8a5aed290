package prom

import (
	"bytes"
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
	return &Collector{options: o, states: states, totals: make(totals), current: make(map[string]figures)}
}

// Window adds what a tag has in a window that is complete, which ends at end in milliseconds since
// the epoch.
func (c *Collector) Window(tag []byte, end int64, h *histogram.Histogram) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.totals.of(tag).add(h); err != nil {
		return err
	}
	if end > c.window {
		c.window = end
		clear(c.current)
	}
	if h.TotalCount() == 0 {
		return nil
	}
	f := figures{max: h.Float(h.Max()) / c.options.Ratio}
	for _, p := range c.options.Percentiles {
		f.quantiles = append(f.quantiles, h.Float(h.ValueAtPercentile(p))/c.options.Ratio)
	}
	c.current[tags.Text(tag)] = f
	return nil
}

// Late adds what came after its window. Only the totals have it.
func (c *Collector) Late(tag []byte, h *histogram.Histogram) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.totals.of(tag).add(h)
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

// metrics writes native histograms if the scraper takes protocol buffers, and classic buckets
// otherwise.
func (c *Collector) metrics(w http.ResponseWriter, r *http.Request) {
	format := expfmt.NegotiateIncludingOpenMetrics(r.Header)
	var body bytes.Buffer
	encoder := expfmt.NewEncoder(&body, format)
	for _, family := range c.families(format.FormatType() == expfmt.TypeProtoDelim) {
		if err := encoder.Encode(family); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	if closer, ok := encoder.(expfmt.Closer); ok {
		closer.Close() // writes to memory
	}
	w.Header().Set("Content-Type", string(format))
	w.Write(body.Bytes())
}

// families returns all metrics.
func (c *Collector) families(native bool) []*dto.MetricFamily {
	c.mu.Lock()
	values := family(c.options.Metric, dto.MetricType_HISTOGRAM, "All values recorded since the start, by tag.")
	window := family(c.options.Metric+"_window", dto.MetricType_GAUGE, "Exact quantiles of the last complete window, by tag.")
	highest := family(c.options.Metric+"_window_max", dto.MetricType_GAUGE, "The maximum of the last complete window, by tag.")
	for _, key := range slices.Sorted(maps.Keys(c.totals)) {
		t := c.totals[key]
		label := tagLabel(t.tag)
		values.Metric = append(values.Metric, &dto.Metric{Label: label, Histogram: c.histogram(t, native)})
		f, ok := c.current[key]
		if !ok {
			continue
		}
		for n, p := range c.options.Percentiles {
			quantiles := append(pair("quantile", quantile(p)), label...)
			window.Metric = append(window.Metric, &dto.Metric{Label: quantiles, Gauge: &dto.Gauge{Value: &f.quantiles[n]}})
		}
		highest.Metric = append(highest.Metric, &dto.Metric{Label: label, Gauge: &dto.Gauge{Value: &f.max}})
	}
	c.mu.Unlock()
	all := append([]*dto.MetricFamily{values, window, highest}, c.own()...)
	return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool { return len(f.Metric) == 0 })
}

// histogram returns a total as a native histogram, or with classic buckets.
func (c *Collector) histogram(t *total, asNative bool) *dto.Histogram {
	h := &dto.Histogram{SampleCount: proto.Uint64(uint64(t.all.TotalCount())), SampleSum: proto.Float64(t.sum / c.options.Ratio)}
	if !asNative {
		counts := output.StatsOf(&t.all, nil, true, output.Stats{}).Buckets
		for n, bound := range output.Bounds(t.all.Double()) {
			h.Bucket = append(h.Bucket, &dto.Bucket{
				UpperBound: proto.Float64(bound / c.options.Ratio), CumulativeCount: proto.Uint64(uint64(counts[n])),
			})
		}
		return h
	}
	n := buckets(&t.all, &c.options)
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
