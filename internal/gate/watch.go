package gate

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/scan"
	"hdrkit/internal/table/series"
	"hdrkit/output"
	"hdrkit/tags"
)

// A Watch checks limits over time: in windows, or in intervals if there are none. It gives limits
// of windows their verdicts, and finds the times at which limits did not hold.
type Watch struct {
	// Scale returns how values are printed, and Factor what one unit of a row's values is in the
	// unit that Scale takes them to be in. They are called when there are values.
	Scale  func() (unit.Scale, error)
	Factor func(row []byte) (float64, error)
	// AllTags is set if the only row is the sum of all tags.
	AllTags bool
	// Late takes intervals that came after their windows.
	Late func(at scan.Place, why error)

	limits   []Limit
	keep     bool // breaches
	account  *ledger.Account
	charge   ledger.Charge
	windows  []*series.Windows // of each size
	tallies  map[rowOf]tally
	last     map[rowOf]int // the index in breaches
	breaches []output.Breach
}

// A rowOf is a limit, by its index, and the text of a row.
type rowOf struct {
	limit int
	row   string
}

// A tally is how many windows of a row kept a limit, of all that have values.
type tally struct{ kept, all int64 }

// breachBytes is about what a breach takes.
const breachBytes = 160

// NewWatch returns a watch of limits. Size is that of the windows of
// limits that have none, in milliseconds; at 0 each interval is checked. If keep is set, it keeps
// the breaches. A nil Watch, which is returned if there is nothing to watch, takes nothing.
func NewWatch(limits []Limit, size int64, keep bool, memory *ledger.Ledger) *Watch {
	w := &Watch{limits: limits, keep: keep, tallies: make(map[rowOf]tally), last: make(map[rowOf]int)}
	sizes := make(map[int64]bool)
	for n := range limits {
		if own := cmp.Or(limits[n].Window, size); w.watches(&limits[n]) && !sizes[own] {
			sizes[own] = true
			w.windows = append(w.windows, series.NewWindows(memory, own, func(r *output.Row, at scan.Place, late error) error {
				return w.row(own, size, r, at, late)
			}))
		}
	}
	if len(sizes) == 0 {
		return nil
	}
	w.account = memory.Open("times at which limits do not hold", "make windows longer with -agg")
	return w
}

// watches reports whether a limit is checked over time.
func (w *Watch) watches(l *Limit) bool { return l.Window > 0 || w.keep && !l.Relative }

// tally returns how many windows of a row kept a limit of windows. A nil Watch has none.
func (w *Watch) tally(limit int, tag []byte) tally {
	if w == nil {
		return tally{}
	}
	return w.tallies[rowOf{limit, tags.Text(tag)}]
}

// Add takes an interval, in the order of time, and its counts.
func (w *Watch) Add(v scan.Visit, s *merge.Sum) error {
	for _, windows := range w.windows {
		if err := windows.Add(v, s); err != nil {
			return err
		}
	}
	return nil
}

// Window checks the counts of a row in a complete window, which is as long as those of the limits.
func (w *Watch) Window(r *output.Row) error {
	for n := range w.limits {
		if own := w.limits[n].Window; own > 0 {
			return w.row(own, own, r, scan.Place{}, nil)
		}
	}
	return nil
}

// Close checks the last windows.
func (w *Watch) Close() error {
	for _, windows := range w.windows {
		if err := windows.Close(); err != nil {
			return err
		}
	}
	return nil
}

// row checks a row of windows of a size, for the limits whose windows it is.
func (w *Watch) row(own, size int64, r *output.Row, at scan.Place, late error) error {
	if late != nil {
		w.Late(at, late)
		return nil
	}
	scale, err := w.Scale()
	if err != nil {
		return err
	}
	s := &output.Summary{Tag: r.Tag, AllTags: w.AllTags, Histogram: r.Counts, Start: r.Start, End: r.End, Period: int64(math.Round(r.Covered * 1000))}
	if s.Factor, err = w.Factor(r.Tag); err != nil {
		return err
	}
	for n := range w.limits {
		l := &w.limits[n]
		if !w.watches(l) || cmp.Or(l.Window, size) != own || !l.isFor(s) || r.Counts.TotalCount() == 0 && !l.isRate() {
			continue
		}
		value := l.Of(s, scale)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			continue
		}
		row := rowOf{n, tags.Text(r.Tag)}
		t, keeps := w.tallies[row], l.AtLeast && value >= l.Value || !l.AtLeast && value <= l.Value
		if t.all++; keeps {
			t.kept++
		}
		w.tallies[row] = t
		if w.keep && !keeps {
			if err := w.breach(n, s, value, scale); err != nil {
				return err
			}
		}
	}
	return nil
}

// breach adds a row that does not keep a limit to the breach before, unless that ended earlier.
func (w *Watch) breach(n int, s *output.Summary, value float64, scale unit.Scale) error {
	l := &w.limits[n]
	b := output.Breach{Limit: l.Text, Tag: s.Name(), Start: s.Start, End: s.End, Worst: value, Unit: l.Unit.String()}
	switch {
	case l.Statistic == "over":
		b.Unit, b.Count = "%", l.Over(l.Above, s, scale)
	case !l.isRate() && l.AtLeast:
		b.Count = l.upTo(s, scale, func(printed float64) bool { return printed < l.Value }, l.Value)
	case !l.isRate():
		b.Count = l.Over(l.Value, s, scale)
	}
	if b.Unit == "" && !l.isRate() {
		b.Unit = scale.Name
	}
	key := rowOf{n, b.Tag}
	if at, ok := w.last[key]; ok {
		// Timers are late: the next interval may begin a little later. Logs may be out of order.
		if last := &w.breaches[at]; max(s.Start-last.End, last.Start-s.End) <= (s.End-s.Start)/4 {
			last.Start, last.End = min(last.Start, s.Start), max(last.End, s.End)
			last.Count += b.Count
			if l.AtLeast == (value < last.Worst) {
				last.Worst = value
			}
			return nil
		}
	}
	w.last[key] = len(w.breaches)
	w.breaches = append(w.breaches, b)
	return w.charge.Set(w.account, len(w.breaches), breachBytes*len(w.breaches))
}

// Breaches returns the times at which limits did not hold, in the order of time.
func (w *Watch) Breaches() []output.Breach {
	if w == nil {
		return nil
	}
	slices.SortStableFunc(w.breaches, func(a, b output.Breach) int { return cmp.Compare(a.Start, b.Start) })
	return w.breaches
}
