package gate

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/flow"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// A Watch checks limits over time: in windows, or in single intervals. It counts the windows that
// keep limits of windows, and finds the times at which limits did not hold.
type Watch struct {
	// Scale returns how the values of a row are printed. It is called when there are values.
	Scale func(row []byte) (hdrlog.Scale, error)
	// AllTags is set if the only row is the sum of all tags.
	AllTags bool
	// Late is called for each interval that came after its window was complete.
	Late func(v scan.Visit, why error)

	limits   []Limit
	size     int64 // length of windows for limits without own windows, 0 for single intervals
	keep     bool  // breaches are kept in a list
	live     bool  // limits are checked in windows of any size
	stop     *Stop // nil if no limit ends the run
	account  *ledger.Account
	charge   ledger.Charge
	flows    []flow.Flow // one flow for each size of windows
	counts   histogram.Histogram
	rows     map[rowOf]*history
	breaches []output.Breach
}

// A rowOf is the key of a history: a limit and the name of a row.
type rowOf struct {
	limit *Limit
	row   string
}

// A history counts the windows of a row that keep a limit.
type history struct {
	all, kept int64 // windows or intervals with values, and how many of them keep the limit
	breach    int   // the index of the latest breach in the list, plus 1
	latest    output.Breach
	outage    Outage
	evidence  evidence // if limits end the run
}

// An Outage adds up the times at which a limit did not hold for a row.
type Outage struct {
	// Start is the start of the first time, and End the end of the last one, in milliseconds since
	// the epoch.
	Start, End int64
	Times      int64 // number of times
	Millis     int64 // length of all times together
}

// breachBytes is the approximate memory of a breach.
const breachBytes = 160

// NewWatch returns a watch of limits whose flows take the intervals of a scan. Size is the length
// in milliseconds of the windows of limits without own windows. At 0 each interval is checked by
// itself. If keep is set, the watch keeps the breaches. If no limit needs a watch, NewWatch returns
// nil, which has no flows. [Judge] must get the same limits.
func NewWatch(limits []Limit, size int64, keep bool, memory *ledger.Ledger) *Watch {
	w := &Watch{limits: limits, size: size, keep: keep, rows: make(map[rowOf]*history)}
	sizes := make(map[int64]bool)
	windows := memory.Open("sizes of windows of limits", "use fewer in -sla")
	for n := range limits {
		window := cmp.Or(limits[n].Window, size)
		if !w.watches(&limits[n]) || sizes[window] {
			continue
		}
		sizes[window] = true
		if window == 0 {
			w.flows = append(w.flows, &flow.Intervals{Counts: true, Emit: w.takeInterval})
		} else {
			windows.Add(1, 0)
			w.flows = append(w.flows, &flow.Windows{Size: window, Account: windows, Emit: w.takeWindow})
		}
	}
	if len(sizes) == 0 {
		return nil
	}
	w.account = memory.Open("times at which limits do not hold", "make windows longer with -agg")
	return w
}

// NewLive returns a watch of limits for logs that are still written. [Watch.Check] adds its
// windows. It keeps no list of breaches, since the list would grow without end. Stop says when
// limits end the run, nil if no limit does.
func NewLive(limits []Limit, stop *Stop, scale func(row []byte) (hdrlog.Scale, error)) *Watch {
	return &Watch{
		Scale:  scale,
		limits: limits,
		live:   true,
		stop:   stop,
		rows:   make(map[rowOf]*history),
	}
}

// Size returns the approximate memory of the limits of a row in bytes, without breaches.
func (w *Watch) Size() int {
	if w.stop == nil {
		return 0
	}
	return 16 * maxParts * len(w.limits)
}

// Ends reports whether one of the verdicts ends the run. The verdicts are about summaries, which
// have all values so far.
func (w *Watch) Ends(verdicts []Verdict, summaries []*output.Summary) bool {
	rows := make(map[string]*output.Summary, len(summaries))
	for _, row := range summaries {
		rows[row.Name()] = row
	}
	for _, v := range verdicts {
		row := rows[v.Tag]
		if v.Result == output.Fails && v.Missing == "" && row != nil && w.stop.ends(v, row, &w.of(v.Limit, row).evidence) {
			return true
		}
	}
	return false
}

// watches reports whether a limit is checked over time.
func (w *Watch) watches(l *Limit) bool { return l.Window > 0 || w.findsBreaches() && l.Change == nil }

// findsBreaches reports whether the watch finds the times at which limits do not hold.
func (w *Watch) findsBreaches() bool { return w.keep || w.live }

// of returns the history of a limit and a row, which it makes if needed. If the watch is nil, the
// history is empty.
func (w *Watch) of(l *Limit, s *output.Summary) *history {
	if w == nil {
		return new(history)
	}
	key := rowOf{l, s.Name()}
	if w.rows[key] == nil {
		w.rows[key] = new(history)
	}
	return w.rows[key]
}

// Flows returns the flows that take the intervals of a scan. The scan must be in the order of time.
func (w *Watch) Flows() []flow.Flow {
	if w == nil {
		return nil
	}
	return w.flows
}

