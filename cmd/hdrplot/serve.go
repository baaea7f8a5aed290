package main

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/cli"
	"hdrkit/internal/live"
	"hdrkit/internal/serve"
	"hdrkit/output/picture"
	"hdrkit/output/picture/page"
	"hdrkit/tags"
)

// checkServe returns an error if options do not go together with -serve, or with -follow.
func checkServe(c *urfave.Context) error {
	if c.String("serve") == "" {
		if c.Bool("follow") {
			return cli.Usagef("-follow needs -serve, which shows the page while the logs are written")
		}
		return cli.CheckFollow(c)
	}
	for _, name := range []string{"of", "format"} {
		if cli.Given(c, name) {
			return cli.Usagef("-serve and -%s: one of them only", name)
		}
	}
	if !c.Bool("follow") {
		return cli.CheckFollow(c)
	}
	return cli.CheckFollow(c, "compare", "diff", "mwp", "mwpl", "mark", "sla")
}

// A site is the page, served.
type site struct {
	serve.Server
	listener net.Listener
	address  string
}

// listen begins to listen at the address of -serve.
func listen(address string) (*site, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, cli.Usagef("-serve %s: %w", address, err)
	}
	return &site{listener: listener, address: fmt.Sprintf("http://%s/", listener.Addr())}, nil
}

// start begins to answer, and prints the address. It returns what ends that.
func (s *site) start(c *urfave.Context) (end func()) {
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	go server.Serve(s.listener)
	fmt.Fprintln(c.App.Writer, s.address)
	return func() { server.Close() } // viewers never end by themselves
}

// servePicture serves the page of complete logs until it is interrupted.
func servePicture(c *urfave.Context, s *site, p *picture.Picture) error {
	d, err := p.Page()
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
	c           *urfave.Context
	diagnostics *cli.Diagnostics
	options     *options
	site        *site

	mu       sync.Mutex // states change when no window comes
	merger   *live.Merger
	page     picture.Live
	scaled   bool
	scratch  histogram.Histogram
	interval picture.Interval
	silent   map[string]bool
	marks    []picture.Mark
}

// defaultWindow is the length of the windows of -follow in milliseconds, if -agg does not give it.
const defaultWindow = 1000

// serveFollowed serves the page of logs while they are written.
func serveFollowed(c *urfave.Context, diagnostics *cli.Diagnostics, o *options, s *site) error {
	f := &follower{c: c, diagnostics: diagnostics, options: o, site: s, silent: make(map[string]bool)}
	size := o.aggregate
	if size == 0 {
		size = defaultWindow
	}
	f.page = picture.Live{Type: o.kind, Collector: picture.Collector{
		Measures: o.measures(), Ratio: 1, WindowBytes: collectTimes * o.picture.PageSize, Digits: o.pageDigits,
	}, Dress: f.dress}
	empty := picture.New(o.kind)
	f.dress(empty)
	d, err := empty.Page()
	if err != nil {
		return err
	}
	d.Live = true
	if err := s.Show(d); err != nil {
		return err
	}
	defer s.start(c)()
	_, err = cli.Follow(c, size, f, cli.FollowHooks{Start: func(m *live.Merger) (end func()) {
		f.merger = m
		done := make(chan struct{})
		go f.watch(done)
		return func() { close(done) }
	}})
	if err != nil {
		return err
	}
	return diagnostics.Close()
}

func (f *follower) dress(p *picture.Picture) {
	f.options.dress(p)
	p.Marks = f.marks
	p.Span = fmt.Sprintf("each %v s", float64(max(f.options.aggregate, defaultWindow))/1000)
	if p.Title == "" {
		p.Title = "hdrplot"
	}
}

// watch looks for inputs that fall silent, although nothing is received then.
func (f *follower) watch(done chan struct{}) {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			f.mu.Lock()
			f.send()
			f.mu.Unlock()
		}
	}
}

// states returns the texts about the inputs, and marks for those that fell silent since the last
// call. Changed is set if there is something new.
func (f *follower) states() (inputs []string, marks []page.Mark, changed bool) {
	inputs, marks = []string{}, []page.Mark{}
	for _, s := range f.merger.States() {
		if s.Silent {
			inputs = append(inputs, s.Name+" is silent")
		}
		if s.Silent == f.silent[s.Name] {
			continue
		}
		changed = true
		f.silent[s.Name] = s.Silent
		if s.Silent && s.End > 0 {
			mark := page.Mark{Time: s.End - f.page.Origin(), Text: s.Name + " is silent"}
			marks = append(marks, mark)
			f.marks = append(f.marks, picture.Mark{Time: float64(mark.Time), Text: mark.Text})
		}
	}
	return inputs, marks, changed
}

// send sends what is new to the viewers.
func (f *follower) send() error {
	inputs, marks, changed := f.states()
	all := func(send func(*page.Data) error) error {
		d, err := f.page.Data()
		if err != nil {
			return err
		}
		d.Inputs = inputs
		return send(d)
	}
	if f.page.Stale() {
		return all(f.site.All)
	}
	u, some := f.page.Update()
	if !some && !changed {
		return nil
	}
	u.Inputs, u.Marks = inputs, marks
	many, err := f.site.Update(u)
	if err != nil || !many {
		return err
	}
	return all(f.site.Renew)
}

// Comment reads a comment for the unit of the log.
func (f *follower) Comment(log string, text []byte) error { return f.options.units.Comment(log, text) }

// Window takes what a tag has in a window.
func (f *follower) Window(m *merge.Merged) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.scaled {
		if err := f.options.setScale(true); err != nil {
			return err
		}
		f.page.Collector.Ratio, f.scaled = f.options.ratio, true
	}
	h, err := m.Histogram(&f.scratch)
	if err == nil {
		f.page.Collector.MeasureMerged(m, h, &f.interval)
		label := ""
		if m.Tag != nil {
			label = tags.Text(m.Tag)
		}
		err = f.page.Add(label, &f.interval)
	}
	if err != nil {
		return f.diagnostics.Skip(fmt.Sprintf("tag %s: the intervals of a window do not add up: %v", tags.Text(m.Tag), err))
	}
	return nil
}

// Late leaves out an interval that came after its window.
func (f *follower) Late(*merge.Merged) error {
	f.diagnostics.LeftOut(1)
	return nil
}

// Flush sends what was received to the viewers.
func (f *follower) Flush() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.send()
}

// Malformed counts a malformed line.
func (f *follower) Malformed(_ error, text string) error { return f.diagnostics.Skip(text) }

// Notice prints a message.
func (f *follower) Notice(text string) { f.diagnostics.Warnf("%s", text) }
