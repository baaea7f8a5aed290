package prom

import (
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

// A Collector answers scrapes of Prometheus, with values and with metrics of the command itself. It
// is safe for concurrent use.
type Collector struct {
	mu             sync.Mutex
	inputs         func() []live.Progress // returns the progress of inputs, nil before the logs are followed
	full           func() []string        // returns the outputs whose disks are full, nil before the logs are followed
	senders        []Sender
	totals         totals
	window         int64              // end of the last complete window
	current        map[string]figures // figures of the tags in this window
	lastAsked      time.Time          // when the last scrape came
	lastAnswered   time.Time          // when the last scrape came that was answered completely
	scrapeInterval time.Duration      // between the last two scrapes
}

// figures are those of a tag in the last complete window, in the unit of the metrics.
type figures struct {
	percentiles []float64
	max         float64
}

// A Sender is a pusher with its address.
type Sender struct {
	Address string
	State   func() push.State
}

// NewCollector returns a collector without values.
func NewCollector(o Options) *Collector {
	return &Collector{totals: newTotals(o, "metrics"), current: make(map[string]figures)}
}

// Watch sets the functions that return the progress of inputs and the outputs with full disks, and
// the senders.
func (c *Collector) Watch(inputs func() []live.Progress, full func() []string, senders ...Sender) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inputs = inputs
	c.full = full
	c.senders = senders
}

// fullDisks returns the outputs whose disks are full.
func (c *Collector) fullDisks() []string {
	c.mu.Lock()
	ask := c.full
	c.mu.Unlock()
	if ask == nil {
		return nil
	}
	return ask()
}

// SetMetric sets the name of the histogram and the scale of its values. Both depend on the unit of
// the values.
func (c *Collector) SetMetric(name string, scale hdrlog.Scale) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.totals.options.Metric, c.totals.options.Scale = name, scale
}

// Window adds a row of a complete window, which ends at end in milliseconds since the epoch, or
// late values, which count only in totals. The factor is that of [hdrlog.Scale.Times].
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
	f := figures{max: t.converted(h.Float(h.Max()))}
	for _, p := range c.totals.options.Percentiles {
		f.percentiles = append(f.percentiles, t.converted(h.Float(h.ValueAtPercentile(p))))
	}
	c.current[tags.Text(tag)] = f
	return nil
}

// Handler returns a handler for /metrics, /healthz, /-/healthy and /readyz.
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

// unready returns why the command cannot work at present. It is empty if the command can.
func (c *Collector) unready() string {
	inputs, senders := c.watched()
	if len(inputs) == 0 {
		return "there is no log yet"
	}
	for _, in := range inputs {
		if in.Unread != "" && !in.Copy { // a file that may be a copy waits for more text
			return tags.Text([]byte(in.Name)) + " is not read: " + tags.Text([]byte(in.Unread))
		}
	}
	for _, output := range c.fullDisks() {
		return "the disk of " + output + " is full"
	}
	for _, s := range senders {
		if s.State().Away {
			return "the receiver " + s.Address + " does not take rows"
		}
	}
	return ""
}

// watched returns the progress of the inputs, and the senders.
func (c *Collector) watched() (inputs []live.Progress, senders []Sender) {
	c.mu.Lock()
	ask, senders := c.inputs, c.senders
	c.mu.Unlock()
	if ask != nil {
		inputs = ask()
	}
	return inputs, senders
}

// formats are the formats of answers. The formats of protocol buffers for people are left out.
var formats = slices.DeleteFunc(expfmt.DefaultOpenMetricsAcceptedFormats(), func(f expfmt.Format) bool {
	return f.FormatType() == expfmt.TypeProtoText || f.FormatType() == expfmt.TypeProtoCompact
})

// metrics answers a scrape. If that fails, it aborts the connection, so that the scraper does not
// take a part for the whole.
func (c *Collector) metrics(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	format := expfmt.NegotiateAccept(r.Header, formats...)
	w.Header().Set("Content-Type", string(format))
	err := c.write(newAnswer(w, format), now)
	if err == nil {
		err = http.NewResponseController(w).Flush() // the command may end at once after this answer
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.After(c.lastAnswered) {
		c.lastAnswered = now
	}
}

// write writes the answer to a scrape that comes at now.
func (c *Collector) write(a *answer, now time.Time) error {
	for _, f := range append(c.values(now, a.native()), c.ownMetrics()...) {
		if err := a.family(f); err != nil {
			return err
		}
	}
	return a.end()
}

// LastScrape waits for a scrape that shows all values. It waits at most twice the time between the
// last two scrapes, but at least least and at most most.
func (c *Collector) LastScrape(least, most time.Duration) {
	c.mu.Lock()
	interval, start := c.scrapeInterval, time.Now()
	c.mu.Unlock()
	if interval == 0 {
		return
	}
	end := start.Add(min(max(2*interval, least), most))
	for shown := start; !shown.After(start) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		c.mu.Lock()
		shown = c.lastAnswered
		c.mu.Unlock()
	}
}

