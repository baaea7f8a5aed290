package sinks

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/collect"
	"hdrkit/internal/chart/page"
	"hdrkit/internal/finding"
	"hdrkit/internal/gate"
	"hdrkit/internal/live"
	"hdrkit/internal/live/serve"
	"hdrkit/internal/report"
	"hdrkit/output"
	"hdrkit/tags"
)

const (
	// mostTags is the number of tags of a page. Each new one sends all others again, so the time
	// that the page takes grows with their square.
	mostTags = 1000
	// mostFalls is the number of marks that a page keeps. Older ones go.
	mostFalls = 100
	// pageBytes is the size of a page, and mostWindows the number of windows with counts.
	pageBytes   = 16e6
	mostWindows = 1 << 16
	// mostPixels is the width of the page's pictures.
	mostPixels, mostHigh = 1200, 600
)

// A Page is the page that goes on while logs are written.
type Page struct {
	options  *Options
	server   *serve.Server
	title    string
	limits   []gate.Limit
	inputs   pageInputs
	page     collect.Live
	scaled   bool
	look     chart.Picture // its limits, its unit, and what is not known of that
	interval collect.Interval
	series   []page.Series // as viewers have them
	tags     map[string]bool
	full     bool // there are more than mostTags
	gate     *Gate
	findings []output.Finding
	ends     bool // the last window has come
}

// pageInputs are how the inputs of a page are.
type pageInputs struct {
	ask      func() []live.Progress
	size     int64                    // of windows in milliseconds
	before   map[string]live.Progress // how they were, by name
	shown    []page.Input
	status   page.Status
	from     int64 // windows that end before it are not shown
	goneFrom int64 // when the first input started that followed the clock and is gone
	falls    []fall
}

// A fall is when inputs fell silent: the end of the last interval, in milliseconds since the epoch.
type fall struct {
	names []string
	at    int64
}

// NewPage returns a page that a server shows. It draws limits.
func NewPage(o *Options, server *serve.Server, title string, limits []gate.Limit) (*Page, error) {
	p := &Page{
		options: o,
		server:  server,
		title:   title,
		limits:  limits,
		inputs: pageInputs{
			size:     o.Size,
			from:     math.MinInt64,
			goneFrom: math.MaxInt64,
		},
		tags: map[string]bool{},
	}
	levels := append(slices.DeleteFunc(slices.Clone(o.Percentiles), func(p float64) bool { return p == 100 }), 100)
	p.page.Type = chart.Timeline
	p.page.Dress = p.dress
	p.page.Collector.Options = collect.Options{
		Measures:    chart.Timeline.Measures(levels),
		Ratio:       1,
		MostWindows: mostWindows,
		Step:        o.Size,
	}
	empty := chart.New(chart.Timeline)
	p.dress(empty)
	d, err := page.New(empty)
	if err != nil {
		return nil, err
	}
	d.Live = true
	return p, server.Show(d)
}

// dress gives a picture its looks.
func (p *Page) dress(d *chart.Picture) {
	d.Looks.PageSize = pageBytes
	d.Time.Zone = time.UTC
	d.Looks.Width = mostPixels
	d.Looks.Height = mostHigh
	d.Looks.DPI = 96
	d.Looks.Title = p.title
	d.Inputs.Span = fmt.Sprintf("each %v s", float64(p.options.Size)/1000)
	d.Values.Unit = p.look.Values.Unit
	d.Values.Limits = p.look.Values.Limits
	d.Texts.Notes = append(d.Texts.Notes, p.look.Texts.Notes...)
	d.DropLines(true)
	d.Events.Marks = append(d.Events.Marks, p.marks()...)
	d.Texts.Findings = p.findings
}

// Judge lets the page say what a gate finds. The gate gets the same windows.
func (p *Page) Judge(g *Gate) { p.gate = g }

