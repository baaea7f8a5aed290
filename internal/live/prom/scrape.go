package prom

import (
	"bytes"
	"io"
	"iter"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/live"
	"hdrkit/internal/live/push"
	"hdrkit/tags"
)

// A Collector answers scrapes, and says how the command itself does. It is safe for concurrent use.
type Collector struct {
	scrapes chan struct{} // has one for each scrape that is encoded

	mu      sync.Mutex
	inputs  func() []live.Progress // nil before the logs are followed
	full    func() []string        // the outputs whose disks are full, nil before
	senders []Sender
	totals  totals
	window  int64              // the end of the last complete window
	current map[string]figures // of the tags in it
	asked   time.Time          // when the last scrape came
	shown   time.Time          // when the last one came that was answered
	between time.Duration      // the last two scrapes
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

// NewCollector returns a collector.
func NewCollector(o Options) *Collector {
	return &Collector{totals: newTotals(o), scrapes: make(chan struct{}, mostScrapes), current: make(map[string]figures)}
}

// Watch lets the collector ask how far the inputs are, which outputs have no room, and how the
// senders do.
func (c *Collector) Watch(inputs func() []live.Progress, full func() []string, senders ...Sender) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inputs = inputs
	c.full = full
	c.senders = senders
}

// noRoom returns the outputs whose disks are full.
func (c *Collector) noRoom() []string {
	c.mu.Lock()
	ask := c.full
	c.mu.Unlock()
	if ask == nil {
		return nil
	}
	return ask()
}

// SetMetric sets the name of the histogram and how to print its values, which their unit decides.
func (c *Collector) SetMetric(name string, scale hdrlog.Scale) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.totals.options.Metric, c.totals.options.Scale = name, scale
}

