package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/page"
	"hdrkit/internal/cli"
	"hdrkit/internal/live"
	"hdrkit/internal/live/port"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/live/serve"
	"hdrkit/internal/scan"
	"hdrkit/internal/table/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// checkServe returns an error if options do not go together with -serve, or with -follow.
func checkServe(c *urfave.Context) error {
	if err := cli.CheckPort(c, "serve"); err != nil {
		return err
	}
	if c.String("serve") == "" {
		if c.Bool("follow") {
			return cli.Usagef("-follow needs -serve, which shows the page while the logs are written")
		}
		return cli.CheckFollow(c)
	}
	for _, name := range []string{"of", "format"} {
		if cli.Given(c, name) && !c.Bool("follow") {
			return cli.Usagef("-serve and -%s: one of them only", name)
		}
	}
	if !c.Bool("follow") {
		return cli.CheckFollow(c)
	}
	return cli.CheckFollow(c, "compare", "diff")
}

// A site is the page, served.
type site struct {
	serve.Server
	port *port.Port
}

// start begins to answer, and prints the address. It returns what ends that.
func (s *site) start(c *urfave.Context) (end func()) {
	end = s.Start(s.port.Start)
	fmt.Fprintln(c.App.Writer, s.port.URL())
	return end
}

// servePicture serves the page of complete logs until it is interrupted.
func servePicture(c *urfave.Context, s *site, p *chart.Picture) error {
	d, err := page.New(p)
	if err != nil {
		return err
	}
	if err := s.Show(d); err != nil {
		return err
	}
	stop := make(chan struct{})
	cli.OnInterrupt(0, sync.OnceFunc(func() { close(stop) }))
	defer s.start(c)()
	select {
	case <-stop:
	case <-c.Context.Done():
	}
	return nil
}

// A follower shows logs while they are written. It is a [live.Sink].
type follower struct {
	*cli.Diagnostics
	*cli.Logs
	options   *options
	site      *site
	size      int64 // of the windows, in milliseconds
	title     string
	collector *prom.Collector

	mu       sync.Mutex // inputs fall silent when no window comes
	merger   *live.Merger
	page     page.Live
	scaled   bool
	scratch  histogram.Histogram
	interval chart.Interval
	inputs   []page.Input
	silent   map[string]bool
	fixed    []chart.Mark // of -mark
	falls    []fall

	// What is known of the worst moments.
	parts   summary.Parts
	logs    map[string]int     // their numbers in parts
	factors map[string]float64 // of rows
	worst   []chart.Moment
	changed bool      // a window is complete since the worst moments were found
	found   time.Time // when they were
	failed  bool      // a notice says that there are none
}

// A fall is when an input fell silent: the end of its last interval, in milliseconds since the
// epoch.
type fall struct {
	name string
	at   int64
}

const (
	// defaultWindow is the length of the windows of -follow in milliseconds, if -agg does not give
	// it.
	defaultWindow = 1000
	// mostGoing is the number of inputs up to which a page lists also those that go on.
	mostGoing = 50
	// mostFalls is the number of marks that a page keeps. Older ones go.
	mostFalls = 100
	// mostLiveWorst is the number of worst moments that a page gets, often anew.
	mostLiveWorst = 40
	// worstTime is the time between two searches for the worst moments.
	worstTime = time.Second
	// lookTime is the time between two looks for inputs that fell silent.
	lookTime = 250 * time.Millisecond
)

// serveFollowed serves the page of logs while they are written.
func serveFollowed(c *urfave.Context, diagnostics *cli.Diagnostics, o *options, s *site) error {
	f := &follower{
		Diagnostics: diagnostics, Logs: o.units.Logs(), options: o, site: s, collector: prom.NewCollector(prom.Options{}), silent: map[string]bool{}, size: cmp.Or(o.aggregate, defaultWindow),
		title: cmp.Or(o.picture.Title, strings.Join(slices.Concat(c.StringSlice("if"), c.Args().Slice()), " "), "hdrplot"),
	}
	f.page = page.Live{Type: o.kind, Dress: f.dress, Collector: chart.Collector{
		Measures: o.measures(), Narrow: o.narrows(), Ratio: 1, WindowBytes: liveTimes * o.picture.PageSize, Step: f.size,
	}}
	f.parts, f.logs, f.factors = summary.Parts{Times: true, Most: o.picture.PageSize / 2}, map[string]int{}, map[string]float64{}
	empty := chart.New(o.kind)
	f.dress(empty)
	d, err := page.New(empty)
	if err != nil {
		return err
	}
	d.Live = true
	if err := s.Show(d); err != nil {
		return err
	}
	s.Status = f.collector.Handler()
	defer s.start(c)()
	stopped := make(chan struct{})
	_, err = cli.Follow(c, f.size, f, cli.FollowHooks{
		Start: func(m *live.Merger) (end func()) {
			f.merger = m
			f.collector.Watch(m.States, nil)
			done := make(chan struct{})
			go f.watch(done)
			return func() { close(done) }
		},
		Stopped: func() { close(stopped) },
	})
	if err == nil && o.of != "" {
		err = f.save(c)
	}
	if err != nil {
		return err
	}
	if !cli.Given(c, "for") { // pipes have ended: people still look at the page
		select {
		case <-stopped:
		case <-c.Context.Done():
		}
	}
	return diagnostics.Close()
}

// save writes the page as a file, which goes on no longer.
func (f *follower) save(c *urfave.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found = time.Time{}
	f.findWorst()
	d, err := f.page.Data()
	if err != nil {
		return err
	}
	d.Live = false
	return cli.WriteFile(f.options.of, c.App.Writer, nil, func(w io.Writer) error { return page.Write(w, d) })
}

