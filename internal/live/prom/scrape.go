package prom

import (
	"bytes"
	"io"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/live"
	"hdrkit/internal/live/push"
	"hdrkit/output"
	"hdrkit/tags"
)

// A Collector answers scrapes, and says how the command itself does. It is safe for concurrent use.
type Collector struct {
	options Options
	scrapes chan struct{} // has one for each scrape that is answered

	mu      sync.Mutex
	inputs  func() []live.Progress // nil before the logs are followed
	senders []Sender
	totals  totals
	window  int64              // the end of the last complete window
	current map[string]figures // of the tags in it
	asked   time.Time          // when the last scrape came
	between time.Duration      // the last two scrapes
	waiting chan struct{}      // is closed after the next scrape, nil if nobody waits
}

// figures are what a tag has in the last complete window, in printed units.
type figures struct {
	percentiles []float64
	max         float64
}

// A Sender is a pusher to an address.
type Sender struct {
	Address string
	State   func() push.State
}

// NewCollector returns a collector. Its options are not used if it gets no window.
func NewCollector(o Options) *Collector {
	c := &Collector{options: o, scrapes: make(chan struct{}, mostScrapes), current: make(map[string]figures)}
	c.totals = newTotals(&c.options)
	return c
}

// Watch lets the collector ask how far the inputs are, and how the senders do.
func (c *Collector) Watch(inputs func() []live.Progress, senders ...Sender) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inputs, c.senders = inputs, senders
}

// SetMetric sets the name of the histogram, which the unit of the values decides.
func (c *Collector) SetMetric(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.options.Metric = name
}

// Complete says that a window is complete, which ends at end in milliseconds since the epoch.
func (c *Collector) Complete(end int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.complete(end)
}

func (c *Collector) complete(end int64) {
	if end > c.window {
		c.window = end
		clear(c.current)
	}
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
	c.complete(end)
	if h.TotalCount() == 0 {
		return nil
	}
	f := figures{max: t.of(h.Float(h.Max()))}
	for _, p := range c.options.Percentiles {
		f.percentiles = append(f.percentiles, t.of(h.Float(h.ValueAtPercentile(p))))
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

// Handler returns what answers requests: /metrics, /healthz, which is also /-/healthy, and /readyz.
func (c *Collector) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", c.metrics)
	for _, path := range []string{"GET /healthz", "GET /-/healthy"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "healthy\n") })
	}
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if why := c.unready(); why != "" {
			http.Error(w, why, http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "ready\n")
	})
	return mux
}

// unready returns why the command cannot do its work at present, empty if it can.
func (c *Collector) unready() string {
	inputs, senders := c.watched()
	if len(inputs) == 0 {
		return "there is no log yet"
	}
	for _, s := range senders {
		if s.State().Away {
			return "the receiver " + s.Address + " does not take rows"
		}
	}
	return ""
}

