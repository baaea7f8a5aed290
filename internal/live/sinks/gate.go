package sinks

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/finding"
	"hdrkit/internal/flow"
	"hdrkit/internal/gate"
	"hdrkit/internal/live"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// ErrExceeded is the error of a gate that ends the run.
var ErrExceeded = errors.New("a limit does not hold")

// A Gate has all that was recorded so far, by tag, and checks limits: at the end, or all the time.
// Other sinks may ask it, also while they end.
type Gate struct {
	mu      sync.Mutex
	options *Options
	limits  []gate.Limit
	watch   *gate.Watch
	stop    *gate.Stop // nil if no limit ends the run
	account *ledger.Account
	tags    map[string]*gateTag
	changed bool              // since the last Flush
	times   summary.Histories // of the last windows
	end     int64             // of the last window that is complete
	shows   shows
	// Ran says when the inputs of rows ran: it is for [live.Options].
	Ran merge.Rates
}

// shows is what the run showed when somebody looked.
type shows struct {
	findings []output.Finding
	stale    bool      // something came since
	due      time.Time // when it is looked for again
}

const (
	// A gate finds what the run shows at most once in findTime, and for one of findShare parts of
	// the time.
	findTime  = time.Second
	findShare = 20
	// mostTimes is the memory in bytes of the times of the last windows: 50,000 of all tags
	// together, which take 20 ms to look at.
	mostTimes = 5 << 20
)

// A gateTag is what a gate has of a tag.
type gateTag struct {
	tag    []byte
	sum    merge.Sum
	maxima flow.Maxima
	charge ledger.Charge
}

// NewGate returns a gate. Stop says when a limit that fails ends the run, nil if none does.
func NewGate(o *Options, limits []gate.Limit, stop *gate.Stop) *Gate {
	scale := func(row []byte) (hdrlog.Scale, error) {
		scale, err := o.Units.Scale(false)
		if err != nil {
			return scale, err
		}
		factor, err := o.Units.Factor(row)
		return scale.Times(factor), err
	}
	g := &Gate{
		options: o,
		limits:  limits,
		watch:   gate.NewLive(limits, stop, scale),
		stop:    stop,
		tags:    make(map[string]*gateTag),
		account: o.Memory.Open("tags", "choose some with -incT, or add them up with -by all"),
	}
	g.times.Most = mostTimes
	g.times.Follow(o.Memory)
	return g
}

// Window adds what a tag has in a window, or what came late.
func (g *Gate) Window(w *live.Window) error {
	h, err := w.Counts()
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.changed = true
	g.shows.stale = true
	key := tags.Text(w.Tag)
	tag := g.tags[key]
	if tag == nil {
		tag = &gateTag{tag: bytes.Clone(w.Tag)}
		tag.sum.Compact() // tags may be many
		g.tags[key] = tag
	}
	if err := tag.sum.Merge(&w.Sum); err != nil {
		return err
	}
	if !w.Late && len(g.limits) > 0 {
		err := g.watch.Check(w.Window.End-w.Window.Start, &output.Summary{
			Tag:       w.Tag,
			AllTags:   g.options.By.All(),
			Histogram: h,
			Start:     w.Start, // intervals may be longer than windows
			End:       w.End,
			Period:    w.Recorded.Millis,
			Moved:     w.Recorded.Moved,
		})
		if err != nil {
			return err
		}
	}
	if !w.Late {
		g.end = max(g.end, w.Window.End)
	}
	g.times.Window(w.Merged, h)
	if h.TotalCount() > 0 {
		tag.maxima.Add(w.Start, w.End, h.Float(h.Max()))
	}
	return tag.charge.Set(g.account, 1, 1024+tag.sum.Size()+g.watch.Size())
}

// Judge returns the summaries of all rows, in the unit that suits them if fit says so, and whether
// the limits hold.
func (g *Gate) Judge(fit bool) (all []*output.Summary, verdicts []gate.Verdict, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.judge(fit)
}

// judge is Judge.
func (g *Gate) judge(fit bool) (all []*output.Summary, verdicts []gate.Verdict, err error) {
	scale, err := g.options.Units.Scale(false)
	if err != nil {
		return nil, nil, err
	}
	var loader summary.Loader
	var typical []unit.Typical
	for _, key := range slices.Sorted(maps.Keys(g.tags)) {
		tag := g.tags[key]
		s, err := loader.Summary(tag.tag, &tag.sum)
		if err != nil {
			return nil, nil, err
		}
		s.Period = g.Ran.Period(tag.tag, g.end) // values of open windows do not count yet
		s.Maxima = tag.maxima.Output()
		s.AllTags = g.options.By.All()
		factor, err := g.options.Units.Factor(tag.tag)
		if err != nil {
			return nil, nil, err
		}
		s.Scale = scale.Times(factor)
		if h := s.Counts(); h.TotalCount() > 0 {
			typical = append(typical, unit.TypicalOf(h, factor))
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b *output.Summary) int { return tags.Compare(a.Tag, b.Tag) })
	if fit && !gate.Bare(g.limits) {
		scale = g.options.Units.Readable(scale, typical...)
	}
	for _, s := range all {
		s.Scale = scale.Times(s.Scale.Factor())
	}
	return all, gate.Judge(g.limits, gate.Figures{Summaries: all, Watch: g.watch}), nil
}

// Findings returns what was recorded so far shows, the most important first. It looks again if that
// is due, or if it must be new.
func (g *Gate) Findings(mustBeNew bool) ([]output.Finding, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	begin := time.Now()
	if !g.shows.isDue(begin, mustBeNew) {
		return g.shows.findings, nil
	}
	rows, verdicts, err := g.judge(true)
	if err == nil {
		g.find(begin, rows, verdicts)
	}
	return g.shows.findings, err
}

// Snapshot returns the summaries of all rows, as Judge does, and what they show, both of this
// moment.
func (g *Gate) Snapshot() (rows []*output.Summary, found []output.Finding, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	begin := time.Now()
	rows, verdicts, err := g.judge(true)
	if err == nil && g.shows.stale {
		g.find(begin, rows, verdicts)
	}
	return rows, g.shows.findings, err
}

// isDue reports whether somebody should look again.
func (s *shows) isDue(now time.Time, mustBeNew bool) bool {
	return s.stale && (mustBeNew || !now.Before(s.due))
}

// find finds what rows and verdicts show that were made from begin on.
func (g *Gate) find(begin time.Time, rows []*output.Summary, verdicts []gate.Verdict) {
	g.shows.stale = false
	if len(rows) == 0 {
		return
	}
	g.shows.findings, _ = finding.Of(&finding.Run{
		Summaries: rows,
		By:        g.options.By,
		Scale:     output.CommonScale(rows),
		Zone:      time.UTC,
		Verdicts:  verdicts,
		Histories: &g.times,
		Reading: finding.Reading{
			Malformed: g.options.Messages.Skipped(),
			Late:      g.options.Messages.TooLate(),
		},
	})
	g.shows.due = begin.Add(max(findTime, findShare*time.Since(begin)))
}

// Flush ends the run if a limit fails that says so.
func (g *Gate) Flush() error {
	if g.stop == nil || !g.changed {
		return nil
	}
	g.changed = false
	all, verdicts, err := g.Judge(false)
	if err == nil && g.watch.Ends(verdicts, all) {
		err = ErrExceeded
	}
	return err
}

// End is called when no window is open any more. From then on, periods reach to the ends of the
// inputs, so rates change.
func (g *Gate) End() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end = math.MaxInt64 / 4
	g.shows.stale = true
	return nil
}
