package plot_test

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart"
	"hdrkit/internal/question/plot"
)

// TestLateLines proves that windows are the same, whatever order the lines of a log have: those of
// a log in order are complete when it has passed them.
func TestLateLines(t *testing.T) {
	seconds := make([]int, 200)
	for n := range seconds {
		seconds[n] = n
	}
	ordered := picture(t, seconds)
	late := append(seconds[150:], seconds[:150]...)
	got := picture(t, late)
	if !reflect.DeepEqual(got, ordered) {
		t.Errorf("late lines make %v, not %v", got, ordered)
	}
	if points := len(ordered[0].Points); points != 20 {
		t.Errorf("%d windows of 10 s, not 20", points)
	}
}

// picture returns the lines of a log with an interval for each second, in their order, by windows
// of 10 s.
func picture(t *testing.T, seconds []int) []chart.Line {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.hdr")
	writeSeconds(t, path, seconds)
	o := plot.Options{Type: chart.Timeline, Windows: plot.Windows{Length: 10_000, Given: true}, Look: chart.Looks{Zone: time.UTC}}
	o.Logs.Inputs.Names = []string{path}
	return gather(t, &o).Series[0].Lines
}

// writeSeconds writes a log with an interval for each second, in their order.
func writeSeconds(t *testing.T, path string, seconds []int) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := hdrlog.NewWriter(file)
	w.StartTime(1_700_000_000)
	for _, second := range seconds {
		h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		h.Record(int64(1000 + second))
		w.Interval(nil, float64(1_700_000_000+second), 1, h)
	}
	if err := cmp.Or(w.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
}