// takeWindow checks a complete window of a row, or reports an interval that came too late.
func (w *Watch) takeWindow(r *flow.Window) error {
	if r.Late {
		w.Late(r.Visit, r.TooLate())
		return nil
	}
	return w.Check(r.Window.End-r.Window.Start, &output.Summary{
		Tag:       r.Row,
		AllTags:   w.AllTags,
		Histogram: r.Counts,
		Start:     r.Window.Start,
		End:       r.Window.End,
		Period:    r.Rate.Millis,
		Moved:     r.Rate.Moved,
	})
}

// takeInterval checks a single interval of a row.
func (w *Watch) takeInterval(r *flow.Result) (err error) {
	v := r.Visit
	s := &output.Summary{
		Tag:     r.Row,
		AllTags: w.AllTags,
		Start:   v.StartMillis(),
		End:     v.EndMillis(),
		Period:  logline.Millis(v.Length),
	}
	if s.Histogram, err = r.Sum.Histogram(&w.counts); err != nil {
		return err
	}
	return w.Check(0, s)
}

// Check checks the limits for a row in a complete window. Size is the length of the window in
// milliseconds, 0 for a single interval. Check sets the scale of the summary.
func (w *Watch) Check(size int64, s *output.Summary) error {
	var err error
	if s.Scale, err = w.Scale(s.Tag); err != nil {
		return err
	}
	for n := range w.limits {
		l := &w.limits[n]
		if !w.watches(l) || !w.live && cmp.Or(l.Window, w.size) != size {
			continue
		}
		if w.stop != nil {
			w.look(l, s)
		}
		if value, keeps := w.keeps(l, s); w.findsBreaches() && !keeps {
			if err := w.breach(l, s, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// look adds a window of a row to the evidence about a limit, and tests the evidence if a test is
// due.
func (w *Watch) look(l *Limit, s *output.Summary) {
	if t, b, known := l.tally(s); known && l.For(s) {
		e := &w.of(l, s).evidence
		e.add(t, s.Period)
		e.look(b, w.stop.After, len(w.rows))
	}
}

// applies reports whether the limit is for the row of a summary, and the row has a value to check.
func (l *Limit) applies(s *output.Summary) bool {
	return l.For(s) && (l.Unitless() || s.Counts().TotalCount() > 0)
}

// keeps counts a window or an interval of a row. It returns the statistic, and whether the
// statistic keeps the limit. Keeps is also true if there is no statistic to check.
func (w *Watch) keeps(l *Limit, s *output.Summary) (value float64, keeps bool) {
	if !l.applies(s) {
		return 0, true
	}
	if value = l.Of(s); math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, true
	}
	h := w.of(l, s)
	h.all++
	if keeps = l.allows(l.best(value, s), l.Value, 0); keeps {
		h.kept++
	}
	return value, keeps
}

// breach records that a row does not keep a limit in a window. A breach that ends where the window
// begins becomes longer. Otherwise a new breach begins.
func (w *Watch) breach(l *Limit, s *output.Summary, value float64) error {
	b := output.Breach{
		Limit: l.Text,
		Tag:   s.Name(),
		Start: s.Start,
		End:   s.End,
		Worst: value,
	}
	switch {
	case l.Name == output.Over:
		b.Unit = "%"
		b.Count = l.Over(l.Above, s)
	case l.Unitless():
	case l.AtLeast:
		b.Unit = cmp.Or(l.Unit.String(), s.Scale.Unit)
		b.Count = l.under(s)
	default:
		b.Unit = cmp.Or(l.Unit.String(), s.Scale.Unit)
		b.Count = l.Over(l.Value, s)
	}
	h := w.of(l, s)
	extended := h.extend(l, &b)
	switch {
	case !w.keep:
		return nil
	case extended:
		w.breaches[h.breach-1] = b
		return nil
	}
	h.breach = len(w.breaches) + 1
	w.breaches = append(w.breaches, b)
	return w.charge.Set(w.account, len(w.breaches), breachBytes*len(w.breaches))
}

// extend adds a breach to the outage. If the breach continues the latest one, it becomes the sum of
// both.
func (h *history) extend(l *Limit, b *output.Breach) (continues bool) {
	before := h.latest
	// Timers are late: the next interval may begin a little later. Logs may be out of order.
	continues = h.outage.Times > 0 && max(b.Start-before.End, before.Start-b.End) <= (b.End-b.Start)/4
	o := &h.outage
	if continues {
		b.Start, b.End = min(before.Start, b.Start), max(before.End, b.End)
		b.Count += before.Count
		if l.AtLeast != (b.Worst < before.Worst) {
			b.Worst = before.Worst
		}
		o.Millis -= before.End - before.Start
	} else {
		o.Times++
	}
	o.Millis += b.End - b.Start
	if o.Times == 1 || b.Start < o.Start {
		o.Start = b.Start
	}
	o.End = max(o.End, b.End)
	h.latest = *b
	return continues
}

// Breaches returns the times at which limits did not hold, in the order of time, then of tags and
// limits.
func (w *Watch) Breaches() []output.Breach {
	if w == nil {
		return nil
	}
	slices.SortStableFunc(w.breaches, func(a, b output.Breach) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Tag, b.Tag))
	})
	return w.breaches
}
