package summary

import (
	"cmp"
	"errors"
	"slices"

	"hdrkit/hdrlog/histogram"
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
	// leastTimes is the least number of times that a phase comes, and that values above p99.9 do.
	leastTimes = 8
	// mostSlots is the largest number of intervals of a run in which that is looked for.
	mostSlots = 1 << 20
)

// ErrOnce is the error of logs that can be read only once.
var ErrOnce = errors.New("what slow values come with is not known of a pipe, which can be read only once")

// Coincide finds the phases of a scan that more slow values come with than by chance, the most
// first: those above p99.9 of the row with the highest p99, or above p99 if they are few or come in
// a few moments. It reads the logs twice more, or returns [ErrOnce]. It finds nothing if phases
// count from the starts of logs that differ, and reports no malformed lines.
func Coincide(s *scan.Scan) (all []Coincident, err error) {
	if slices.ContainsFunc(s.Inputs, func(in scan.Input) bool { return in.Once }) {
		return nil, ErrOnce
	}
	quiet := quietly(s)
	if s.By.AddsTags() {
		if quiet.By, err = tags.ParseBy("all"); err != nil {
			return nil, err
		}
	}
	result, err := Collect(quiet, Options{})
	if err != nil {
		return nil, err
	}
	t := newTally(result)
	result.Release()
	if t == nil {
		return nil, nil
	}
	if err := t.take(quiet); err != nil {
		return nil, err
	}
	if t.starts > 1 && !s.Phases.Dated() { // the phases are at several times
		return nil, nil
	}
	slow := &t.slow[0]
	if len(t.slow) > 1 && slow.spread() < leastTimes {
		slow = &t.slow[1]
	}
	phases, err := s.Phases.In(t.logStart)
	if err != nil {
		return nil, err
	}
	return t.coincident(slow, phases), nil
}

// A tally counts the slow values of a row over time.
type tally struct {
	row      []byte
	rows     int
	start    int64 // in milliseconds since the epoch
	length   int64 // of a slot, in milliseconds
	slow     []slowValues
	logStart float64 // of the latest interval, in seconds since the epoch
	starts   int     // how often logStart changed
}

// slowValues are those above a percentile, whose value is in the unit of the log.
type slowValues struct {
	percentile, value float64
	slots             []detect.Slot
}

// spread returns in how many slots the values are, see [detect.Spread].
func (s *slowValues) spread() float64 {
	var counts []float64
	for _, slot := range s.slots {
		counts = append(counts, slot.Slow)
	}
	return detect.Spread(counts)
}

// newTally returns the tally of the row with the highest p99 that has enough slow values, nil if
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
		p99 := h.Float(h.ValueAtPercentile(99))
		few := (1-99.0/100)*float64(h.TotalCount()) < detect.LeastSlow
		if few || p99 <= highest {
			continue
		}
		highest = p99
		t = &tally{
			row:    s.Tag,
			rows:   len(r.Summaries),
			start:  s.Start,
			length: flow.MeantLength(max(r.Lengths/max(intervals, 1), 1)),
		}
		size := (s.End-s.Start)/t.length + 1
		if size > mostSlots {
			return nil
		}
		for _, percentile := range []float64{99.9, 99} {
			if (1-percentile/100)*float64(h.TotalCount()) >= detect.LeastSlow {
				t.slow = append(t.slow, slowValues{
					percentile: percentile,
					value:      h.Float(h.ValueAtPercentile(percentile)),
					slots:      make([]detect.Slot, size),
				})
			}
		}
	}
	return t
}

// take counts the values of the intervals of a scan.
func (t *tally) take(s *scan.Scan) error {
	var counts histogram.Histogram
	return flow.Run(s, &flow.Intervals{Counts: true, Emit: func(r *flow.Result) error {
		begin := r.Visit.LogStart
		if given := s.Inputs[r.Input].Start; given != nil {
			begin = *given
		}
		if t.starts == 0 || begin != t.logStart {
			t.logStart = begin
			t.starts++
		}
		if tags.Compare(r.Row, t.row) != 0 {
			return nil
		}
		h, err := r.Histogram(&counts)
		if err != nil || h.TotalCount() == 0 {
			return err
		}
		count := float64(h.TotalCount())
		at := ((r.Start+r.End)/2 - t.start) / t.length
		for _, slow := range t.slow {
			if at < 0 || at >= int64(len(slow.slots)) {
				continue
			}
			above := output.Figure{Name: output.Over, Above: slow.value}
			slow.slots[at].Count += count
			slow.slots[at].Slow += count * above.ShareOf(h, 1) / 100
		}
		return nil
	}})
}

// coincident returns the phases that slow values come with: first that which has most beyond its
// share of the time, and behind it those that have others.
func (t *tally) coincident(slow *slowValues, phases []scan.NamedSpan) (all []Coincident) {
	byName := make(map[string][]scan.NamedSpan)
	end := t.start + int64(len(slow.slots))*t.length
	for _, p := range phases {
		if p.End > t.start && p.Start < end {
			byName[p.Name] = append(byName[p.Name], p)
		}
	}
	touched := make(map[string][]bool)
	for name, times := range byName {
		if len(times) < leastTimes {
			continue
		}
		touched[name] = t.touched(times, len(slow.slots))
		if c, beyond := detect.Coincide(slow.slots, touched[name]); beyond {
			all = append(all, Coincident{
				Phase:       name,
				Row:         t.row,
				Rows:        t.rows,
				Percentile:  slow.percentile,
				Coincidence: c,
			})
		}
	}
	slices.SortFunc(all, func(a, b Coincident) int {
		return cmp.Or(cmp.Compare(b.Share-b.Time, a.Share-a.Time), cmp.Compare(a.Phase, b.Phase))
	})
	earlier := make([]bool, len(slow.slots))
	return slices.DeleteFunc(all, func(c Coincident) bool {
		return slow.newShare(touched[c.Phase], earlier) < leastNew
	})
}

// leastNew is the least share of the slow values, beyond that of the time, that come with a phase
// and with no earlier one.
const leastNew = 0.1

// newShare returns the share of the slow values in slots that a phase touches and no earlier one
// does, minus the share of these slots. It adds the slots to those of earlier phases.
func (s *slowValues) newShare(touched, earlier []bool) float64 {
	all, some, time := 0.0, 0.0, 0.0
	for n, slot := range s.slots {
		all += slot.Slow
		if touched[n] && !earlier[n] {
			some += slot.Slow
			time++
			earlier[n] = true
		}
	}
	return some/all - time/float64(len(s.slots))
}

// touched returns the slots that overlap a phase, or begin within its length after it: requests
// that wait end later.
func (t *tally) touched(phases []scan.NamedSpan, slots int) []bool {
	all := make([]bool, slots)
	for _, p := range phases {
		from := max((p.Start-t.start)/t.length, 0)
		to := min((2*p.End-p.Start-t.start)/t.length, int64(len(all)-1))
		for n := from; n <= to; n++ {
			all[n] = true
		}
	}
	return all
}