// find finds what the run shows. It returns true if that has changed.
func (p *Page) find() (changed bool, err error) {
	if p.gate == nil {
		return false, nil
	}
	before := p.findings
	p.findings, err = p.gate.Findings(p.ends)
	alike := func(a, b output.Finding) bool { return a.Sentence == b.Sentence }
	return !slices.EqualFunc(before, p.findings, alike), err
}

// Watch lets the page ask how the inputs are.
func (p *Page) Watch(inputs func() []live.Progress) { p.inputs.ask = inputs }

// lookAt finds out how the inputs are. It returns true if that has changed. Origin is when the
// page's time begins.
func (in *pageInputs) lookAt(origin int64) (changed bool) {
	before := in.shown
	in.shown = []page.Input{}
	all := slices.DeleteFunc(slices.Clone(in.ask()), func(p live.Progress) bool { return p.Copy || p.Lost })
	in.status = page.Status{Logs: len(all), Now: time.Now().UnixMilli() - origin}
	behind := in.findFrom(all)
	old := in.before
	in.before = make(map[string]live.Progress, len(all))
	names := map[string]int{}
	for _, s := range all {
		names[filepath.Base(s.Name)]++
	}
	for _, s := range all {
		in.before[s.Name] = s
		silent := s.Silent && !old[s.Name].Silent && s.End > 0
		far := behind[s.Name]
		if base := filepath.Base(s.Name); names[base] == 1 {
			s.Name = base
		}
		if silent {
			in.fall(s.Name, s.End)
		}
		one := page.Input{Name: s.Name, End: s.End - origin}
		switch {
		case far:
			one.State = "is behind, and not shown"
		case s.Ended:
			one.State = "has ended"
		case s.Silent:
			one.State = "is silent"
		default:
			if s.End != 0 && (in.status.End == nil || one.End < *in.status.End) {
				in.status.End = &one.End
			}
			continue
		}
		in.shown = append(in.shown, one)
	}
	in.status.Inputs = in.shown
	looksTheSame := func(a, b page.Input) bool { return a.Name == b.Name && a.State == b.State }
	return !slices.EqualFunc(before, in.shown, looksTheSame)
}

// findFrom finds the time from which on the page shows windows: that of the first log that follows
// the clock, if other logs are so far behind that they would only make the page wider. It returns
// these.
func (in *pageInputs) findFrom(all []live.Progress) (behind map[string]bool) {
	now := make(map[string]bool, len(all))
	from := in.goneFrom
	for _, s := range all {
		now[s.Name] = true
		if !s.Behind && s.Start != 0 {
			from = min(from, s.Start)
		}
	}
	for _, s := range in.before {
		if !now[s.Name] && !(s.Behind && s.End <= from) && s.Start != 0 {
			in.goneFrom = min(in.goneFrom, s.Start)
		}
	}
	if from = min(from, in.goneFrom); from == math.MaxInt64 {
		return nil
	}
	for _, s := range all {
		if s.Behind && s.End > from {
			from = min(from, s.Start)
		}
	}
	behind = make(map[string]bool)
	for _, s := range all {
		if s.Behind && s.End <= from {
			behind[s.Name] = true
		}
	}
	in.from = math.MinInt64
	if len(behind) > 0 {
		in.from = from
	}
	return behind
}

// fall notes that an input fell silent. Those that did so together have one mark, so that their
// names do not overlap.
func (in *pageInputs) fall(name string, at int64) {
	n := slices.IndexFunc(in.falls, func(f fall) bool { return max(f.at-at, at-f.at) <= 10*in.size })
	if n < 0 {
		in.falls = append(in.falls, fall{at: at})
		in.falls = in.falls[max(len(in.falls)-mostFalls, 0):]
		n = len(in.falls) - 1
	}
	if f := &in.falls[n]; !slices.Contains(f.names, name) {
		f.names = append(f.names, name)
	}
}

