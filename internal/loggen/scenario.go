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

// A Scenario is a run on some machines, in which something happens that is known. Each machine
// writes a log with the tags insert-rt and read-rt, in nanoseconds. Values have a median of about
// 1 ms and a 99th percentile of about 4 ms.
type Scenario struct {
	Name  string
	Nodes int
	// Length is that of an interval, and Intervals their number.
	Length, Intervals int
	// Known are what happens, in the order of time. At each of them the machine stalls, unless Slow
	// is set.
	Known []Event
}

// An Event is what happens on a machine, the first of which is 0. It begins and ends with an
// interval.
type Event struct {
	Node, First, Last int
	// Longest is the longest value of a stall, in milliseconds.
	Longest float64
	// Slow is how many times longer all values are, at the beginning and at the end of the event.
	// At 0 the machine writes nothing.
	Slow [2]float64
	// Stall says that the event is a stall.
	Stall bool
}

// ScenarioStart is when all scenarios start, in milliseconds since the epoch.
const ScenarioStart = 1767225600000 // 2026-01-01

// Scenarios are those that tests ask for what happened in them.
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

// ScenarioNamed returns a scenario of the list.
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

// pauses returns a stall of some intervals in the middle of each of some spans.
func pauses(intervals, span, length int, longest float64) (all []Event) {
	for first := span / 2; first < intervals; first += span {
		all = append(all, stall(0, first, first+length-1, longest))
	}
	return all
}

// Span returns when an event begins and ends, in milliseconds since the epoch.
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
	usual := make(map[int][]byte) // payloads that many intervals share, which is quicker
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

// scenarioInterval returns MAX and the payload of 300 values. A stall delays one in ten of them.
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
