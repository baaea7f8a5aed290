package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
	"hdrkit/internal/question/plot"
	"hdrkit/internal/scan"
	"hdrkit/internal/summary"
	"hdrkit/tags"
)

// peakTime is when the peak of a moment was, if that is another time than its start.
var peakTime = regexp.MustCompile(` at \d\d:\d\d:\d\d( ·|$)`)

// TestWorstAgree proves that a picture marks the moments of hdrsum -worst down to the last one that
// stands out, with and without windows and facets, whatever makes a line. No picture marks moments
// without maxima.
func TestWorstAgree(t *testing.T) {
	t.Parallel()
	for n := range loggen.Scenarios {
		s := &loggen.Scenarios[n]
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if clitest.Rounds(1) == 0 && s.Name != "spike" && s.Name != "pauses" {
				t.Skip("takes seconds")
			}
			paths := writeScenario(t, s.Name)
			var inputs []scan.Input
			for _, path := range paths {
				inputs = append(inputs, scan.Input{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }})
			}
			parts := summary.Histories{Times: true}
			report := func(err *hdrlog.SyntaxError, _ bool) error { return err }
			if _, err := summary.Collect(&scan.Scan{Inputs: inputs, Workers: 2, Report: report}, summary.Options{Histories: &parts}); err != nil {
				t.Fatal(err)
			}
			moments, err := parts.Worst(plot.MaxWorst, func(string, []byte) hdrlog.Scale { return hdrlog.Scale{} })
			if err != nil {
				t.Fatal(err)
			}
			for n := len(moments); n > 0 && float64(moments[n-1].Max) <= moments[n-1].Bound; n-- {
				moments = moments[:n-1]
			}
			data := readPage(t, []byte(hdrplot(t, "", append(strings.Fields("-q -of - -format html -in ns --"), paths...)...)))
			furthest := float64(data.To) / 1000
			layout := time.TimeOnly
			if s.Name == "day" { // which ends at midnight
				layout = time.DateTime
			}
			var want, listed, compared []string // a picture has one unit for all values
			for i, m := range moments {
				since := axis.Since(float64(m.Start-loggen.ScenarioStart)/1000, furthest)
				scale := axis.ScaleFor("ns", math.Sqrt(float64(moments[0].Max*moments[len(moments)-1].Max)))
				highest := float64(m.Max)
				name := tags.Text(m.Tag)
				if s.Nodes > 1 {
					name = strings.TrimSuffix(filepath.Base(m.Input), ".hdr") + " " + name
				}
				want = append(want, fmt.Sprintf("%d  at %s for %s · %s · %s", i+1, since, axis.Length(m.End-m.Start), axis.Value("ns", highest), name))
				line := strings.Replace(want[i], axis.Value("ns", highest), axis.Value("", highest/scale.Divide)+" "+scale.Unit, 1)
				compared = append(compared, line)
				listed = append(listed, strings.Replace(line, since, time.UnixMilli(m.Start).UTC().Format(layout), 1))
			}
			var onPage []string
			for i, m := range data.Worst {
				onPage = append(onPage, fmt.Sprintf("%d  at %s for %s · %s · %s", i+1, axis.Since(float64(m.Start)/1000, furthest),
					axis.Length(m.End-m.Start), axis.Value("ns", m.Value), m.Name))
			}
			if !slices.Equal(onPage[:min(len(onPage), plot.MaxWorst)], want) {
				t.Errorf("the page has %q, want %q", onPage, want)
			}
			pictures := []string{"", "-type heatmap"}
			if s.Name == "pauses" {
				pictures = append(pictures, "-agg 60", "-by input,tag -facet tag", "-it", "-compare", "-p 50", "-type throughput")
			}
			for _, args := range pictures {
				var got []string
				text := hdrplot(t, "", append(append(strings.Fields("-q -of - -format svg -in ns "+args), "--"), paths...)...)
				for _, line := range strings.Split(text, "<") {
					if _, note, ok := strings.Cut(line, ">"); ok && strings.Contains(note, "  at ") {
						got = append(got, peakTime.ReplaceAllString(note, "$1"))
					}
				}
				slices.Sort(got) // lists grow upwards
				want := listed
				if args == "-compare" {
					want = compared
				}
				switch {
				case args == "-p 50", args == "-type throughput":
					if len(got) > 0 {
						t.Errorf("%s has no maxima, but %q", args, got)
					}
				case !slices.Equal(got, want):
					t.Errorf("%s: %q, want %q", args, got, want)
				}
			}
		})
	}
}

// TestPageShift: a page marks the change of the level that a picture marks, and a steady one none.
func TestPageShift(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"shift": true, "steady": false} {
		paths := writeScenario(t, name)
		p := readPage(t, []byte(hdrplot(t, "", append(strings.Fields("-q -of - -format html -in ns --"), paths...)...)))
		if (len(p.Marks) > 0) != want {
			t.Errorf("%s: %+v", name, p.Marks)
		}
		if !want {
			continue
		}
		svg := hdrplot(t, "", append(strings.Fields("-q -of - -format svg -in ns --"), paths...)...)
		for _, m := range p.Marks {
			if text := strings.ReplaceAll(m.Text, ">", "&gt;"); !strings.Contains(m.Text, " p99 ") || !strings.Contains(svg, text) || m.Time < 355_000 || m.Time > 365_000 {
				t.Errorf("%s: %+v is not in the picture", name, m)
			}
		}
	}
}

// TestShiftOfSeries: a picture of few series marks the change of a level, however many tags each
// adds up, and one of many tags marks none.
func TestShiftOfSeries(t *testing.T) {
	t.Parallel()
	path := writeScenario(t, "shift")[0]
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	for line := range strings.Lines(string(text)) {
		_, interval, tagged := strings.Cut(line, ",")
		if !tagged || !strings.HasPrefix(line, "Tag=") {
			log.WriteString(line)
			continue
		}
		for tag := range 6 {
			fmt.Fprintf(&log, "Tag=tag%d,%s", tag, interval)
		}
	}
	if err := os.WriteFile(path, []byte(log.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	mark := regexp.MustCompile(`>[^<]* p99 [^<]*&gt;[^<]*<`)
	for by, want := range map[string]bool{"input": true, "tag": false} {
		svg := hdrplot(t, "", "-q", "-of", "-", "-format", "svg", "-in", "ns", "-by", by, path)
		if got := mark.MatchString(svg); got != want {
			t.Errorf("-by %s: a mark is there: %t", by, got)
		}
	}
}

// writeScenario writes the logs of a scenario, and returns their paths.
func writeScenario(t *testing.T, name string) (paths []string) {
	t.Helper()
	dir, s := t.TempDir(), loggen.ScenarioNamed(name)
	for node := range s.Nodes {
		var log bytes.Buffer
		if err := s.Write(&log, node); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("node%d.hdr", node)))
		if err := os.WriteFile(paths[node], log.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}
