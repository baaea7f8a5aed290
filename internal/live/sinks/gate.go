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

// ErrExceeded is the error of a gate that ends the run, because a limit does not hold.
var ErrExceeded = errors.New("a limit does not hold")

// A Gate keeps all values so far, by tag. It checks limits at the end or, if a limit may end the
// run, all the time. Other sinks may call it, also while they end.
type Gate struct {
	mu            sync.Mutex
	options       *Options
	limits        []gate.Limit
	watch         *gate.Watch
	stop          *gate.Stop // nil if no limit ends the run
	account       *ledger.Account
	tags          map[string]*gateTag
	changed       bool              // windows have come since the last Flush
	histories     summary.Histories // times and maxima of the last windows
	completeUntil int64             // end of the last complete window
	latest        latestFindings
	// Ran records when the inputs of each row ran. It is [live.Options.Whole].
	Ran merge.Rates
}

// latestFindings are the findings about the run, as of the last search for findings.
type latestFindings struct {
	findings []output.Finding
	stale    bool      // windows have come since the last search
	due      time.Time // earliest time of the next search
}

const (
	// findTime is the shortest time between two searches for findings. Searches take at most
	// 1/findShare of the time.
	findTime  = time.Second
	findShare = 20
	// historyBytes is the memory in bytes for the times and maxima of the last windows. It is
	// enough for 50,000 windows of all tags together. A search through these takes 20 ms.
	historyBytes = 5 << 20
)

// A gateTag has all values of a tag.
type gateTag struct {
	tag    []byte
	sum    merge.Sum
	maxima flow.Maxima
	charge ledger.Charge
}

// NewGate returns a gate. Stop says when a failing limit ends the run; it is nil if none does.
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
	g.histories.Most = historyBytes
	g.histories.Follow(o.Memory)
	return g
}

// Window adds a row of a window, or a late interval.
func (g *Gate) Window(w *live.Window) error {
	h, err := w.Counts()
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.changed = true
	g.latest.stale = true
	key := tags.Text(w.Merged.Tag)
	tag := g.tags[key]
	if tag == nil {
		tag = &gateTag{tag: bytes.Clone(w.Merged.Tag)}
		tag.sum.Compact() // tags may be many
		g.tags[key] = tag
	}
	if err := tag.sum.Merge(&w.Merged.Sum); err != nil {
		return err
	}
	if !w.Late && len(g.limits) > 0 {
		err := g.watch.Check(w.Merged.Window.End-w.Merged.Window.Start, &output.Summary{
			Tag:       w.Merged.Tag,
			AllTags:   g.options.By.All(),
			Histogram: h,
			Start:     w.Merged.Start, // intervals may be longer than windows
			End:       w.Merged.End,
			Period:    w.Merged.Recorded.Millis,
			Moved:     w.Merged.Recorded.Moved,
		})
		if err != nil {
			return err
		}
	}
	if !w.Late {
		g.completeUntil = max(g.completeUntil, w.Merged.Window.End)
	}
	g.histories.Window(w.Merged, h)
	if h.TotalCount() > 0 {
		tag.maxima.Add(w.Merged.Start, w.Merged.End, h.Float(h.Max()))
	}
	return tag.charge.Set(g.account, 1, 1024+tag.sum.Size()+g.watch.Size())
}

// Judge returns the summaries of all rows, and a verdict for each limit. If fit is set, the
// summaries have the unit that suits their values.
func (g *Gate) Judge(fit bool) (all []*output.Summary, verdicts []gate.Verdict, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.judge(fit)
}

// judge does what Judge does. The lock is held.
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
		s.Period = g.Ran.Period(tag.tag, g.completeUntil) // values of open windows are not in the sum yet
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
	return all, gate.Judge(g.limits, gate.Measured{Summaries: all, Watch: g.watch}), nil
}

// Findings returns the findings about the run so far, the most important first. It searches for
// them again if the last search is old enough, or if mustBeNew is set.
func (g *Gate) Findings(mustBeNew bool) ([]output.Finding, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	begin := time.Now()
	if !g.latest.isDue(begin, mustBeNew) {
		return g.latest.findings, nil
	}
	rows, verdicts, err := g.judge(true)
	if err == nil {
		g.find(begin, rows, verdicts)
	}
	return g.latest.findings, err
}

// Snapshot returns the summaries of all rows, as Judge does, and the findings of the same moment.
func (g *Gate) Snapshot() (rows []*output.Summary, found []output.Finding, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	begin := time.Now()
	rows, verdicts, err := g.judge(true)
	if err == nil && g.latest.stale {
		g.find(begin, rows, verdicts)
	}
	return rows, g.latest.findings, err
}

// isDue reports whether to search for findings again.
func (s *latestFindings) isDue(now time.Time, mustBeNew bool) bool {
	return s.stale && (mustBeNew || !now.Before(s.due))
}

// find searches for findings in rows and verdicts. The caller has started to make these at begin.
func (g *Gate) find(begin time.Time, rows []*output.Summary, verdicts []gate.Verdict) {
	g.latest.stale = false
	if len(rows) == 0 {
		return
	}
	g.latest.findings, _ = finding.Of(&finding.Run{
		Summaries: rows,
		By:        g.options.By,
		Scale:     output.CommonScale(rows),
		Zone:      time.UTC,
		Verdicts:  verdicts,
		Histories: &g.histories,
		Reading: finding.Reading{
			Malformed: g.options.Messages.Skipped(),
			Late:      g.options.Messages.TooLate(),
		},
	})
	g.latest.due = begin.Add(max(findTime, findShare*time.Since(begin)))
}

// Flush returns [ErrExceeded] if a limit fails that ends the run.
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

// End records that no window is open any more. From then on, periods reach to the ends of the
// inputs, so rates change.
func (g *Gate) End() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.completeUntil = math.MaxInt64 / 4
	g.latest.stale = true
	return nil
}
