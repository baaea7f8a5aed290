package plot_test

import (
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/plot"
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
