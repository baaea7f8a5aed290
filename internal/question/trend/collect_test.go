package trend

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/logs"
	"hdrkit/output"
)

// A runLog is the log of a run, with a value of two tags, that begins at a time in seconds since
// the epoch, 0 for a log that does not say when. Its comment may state the unit.
type runLog struct {
	name, comment  string
	start          float64
	reads, writes  int64 // values, 0 for none
	reading, wrote int64 // how many
}

func (n *runLog) write(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(folder, n.name)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := hdrlog.NewWriter(file)
	if n.comment != "" {
		w.Comment(n.comment)
	}
	if n.start > 0 {
		w.StartTime(n.start)
	}
	add := func(tag string, value, count int64) {
		h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		if h.RecordN(value, count); count > 0 {
			w.Interval([]byte(tag), n.start, 1, h)
		}
	}
	add("read", n.reads, n.reading)
	add("write", n.writes, n.wrote)
	if err := cmp.Or(w.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCollect: runs are in the order of their starts, unless that of their names is asked for, or
// one has no start. Their values are in one unit, whatever each log states. What a run has not is
// not a number.
func TestCollect(t *testing.T) {
	nanos, micros := "UNITS:ns", "UNITS:us"
	second := runLog{"second.hdr", micros, 1_700_000_100, 300, 70, 100, 100}
	first := runLog{"first.hdr", nanos, 1_700_000_000, 200_000, 0, 50, 0}
	third := runLog{"third.hdr", nanos, 1_700_000_200, 400_000, 90_000, 10, 10}
	undated := runLog{"undated.hdr", nanos, 0, 500_000, 0, 10, 0}
	for _, test := range []struct {
		name  string
		runs  []runLog
		given bool
		want  string
	}{
		{"by their starts", []runLog{second, third, first}, false, "first.hdr second.hdr third.hdr; read p50 0.2 0.3 0.4; read /s 50 100 10; write p50 NaN 0.07 0.09; write /s NaN 100 10"},
		{"as given", []runLog{second, third, first}, true, "second.hdr third.hdr first.hdr; read p50 0.3 0.4 0.2; read /s 100 10 50; write p50 0.07 0.09 NaN; write /s 100 10 NaN"},
		{"one has no start", []runLog{second, undated, first}, false, "second.hdr undated.hdr first.hdr; read p50 0.3 0.5 0.2; read /s 100 10 50; write p50 0.07 NaN NaN; write /s 100 NaN NaN; " + Undated},
	} {
		folder := t.TempDir()
		var said strings.Builder
		std := &message.Streams{Err: &said}
		var o logs.Options
		for _, n := range test.runs {
			o.Inputs.Names = append(o.Inputs.Names, n.write(t, folder))
		}
		o.Inputs.Runs = true
		s, err := o.Scan(std, logs.NewDiagnostics(std, false))
		if err != nil {
			t.Fatal(err)
		}
		units, err := logs.NewUnits(std, unit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		trend, err := Collect(std, s, units, Options{Logs: &o, Figures: []output.Figure{{Percentile: 50}, {Name: output.Throughput}}, GivenOrder: test.given, Readable: true})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for n := range trend.Runs {
			names = append(names, trend.Short(n))
		}
		got := []string{strings.Join(names, " ")}
		for _, f := range trend.Figures {
			text := fmt.Sprint(f.TagName(), " ", map[bool]string{true: "/s", false: "p50"}[f.Name == output.Throughput])
			for _, p := range f.Points {
				if text += " NaN"; !math.IsNaN(p.Value) {
					text = strings.TrimSuffix(text, "NaN") + fmt.Sprintf("%.3g", p.Value)
				}
			}
			got = append(got, text)
		}
		if strings.Contains(said.String(), Undated) {
			got = append(got, Undated)
		}
		if got := strings.Join(got, "; "); got != test.want {
			t.Errorf("%s: %s\nwant %s", test.name, got, test.want)
		}
	}
}
