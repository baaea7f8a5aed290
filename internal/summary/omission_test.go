package summary

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
)

// request is when a request was sent and how long it took, in milliseconds.
type request struct{ sent, took float64 }

// samplesOf returns the intervals of a log that has each request when it ends.
func samplesOf(t *testing.T, requests []request, seconds int, expected int64) []sample {
	t.Helper()
	layout := histogram.Layout{Lowest: 1, Digits: 3}
	all := make([]*histogram.Histogram, seconds)
	for i := range all {
		all[i], _ = histogram.New(layout)
	}
	for _, r := range requests {
		if at := int((r.sent + r.took) / 1000); at < seconds {
			if err := all[at].Record(int64(r.took * 1000)); err != nil {
				t.Fatal(err)
			}
		}
	}
	var log []sample
	for i, h := range all {
		if expected > 0 {
			corrected := new(histogram.Histogram)
			if err := h.CorrectInto(corrected, float64(expected)); err != nil {
				t.Fatal(err)
			}
			h = corrected
		}
		s := sample{start: int64(i) * 1000, end: int64(i+1) * 1000, count: float64(h.TotalCount()), longest: float64(h.Max()) / 1000}
		if s.longest > 1000 {
			s.far = float64(h.CountBetween(h.Max()/2+1, math.MaxInt64))
		}
		log = append(log, s)
	}
	return log
}

// stalls returns random times in which nothing is answered: start and end in milliseconds.
func stalls(r *rand.Rand, seconds int) (all [][2]float64) {
	for range 1 + r.IntN(4) {
		start := r.Float64() * float64(seconds) * 1000
		all = append(all, [2]float64{start, start + 1500 + r.ExpFloat64()*5000})
	}
	return all
}

// answered returns when a request is answered that would be at a time, but for the stalls.
func answered(at float64, stalls [][2]float64) float64 {
	for range stalls { // one stall may end in another
		for _, s := range stalls {
			if s[0] <= at && at < s[1] {
				at = s[1]
			}
		}
	}
	return at
}

// closed returns the requests of senders that wait for each answer.
func closed(r *rand.Rand, senders, seconds int, stalls [][2]float64) (all []request) {
	pause := 5 + r.Float64()*20
	for range senders {
		for at := r.Float64() * pause; at < float64(seconds)*1000; {
			end := answered(at+2*r.ExpFloat64(), stalls)
			all = append(all, request{at, end - at})
			at = max(end, at+pause)
		}
	}
	return all
}

// TestOmission checks that stalls of senders that wait are found, and what interval they expect.
func TestOmission(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for n := range clitest.Rounds(100) {
		senders, start := 1+r.IntN(20), 20_000+100_000*r.Float64()
		stall := [][2]float64{{start, start + 3000 + 20_000*r.Float64()}}
		requests := closed(r, senders, 200, stall)
		log := samplesOf(t, requests, 200, 0)
		worst, between := omission(log)
		if worst == nil {
			t.Errorf("run %d: a stall of %.0f ms of %d senders is not found", n, stall[0][1]-stall[0][0], senders)
			continue
		}
		// The same log, without empty intervals, and with one long interval instead of them.
		skipped := slices.DeleteFunc(slices.Clone(log), func(s sample) bool { return s.count == 0 })
		var late []sample
		for _, s := range skipped {
			if len(late) > 0 {
				s.start = late[len(late)-1].end
			}
			late = append(late, s)
		}
		for what, log := range map[string][]sample{"skips empty intervals": skipped, "stalls too": late} {
			if worst, _ := omission(log); worst == nil {
				t.Errorf("run %d: a stall of %.0f ms of %d senders is not found if the log %s", n, stall[0][1]-stall[0][0], senders, what)
			}
		}
		pause := 200_000 / float64(len(requests)) * float64(senders)
		if between < pause/2 || between > pause*2 {
			t.Errorf("run %d: %d senders with a pause of about %.1f ms, and %.1f is named", n, senders, pause, between)
		}
		// The same log, corrected.
		if worst, _ := omission(samplesOf(t, requests, 200, int64(between*1000))); worst != nil {
			t.Errorf("run %d: the corrected log has an omission of %.0f ms", n, worst.longest)
		}
	}
}

// TestOpenLoop checks that logs of senders that do not wait have no omission: with stalls, with
// queues after them, with single slow requests, with loads that vary, with pauses of the load.
func TestOpenLoop(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	for n := range clitest.Rounds(200) {
		seconds := 60 + r.IntN(200)
		rate := 10 + r.ExpFloat64()*300
		var stalled [][2]float64
		if r.IntN(4) > 0 {
			stalled = stalls(r, seconds)
		}
		slow, varies, pauses := r.Float64()*1e-3*float64(r.IntN(2)), r.IntN(3) == 0, r.IntN(4) == 0
		served := 0.0 // time of a request in a queue, 0 for no queue
		if r.IntN(2) == 0 {
			served = 1000 / rate * (0.2 + 0.75*r.Float64())
		}
		var requests []request
		free := 0.0
		for at := 0.0; at < float64(seconds)*1000; {
			now := rate
			if varies {
				now *= 1.05 + math.Sin(at/20_000)
			}
			if at += r.ExpFloat64() * 1000 / now; pauses && r.Float64() < 1e-3 {
				at += 5000 * r.ExpFloat64()
			}
			end := at + 2*r.ExpFloat64()
			if served > 0 {
				end = max(at, free) + served*r.ExpFloat64()
			}
			if end = answered(end, stalled); served > 0 {
				free = end
			}
			if r.Float64() < slow { // for itself
				end += 20_000 * r.ExpFloat64()
			}
			requests = append(requests, request{at, end - at})
		}
		log := samplesOf(t, requests, seconds, 0)
		worst, _ := omission(log)
		if worst == nil {
			worst, _ = omission(slices.DeleteFunc(log, func(s sample) bool { return s.count == 0 }))
		}
		if worst != nil {
			t.Errorf("run %d: an open loop has an omission of %.0f ms at %d ms (rate %.0f, stalls %v, queue %v, slow %v, varies %v, pauses %v)",
				n, worst.longest, worst.start, rate, stalled, served, slow, varies, pauses)
		}
	}
}

// TestOmissionOfMany searches a log of very many intervals whose maxima rise, for which a search of
// all of them for each one is quadratic.
func TestOmissionOfMany(t *testing.T) {
	t.Parallel()
	log := make([]sample, 400_000)
	for n := range log {
		at := int64(n) * 1000
		log[n] = sample{start: at, end: at + 1000, count: 1000, longest: 10, far: 1000}
		if n%40 == 0 {
			log[n].longest = 5000 + float64(n)/1000
		}
	}
	if at, _ := omission(log); at != nil {
		t.Errorf("%+v", at)
	}
}
