package summary

import (
	"math"
	"slices"
	"strconv"

	"hdrkit/hdrlog"
	"hdrkit/internal/scan"
)

// An Omission is a stall during which values look to be missing: the recorder waited for the
// answer, and did not send what it should have sent meanwhile (coordinated omission).
type Omission struct {
	Place    scan.Place
	Tag      []byte
	Start    int64   // of the interval, in milliseconds since the epoch
	Longest  float64 // value of the interval, in milliseconds
	Expected float64 // plausible expected interval, in milliseconds
	Unit     float64 // of the log, in milliseconds
}

// mostStrokes is the largest number of intervals that [FindOmission] looks at.
const mostStrokes = 1 << 20

// A stroke is what matters of an interval.
type stroke struct {
	place      scan.Place
	start, end int64   // milliseconds
	count      float64 // of values
	longest    float64 // value in milliseconds
	far        float64 // number of values of more than half of that
}

func (s *stroke) length() float64 { return float64(s.end - s.start) }

// FindOmission runs a scan and returns the worst stall during which values look to be missing, or
// nil. Millis is one unit of the values of a row in milliseconds, 0 if that is unknown.
//
// A stall is an interval with a value that is longer than three of them. In an open loop, requests
// go on to be sent during a stall, so many values are nearly as long, and later intervals have what
// the stall delayed. If a recorder waits, few values are long, and the others never come. It is no
// evidence if counts are low elsewhere too.
func FindOmission(s *scan.Scan, millis func(row []byte) float64) (*Omission, error) {
	type key struct {
		input  int
		tagged bool
		tag    string
	}
	logs := make(map[key][]stroke)
	quiet := scan.Scan{Inputs: s.Inputs, Selection: s.Selection, By: s.By, Workers: s.Workers}
	quiet.Report = func(*hdrlog.SyntaxError, bool) error { return nil }
	all := 0
	err := scan.Run(&quiet, func(_ int, v scan.Visit, r *stroke) error {
		h, err := v.Histogram()
		if err != nil {
			return err
		}
		*r = stroke{v.Place, v.StartMillis(), v.EndMillis(), float64(h.TotalCount()), h.Float(h.Max()) * millis(v.Row), 0}
		if r.longest > r.length() {
			r.far = float64(h.CountBetween(h.Max()/2+1, math.MaxInt64))
		}
		return nil
	}, func(v scan.Visit, r *stroke) error {
		if all++; all <= mostStrokes {
			k := key{v.Input, v.Tag != nil, string(v.Tag)}
			logs[k] = append(logs[k], *r)
		}
		return nil
	})
	if err != nil || all > mostStrokes {
		return nil, err
	}
	var worst *Omission
	longest := 0.0
	for k, log := range logs {
		if at, between := omission(log); at != nil && at.longest > longest {
			longest = at.longest
			o := &Omission{Place: at.place, Start: at.start}
			if k.tagged {
				o.Tag = []byte(k.tag)
			}
			o.Longest, o.Expected, o.Unit = at.longest, between, millis(s.By.Row(at.place.Name, o.Tag))
			worst = o
		}
	}
	return worst, nil
}

// omission returns the worst stall of a log, and the time between the values of one sender.
func omission(log []stroke) (worst *stroke, between float64) {
	const (
		leastIntervals = 20  // that tell what is usual
		leastMissing   = 20  // values
		shortest       = 3   // stall, in intervals
		low            = 0.5 // part of the usual rate
		seldom         = 0.05
		fewFar         = 0.1 // part of the values that should have been sent
	)
	slices.SortStableFunc(log, func(a, b stroke) int { return int(min(max(a.start-b.start, -1), 1)) })
	// near reports whether an interval may have less because of a stall.
	near := make([]bool, len(log))
	var rates []float64
	for n := range log {
		s := &log[n]
		if s.longest > s.length() {
			for m := n; m >= 0 && float64(s.end-log[m].start) <= s.longest+2*s.length(); m-- {
				near[m] = true
			}
		}
	}
	for n := range log {
		if length := log[n].length(); !near[n] && length > 0 {
			rates = append(rates, log[n].count/length)
		}
	}
	if len(rates) < max(leastIntervals, len(log)/2) {
		return nil, 0
	}
	slices.Sort(rates)
	usual := rates[len(rates)/2]
	if rates[int(seldom*float64(len(rates)))] < low*usual {
		return nil, 0 // the load varies, or the log has gaps
	}
	for n := range log {
		s := &log[n]
		should := usual * s.longest
		if log[len(log)-1].end < s.end+int64(s.longest/2) {
			continue // what the stall delayed may come later
		}
		if s.longest <= shortest*s.length() || should < leastMissing || worst != nil && s.longest <= worst.longest {
			continue
		}
		// What happened during the stall, and until as long after it?
		var count, far, covered, before float64
		for m := range log {
			o := &log[m]
			if float64(o.end) > float64(s.end)-s.longest && float64(o.start) < float64(s.end)+s.longest {
				count, covered = count+o.count, covered+o.length()
				if m < n {
					before += usual*o.length() - o.count
				}
				if o.longest > s.longest/2 {
					far += o.far
				}
			}
		}
		if usual*covered-count >= low*should && before >= low*(should-usual*s.length()) && far <= fewFar*should {
			worst, between = s, max(far, 1)/usual
		}
	}
	return worst, between
}

// Rounded returns a number with two significant digits.
func Rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 2, 64), 64)
	return r
}
