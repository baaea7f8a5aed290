package summary_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/scan"
	"hdrkit/internal/summary"
	"hdrkit/tags"
)

// TestCoincidentPhases: of two kinds of phases, one makes a third of the values of a tag slow. It
// is found, with its share and that of chance, whatever the length of intervals, and nothing else.
func TestCoincidentPhases(t *testing.T) {
	t.Parallel()
	for _, length := range []float64{1, 5} {
		r := rand.New(rand.NewPCG(7, 7))
		const intervals = 600
		pauses := make(map[int]bool)
		var phases []scan.Phase
		for range 40 {
			at := r.IntN(intervals - 2)
			pauses[at] = true
			start, end := 1.6e9+(float64(at)+0.2)*length, 1.6e9+(float64(at)+0.5)*length
			phases = append(phases, phase("pause", start, end), phase("all", start-10*length, end))
			other := 1.6e9 + float64(r.IntN(intervals))*length
			phases = append(phases, phase("other", other, other+0.3))
		}
		phases = append(phases, phase("once", 1.6e9, 1.6e9+3))
		var log bytes.Buffer
		w := hdrlog.NewWriter(&log)
		w.StartTime(1.6e9)
		for n := range intervals {
			for _, tag := range []string{"read", "write"} {
				h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
				if err != nil {
					t.Fatal(err)
				}
				for range 300 {
					h.Record(int64(1e5 * math.Exp(r.NormFloat64()/4)))
				}
				if slow := 2 * r.IntN(2); tag == "read" {
					if pauses[n] {
						slow += 10
					}
					for range slow {
						h.Record(int64(1e7 * (1 + r.Float64())))
					}
				}
				w.Interval([]byte(tag), 1.6e9+float64(n)*length, length, h)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		by, err := tags.ParseBy("phase,tag")
		if err != nil {
			t.Fatal(err)
		}
		s := &scan.Scan{
			Inputs: []scan.Input{{Name: "run.hdr", Open: func() (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader(log.Bytes())), nil
			}}},
			Workers: 2,
			Rows:    scan.Rows{By: by, Phases: scan.NewPhases(phases, nil)},
		}
		all, err := summary.Coincide(s)
		if err != nil || len(all) != 1 {
			t.Fatalf("%v: %+v", err, all)
		}
		c := all[0]
		got := fmt.Sprintf("%s %s %d p%v", c.Phase, c.Row, c.Rows, c.Percentile)
		if got != "pause read 2 p99.9" || math.Abs(c.Share-c.Chance-0.38) > 0.06 || c.Chance > 0.12 {
			t.Errorf("intervals of %v s: %+v", length, c)
		}
		s.Inputs[0].Once = true
		if all, err := summary.Coincide(s); err != summary.ErrOnce || all != nil {
			t.Errorf("a pipe: %v, %+v", err, all)
		}
	}
}

// phase returns a phase between two times in seconds since the epoch.
func phase(name string, start, end float64) scan.Phase {
	return scan.Phase{Name: name, Range: scan.Range{
		From: &scan.Bound{Seconds: start, Origin: scan.Epoch},
		To:   &scan.Bound{Seconds: end, Origin: scan.Epoch},
	}}
}

// TestStartsThatDiffer: phases that count from the starts of logs are at several times, so nothing
// is said of them.
func TestStartsThatDiffer(t *testing.T) {
	t.Parallel()
	var inputs []scan.Input
	for n, start := range []float64{1.6e9, 1.6e9 + 1007} {
		r := rand.New(rand.NewPCG(7, uint64(n)))
		var log bytes.Buffer
		w := hdrlog.NewWriter(&log)
		w.StartTime(start)
		for second := range 400 {
			h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
			if err != nil {
				t.Fatal(err)
			}
			for range 300 {
				h.Record(1000 + r.Int64N(1000))
			}
			if second%20 < 2 {
				for range 5 {
					h.Record(100_000 + r.Int64N(100_000))
				}
			}
			w.Interval(nil, start+float64(second), 1, h)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, scan.Input{Name: fmt.Sprint(n), Open: func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(log.Bytes())), nil
		}})
	}
	var phases []scan.Phase
	for n := range 20 {
		phases = append(phases, scan.Phase{Name: "job", Range: scan.Range{
			From: &scan.Bound{Seconds: float64(20 * n)},
			To:   &scan.Bound{Seconds: float64(20*n + 2)},
		}})
	}
	by, err := tags.ParseBy("phase")
	if err != nil {
		t.Fatal(err)
	}
	for logs, want := range map[int]int{1: 1, 2: 0} {
		s := &scan.Scan{Inputs: inputs[:logs], Workers: 1, Rows: scan.Rows{By: by, Phases: scan.NewPhases(phases, nil)}}
		if all, err := summary.Coincide(s); err != nil || len(all) != want {
			t.Errorf("%d logs: %v, %+v", logs, err, all)
		}
	}
}