// Window adds what a tag has in a window that is complete, which ends at end in milliseconds since
// the epoch. Only the totals have what came late. The factor is that of [output.Row].
func (c *Collector) Window(tag []byte, factor float64, end int64, late bool, h *histogram.Histogram) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, err := c.totals.add(tag, factor, h)
	if err != nil || late {
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
	for _, p := range c.totals.options.Percentiles {
		f.percentiles = append(f.percentiles, t.of(h.Float(h.ValueAtPercentile(p))))
	}
	c.current[tags.Text(tag)] = f
	return nil
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
	for _, in := range inputs {
		if in.Unread != "" {
			return tags.Text([]byte(in.Name)) + " is not read: " + tags.Text([]byte(in.Unread))
		}
	}
	for _, output := range c.noRoom() {
		return "the disk of " + output + " is full"
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

// mostScrapes is the number of scrapes that are encoded at a time. Others wait.
const mostScrapes = 2

// metrics answers a scrape. A scraper that does not read holds up no other: its answer waits in
// memory.
func (c *Collector) metrics(w http.ResponseWriter, r *http.Request) {
	select {
	case c.scrapes <- struct{}{}:
	case <-r.Context().Done(): // the scraper waits no longer
		return
	}
	now := time.Now()
	format := expfmt.NegotiateAccept(r.Header, expfmt.DefaultOpenMetricsAcceptedFormats()...)
	text, err := c.encode(now, format)
	<-c.scrapes
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", string(format))
	if _, err := w.Write(text); err != nil || http.NewResponseController(w).Flush() != nil { // before the end, which may come at once
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.After(c.shown) {
		c.shown = now
	}
}

// encode returns native histograms if the format is protocol buffers, and classic buckets
// otherwise.
func (c *Collector) encode(now time.Time, format expfmt.Format) ([]byte, error) {
	var text bytes.Buffer
	encoder := expfmt.NewEncoder(&text, format)
	for _, family := range append(c.values(now, format.FormatType() == expfmt.TypeProtoDelim), c.ofCollector()...) {
		if err := encoder.Encode(family); err != nil {
			return nil, err
		}
	}
	if closer, ok := encoder.(expfmt.Closer); ok {
		if err := closer.Close(); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// LastScrape waits for a scrape that shows all there is: twice the time between the last two
// scrapes, for least at least, but no longer than most.
func (c *Collector) LastScrape(least, most time.Duration) {
	c.mu.Lock()
	between, start := c.between, time.Now()
	c.mu.Unlock()
	if between == 0 {
		return
	}
	end := start.Add(min(max(2*between, least), most))
	for shown := start; !shown.After(start) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		c.mu.Lock()
		shown = c.shown
		c.mu.Unlock()
	}
}

// values returns the metrics of all tags, for a scrape that comes now. The percentiles of the last
// window are gauges: a summary has a count and a sum beside them, which are those since the start.
// Windows do not wait for all tags of a scrape.
func (c *Collector) values(now time.Time, native bool) (all families) {
	c.mu.Lock()
	if !c.asked.IsZero() {
		c.between = max(now.Sub(c.asked), 1)
	}
	c.asked = now
	o := c.totals.options
	keys := slices.Sorted(maps.Keys(c.totals.tags))
	c.mu.Unlock()
	for _, key := range keys {
		c.mu.Lock()
		t := c.totals.tags[key]
		h := c.histogram(t, native)
		window, ok := c.current[key]
		c.mu.Unlock()
		var label []*dto.LabelPair // none for untagged intervals
		if t.tag != nil {
			label = pair("tag", key)
		}
		all.add(o.Metric, "All values recorded since the start, by tag.", dto.MetricType_HISTOGRAM, &dto.Metric{Label: label, Histogram: h})
		if !ok {
			continue
		}
		for n, p := range o.Percentiles {
			all.gauge(o.Metric+"_window", "Exact percentiles of the last complete window, by tag.", window.percentiles[n],
				append(pair("percentile", strconv.FormatFloat(p, 'f', -1, 64)), label...))
		}
		all.gauge(o.Metric+"_window_max", "The maximum of the last complete window, by tag.", window.max, label)
	}
	return all
}

// histogram returns a total as a native histogram, or with classic buckets.
func (c *Collector) histogram(t *total, native bool) *dto.Histogram {
	all := c.totals.counts(t)
	if !native {
		return &dto.Histogram{SampleCount: proto.Uint64(uint64(all.TotalCount())), SampleSum: proto.Float64(t.of(t.sum)), Bucket: classic(all, t.of)}
	}
	h := t.native(all)
	if len(h.PositiveSpan) == 0 { // Prometheus recognizes a native histogram by a span
		h.PositiveSpan = []*dto.BucketSpan{{Offset: proto.Int32(0), Length: proto.Uint32(0)}}
	}
	return h
}

// classic returns buckets, but not the last, which has no bound. Their bounds are next to powers of
// two, because a slot ends there at any precision: a power of two minus 1, up to 2^42-1, or for
// doubles the numbers just below the powers of two from 2^-20 to 2^22.
func classic(h *histogram.Histogram, of func(v float64) float64) (all []*dto.Bucket) {
	next, stop := iter.Pull(h.Recorded())
	defer stop()
	slot, ok := next()
	count := uint64(0)
	for n := range 43 {
		bound := math.Ldexp(1, n) - 1
		if h.Double() {
			bound = math.Nextafter(math.Ldexp(1, n-20), 0)
		}
		for ; ok && h.Float(slot.High) <= bound; slot, ok = next() {
			count += uint64(slot.Count)
		}
		all = append(all, &dto.Bucket{UpperBound: proto.Float64(of(bound)), CumulativeCount: proto.Uint64(count)})
	}
	return all
}

// ofCollector returns the metrics of the command itself.
func (c *Collector) ofCollector() (all families) {
	inputs, senders := c.watched()
	now := time.Now()
	age := func(millis int64) float64 { return now.Sub(time.UnixMilli(millis)).Seconds() }
	for _, s := range inputs {
		input := pair("input", tags.Text([]byte(s.Name)))
		if s.Copy {
			all.gauge("hdrkit_input_copy", "1 for a log that is not read, since it is a copy of another one.", 1, input)
			if s.Unread == "" {
				continue
			}
		}
		all.counter("hdrkit_lines_total", "Lines read, by input.", s.Lines, input)
		all.counter("hdrkit_skipped_lines_total", "Malformed lines, by input.", s.Skipped, input)
		all.counter("hdrkit_late_intervals_total", "Intervals that came after their window was complete, by input.", s.Late, input)
		unread := 0.0
		if s.Unread != "" {
			unread = 1
		}
		all.gauge("hdrkit_input_unread", "1 if the log is there and cannot be read, or is missing, by input.", unread, input)
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
	for _, output := range c.noRoom() {
		all.gauge("hdrkit_disk_full", "1 for an output whose disk is full: what it does not take waits in memory.", 1, pair("output", output))
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
		*fs = append(*fs, &dto.MetricFamily{Name: &name, Type: &kind, Help: &help})
	}
	(*fs)[n].Metric = append((*fs)[n].Metric, m)
}

func pair(name, value string) []*dto.LabelPair {
	return []*dto.LabelPair{{Name: &name, Value: &value}}
}
