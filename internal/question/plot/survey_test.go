package plot_test

import (
	"reflect"
	"testing"
	"time"

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
	o := plot.Options{Type: chart.Timeline, Windows: plot.Windows{Length: 10_000, Given: true}, Axes: plot.Axes{Time: chart.TimeAxis{Zone: time.UTC}}}
	o.Logs.Inputs.Names = []string{logOfSeconds(t, seconds)}
	return gather(t, &o).Series[0].Lines
}
