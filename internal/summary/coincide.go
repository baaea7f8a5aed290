package summary

import (
	"cmp"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/internal/detect"
	"hdrkit/internal/flow"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// A Coincident is a phase that slow values come with: those of a row above a percentile.
type Coincident struct {
	Phase      string
	Row        []byte
	Rows       int // number of rows, of which this one has the highest values
	Percentile float64
	detect.Coincidence
}

const (
	// leastTimes is the least number of times that a phase comes, for slow values to come with it.
	leastTimes = 8
	// mostSlots is the largest number of intervals of a run in which that is looked for.
	mostSlots = 1 << 20
)

// Coincide finds the phases of a scan that more slow values come with than by chance, the most
// first: those above p99.9 of the row with the highest p99, or above p99 if they are few. It reads
// the logs twice more, and finds nothing if one can be read only once. It reports no malformed
// lines.
func Coincide(s *scan.Scan) (all []Coincident, err error) {
	if slices.ContainsFunc(s.Inputs, func(in scan.Input) bool { return in.Once }) {
		return nil, nil
	}
	quiet := scan.Scan{
		Inputs:     s.Inputs,
		Selection:  s.Selection,
		Workers:    s.Workers,
		Correction: s.Correction,
		Memory:     s.Memory,
		Report:     func(*hdrlog.SyntaxError, bool) error { return nil },
	}
	if s.By.AddsTags() {
		if quiet.By, err = tags.ParseBy("all"); err != nil {
			return nil, err
		}
	}
	result, err := Collect(&quiet, Options{})
	if err != nil {
		return nil, err
	}
	t := newTally(result)
	if t == nil {
		return nil, nil
	}
	result.Release()
	if err := t.take(&quiet); err != nil {
		return nil, err
	}
	all = t.coincident(s.Phases.In(t.logStart))
	for n := range all {
		all[n].Row = t.row
		all[n].Rows = t.rows
		all[n].Percentile = t.percentile
	}
	return all, nil
}

// A tally counts the slow values of a row over time.
type tally struct {
	row        []byte
	rows       int
	percentile float64
	value      float64 // at the percentile, as the log has it
	start      int64   // in milliseconds since the epoch
	length     int64   // of a slot, in milliseconds
	slots      []detect.Slot
	logStart   float64 // in seconds since the epoch
}

// newTally returns the tally of the row with the highest p99 whose slow values are enough, nil if
// there is none.
func newTally(r *Result) *tally {
	intervals := int64(0)
	for _, s := range r.Summaries {
		intervals += s.Intervals
	}
	var t *tally
	highest := 0.0
	for _, s := range r.Summaries {
		h := s.Counts()
		above := 0.0
		for _, percentile := range []float64{99, 99.9} {
			if (1-percentile/100)*float64(h.TotalCount()) >= detect.LeastSlow {
				above = percentile
			}
		}
		p99 := h.Float(h.ValueAtPercentile(99))
		if above == 0 || p99 <= highest {
			continue
		}
		highest = p99
		t = &tally{
			row:        s.Tag,
			rows:       len(r.Summaries),
			percentile: above,
			value:      h.Float(h.ValueAtPercentile(above)),
			start:      s.Start,
			length:     flow.MeantLength(max(r.Lengths/max(intervals, 1), 1)),
		}
		size := (s.End-s.Start)/t.length + 1
		if size > mostSlots {
			return nil
		}
		t.slots = make([]detect.Slot, size)
	}
	return t
}

// take counts the values of the intervals of a scan.
func (t *tally) take(s *scan.Scan) error {
	above := output.Figure{Name: output.Over, Above: t.value}
	decode := func(_ int, v scan.Visit, slot *detect.Slot) error {
		*slot = detect.Slot{}
		if tags.Compare(v.Row, t.row) != 0 {
			return nil
		}
		took, err := v.Decode(scan.Want{Counts: true})
		if err != nil {
			return err
		}
		h := took.Counts
		if h.TotalCount() == 0 {
			return nil
		}
		slot.Count = float64(h.TotalCount())
		slot.Slow = slot.Count * above.ShareOf(h, 1) / 100
		return nil
	}
	return scan.Run(s, decode, func(v scan.Visit, slot *detect.Slot) error {
		if t.logStart == 0 {
			t.logStart = v.LogStart
		}
		start, end := v.Span()
		if at := ((start+end)/2 - t.start) / t.length; slot.Count > 0 && at >= 0 && at < int64(len(t.slots)) {
			t.slots[at].Count += slot.Count
			t.slots[at].Slow += slot.Slow
		}
		return nil
	})
}

// coincident returns the phases that slow values come with.
func (t *tally) coincident(phases []scan.NamedSpan) (all []Coincident) {
	byName := make(map[string][]scan.NamedSpan)
	end := t.start + int64(len(t.slots))*t.length
	for _, p := range phases {
		if p.End > t.start && p.Start < end {
			byName[p.Name] = append(byName[p.Name], p)
		}
	}
	for name, times := range byName {
		if len(times) < leastTimes {
			delete(byName, name)
		}
	}
	for name, times := range byName {
		if c, beyond := detect.Coincide(t.slots, t.touched(times), len(byName)); beyond {
			all = append(all, Coincident{Phase: name, Coincidence: c})
		}
	}
	slices.SortFunc(all, func(a, b Coincident) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Phase, b.Phase))
	})
	return all
}

// touched returns the slots that overlap a phase, or begin within its length after it: requests
// that wait end later.
func (t *tally) touched(phases []scan.NamedSpan) []bool {
	all := make([]bool, len(t.slots))
	for _, p := range phases {
		from := max((p.Start-t.start)/t.length, 0)
		to := min((2*p.End-p.Start-t.start)/t.length, int64(len(all)-1))
		for n := from; n <= to; n++ {
			all[n] = true
		}
	}
	return all
}
