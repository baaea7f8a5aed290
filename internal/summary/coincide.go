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

// A Coincident is a phase in which a row has more slow values than by chance. Slow values are those
// above a percentile.
type Coincident struct {
	Phase      string
	Row        []byte
	Rows       int // number of rows, of which this one has the highest values
	Percentile float64
	detect.Coincidence
}

const (
	// minTimes is the least number of times that a phase comes. Values above p99.9 come at as
	// many times, or those above p99 take their place.
	minTimes = 8
	// maxSlots is the largest number of slots of a run. Longer runs have no coincidences.
	maxSlots = 1 << 20
	// minNew is the least part of the slow values, beyond the part of the time, that come with a
	// phase and with no earlier one.
	minNew = 0.1
)

// ErrOnce is the error of logs that can be read only once.
var ErrOnce = errors.New("what slow values come with is not known of a pipe, which can be read only once")

// Coincide finds the phases of a scan in which more values than by chance are slow, the most first.
// It looks at the row with the highest p99, and there at values above p99.9, or above p99 if those
// above p99.9 are few or come in a few moments.
//
// It reads the logs twice more, or returns [ErrOnce]. It finds nothing if phases count from the
// starts of logs that differ. It reports no malformed lines.
func Coincide(s *scan.Scan) ([]Coincident, error) {
	if slices.ContainsFunc(s.Inputs, func(in scan.Input) bool { return in.Once }) {
		return nil, ErrOnce
	}
	quiet := quietly(s)
	if s.Rows.By.AddsTags() {
		all, err := tags.ParseBy("all")
		if err != nil {
			return nil, err
		}
		quiet.Rows.By = all
	}
	timeline, err := findSlowest(quiet)
	if err != nil || timeline == nil {
		return nil, err
	}
	starts, err := timeline.count(quiet)
	if err != nil {
		return nil, err
	}
	if starts.differ && !s.Rows.Phases.Dated() { // a phase is at several times
		return nil, nil
	}
	phases, err := s.Rows.Phases.In(starts.latest)
	if err != nil {
		return nil, err
	}
	return timeline.coincident(phases), nil
}

// A slowTimeline counts the slow values of a row in slots, which are equal parts of the time.
type slowTimeline struct {
	row    []byte
	rows   int          // number of rows of the run
	start  int64        // of the first slot, in milliseconds since the epoch
	length int64        // of a slot, in milliseconds
	above  []slowValues // those above p99.9, if there are enough, and those above p99
}

// slowValues are the values of a row above a percentile.
type slowValues struct {
	percentile float64
	limit      float64 // the value at the percentile, in the unit of the log
	slots      []detect.Slot
}

// findSlowest reads the logs of a scan, and returns an empty timeline of the row with the highest
// p99. It returns nil if no row has enough slow values, or if the run has too many slots.
func findSlowest(s *scan.Scan) (*slowTimeline, error) {
	result, err := Collect(s, Options{})
	if err != nil {
		return nil, err
	}
	defer result.Release()
	var slowest *output.Summary
	highest := 0.0
	intervals := int64(0)
	for _, row := range result.Summaries {
		intervals += row.Intervals
		h := row.Counts()
		p99 := h.Float(h.ValueAtPercentile(99))
		if p99 > highest && valuesAbove(h, 99) >= detect.MinSlow {
			highest = p99
			slowest = row
		}
	}
	if slowest == nil {
		return nil, nil
	}
	t := &slowTimeline{
		row:    slowest.Tag,
		rows:   len(result.Summaries),
		start:  slowest.Start,
		length: flow.RoundLength(max(result.Lengths/max(intervals, 1), 1)),
	}
	slots := (slowest.End-slowest.Start)/t.length + 1
	if slots > maxSlots {
		return nil, nil
	}
	h := slowest.Counts()
	for _, percentile := range []float64{99.9, 99} {
		if valuesAbove(h, percentile) >= detect.MinSlow {
			t.above = append(t.above, slowValues{
				percentile: percentile,
				limit:      h.Float(h.ValueAtPercentile(percentile)),
				slots:      make([]detect.Slot, slots),
			})
		}
	}
	return t, nil
}

// valuesAbove returns the number of values of h that rank above a percentile.
func valuesAbove(h *histogram.Histogram, percentile float64) float64 {
	return (1 - percentile/100) * float64(h.TotalCount())
}