func (f *follower) dress(p *chart.Picture) {
	f.options.dress(p)
	p.LogValues = f.options.picture.LogValues // the axis does not change by itself
	p.Title, p.Span = f.title, fmt.Sprintf("each %v s", float64(f.size)/1000)
	f.fixed = nil
	for _, m := range p.Marks {
		f.fixed = append(f.fixed, m)
	}
	p.Worst = f.worst
	for _, m := range f.marks() {
		p.Marks = append(p.Marks, m)
	}
}

// watch looks for inputs that fall silent, although nothing is received then.
func (f *follower) watch(done chan struct{}) {
	ticker := time.NewTicker(lookTime)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			f.Flush()
		}
	}
}

// look finds out how the inputs are. It returns true if that has changed.
func (f *follower) look() (changed bool) {
	before := f.inputs
	f.inputs = []page.Input{}
	origin, _ := f.page.Origin()
	states := f.merger.States()
	names := map[string]int{}
	for _, s := range states {
		names[filepath.Base(s.Name)]++
	}
	for _, s := range states {
		if base := filepath.Base(s.Name); names[base] == 1 {
			s.Name = base
		}
		if s.Silent && !f.silent[s.Name] && s.End > 0 {
			f.falls = append(f.falls, fall{s.Name, s.End})
			f.falls = f.falls[max(len(f.falls)-mostFalls, 0):]
		}
		f.silent[s.Name] = s.Silent
		in := page.Input{Name: s.Name, End: s.End - origin}
		switch {
		case s.Ended:
			in.State = "has ended"
		case s.Silent:
			in.State = "is silent"
		case s.End == 0 || len(states) > mostGoing:
			continue
		}
		f.inputs = append(f.inputs, in)
	}
	return !slices.EqualFunc(before, f.inputs, func(a, b page.Input) bool { return a.Name == b.Name && a.State == b.State })
}

// marks returns the marks of the inputs that fell silent.
func (f *follower) marks() []chart.Mark {
	marks := []chart.Mark{}
	if origin, started := f.page.Origin(); started {
		for _, fall := range f.falls {
			marks = append(marks, chart.Mark{Time: fall.at - origin, Text: fall.name + " is silent"})
		}
	}
	return marks
}

// Flush sends what is new to the viewers.
func (f *follower) Flush() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed, worse := f.look(), f.findWorst()
	if f.page.Stale() {
		d, err := f.page.Data()
		if err != nil {
			return err
		}
		d.Inputs = f.inputs
		return f.site.All(d)
	}
	u, some := f.page.Update()
	if !some && !changed && !worse {
		return nil
	}
	if worse {
		u.Worst = append([]chart.Moment{}, f.worst...)
	}
	many, err := f.site.Update(f.with(u))
	if err == nil && many {
		all := f.page.Since()
		all.Worst = append([]chart.Moment{}, f.worst...)
		err = f.site.Join(f.with(all))
	}
	return err
}

// Maximum takes the maximum of an interval.
func (f *follower) Maximum(log string, tag []byte, start, end int64, highest float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.options.marksWorst(f.page.Collector.Measures) {
		return
	}
	if _, known := f.logs[log]; !known {
		f.logs[log] = len(f.logs)
	}
	f.parts.Add(f.logs[log], log, tag, start, end, highest)
}

// findWorst finds the worst moments, if it is time to. It returns true if there are others.
func (f *follower) findWorst() bool {
	origin, started := f.page.Origin()
	if !started || !f.changed || f.failed || time.Since(f.found) < worstTime {
		return false
	}
	moments, _, err := f.parts.Worst(mostLiveWorst, func(input string, tag []byte) float64 { return f.factors[string(f.options.by.Row(input, tag))] })
	f.changed, f.found = false, time.Now()
	if f.failed = err != nil; f.failed {
		f.Notice("the page marks no worst moments: " + err.Error())
	}
	before := f.worst
	moments = slices.DeleteFunc(moments, func(m output.Moment) bool { return m.Factor == 0 }) // no window of its tag is complete
	var logs []scan.Input
	for name := range f.logs {
		logs = append(logs, scan.Input{Name: name})
	}
	f.worst = f.options.moments(moments, origin, "", fileLabels(logs))
	return !slices.Equal(before, f.worst)
}

// with adds to an update what is known of the inputs.
func (f *follower) with(u *page.Update) *page.Update {
	u.Inputs, u.Marks = f.inputs, append(append([]chart.Mark{}, f.fixed...), f.marks()...) // never null
	return u
}

// Window takes what a tag has in a window.
func (f *follower) Window(m *merge.Merged) error {
	f.collector.Complete(m.Window.End)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.scaled {
		if err := f.options.setScale(true); err != nil {
			return err
		}
		f.page.Collector.Ratio, f.scaled = f.options.ratio, true
	}
	factor, err := f.Factor(m.Tag)
	if err != nil {
		return err
	}
	f.factors[string(m.Tag)], f.changed = factor, true
	h, err := m.Histogram(&f.scratch)
	if err == nil {
		f.interval.Factor = factor
		f.page.Collector.MeasureMerged(m, h, &f.interval)
		label := ""
		if m.Tag != nil {
			label = tags.Text(m.Tag)
		}
		err = f.page.Add(label, int64(math.Round(m.LogStart*1000)), &f.interval)
	}
	if err != nil {
		return f.SkipWindow(m.Tag, err)
	}
	return nil
}

// Late takes an interval that came after its window: one more row.
func (f *follower) Late(m *merge.Merged) error { return f.Window(m) }
