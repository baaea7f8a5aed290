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

	"hdrkit/hdrlog"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
	"hdrkit/internal/scan"
	"hdrkit/internal/table/summary"
	"hdrkit/tags"
)

var clockTime = regexp.MustCompile(` \(\d\d:\d\d:\d\d\)`)

// TestWorstAgree: a picture marks the moments that hdrsum -worst lists, with and without windows
// and facets, whatever makes a line, and no picture marks moments without maxima.
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
			parts := summary.Parts{Times: true}
			report := func(err *hdrlog.SyntaxError, _ bool) error { return err }
			if _, err := summary.Collect[struct{}](&scan.Scan{Inputs: inputs, Workers: 2, Report: report}, summary.Options{Parts: &parts}, nil, nil, nil); err != nil {
				t.Fatal(err)
			}
			moments, _, err := parts.Worst(mostWorst, func(string, []byte) float64 { return 1 })
			if err != nil {
				t.Fatal(err)
			}
			data := readPage(t, []byte(hdrplot(t, "", append(strings.Fields("-q -of - -format html -in ns --"), paths...)...)))
			furthest := float64(data.To) / 1000
			var want, listed []string // a picture has one unit for all values
			for i, m := range moments {
				scale := axis.ScaleFor("ns", math.Sqrt(moments[0].Max*moments[len(moments)-1].Max))
				name := tags.Text(m.Tag)
				if s.Nodes > 1 {
					name = strings.TrimSuffix(filepath.Base(m.Input), ".hdr") + " " + name
				}
				want = append(want, fmt.Sprintf("%d  at %s for %s · %s · %s", i+1, axis.Since(float64(m.Start-loggen.ScenarioStart)/1000, furthest),
					axis.Length(m.End-m.Start), axis.Value("ns", m.Max), name))
				listed = append(listed, strings.Replace(want[i], axis.Value("ns", m.Max), axis.Value("", m.Max/scale.Divide)+" "+scale.Unit, 1))
			}
			var onPage []string
			for i, m := range data.Worst {
				onPage = append(onPage, fmt.Sprintf("%d  at %s for %s · %s · %s", i+1, axis.Since(float64(m.Start)/1000, furthest),
					axis.Length(m.End-m.Start), axis.Value("ns", m.Value), m.Name))
			}
			if !slices.Equal(onPage[:min(len(onPage), mostWorst)], want) {
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
						got = append(got, clockTime.ReplaceAllString(note, ""))
					}
				}
				slices.Sort(got) // lists grow upwards
				switch {
				case args == "-p 50", args == "-type throughput":
					if len(got) > 0 {
						t.Errorf("%s has no maxima, but %q", args, got)
					}
				case !slices.Equal(got, listed):
					t.Errorf("%s: %q, want %q", args, got, listed)
				}
			}
		})
	}
}

// TestBrowserWorst opens pages of logs with known moments. They list those of the view, and a click
// shows one. The read-out of its column names the log.
func TestBrowserWorst(t *testing.T) {
	b := newBrowser(t)
	list := "JSON.stringify([...document.querySelectorAll('#worst button')].map(b => b.textContent))"
	b.open(t, append([]string{"-q", "-unit", "ms", "-in", "ns"}, writeScenario(t, "spike")...)...)
	if got, want := b.eval(t, list), `["at 5:00 for 1 s · 400 ms · node1 insert-rt"]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	b.hover(t, "time", 300.5/600)
	if got := b.eval(t, "document.getElementById('readout').textContent"); !strings.Contains(got, "highest: 400 ms, insert-rt, node1, 5:00 to 5:01") {
		t.Errorf("read-out %q", got)
	}
	pauses := writeScenario(t, "pauses")
	for _, kind := range []string{"timeline", "heatmap"} {
		b.open(t, append([]string{"-q", "-unit", "ms", "-in", "ns", "-type", kind}, pauses...)...)
		if got := b.eval(t, "document.querySelectorAll('#worst button').length"); got != "5" {
			t.Errorf("%s moments", got)
		}
		b.eval(t, "location.hash = 't=250,400'")
		b.until(t, list+`.replace(/ \u00b7.*?"/g, '') === '["at 4:30 for 2 s,"at 5:30 for 2 s,"at 6:30 for 2 s]'`)
		b.screenshot(t, "hdrplot-worst-"+kind+".png")
		b.eval(t, "document.querySelector('#worst button').click()")
		var from, to float64
		if _, err := fmt.Sscanf(b.eval(t, "location.hash"), "#t=%f,%f", &from, &to); err != nil || from > 270 || to < 272 || to-from > 20 {
			t.Errorf("a click shows %s", b.eval(t, "location.hash"))
		}
	}
	b.open(t, append([]string{"-q", "-p", "50"}, pauses...)...)
	if got := b.eval(t, list); got != "[]" {
		t.Errorf("without maxima: %s", got)
	}
	b.checkConsole(t)
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
