package summary

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"hdrkit/internal/scan"
)

// An Omission is a stall during which values seem to be missing: the recorder waited for an answer,
// and did not send the requests that were due meanwhile (coordinated omission).
type Omission struct {
	Place    scan.Place
	Tag      []byte
	Start    int64   // of the interval, in milliseconds since the epoch
	Longest  float64 // the highest value of the interval, in milliseconds
	Expected float64 // the likely time between two requests, in milliseconds
	Unit     float64 // the unit of the log, in milliseconds
}

// A sample has the figures of an interval, or of a time that no interval covers.
type sample struct {
	piece      *piece
	start, end int64   // in milliseconds since the epoch
	count      float64 // number of values
	longest    float64 // the highest value in milliseconds
	far        float64 // number of values above half of longest
}

// length returns the length of the interval in milliseconds.
func (s *sample) length() float64 { return float64(s.end - s.start) }

// Omission returns the worst stall during which values seem to be missing, nil if there is none.
// Millis returns the unit of the values of a tag of an input in milliseconds, 0 if it is unknown.
// Omission finds nothing if the log is so long that intervals were merged to windows.
//
// A stall is an interval with a value that is longer than three intervals. In an open loop, the
// load generator sends requests during a stall, so many values are nearly as long, and later
// intervals have the delayed requests. If the recorder waits, few values are long, and the other
// requests are never sent. Low counts are no evidence if counts are also low elsewhere. A time that
// no interval covers counts as empty intervals.
func (hs *Histories) Omission(millis func(input string, tag []byte) float64) (*Omission, error) {
	ordered, err := hs.inOrder()
	if err != nil || hs.coarse > 0 {
		return nil, err
	}
	var worst *Omission
	for _, h := range ordered {
		unit := millis(h.input, h.tag)
		log := make([]sample, 0, len(h.pieces))
		for _, p := range h.pieces {
			log = append(log, sample{
				piece:   p,
				start:   p.Start,
				end:     p.End,
				count:   float64(p.count),
				longest: p.highest * unit,
			})
		}
		if !mayStall(log) {
			continue
		}
		for n := range log {
			if log[n].far, err = hs.far(log[n].piece); err != nil {
				return nil, err
			}
		}
		if at, between := omission(log); at != nil && (worst == nil || at.longest > worst.Longest) {
			worst = &Omission{
				Place:    scan.Place{Name: h.input, Line: at.piece.line},
				Tag:      h.tag,
				Start:    at.start,
				Longest:  at.longest,
				Expected: between,
				Unit:     unit,
			}
		}
	}
	return worst, nil
}

// mayStall reports whether an interval of a log may be a stall. Few logs have such an interval. To
// look at the others takes a fiftieth of the time of a table.
func mayStall(log []sample) bool {
	shortest := math.Inf(1) // length of an interval
	longest := 0.0          // value
	for n := range log {
		shortest = min(shortest, log[n].length())
		longest = max(longest, log[n].longest)
	}
	return longest > shortestStall*shortest
}

// far returns the number of values of a piece above half of its highest value. If the piece has no
// counts, it returns the number of all values, which is not less.
func (hs *Histories) far(p *piece) (float64, error) {
	if p.counts == nil {
		return float64(p.count), nil
	}
	h, err := hs.countsOf(p)
	if err != nil {
		return 0, err
	}
	return float64(h.CountBetween(h.Max()/2+1, math.MaxInt64)), nil
}

// maxGap is the largest number of empty intervals that withGaps puts into a gap.
const maxGap = 60

// withGaps returns a log in the order of time with empty intervals in its gaps. It also returns the
// usual length of an interval in milliseconds.
func withGaps(log []sample) (all []sample, usual float64) {
	if len(log) == 0 {
		return nil, 0
	}
	slices.SortStableFunc(log, func(a, b sample) int { return cmp.Compare(a.start, b.start) })
	var lengths []float64
	for n := range log {
		lengths = append(lengths, log[n].length())
	}
	slices.Sort(lengths)
	usual = lengths[len(lengths)/2]
	end := log[0].start
	for _, s := range log {
		if gap := float64(s.start - end); gap > usual/2 && usual > 0 {
			empty := int64(min(max(gap/usual, 1), maxGap))
			for n := range empty {
				all = append(all, sample{start: end + n*int64(gap)/empty, end: end + (n+1)*int64(gap)/empty})
			}
		}
		all = append(all, s)
		end = max(end, s.end)
	}
	return all, usual
}

