package confidence

import (
	"math"
	"math/cmplx"
	"slices"
)

// A Rhythm is what comes at even times.
type Rhythm struct {
	// Period is the time from one beat to the next, and First the time of the first beat.
	Period, First float64
	// Found is the number of beats that have an event, and Expected that of all beats from the
	// first event to the last one.
	Found, Expected int
}

const (
	// leastBeats is the least number of events that can show a rhythm.
	leastBeats = 10
	// mostMissing is the largest part of the beats that may have no event.
	mostMissing = 0.5
	// mostOthers is how many events there may be for each beat.
	mostOthers = 1.2
	// leastPeriod is the least length of a period, in intervals.
	leastPeriod = 5
	// rhythmLimit bounds the probability with which events of a Poisson process seem to have a
	// rhythm. In fact at most 0.6% do (TestRhythm).
	rhythmLimit = 0.02
	// mostBeats is the part of the events that the beats of a longer period must have.
	mostBeats = 0.85
	// overtone is by how much a shorter period must be more regular.
	overtone = 1.03
	// beatPart is the part of a period by which an event may be off its beat. Behind beats that are
	// missing it may be off by more, if beats follow each other.
	beatPart = 0.3
)

// FindRhythm looks for a rhythm in the times of events, which are in order and lie in intervals of
// a length. Tries is the number of series that the caller looks at.
//
// Two statistics look for periods at which events are regular: that of Rayleigh, for beats of a
// clock, and the mean of cos(2 pi d/period) of the times d between neighbours, for events that come
// some time after the one before. Periods that are too short or too long for the number of events
// are not looked at, so few are, and little is left to chance.
func FindRhythm(times []float64, length float64, tries int) (r Rhythm, ok bool) {
	n := len(times)
	if n < leastBeats {
		return r, false
	}
	span := times[n-1] - times[0]
	longest := mostOthers * span / float64(n-1)
	shortest := max((1-mostMissing)*span/float64(n-1), leastPeriod*length)
	if !(longest > shortest) {
		return r, false
	}
	// A step of frequency moves the last event by a tenth of a turn.
	step := 0.1 / span
	periods := (1/shortest - 1/longest) * span // independent ones
	best := 0.0
	even := false // the beats are those of a clock
	turns := turnsOf(times, 1/longest, step)
	for f := 1 / longest; f <= 1/shortest; f += step {
		s, c, near := turns.next()
		clock := (s*s + c*c) / float64(n) // exponential without a rhythm
		// Normal without a rhythm, with a variance of half the number of neighbours.
		after := math.Max(near, 0) * math.Max(near, 0) / float64(n-1)
		if strength := max(clock, after); strength > overtone*best { // half of a period is as regular
			best = strength
			r.Period = 1 / f
			r.First = times[0] + math.Atan2(s, c)/(2*math.Pi*f)
			even = clock >= after
		}
	}
	if chance := math.Exp(-best) * max(3*periods, 1) * float64(tries); chance > rhythmLimit {
		return Rhythm{}, false
	}
	found := r.count(times)
	if !even {
		found = follow(times, r.Period)
	}
	// Half of a period has the beats of the whole one, and some events by chance.
	whole := r.times(2).count(times)
	if next := follow(times, 2*r.Period); next.Found > whole.Found {
		whole = next
	}
	if whole.regular() && float64(whole.Found) >= mostBeats*float64(found.Found) {
		found = whole
	}
	return found, found.regular()
}

// turns are the angles of events at a frequency, as points of a circle. A step of the frequency
// turns each by the same angle again, which takes a tenth of the time of its sine.
type turns struct{ at, step []complex128 }

func turnsOf(times []float64, f, step float64) (t turns) {
	for _, time := range times {
		angle := 2 * math.Pi * (time - times[0])
		t.at = append(t.at, cmplx.Rect(1, angle*f))
		t.step = append(t.step, cmplx.Rect(1, angle*step))
	}
	return t
}

// next returns the sums of the sines and cosines of the angles, and of the cosines of those between
// neighbours. Then it goes on to the next frequency.
func (t *turns) next() (s, c, near float64) {
	var before complex128
	for n, z := range t.at {
		s += imag(z)
		c += real(z)
		near += real(z)*real(before) + imag(z)*imag(before)
		before = z
		t.at[n] = z * t.step[n]
	}
	return s, c, near
}

// times returns a rhythm whose period is so many times as long.
func (r Rhythm) times(n float64) Rhythm {
	r.Period *= n
	return r
}

// regular reports whether enough beats have an event.
func (r *Rhythm) regular() bool {
	return r.Found >= leastBeats && float64(r.Found) >= (1-mostMissing)*float64(r.Expected)
}

// count counts the beats of a clock that have an event, and sets the clock by them.
func (r Rhythm) count(times []float64) Rhythm {
	for range 2 {
		seen := make(map[int]float64) // times by beat
		for _, t := range times {
			beat := int(math.Round((t - r.First) / r.Period))
			if math.Abs(t-r.First-float64(beat)*r.Period) <= beatPart*r.Period {
				seen[beat] = t
			}
		}
		r.Found = len(seen)
		r.Expected = 0
		var x, y, xx, xy float64
		for beat, t := range seen {
			r.Expected = max(r.Expected, beat+1)
			b := float64(beat)
			x += b
			y += t - times[0]
			xx += b * b
			xy += b * (t - times[0])
		}
		n := float64(len(seen))
		if spread := n*xx - x*x; spread > 0 {
			r.Period = (n*xy - x*y) / spread
			r.First = times[0] + (y-r.Period*x)/n
		}
	}
	return r
}

// follow counts the beats of a period that have an event. A beat follows the event before, so that
// a period may drift.
func follow(times []float64, period float64) (r Rhythm) {
	var gaps []float64 // of neighbours that are one period apart
	for i := 1; i < len(times); i++ {
		if d := times[i] - times[i-1]; math.Abs(d-period) <= beatPart*period {
			gaps = append(gaps, d)
		}
	}
	if len(gaps) > 0 {
		slices.Sort(gaps)
		mean := 0.0
		for _, d := range gaps {
			mean += d / float64(len(gaps))
		}
		if math.Abs(mean-period) < 0.1*period {
			period = mean
		}
	}
	r = Rhythm{Period: period, First: times[0], Found: 1, Expected: 1}
	last := times[0]
	for _, t := range times[1:] {
		turns := math.Round((t - last) / period)
		if turns < 1 || math.Abs(t-last-turns*period) > beatPart*math.Sqrt(turns)*period {
			continue
		}
		r.Found++
		r.Expected += int(turns)
		last = t
	}
	return r
}