// logStarts are the starts of the logs of a scan.
type logStarts struct {
	latest float64 // in seconds since the epoch
	known  bool    // there is a latest start
	differ bool
}

// add adds the start of a log.
func (l *logStarts) add(start float64) {
	l.differ = l.differ || l.known && start != l.latest
	l.latest = start
	l.known = true
}

// count counts the values of a scan, and returns when its logs start.
func (t *slowTimeline) count(s *scan.Scan) (starts logStarts, err error) {
	var counts histogram.Histogram
	err = flow.Run(s, &flow.Intervals{Counts: true, Emit: func(r *flow.Result) error {
		start := r.Visit.LogStart
		if given := s.Inputs[r.Input].Start; given != nil {
			start = *given
		}
		starts.add(start)
		if tags.Compare(r.Row, t.row) != 0 {
			return nil
		}
		h, err := r.Sum.Histogram(&counts)
		if err == nil && h.TotalCount() > 0 {
			t.add((r.Sum.Start+r.Sum.End)/2, h)
		}
		return err
	}})
	return starts, err
}

// add adds the counts of an interval, given its middle in milliseconds since the epoch.
func (t *slowTimeline) add(middle int64, h *histogram.Histogram) {
	count := float64(h.TotalCount())
	at := (middle - t.start) / t.length
	for _, slow := range t.above {
		if at < 0 || at >= int64(len(slow.slots)) {
			continue
		}
		over := output.Figure{Name: output.Over, Above: slow.limit}
		slow.slots[at].Count += count
		slow.slots[at].Slow += count * over.ShareOf(h, 1) / 100
	}
}

// slowest returns the values above p99.9 if they are enough and come at enough times, otherwise
// those above p99.
func (t *slowTimeline) slowest() *slowValues {
	var counts []float64
	for _, slot := range t.above[0].slots {
		counts = append(counts, slot.Slow)
	}
	if detect.Spread(counts) < minTimes {
		return &t.above[len(t.above)-1]
	}
	return &t.above[0]
}

// coincident returns the phases in which more values than by chance are slow. They are in the order
// of their part of the slow values minus their part of the time, the largest first. It leaves out a
// phase if too few slow values come with it and with no phase before it.
func (t *slowTimeline) coincident(phases []scan.NamedSpan) (all []Coincident) {
	slow := t.slowest()
	touched := t.touchedSlots(phases)
	for name, slots := range touched {
		if c, beyond := detect.Coincide(slow.slots, slots); beyond {
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
		return slow.addNew(touched[c.Phase], earlier) < minNew
	})
}

// touchedSlots returns which slots each phase touches, by the name of the phase. It leaves out
// phases that seldom come.
func (t *slowTimeline) touchedSlots(phases []scan.NamedSpan) map[string][]bool {
	slots := len(t.above[0].slots)
	end := t.start + int64(slots)*t.length
	byName := make(map[string][]scan.NamedSpan)
	for _, p := range phases {
		if p.End > t.start && p.Start < end {
			byName[p.Name] = append(byName[p.Name], p)
		}
	}
	touched := make(map[string][]bool)
	for name, times := range byName {
		if len(times) >= minTimes {
			touched[name] = t.touched(times, slots)
		}
	}
	return touched
}

// touched returns the slots that overlap a phase or begin within its length after it, since
// requests that wait end later. Times are those of the phase.
func (t *slowTimeline) touched(times []scan.NamedSpan, slots int) []bool {
	all := make([]bool, slots)
	for _, p := range times {
		from := max((p.Start-t.start)/t.length, 0)
		to := min((2*p.End-p.Start-t.start)/t.length, int64(slots-1))
		for n := from; n <= to; n++ {
			all[n] = true
		}
	}
	return all
}

// addNew returns the part of the slow values in slots that a phase touches and no earlier phase
// does, minus the part of the time that these slots take. It marks these slots as earlier ones.
func (s *slowValues) addNew(touched, earlier []bool) float64 {
	all := 0.0
	slow := 0.0
	slots := 0.0
	for n, slot := range s.slots {
		all += slot.Slow
		if touched[n] && !earlier[n] {
			slow += slot.Slow
			slots++
			earlier[n] = true
		}
	}
	return slow/all - slots/float64(len(s.slots))
}