// watched returns how the inputs are, and the senders.
func (c *Collector) watched() (inputs []live.Progress, senders []Sender) {
	c.mu.Lock()
	ask, senders := c.inputs, c.senders
	c.mu.Unlock()
	if ask != nil {
		inputs = ask()
	}
	return inputs, senders
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
	defer c.scraped(c.ask())
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

// ask notes that a scrape has come. It returns what waits for it.
func (c *Collector) ask() (waiting chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !c.asked.IsZero() {
		c.between = now.Sub(c.asked)
	}
	c.asked = now
	waiting, c.waiting = c.waiting, nil
	return waiting
}

func (c *Collector) scraped(waiting chan struct{}) {
	if waiting != nil {
		close(waiting)
	}
}

// LastScrape waits for a scrape that shows all there is: twice the time between the last two
// scrapes, but no longer than most.
func (c *Collector) LastScrape(most time.Duration) {
	c.mu.Lock()
	grace := min(2*c.between, most)
	waiting := make(chan struct{})
	c.waiting = waiting
	c.mu.Unlock()
	select {
	case <-waiting:
	case <-time.After(grace):
	}
}

// families iterates over all metrics, in pieces of families.
func (c *Collector) families(native bool) iter.Seq[*dto.MetricFamily] {
	return func(yield func(*dto.MetricFamily) bool) {
		c.mu.Lock()
		keys := slices.Sorted(maps.Keys(c.totals.tags))
		c.mu.Unlock()
		for _, kind := range []func(keys []string, native bool) *dto.MetricFamily{c.values, c.percentiles, c.highest} {
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
			if !yield(f) {
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

// percentiles returns those of the last window, of some tags. They are gauges: a summary has a
// count and a sum beside them, which are those since the start.
func (c *Collector) percentiles(keys []string, _ bool) *dto.MetricFamily {
	f := family(c.options.Metric+"_window", dto.MetricType_GAUGE, "Exact percentiles of the last complete window, by tag.")
	for _, key := range keys {
		own, ok := c.current[key]
		if !ok {
			continue
		}
		for n, p := range c.options.Percentiles {
			label := append(pair("percentile", strconv.FormatFloat(p, 'f', -1, 64)), tagLabel(c.totals.tags[key].tag)...)
			f.Metric = append(f.Metric, &dto.Metric{Label: label, Gauge: &dto.Gauge{Value: &own.percentiles[n]}})
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
func (c *Collector) own() (all families) {
	inputs, senders := c.watched()
	now := time.Now()
	age := func(millis int64) float64 { return now.Sub(time.UnixMilli(millis)).Seconds() }
	for _, s := range inputs {
		input := pair("input", tags.Text([]byte(s.Name)))
		all.counter("hdrkit_lines_total", "Lines read, by input.", s.Lines, input)
		all.counter("hdrkit_skipped_lines_total", "Malformed lines, by input.", s.Skipped, input)
		all.counter("hdrkit_late_intervals_total", "Intervals that came after their window was complete, by input.", s.Late, input)
		if s.End != 0 && !s.Ended {
			all.gauge("hdrkit_input_lag_seconds", "Time since the end of the last interval, by input.", age(s.End), input)
		}
	}
	c.mu.Lock()
	window := c.window
	c.mu.Unlock()
	if window != 0 {
		all.gauge("hdrkit_window_age_seconds", "Time since the end of the last complete window.", age(window), nil)
	}
	for _, sender := range senders {
		s, receiver := sender.State(), pair("receiver", sender.Address)
		all.counter("hdrkit_push_sent_rows_total", "Rows that the receiver has taken.", s.Sent, receiver)
		all.counter("hdrkit_push_refused_rows_total", "Rows that the receiver has refused.", s.Refused, receiver)
		all.counter("hdrkit_push_dropped_rows_total", "Rows for which there was no room while the receiver was away.", s.Dropped, receiver)
		all.gauge("hdrkit_push_waiting_rows", "Rows that are still to be sent.", float64(s.Waiting), receiver)
		if !s.LastSuccess.IsZero() {
			all.gauge("hdrkit_push_last_success_timestamp_seconds", "When the receiver last took rows.", float64(s.LastSuccess.UnixMilli())/1000, receiver)
		}
	}
	return all
}

// families are metrics by name.
type families []*dto.MetricFamily

func (fs *families) counter(name, help string, v int64, label []*dto.LabelPair) {
	fs.add(name, help, dto.MetricType_COUNTER, &dto.Metric{Label: label, Counter: &dto.Counter{Value: proto.Float64(float64(v))}})
}

func (fs *families) gauge(name, help string, v float64, label []*dto.LabelPair) {
	fs.add(name, help, dto.MetricType_GAUGE, &dto.Metric{Label: label, Gauge: &dto.Gauge{Value: &v}})
}

func (fs *families) add(name, help string, kind dto.MetricType, m *dto.Metric) {
	n := slices.IndexFunc(*fs, func(f *dto.MetricFamily) bool { return f.GetName() == name })
	if n < 0 {
		n = len(*fs)
		*fs = append(*fs, family(name, kind, help))
	}
	(*fs)[n].Metric = append((*fs)[n].Metric, m)
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