// values returns the metrics of all tags for a scrape that comes at now. The percentiles of the
// last window are gauges, not a summary: the count and the sum of a summary would be those since
// the start. The lock is not held while an answer is written, so that a scrape with many tags does
// not stop windows.
func (c *Collector) values(now time.Time, native bool) []family {
	c.mu.Lock()
	if !c.lastAsked.IsZero() {
		c.scrapeInterval = max(now.Sub(c.lastAsked), 1)
	}
	c.lastAsked = now
	o := c.totals.options
	keys := slices.Sorted(maps.Keys(c.totals.tags))
	c.mu.Unlock()
	counts := func(key string) []*dto.Metric {
		t := c.totals.tags[key]
		return []*dto.Metric{{Label: t.label(), Histogram: c.histogram(t, native)}}
	}
	percentiles := func(key string) (all []*dto.Metric) {
		for n, v := range c.current[key].percentiles {
			label := pair("percentile", strconv.FormatFloat(o.Percentiles[n], 'f', -1, 64))
			all = append(all, gauge(v, append(label, c.totals.tags[key].label()...)))
		}
		return all
	}
	highest := func(key string) []*dto.Metric {
		window, ok := c.current[key]
		if !ok {
			return nil
		}
		return []*dto.Metric{gauge(window.max, c.totals.tags[key].label())}
	}
	return []family{
		{
			name:    o.Metric,
			help:    "All values recorded since the start, by tag.",
			kind:    dto.MetricType_HISTOGRAM,
			metrics: c.each(keys, counts),
		},
		{
			name:    o.Metric + "_window",
			help:    "Exact percentiles of the last complete window, by tag.",
			kind:    dto.MetricType_GAUGE,
			metrics: c.each(keys, percentiles),
		},
		{
			name:    o.Metric + "_window_max",
			help:    "The maximum of the last complete window, by tag.",
			kind:    dto.MetricType_GAUGE,
			metrics: c.each(keys, highest),
		},
	}
}

// each iterates over the metrics of all tags. It holds the lock only while it makes the metrics of
// one tag.
func (c *Collector) each(keys []string, metrics func(key string) []*dto.Metric) iter.Seq[*dto.Metric] {
	return func(yield func(*dto.Metric) bool) {
		for _, key := range keys {
			c.mu.Lock()
			all := metrics(key)
			c.mu.Unlock()
			for _, m := range all {
				if !yield(m) {
					return
				}
			}
		}
	}
}

// histogram returns a total as a native histogram, or with classic buckets.
func (c *Collector) histogram(t *total, native bool) *dto.Histogram {
	all := c.totals.counts(t)
	if !native {
		return &dto.Histogram{SampleCount: proto.Uint64(uint64(all.TotalCount())), SampleSum: proto.Float64(t.converted(t.sum)), Bucket: classic(all, t.converted)}
	}
	h := t.native(all)
	if len(h.PositiveSpan) == 0 { // Prometheus recognizes a native histogram by a span
		h.PositiveSpan = []*dto.BucketSpan{{Offset: proto.Int32(0), Length: proto.Uint32(0)}}
	}
	return h
}

// classic returns classic buckets without the last one, which has no bound. Their bounds are next
// to powers of two, because at each precision a slot ends there. For integers, the bounds are a
// power of two minus 1, up to 2^42-1. For doubles, they are the numbers just below the powers of
// two from 2^-20 to 2^22.
func classic(h *histogram.Histogram, of func(v float64) float64) (all []*dto.Bucket) {
	boundOf := func(n int) float64 {
		if h.Double() {
			return math.Nextafter(math.Ldexp(1, n-20), 0)
		}
		return math.Ldexp(1, n) - 1
	}
	const buckets = 43
	bound := boundOf(0)
	count := uint64(0)
	add := func() {
		all = append(all, &dto.Bucket{UpperBound: proto.Float64(of(bound)), CumulativeCount: proto.Uint64(count)})
		bound = boundOf(len(all))
	}
	for slot := range h.Recorded() {
		for len(all) < buckets && h.Float(slot.High) > bound {
			add()
		}
		if len(all) == buckets {
			break
		}
		count += uint64(slot.Count)
	}
	for len(all) < buckets {
		add()
	}
	return all
}

// ownMetrics returns the metrics of the command itself.
func (c *Collector) ownMetrics() []family {
	var all families
	inputs, senders := c.watched()
	now := time.Now()
	age := func(millis int64) float64 { return now.Sub(time.UnixMilli(millis)).Seconds() }
	for _, s := range inputs {
		input := pair("input", tags.Text([]byte(s.Name)))
		if s.Lost {
			all.gauge("hdrkit_input_lost", "1 for a log that is gone, if windows lack some of its lines.", 1, input)
			continue
		}
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
		all.gauge("hdrkit_input_unread", "1 if the log or folder is there and cannot be read, or is missing, by input.", unread, input)
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
	for _, output := range c.fullDisks() {
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
	return all.list()
}
