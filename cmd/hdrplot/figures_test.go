package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/people"
	"hdrkit/internal/chart"
	"hdrkit/internal/cli"
	"hdrkit/internal/clitest"
	"hdrkit/internal/logs"
	"hdrkit/output"
)

// pictureOf returns the picture that a command line draws.
func pictureOf(t *testing.T, args ...string) (p *chart.Picture) {
	t.Helper()
	f, app := commandLine()
	app.Action = func() error {
		asked, err := f.picture()
		if err != nil {
			return err
		}
		s, err := asked.asked.Find(&app.Streams, logs.NewDiagnostics(&app.Streams, false))
		if err == nil {
			p, err = asked.asked.Gather(&app.Streams, s)
		}
		return err
	}
	app.Streams.In, app.Streams.Out, app.Streams.Err = nil, io.Discard, io.Discard
	if status := cli.Run(app, args); status != 0 {
		t.Fatalf("%q: exit status %d", args, status)
	}
	return p
}

// writeLog writes a log to a file, and returns its path.
func writeLog(t *testing.T, name string, write func(w *hdrlog.Writer) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	var log bytes.Buffer
	w := hdrlog.NewWriter(&log)
	if err := cmp.Or(write(w), w.Flush(), os.WriteFile(path, log.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCompareRuns proves that the curves of a report of several runs a side are those of their
// sums, with a band from the lowest to the highest run, and that heat maps know how many they add
// up.
func TestCompareRuns(t *testing.T) {
	t.Parallel()
	args := []string{"-compare", "-type", "report", "-in", "ns"}
	for n, scale := range []int64{10, 11, 12, 0, 15, 16, 18} {
		if scale == 0 {
			args = append(args, "--")
			continue
		}
		args = append(args, writeLog(t, fmt.Sprintf("run%d.hdr", n), func(w *hdrlog.Writer) error {
			h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
			for v := range int64(100) {
				err = errors.Join(err, h.Record((v+1)*scale))
			}
			return errors.Join(err, w.Interval(nil, 1468800000+1000*float64(n), 1, h))
		}))
	}
	p := pictureOf(t, args...)
	if len(p.Series) != 2 {
		t.Fatalf("%d series", len(p.Series))
	}
	for side, scales := range [][]float64{{10, 12}, {15, 18}} {
		s := p.Series[side]
		if s.Curve.Count != 300 || s.Curve.Max() != 100*scales[1] || s.Runs != 3 || len(s.Windows) != 1 || s.Windows[0].Count != 300 {
			t.Errorf("%d values up to %v, %d runs, %d windows", s.Curve.Count, s.Curve.Max(), s.Runs, len(s.Windows))
		}
		for _, b := range s.Curve.Band {
			rank := max(math.Ceil(b.Percentile-1e-9), 1)
			if b.Low != rank*scales[0] || b.High != rank*scales[1] {
				t.Errorf("the band is from %v to %v at p%v", b.Low, b.High, b.Percentile)
			}
		}
		if n := len(s.Curve.Band); n == 0 || s.Curve.Band[n-1].Percentile > 99 || s.Curve.Band[n-1].Percentile < 98.9 {
			t.Errorf("the band has %d percentiles", n)
		}
	}
}

// TestBands proves that a curve stays inside its band, also where its values jump.
func TestBands(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	log := writeLog(t, "bimodal.hdr", func(w *hdrlog.Writer) (err error) {
		for second := range 300 {
			h, broken := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
			for range 100 {
				middle := 2e5
				if random.IntN(10) == 0 {
					middle = 2e7
				}
				err = errors.Join(err, h.Record(int64(middle*math.Exp(0.3*random.NormFloat64()))))
			}
			err = errors.Join(err, broken, w.Interval(nil, 1468800000+float64(second), 1, h))
		}
		return err
	})
	p := pictureOf(t, "-type", "percentiles", "-in", "ns", "-unit", "ms", log)
	curve := p.Series[0].Curve
	if len(curve.Band) < 100 {
		t.Fatalf("%d points have an interval", len(curve.Band))
	}
	for _, step := range curve.Steps {
		n := slices.IndexFunc(curve.Band, func(b chart.Bound) bool { return b.Percentile == step.Percentile })
		if n < 0 && step.Percentile > curve.Band[0].Percentile && step.Percentile < curve.Band[len(curve.Band)-1].Percentile {
			t.Errorf("the point at p%v has no interval", step.Percentile)
		}
		if n >= 0 && (step.Value < curve.Band[n].Low || step.Value > curve.Band[n].High) {
			t.Errorf("%v at p%v is not in %+v", step.Value, step.Percentile, curve.Band[n])
		}
	}
	if !slices.ContainsFunc(p.Texts.Notes, func(note string) bool { return strings.Contains(note, "paler where fewer than 40 values lie above it") }) {
		t.Errorf("no caption of the shades: %q", p.Texts.Notes)
	}
}

// randomLog writes a log of a few tags, with small and equal values among them, and gaps.
func randomLog(t *testing.T, random *rand.Rand) string {
	t.Helper()
	return writeLog(t, "random.hdr", func(w *hdrlog.Writer) (err error) {
		tags, kind := 1+random.IntN(3), random.IntN(4)
		for second := range 20 + random.IntN(100) {
			for tag := range tags {
				if random.IntN(6) == 0 {
					continue
				}
				h, broken := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
				for range random.IntN(200) {
					v := []int64{random.Int64N(4), 1000, random.Int64N(1000), int64(1e5 * math.Exp(2*random.NormFloat64()))}[kind]
					err = errors.Join(err, h.Record(v))
				}
				err = errors.Join(err, broken, w.Interval([]byte(fmt.Sprint("tag", tag)), 1468800000+float64(second), 1, h))
			}
		}
		return err
	})
}

// TestFigures proves that the lines over a heat map are the rows of hdrsum for the windows that the
// caption names, and that the title and the figures of a report are those of hdrsum, for random
// logs and those of testdata.
func TestFigures(t *testing.T) {
	t.Parallel()
	hdrsum := clitest.Build(t, "hdrsum")
	random := rand.New(rand.NewPCG(7, 7))
	var logs []string
	for range clitest.Rounds(20) {
		logs = append(logs, randomLog(t, random))
	}
	for _, name := range []string{"node1", "digits1", "digits5", "tiny-values", "huge-values", "empty-intervals", "mixed-precision", "odd-tags"} {
		logs = append(logs, filepath.Join("../../testdata/logs", name+".hdr"))
	}
	for _, log := range logs {
		p := pictureOf(t, "-q", "-type", "report", "-ovr", "1", "-incT", ".*,default", log)
		window := strings.TrimSuffix(p.Inputs.Span, " windows")
		if !strings.Contains(p.Caption()+" · ", " · p50, p99 and maximum of "+p.Inputs.Span+" · ") || p.Inputs.Span == window {
			t.Errorf("%s: caption %q", log, p.Caption())
		}
		var rows [3][]float64
		out, err := exec.Command(hdrsum, "-q", "-st", "ndjson", "-it", "-ovr", "1", "-agg", strings.ReplaceAll(window, " ", ""), "-p", "50,99,100", log).Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out) {
			var row struct {
				Count          int64
				P50, P99, P100 float64
			}
			if err := json.Unmarshal(line, &row); err != nil {
				t.Fatal(err)
			}
			if row.Count > 0 {
				for n, v := range []float64{row.P50, row.P99, row.P100} {
					rows[n] = append(rows[n], v)
				}
			}
		}
		for n, line := range p.Total.Lines[:3] {
			var got []float64
			for _, point := range line.Points {
				if !math.IsNaN(point.Value) {
					got = append(got, point.Value)
				}
			}
			if !slices.Equal(got, rows[n]) {
				t.Errorf("%s, %s of %s: %v, want %v", log, line.Name, window, got, rows[n])
			}
		}
		all := sums(t, hdrsum, 0, 1e6, log)
		if len(all) != len(p.Texts.Summary) {
			t.Fatalf("%s: %d figures, want %d", log, len(p.Texts.Summary), len(all))
		}
		highest := 0.0
		for n, s := range all {
			got := p.Texts.Summary[n]
			highest = max(highest, s.Max)
			if got.Count != s.TotalCount || got.Max != s.Max {
				t.Errorf("%s: %d values up to %v, want %d up to %v", log, got.Count, got.Max, s.TotalCount, s.Max)
			}
			for i, level := range chart.TablePercentiles {
				if want := s.Percentiles[i].Value; got.Percentiles[i] != want {
					t.Errorf("%s: p%v is %v, want %v", log, level, got.Percentiles[i], want)
				}
			}
		}
		if want := " up to " + people.Significant(highest, 4); !slices.ContainsFunc(p.Texts.Findings, func(f output.Finding) bool { return strings.Contains(f.Sentence, want) }) {
			t.Errorf("%s: %+v, want the maximum%s", log, p.Texts.Findings, want)
		}
	}
}

// summed is what hdrsum -st json prints, as far as these tests look at it.
type summed struct {
	Tag                   *string
	Intervals, TotalCount int64
	Throughput            float64
	Min, Mean, Max        float64
	Percentiles           []struct {
		Percentile, Value float64
	}
}

// sums returns what hdrsum says of the intervals that start from a time to another one.
func sums(t *testing.T, hdrsum string, from, to float64, log string) (all []summed) {
	t.Helper()
	bound := func(v float64) string { return strconv.FormatFloat(max(v, 0), 'f', 3, 64) }
	args := []string{"-q", "-s", bound(from), "-e", bound(to), "-st", "json", "-p", "50,90,99,99.9,99.99", "-if", log}
	out, err := exec.Command(hdrsum, args...).Output()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 1 {
		return nil // there are none
	}
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Summaries []summed }
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Summaries
}
