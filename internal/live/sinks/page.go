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
	// maxTags is the number of tags that a page shows. For each new tag, the data of all tags are
	// sent again, so the time for the page grows with the square of their number.
	maxTags = 1000
	// maxSilences is the number of marks for silent inputs that a page keeps. The oldest are
	// removed.
	maxSilences = 100
	// maxWindows is the largest number of windows whose counts a page keeps.
	maxWindows = 1 << 16
)

// A Page is the page of -serve, which changes while logs are written.
type Page struct {
	options     *Options
	server      *serve.Server
	title       string
	limits      []gate.Limit
	inputs      pageInputs
	page        collect.Live
	hasScale    bool             // setScale has set the scale
	style       chart.Picture    // limits, unit and notes of the picture
	interval    collect.Interval // memory of the present row
	series      []page.Series    // the series that viewers have
	tags        map[string]bool
	tooManyTags bool // the logs have more than maxTags tags
	gate        *Gate
	findings    []output.Finding
	ended       bool // the last window has come
}

// pageInputs say what the page shows about inputs.
type pageInputs struct {
	ask      func() []live.Progress
	size     int64                    // of windows in milliseconds
	last     map[string]live.Progress // progress at the last look, by name
	shown    []page.Input
	status   page.Status
	from     int64 // windows that end before this time are not shown
	goneFrom int64 // start of the first input that followed the clock and is gone
	silences []silence
}

// A silence is the moment at which inputs stopped showing intervals: the end of the last one, in
// milliseconds since the epoch.
type silence struct {
	names []string
	at    int64
}

// NewPage returns a page that a server shows. It draws the limits.
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
		Measures:   chart.Timeline.Measures(levels),
		Ratio:      1,
		MaxWindows: maxWindows,
		Step:       o.Size,
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

// dress sets the title, the unit, and the marks of a picture.
func (p *Page) dress(d *chart.Picture) {
	d.Looks.PageSize = chart.MaxPageSize
	d.Time.Zone = time.UTC
	d.Looks.Title = p.title
	d.Inputs.Span = fmt.Sprintf("each %v s", float64(p.options.Size)/1000)
	d.Values.Unit = p.style.Values.Unit
	d.Values.Limits = p.style.Values.Limits
	d.Texts.Notes = append(d.Texts.Notes, p.style.Texts.Notes...)
	d.DropLines(true)
	d.Events.Marks = append(d.Events.Marks, p.marks()...)
	d.Texts.Findings = p.findings
}

// Judge sets the gate whose findings the page shows. The gate must get the same windows.
func (p *Page) Judge(g *Gate) { p.gate = g }

// find updates the findings. It returns true if they have changed.
func (p *Page) find() (changed bool, err error) {
	if p.gate == nil {
		return false, nil
	}
	before := p.findings
	p.findings, err = p.gate.Findings(p.ended)
	alike := func(a, b output.Finding) bool { return a.Sentence == b.Sentence }
	return !slices.EqualFunc(before, p.findings, alike), err
}

// Watch sets a function that returns the progress of the inputs.
func (p *Page) Watch(inputs func() []live.Progress) { p.inputs.ask = inputs }

// update asks for the progress of the inputs. It returns true if the page must show a change.
// Origin is the time at which the page begins, in milliseconds since the epoch.
func (in *pageInputs) update(origin int64) (changed bool) {
	before := in.shown
	in.shown = []page.Input{}
	all := slices.DeleteFunc(slices.Clone(in.ask()), func(p live.Progress) bool { return p.Copy || p.Lost })
	in.status = page.Status{Logs: len(all), Now: time.Now().UnixMilli() - origin}
	behind := in.findFrom(all)
	old := in.last
	in.last = make(map[string]live.Progress, len(all))
	names := map[string]int{}
	for _, s := range all {
		names[filepath.Base(s.Name)]++
	}
	for _, s := range all {
		in.last[s.Name] = s
		silent := s.Silent && !old[s.Name].Silent && s.End > 0
		far := behind[s.Name]
		if base := filepath.Base(s.Name); names[base] == 1 {
			s.Name = base
		}
		if silent {
			in.addSilence(s.Name, s.End)
		}
		shownInput := page.Input{Name: s.Name, End: s.End - origin}
		switch {
		case far:
			shownInput.State = "is behind, and not shown"
		case s.Ended:
			shownInput.State = "has ended"
		case s.Silent:
			shownInput.State = "is silent"
		default:
			if s.End != 0 && (in.status.End == nil || shownInput.End < *in.status.End) {
				in.status.End = &shownInput.End
			}
			continue
		}
		in.shown = append(in.shown, shownInput)
	}
	in.status.Inputs = in.shown
	looksTheSame := func(a, b page.Input) bool { return a.Name == b.Name && a.State == b.State }
	return !slices.EqualFunc(before, in.shown, looksTheSame)
}

