package loggen

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/logline"
)

// A Scenario is a test run on some machines with known events, for tests of what the commands find.
// Each machine writes a log with the tags insert-rt and read-rt, in nanoseconds. Without events,
// values have a median of about 1 ms and a 99th percentile of about 4 ms.
type Scenario struct {
	Name  string
	Nodes int // number of machines
	// Length is the length of an interval in seconds, and Intervals the number of intervals of a
	// tag.
	Length, Intervals int
	// Known are the events of the run, in the order of time.
	Known []Event
}

// An Event is a stall or a slow time on machine Node, from interval First to interval Last.
// Machines and intervals count from 0.
type Event struct {
	Node, First, Last int
	// Longest is the longest value during a stall, in milliseconds. Without a stall it is 0.
	Longest float64
	// Slow are the factors of all values at the beginning and at the end of the event. If both are
	// 0, the machine writes no intervals.
	Slow [2]float64
	// Stall is set if the event is a stall.
	Stall bool
}

// ScenarioStart is the start of all scenarios, in milliseconds since the epoch.
const ScenarioStart = 1767225600000 // 2026-01-01

// Scenarios are the scenarios of the tests.
var Scenarios = []Scenario{
	{"spike", 3, 1, 600, []Event{stall(1, 300, 300, 400)}},
	{"slow node", 3, 1, 600, []Event{{Node: 2, First: 0, Last: 599, Slow: [2]float64{3, 3}}}},
	{"shift", 1, 1, 600, []Event{{Node: 0, First: 360, Last: 599, Slow: [2]float64{3, 3}}}},
	{"warm-up", 1, 1, 600, []Event{{Node: 0, First: 0, Last: 59, Slow: [2]float64{12, 1}}}},
	{"dead node", 3, 1, 600, []Event{{Node: 1, First: 300, Last: 599}}},
	{"pauses", 1, 1, 600, pauses(600, 60, 2, 150)},
	{"day", 2, 10, 8640, []Event{stall(0, 1080, 1081, 900), stall(1, 6000, 6029, 1500)}},
	{"steady", 3, 1, 600, nil},
}

// ScenarioNamed returns the scenario with a name, or nil.
func ScenarioNamed(name string) *Scenario {
	for n := range Scenarios {
		if Scenarios[n].Name == name {
			return &Scenarios[n]
		}
	}
	return nil
}

func stall(node, first, last int, longest float64) Event {
	return Event{
		Node:    node,
		First:   first,
		Last:    last,
		Longest: longest,
		Slow:    [2]float64{1, 1},
		Stall:   true,
	}
}

// pauses returns a stall of length intervals in the middle of each span of span intervals.
func pauses(intervals, span, length int, longest float64) (all []Event) {
	for first := span / 2; first < intervals; first += span {
		all = append(all, stall(0, first, first+length-1, longest))
	}
	return all
}

// Span returns the start and end of an event, in milliseconds since the epoch.
func (s *Scenario) Span(e Event) (start, end int64) {
	at := func(n int) int64 { return ScenarioStart + int64(n*s.Length)*1000 }
	return at(e.First), at(e.Last + 1)
}

// Write writes the log of a machine.
func (s *Scenario) Write(w io.Writer, node int) error {
	log := hdrlog.NewWriter(w)
	log.Comment("UNITS:NANOSECONDS")
	log.Version()
	log.BaseTime(ScenarioStart / 1000)
	log.StartTime(ScenarioStart / 1000)
	log.Legend()
	random := rand.New(rand.NewPCG(uint64(node), uint64(s.Intervals)))
	var encoder histogram.Encoder
	var scratch histogram.Histogram
	usual := make(map[int][]byte) // MAX,PAYLOAD of intervals without events; reusing them saves time
	for n := range s.Intervals {
		slow, longest := 1.0, 0.0
		for _, e := range s.Known {
			if e.Node == node && n >= e.First && n <= e.Last {
				slow = e.Slow[0] + (e.Slow[1]-e.Slow[0])*float64(n-e.First)/float64(max(e.Last-e.First, 1))
				longest = e.Longest
			}
		}
		if slow == 0 {
			continue
		}
		for m, tag := range []string{"insert-rt", "read-rt"} {
			key := 2*random.IntN(200) + m
			fields := usual[key]
			if fields == nil || slow != 1 || longest > 0 {
				var err error
				if fields, err = scenarioInterval(random, &encoder, &scratch, slow, longest); err != nil {
					return err
				}
			}
			if slow == 1 && longest == 0 {
				usual[key] = fields
			}
			line := fmt.Appendf(nil, "%d.000,%d.000,", n*s.Length, s.Length)
			if err := log.WriteEncoded([]byte(tag), append(line, fields...)); err != nil {
				return err
			}
		}
	}
	return log.Flush()
}

// scenarioInterval returns MAX,PAYLOAD of 300 values, multiplied by slow. If longest is above 0, it
// is the longest value of a stall in milliseconds, which delays one in ten values.
func scenarioInterval(random *rand.Rand, encoder *histogram.Encoder, h *histogram.Histogram, slow, longest float64) ([]byte, error) {
	if err := h.Reset(histogram.Layout{Digits: 3, Lowest: 1}); err != nil {
		return nil, err
	}
	for n := range 300 {
		v := 1e6 * slow * math.Exp(random.NormFloat64()*0.55)
		if longest > 0 && n%10 == 0 {
			v = 1e6 * longest * float64(300-n) / 300
		}
		if err := h.Record(int64(v)); err != nil {
			return nil, err
		}
	}
	return encoder.AppendBase64(append(logline.AppendMaxOf(nil, h), ','), h)
}
