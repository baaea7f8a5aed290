package plot_test

import (
	"cmp"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
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

// TestTrendLevels proves that a level begins and ends at runs that have a value, and that a few
// runs have none.
func TestTrendLevels(t *testing.T) {
	for _, test := range []struct {
		logs []string
		want int // levels
	}{{[]string{"node1.hdr", "node2.hdr", "node3.hdr"}, 0}, {[]string{"digits3.hdr", "node1.hdr", "node2.hdr", "node3.hdr", "straddle-a.hdr", "straddle-b.hdr"}, 1}} {
		o := plot.Options{Type: chart.Trend, Percentiles: []float64{99}, Look: chart.Looks{Zone: time.UTC}}
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
	o := plot.Options{Type: chart.Timeline, Percentiles: []float64{99, 100}, Look: chart.Looks{Zone: time.UTC}}
	o.Logs.Inputs.Names, o.Logs.Tags.Include = []string{"../../../testdata/logs/node1.hdr"}, []string{"insert-rt"}
	if p := gather(t, &o); len(p.Series) != 1 || len(p.Series[0].Lines) != 2 {
		t.Errorf("%+v", p)
	}
}

// TestFindings: a picture has the findings of its logs where its type shows them, or a page has
// all. Of a timeline they are its title, so it needs none if somebody chose the title.
func TestFindings(t *testing.T) {
	scenario := loggen.ScenarioNamed("slow node")
	var names []string
	for node := range scenario.Nodes {
		path := filepath.Join(t.TempDir(), "node"+string(rune('a'+node))+".hdr")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := cmp.Or(scenario.Write(file, node), file.Close()); err != nil {
			t.Fatal(err)
		}
		names = append(names, path)
	}
	for _, test := range []struct {
		name string
		o    plot.Options
		want bool
	}{
		{"a report", plot.Options{Type: chart.Report}, true},
		{"a page", plot.Options{Type: chart.Percentiles, Page: true}, true},
		{"a timeline", plot.Options{Type: chart.Timeline}, true},
		{"a timeline with a title", plot.Options{Type: chart.Timeline, Look: chart.Looks{Title: "mine"}}, false},
		{"each log by itself", plot.Options{Type: chart.Timeline, Compare: true}, false},
	} {
		o := test.o
		o.Look.Zone = time.UTC
		o.Logs.Inputs.Names = names
		p := gather(t, &o)
		found := slices.ContainsFunc(p.Findings, func(f output.Finding) bool { return f.Kind == "outlier" })
		if found != test.want || !test.want && p.Findings != nil {
			t.Errorf("%s: %+v", test.name, p.Findings)
		}
	}
}
