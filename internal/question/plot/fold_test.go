package plot_test

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
	"hdrkit/internal/loggen"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/plot"
)

// TestFold folds a log of pauses that come each minute: all of them stand at one time.
func TestFold(t *testing.T) {
	path := scenarioLog(t, loggen.ScenarioNamed("pauses"), 0)
	for _, period := range []int64{plot.FoldFound, 60_000} {
		o := plot.Options{Type: chart.Heatmap, Windows: plot.Windows{Fold: period}, Axes: plot.Axes{Time: chart.TimeAxis{Zone: time.UTC}}}
		o.Logs.Inputs.Names = []string{path}
		p := gather(t, &o)
		at := map[int64]string{plot.FoldFound: "00:00:16", 60_000: "00:00:00"}[period]
		if want := "Time is that in a period of 1 min, the first of which begins at " + at + " UTC: the mean of "; !strings.HasPrefix(p.Texts.Notes[0], want) {
			t.Errorf("notes %q, not %s", p.Texts.Notes, want)
		}
		first, last := int64(1<<62), int64(0)
		for _, series := range p.Series {
			for _, w := range series.Windows {
				if w.Begin < 0 || w.Begin >= 61_000 || w.Length() != 1000 {
					t.Fatalf("a window from %d to %d", w.Begin, w.End)
				}
				if w.Max > 100e6 {
					first, last = min(first, w.Begin), max(last, w.End)
				}
			}
		}
		if last-first > 6000 || last == 0 {
			t.Errorf("pauses from %d to %d", first, last)
		}
	}
}

// TestFoldEven: a log that is the same all the time is so when it is folded, also at the edges, and
// if the last period is none.
func TestFoldEven(t *testing.T) {
	var starts []float64
	for second := range 64 {
		starts = append(starts, float64(second))
	}
	path := logOf(t, 0, starts, func(_ int, h *histogram.Histogram) { h.RecordN(1000, 10) })
	o := plot.Options{Type: chart.Heatmap, Windows: plot.Windows{Fold: 7500}, Axes: plot.Axes{Time: chart.TimeAxis{Zone: time.UTC}}}
	o.Logs.Inputs.Names = []string{path}
	p := gather(t, &o)
	from, to, _ := p.TimeRange()
	g := &chart.Grid{From: from, To: to, Folded: true, Low: 100, High: 10_000, Columns: 15, Rows: 1}
	g.Fill(p.Series)
	for column := range g.Columns {
		if rate := g.Rate[2*column+1]; math.Abs(rate-10) > 1e-9 {
			t.Errorf("column %d has %v values a second, not 10", column, rate)
		}
	}
}

// TestChanged: a log whose lines are in order when they are looked at, and not when they are read,
// is an error that says so.
func TestChanged(t *testing.T) {
	ten := func(_ int, h *histogram.Histogram) { h.RecordN(1000, 10) }
	before := logOf(t, 0, []float64{0, 1, 20, 21, 40, 60}, ten)
	after := logOf(t, 0, []float64{0, 20, 40, 60, 1, 61}, ten)
	o := plot.Options{Type: chart.Timeline, Windows: plot.Windows{Length: 10_000, Given: true}, Axes: plot.Axes{Time: chart.TimeAxis{Zone: time.UTC}}}
	o.Logs.Inputs.Names = []string{before}
	std := &message.Streams{Err: io.Discard}
	in, err := o.Find(std, logs.NewDiagnostics(std, false))
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	in.Scan.Inputs[0].Open = func() (io.ReadCloser, error) {
		opened++
		if opened < 3 { // to see what it is, and how its lines lie
			return os.Open(before)
		}
		return os.Open(after)
	}
	_, err = o.Gather(std, in)
	if want := before + " changed while it was read: its lines were in order before"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("opened %d times: %v, not %s", opened, err, want)
	}
}

// TestSaid: a picture shades the time that a sentence above it is about, and a page or a picture
// with a title of somebody's does not.
func TestSaid(t *testing.T) {
	path := scenarioLog(t, loggen.ScenarioNamed("warm-up"), 0)
	for name, test := range map[string]struct {
		o      plot.Options
		phases int
	}{
		"timeline": {plot.Options{Type: chart.Timeline}, 1},
		"report":   {plot.Options{Type: chart.Report}, 1},
		"titled":   {plot.Options{Type: chart.Timeline, Looks: chart.Looks{Title: "mine"}}, 0},
		"page":     {plot.Options{Type: chart.Timeline, Page: true}, 0},
	} {
		test.o.Axes.Time.Zone = time.UTC
		test.o.Looks.Height = 600
		test.o.Logs.Inputs.Names = []string{path}
		p := gather(t, &test.o)
		if len(p.Events.Phases) != test.phases {
			t.Errorf("%s: %+v", name, p.Events.Phases)
			continue
		}
		for _, phase := range p.Events.Phases {
			if !strings.HasPrefix(phase.Name, "warm-up") || phase.Start != 0 || phase.End < 30_000 || phase.End > 120_000 {
				t.Errorf("%s: %+v", name, phase)
			}
		}
	}
}

// TestWith: a timeline of a run with phases says which of them the slow values come with.
func TestWith(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var starts []float64
	for second := range 400 {
		starts = append(starts, float64(second))
	}
	ops := "start,duration,name\n"
	log := logOf(t, 1.6e9, starts, func(second int, h *histogram.Histogram) {
		for range 300 {
			h.Record(1000 + r.Int64N(1000))
		}
		if r.IntN(12) > 0 {
			return
		}
		ops += fmt.Sprintf("%v,100ms,flush\n", 1.6e9+float64(second)+0.5)
		for range 10 {
			h.Record(100_000 + r.Int64N(100_000))
		}
	})
	phases := filepath.Join(t.TempDir(), "ops.csv")
	if err := os.WriteFile(phases, []byte(ops), 0o666); err != nil {
		t.Fatal(err)
	}
	o := plot.Options{Type: chart.Timeline, Axes: plot.Axes{Time: chart.TimeAxis{Zone: time.UTC}}}
	o.Logs.Inputs.Names = []string{log}
	o.Logs.Tags.Phases.Files = []string{phases}
	o.Logs.Tags.DrawnPhases = true
	p := gather(t, &o)
	const want = "100% of the values above p99.9 come with flush, in "
	if got := p.Results(); len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("%q, not %s", got, want)
	}
}