// Rules for stalls with missing values.
const (
	minIntervals  = 20   // least number of intervals without a stall, which show the usual rate
	minMissing    = 20   // least number of requests that were due during a stall
	shortestStall = 3    // least length of a stall in intervals
	lowRate       = 0.5  // a rate below this part of the usual rate is low
	seldomLow     = 0.05 // largest part of the intervals without a stall that have a low rate
	fewFar        = 0.1  // largest part of the requests that were due whose values are nearly as long as the stall
)

// omission returns the worst stall of a log, nil if there is none, and the time between two
// requests of one sender in milliseconds.
func omission(log []sample) (worst *sample, between float64) {
	log, length := withGaps(log)
	rate, known := usualRate(log, length)
	if !known {
		return nil, 0
	}
	longest := 0.0 // length of an interval
	for n := range log {
		longest = max(longest, log[n].length())
	}
	for n := range log {
		s := &log[n]
		if worst != nil && s.longest <= worst.longest {
			continue
		}
		stalls := s.longest > shortestStall*min(s.length(), length) && rate*s.longest >= minMissing
		if !stalls || log[len(log)-1].end < s.end+int64(s.longest/2) {
			continue // the delayed requests may be behind the end of the log
		}
		if far, misses := lookAfterStall(log, n, rate, longest); misses {
			worst, between = s, max(far, 1)/rate
		}
	}
	return worst, between
}

// usualRate returns the number of values per millisecond in intervals without a stall. The rate is
// unknown if there are few such intervals, if the load varies, or if the log has gaps. Length is
// the usual length of an interval.
func usualRate(log []sample, length float64) (rate float64, known bool) {
	var rates []float64
	stalled := heldUp(log, length)
	for n := range log {
		if length := log[n].length(); !stalled[n] && length > 0 {
			rates = append(rates, log[n].count/length)
		}
	}
	if len(rates) < max(minIntervals, len(log)/2) {
		return 0, false
	}
	slices.Sort(rates)
	rate = rates[len(rates)/2]
	return rate, rates[int(seldomLow*float64(len(rates)))] >= lowRate*rate
}

// heldUp reports for each interval whether it may have fewer values because of a stall.
func heldUp(log []sample, length float64) []bool {
	held := make([]bool, len(log))
	from := math.Inf(1) // the earliest possible begin of the stall of a later interval
	for n := len(log) - 1; n >= 0; n-- {
		s := &log[n]
		if s.longest > min(s.length(), length) {
			from = min(from, float64(s.end)-s.longest-length)
		}
		held[n] = float64(s.end) >= from
		if !held[n] {
			from = math.Inf(1)
		}
	}
	return held
}

// lookAfterStall looks at the stall of an interval and at an equally long time after it. It reports
// whether values are missing, and how many values are nearly as long as the stall. The intervals of
// the log are in the order of their starts, and none is longer than longest.
func lookAfterStall(log []sample, stall int, rate, longest float64) (far float64, misses bool) {
	s := &log[stall]
	from, to := float64(s.end)-s.longest, float64(s.end)+s.longest
	var count, covered float64
	before := 0.0 // number of values that are missing before the interval of the stall
	first := sort.Search(len(log), func(n int) bool { return float64(log[n].start) > from-longest })
	for n := first; n < len(log) && float64(log[n].start) < to; n++ {
		o := &log[n]
		if float64(o.end) <= from {
			continue
		}
		count += o.count
		covered += o.length()
		if n < stall {
			before += rate*o.length() - o.count
		}
		if o.longest > s.longest/2 {
			far += o.far
		}
	}
	due := rate * s.longest // number of requests
	low := rate*covered-count >= lowRate*due && before >= lowRate*(due-rate*s.length())
	return far, low && far <= fewFar*due
}
