package plot_test

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
	"hdrkit/internal/gate"
	"hdrkit/internal/loggen"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/plot"
	"hdrkit/output"
)

// gather returns the picture of options.
func gather(t *testing.T, o *plot.Options) *chart.Picture {
	t.Helper()
	std := &message.Streams{Err: io.Discard}
	s, err := o.Find(std, logs.NewDiagnostics(std, false))
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.Gather(std, s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// logOf writes a log that starts at a time, 0 if it does not say when, with intervals of a second
// that begin at other times. It returns its path. Record fills the intervals, by their number.
func logOf(t *testing.T, start float64, times []float64, record func(n int, h *histogram.Histogram)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.hdr")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := hdrlog.NewWriter(file)
	if start > 0 {
		w.StartTime(start)
	}
	for n, at := range times {
		h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		record(n, h)
		w.Interval(nil, at, 1, h)
	}
	if err := cmp.Or(w.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// logOfSeconds writes a log with an interval for each second, in their order, and returns its path.
func logOfSeconds(t *testing.T, seconds []int) string {
	t.Helper()
	const start = 1_700_000_000
	var times []float64
	for _, second := range seconds {
		times = append(times, float64(start+second))
	}
	return logOf(t, start, times, func(n int, h *histogram.Histogram) { h.Record(int64(1000 + seconds[n])) })
}

// scenarioLog writes the log of a node of a scenario, and returns its path.
func scenarioLog(t *testing.T, s *loggen.Scenario, node int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprintf("node%d.hdr", node))
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmp.Or(s.Write(file, node), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTrendLevels proves that a level begins and ends at runs that have a value, and that a few
// runs have none.
func TestTrendLevels(t *testing.T) {
	for _, test := range []struct {
		logs []string
		want int // levels
	}{{[]string{"node1.hdr", "node2.hdr", "node3.hdr"}, 0}, {[]string{"digits3.hdr", "node1.hdr", "node2.hdr", "node3.hdr", "straddle-a.hdr", "straddle-b.hdr"}, 1}} {
		o := plot.Options{Type: chart.Trend, Percentiles: []float64{99}, Axes: plot.Axes{Time: chart.TimeAxis{Zone: time.UTC}}}
		o.Logs.Tags.Include = []string{"insert-rt"}
		for _, log := range test.logs {
			o.Logs.Inputs.Names = append(o.Logs.Inputs.Names, "../../../testdata/logs/"+log)
		}
		p := gather(t, &o)
		line := p.Series[0].Lines[0]
		if len(line.Levels) != test.want {
			t.Fatalf("%v has %d levels", test.logs, len(line.Levels))
		}
		first := slices.IndexFunc(line.Points, func(p chart.Point) bool { return p.Value > 0 })
		if test.want > 0 && (len(line.Points) != 6 || first == 0 && math.IsNaN(line.Points[0].Value) || line.Levels[0].Start != line.Points[first].Start || line.Levels[0].End != line.Points[first+2].Start) {
			t.Errorf("%+v has the levels %+v", line.Points, line.Levels)
		}
	}
}

// TestGather makes a picture without a command line.
func TestGather(t *testing.T) {
	o := plot.Options{Type: chart.Timeline, Percentiles: []float64{99, 100}, Axes: plot.Axes{Time: chart.TimeAxis{Zone: time.UTC}}}
	o.Logs.Inputs.Names, o.Logs.Tags.Include = []string{"../../../testdata/logs/node1.hdr"}, []string{"insert-rt"}
	if p := gather(t, &o); len(p.Series) != 1 || len(p.Series[0].Lines) != 2 {
		t.Errorf("%+v", p)
	}
}

// TestFindings: a picture has the findings of its logs where its type shows them, or a page has
// all. A timeline that adds up several logs has none, since they could be about one of them.
func TestFindings(t *testing.T) {
	scenario := loggen.ScenarioNamed("slow node")
	var names []string
	for node := range scenario.Nodes {
		names = append(names, scenarioLog(t, scenario, node))
	}
	for _, test := range []struct {
		name string
		o    plot.Options
		want bool
	}{
		{"a report", plot.Options{Type: chart.Report}, true},
		{"a page", plot.Options{Type: chart.Percentiles, Page: true}, true},
		{"a timeline that adds up logs", plot.Options{Type: chart.Timeline}, false},
		{"each log by itself", plot.Options{Type: chart.Timeline, Compare: true}, false},
	} {
		o := test.o
		o.Axes.Time.Zone = time.UTC
		o.Logs.Inputs.Names = names
		p := gather(t, &o)
		found := slices.ContainsFunc(p.Texts.Findings, func(f output.Finding) bool { return f.Kind == "outlier" })
		if found != test.want || !test.want && p.Texts.Findings != nil {
			t.Errorf("%s: %+v", test.name, p.Texts.Findings)
		}
	}
}

// TestLines: a picture has lines of p99 and the maximum, a page one of the median, too, and limits
// have theirs, unless somebody chose.
func TestLines(t *testing.T) {
	limits, err := gate.ParseDrawn("90<=5ms,99<=9ms")
	if err != nil {
		t.Fatal(err)
	}
	timeline := plot.Options{Type: chart.Timeline}
	page := plot.Options{Type: chart.Timeline, Page: true}
	limited := plot.Options{Type: chart.Timeline, Limits: limits}
	chosen := plot.Options{Type: chart.Timeline, Limits: limits, Percentiles: []float64{50, 90}}
	for _, test := range []struct {
		name string
		o    plot.Options
		want string
	}{
		{"a timeline", timeline, "p99 max"},
		{"a page", page, "p50 p99 max"},
		{"with limits", limited, "p90 p99 max"},
		{"chosen", chosen, "p50 p90"},
	} {
		o := test.o
		o.Axes.Time.Zone = time.UTC
		o.Units.In = hdrlog.Nanosecond
		o.Logs.Inputs.Names = []string{"../../../testdata/logs/node1.hdr"}
		o.Logs.Tags.Include = []string{"insert-rt"}
		var names []string
		for _, line := range gather(t, &o).Series[0].Lines {
			names = append(names, line.Name)
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s has the lines %s, want %s", test.name, got, test.want)
		}
	}
}

// TestFleet: of more logs than fit beside each other, each is a row if half of them ran at the same
// time. Logs that follow each other have a map each.
func TestFleet(t *testing.T) {
	for _, test := range []struct {
		groups []int // how many logs begin at once, each group when the one before ends
		want   *chart.Type
	}{
		{[]int{14}, chart.Fleet},
		{[]int{7, 7}, chart.Fleet},
		{[]int{6, 4, 4}, chart.Heatmap},
		{[]int{4, 5, 5}, chart.Heatmap},
		{[]int{chart.MaxTogether}, chart.Heatmap},
		{[]int{chart.MaxTogether + 1}, chart.Fleet},
	} {
		o := plot.Options{Type: chart.Heatmap, Axes: plot.Axes{Time: chart.TimeAxis{Zone: time.UTC}}}
		o.Logs.Tags.By = "input"
		for group, count := range test.groups {
			for range count {
				seconds := make([]int, 30)
				for k := range seconds {
					seconds[k] = 30*group + k
				}
				o.Logs.Inputs.Names = append(o.Logs.Inputs.Names, logOfSeconds(t, seconds))
			}
		}
		if p := gather(t, &o); p.Type != test.want {
			t.Errorf("%v: %s, want %s", test.groups, p.Type.Name, test.want.Name)
		}
	}
}

// TestEach: messages call a series what it is: a tag, a log, or else a row.
func TestEach(t *testing.T) {
	for _, test := range []struct {
		by      string
		compare bool
		want    string
	}{{"tag", false, "tag"}, {"input", false, "log"}, {"input,tag", false, "row"}, {"all", false, "row"}, {"tag", true, "tag"}, {"all", true, "log"}} {
		o := plot.Options{Type: chart.Timeline, Compare: test.compare, Axes: plot.Axes{Time: chart.TimeAxis{Zone: time.UTC}}}
		o.Logs.Tags.By = test.by
		o.Logs.Inputs.Names = []string{"../../../testdata/logs/node1.hdr", "../../../testdata/logs/node2.hdr"}
		if p := gather(t, &o); p.Inputs.SeriesWord != test.want {
			t.Errorf("by %s, compared %v: %s, want %s", test.by, test.compare, p.Inputs.SeriesWord, test.want)
		}
	}
}