// findFrom sets the time from which on the page shows windows. If some logs are so far behind that
// they would only make the time axis longer, this is the start of the first log that follows the
// clock. findFrom returns the logs that are behind.
func (in *pageInputs) findFrom(all []live.Progress) (behind map[string]bool) {
	now := make(map[string]bool, len(all))
	from := in.goneFrom
	for _, s := range all {
		now[s.Name] = true
		if !s.Behind && s.Start != 0 {
			from = min(from, s.Start)
		}
	}
	for _, s := range in.last {
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

// addSilence records that an input is silent since a time. Inputs that became silent at about the
// same time have one mark, so that their names do not overlap.
func (in *pageInputs) addSilence(name string, at int64) {
	n := slices.IndexFunc(in.silences, func(s silence) bool { return max(s.at-at, at-s.at) <= 10*in.size })
	if n < 0 {
		in.silences = append(in.silences, silence{at: at})
		in.silences = in.silences[max(len(in.silences)-maxSilences, 0):]
		n = len(in.silences) - 1
	}
	if f := &in.silences[n]; !slices.Contains(f.names, name) {
		f.names = append(f.names, name)
	}
}

// marks returns the marks of silent inputs.
func (p *Page) marks() []chart.Mark {
	marks := []chart.Mark{} // not nil, so that JSON has an empty list
	origin, started := p.page.Origin()
	for _, f := range p.inputs.silences {
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

// Window adds a row of a window to the page. A late interval is a row of its own.
func (p *Page) Window(w *live.Window) error {
	if w.Merged.Window.End <= p.inputs.from {
		return nil
	}
	label := ""
	if w.Merged.Tag != nil {
		label = tags.Text(w.Merged.Tag)
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
	return p.page.Add(label, logline.Millis(w.Merged.LogStart), &p.interval)
}

// admit reports whether the page shows a tag. It shows the first maxTags tags.
func (p *Page) admit(label string) bool {
	switch {
	case p.tags[label]:
		return true
	case len(p.tags) < maxTags:
		p.tags[label] = true
		return true
	case !p.tooManyTags:
		p.tooManyTags = true
		p.options.Messages.Notice(fmt.Sprintf("the page shows the first %d tags, and leaves out the "+
			"others: choose some with -incT, or add them up with -by", maxTags))
	}
	return false
}

// setScale sets how to print values, when the first row comes.
func (p *Page) setScale() error {
	if p.hasScale {
		return nil
	}
	s, err := p.options.Units.Scale(false)
	if err != nil {
		return err
	}
	p.hasScale = true
	if s.Unit == "" || s.Assumed {
		p.style.Texts.Notes = append(p.style.Texts.Notes, unit.About(s))
	}
	p.page.Collector.Options.Ratio = s.Ratio
	p.style.Values.Unit = s.Unit
	if s.Chosen {
		p.style.Values.Unit = axis.Fixed(s.Unit)
	}
	for _, l := range p.limits {
		if l.Drawn() {
			p.style.Values.Limits = append(p.style.Values.Limits, chart.Limit{Percentile: l.Percentile, Value: l.Printed(s)})
		}
	}
	return nil
}

// Flush sends changes to the viewers.
func (p *Page) Flush() error {
	from := p.inputs.from
	origin, _ := p.page.Origin()
	changed := p.inputs.update(origin)
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
		u.Findings = append([]output.Finding{}, p.findings...) // not nil, so that JSON has an empty list
		u.Top = report.Headline(p.findings)
	}
	if many, err := p.server.Update(u); err != nil || !many {
		return err
	}
	return p.sendAll(false)
}

// sendAll sends all data to the viewers. If isNew is not set, and series are in the same places,
// viewers that have the last update need nothing.
func (p *Page) sendAll(isNew bool) error {
	d, err := p.page.Data()
	if err != nil {
		return err
	}
	d.Status = &p.inputs.status
	for n := range d.Series {
		d.Series[n].Failed = finding.IsFailed(d.Series[n].Label)
	}
	if p.tooManyTags {
		d.Notes = append(d.Notes, fmt.Sprintf("The page has the first %d tags. The others are left out.", maxTags))
	}
	same := slices.EqualFunc(p.series, d.Series, func(a, b page.Series) bool { return a.Label == b.Label })
	p.series = d.Series
	return p.server.All(d, isNew || !same)
}

// End sends the last changes.
func (p *Page) End() error {
	p.ended = true
	return p.Flush()
}
