package plot_test

import (
	"io"
	"testing"
	"time"

	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
	"hdrkit/internal/logs"
	"hdrkit/internal/table/plot"
)

// TestGather makes a picture without a command line.
func TestGather(t *testing.T) {
	std := &message.Streams{Err: io.Discard}
	o := plot.Options{Type: chart.Timeline, Percentiles: []float64{99, 100}, Look: chart.Picture{Type: chart.Timeline, Zone: time.UTC}}
	o.Names, o.Include = []string{"../../../testdata/logs/node1.hdr"}, []string{"insert-rt"}
	s, err := o.Scan(std, logs.NewDiagnostics(std, false))
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.Gather(std, s)
	if err != nil || len(p.Series) != 1 || len(p.Series[0].Lines) != 2 {
		t.Errorf("%+v, %v", p, err)
	}
}