// marks returns the marks of the inputs that fell silent.
func (p *Page) marks() []chart.Mark {
	marks := []chart.Mark{} // never null
	origin, started := p.page.Origin()
	for _, f := range p.inputs.falls {
		text := f.names[0] + " is silent"
		if more := len(f.names) - 1; more > 0 {
			text = fmt.Sprintf("%s and %d more are silent", f.names[0], more)
		}
		if started {
			marks = append(marks, chart.Mark{Time: f.at - origin, Text: text})
		}
	}
	return marks
}

// Window takes what a tag has in a window. A late interval is one more row.
func (p *Page) Window(w *live.Window) error {
	if w.Window.End <= p.inputs.from {
		return nil
	}
	label := ""
	if w.Tag != nil {
		label = tags.Text(w.Tag)
	}
	if !p.admit(label) {
		return nil
	}
	h, err := w.Counts()
	if err != nil {
		return err
	}
	if err := p.setScale(); err != nil {
		return err
	}
	p.interval.Factor = w.Factor
	if err := p.page.Collector.Options.MeasureWindow(w.Merged, h, &p.interval); err != nil {
		return err
	}
	return p.page.Add(label, logline.Millis(w.LogStart), &p.interval)
}

// admit reports whether the page has room for a tag.
func (p *Page) admit(label string) bool {
	switch {
	case p.tags[label]:
		return true
	case len(p.tags) < mostTags:
		p.tags[label] = true
		return true
	case !p.full:
		p.full = true
		p.options.Messages.Notice(fmt.Sprintf("the page shows the first %d tags, and leaves out the "+
			"others: choose some with -incT, or add them up with -by", mostTags))
	}
	return false
}

// setScale finds out how to print values.
func (p *Page) setScale() error {
	if p.scaled {
		return nil
	}
	s, err := p.options.Units.Scale(false)
	if err != nil {
		return err
	}
	p.scaled = true
	if s.Unit == "" || s.Assumed {
		p.look.Texts.Notes = append(p.look.Texts.Notes, unit.About(s))
	}
	p.page.Collector.Options.Ratio = s.Ratio
	p.look.Values.Unit = s.Unit
	if s.Chosen {
		p.look.Values.Unit = axis.Fixed(s.Unit)
	}
	for _, l := range p.limits {
		if l.Drawn() {
			p.look.Values.Limits = append(p.look.Values.Limits, chart.Limit{Percentile: l.Percentile, Value: l.Printed(s)})
		}
	}
	return nil
}

// Flush sends what is new to the viewers.
func (p *Page) Flush() error {
	from := p.inputs.from
	origin, _ := p.page.Origin()
	changed := p.inputs.lookAt(origin)
	if p.inputs.from > from {
		p.page.Forget(p.inputs.from)
	}
	found, err := p.find()
	if err != nil {
		return err
	}
	if p.page.Stale() {
		return p.sendAll(true)
	}
	u, some := p.page.Update()
	if !some && !changed && !found {
		return nil
	}
	u.Status = p.inputs.status
	u.Marks = p.marks()
	if found {
		u.Findings = append([]output.Finding{}, p.findings...) // never nil
		u.Top = report.Headline(p.findings)
	}
	if many, err := p.server.Update(u); err != nil || !many {
		return err
	}
	return p.sendAll(false)
}

// sendAll sends all data, which may be new to viewers that have the last update. They are if series
// have other places: the highest ones come first.
func (p *Page) sendAll(isNew bool) error {
	d, err := p.page.Data()
	if err != nil {
		return err
	}
	d.Status = &p.inputs.status
	for n := range d.Series {
		d.Series[n].Failed = finding.IsFailed(d.Series[n].Label)
	}
	if p.full {
		d.Notes = append(d.Notes, fmt.Sprintf("The page has the first %d tags. The others are left out.", mostTags))
	}
	same := slices.EqualFunc(p.series, d.Series, func(a, b page.Series) bool { return a.Label == b.Label })
	p.series = d.Series
	return p.server.All(d, isNew || !same)
}

// End sends the last rows.
func (p *Page) End() error {
	p.ends = true
	return p.Flush()
}
