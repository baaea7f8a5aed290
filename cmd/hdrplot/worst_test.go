package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	urfave "github.com/urfave/cli/v2"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/page/pagetest"
	"hdrkit/internal/cli"
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
			data := readPage(t, []byte(hdrplot(t, "", append(strings.Fields("-q -of - -format html -unit ns --"), paths...)...)))
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
				text := hdrplot(t, "", append(append(strings.Fields("-q -of - -format svg -unit ns "+args), "--"), paths...)...)
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

// TestLiveWorst looks at live pages of complete logs. They have the worst moments that pages of
// these logs have.
func TestLiveWorst(t *testing.T) {
	t.Parallel()
	clitest.RequireTools(t)
	for name, args := range map[string]string{"spike": "-by input", "pauses": "-unit us", "steady": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			paths := writeScenario(t, name)
			all := append(strings.Fields("-q -in ns "+args), paths...)
			want := readPage(t, []byte(hdrplot(t, "", append(slices.Clone(all), "-of", "-", "-format", "html")...)))
			if (len(want.Worst) == 0) != (name == "steady") {
				t.Errorf("%+v", want.Worst)
			}
			server := serveAt(t, build(t, "hdrlive"), append(all, "-serve", "127.0.0.1:0", "-idle", "100ms")...)
			defer server.stop()
			var got *pagetest.Page
			clitest.Await(t, "the moments of all windows", func() string { return fmt.Sprintf("%+v, want %+v", got.Worst, want.Worst) }, func() bool {
				got = server.page(t)
				return len(got.Series) > 0 && slices.Equal(got.Worst, want.Worst)
			})
		})
	}
}

// TestBrowserLiveWorst opens a live page before a moment that is bad. The page then marks it and
// lists it, as the page of the complete logs, and a click shows it.
func TestBrowserLiveWorst(t *testing.T) {
	b, paths, dir := newBrowser(t), writeScenario(t, "spike"), t.TempDir()
	var rest [][]byte
	for n, path := range paths {
		text := read(t, path)
		at := bytes.Index(text, []byte(",290.000,"))
		at = bytes.LastIndexByte(text[:at], '\n') + 1
		paths[n] = filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(paths[n], text[:at], 0o666); err != nil {
			t.Fatal(err)
		}
		rest = append(rest, text[at:])
	}
	server := serveAt(t, build(t, "hdrlive"), append(strings.Fields("-q -in ns -idle 1s -serve 127.0.0.1:0"), paths...)...)
	b.do(t, chromedp.Navigate(server.address), chromedp.WaitReady(chromedp.CSS("html[data-ready]")))
	b.until(t, `/node1\.hdr.* until 4:50/.test(document.getElementById('inputs').textContent)`)
	list := "JSON.stringify([...document.querySelectorAll('#worst button')].map(b => b.textContent))"
	if got := b.eval(t, list); got != "[]" {
		t.Errorf("before the moment: %s", got)
	}
	for n, path := range paths {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(rest[n]); errors.Join(err, file.Close()) != nil {
			t.Fatal(err)
		}
	}
	b.until(t, list+` === '["at 5:00 for 1 s \u00b7 400 ms \u00b7 node1 insert-rt"]'`)
	b.until(t, `/node1\.hdr.* until 10:00/.test(document.getElementById('inputs').textContent)`)
	b.screenshot(t, "hdrplot-live-worst.png")
	b.eval(t, "document.querySelector('#worst button').click()")
	var from, to float64
	if _, err := fmt.Sscanf(b.eval(t, "location.hash"), "#t=%f,%f", &from, &to); err != nil || from > 300 || to < 301 || to-from > 30 {
		t.Errorf("a click shows %s", b.eval(t, "location.hash"))
	}
	b.eval(t, "document.querySelector(\"[data-span='60000']\").click()")
	b.until(t, list+" === '[]'") // it is not in the last minute
	b.checkConsole(t)
	server.stopWell(t)
}

// TestPageShift: a page marks the change of the level that a picture marks, and a steady one none.
func TestPageShift(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"shift": true, "steady": false} {
		paths := writeScenario(t, name)
		p := readPage(t, []byte(hdrplot(t, "", append(strings.Fields("-q -of - -format html -unit ns --"), paths...)...)))
		if (len(p.Marks) > 0) != want {
			t.Errorf("%s: %+v", name, p.Marks)
		}
		if !want {
			continue
		}
		svg := hdrplot(t, "", append(strings.Fields("-q -of - -format svg -unit ns --"), paths...)...)
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

// TestNodes: a picture of several logs compares the 99th percentiles of each log in windows,
// whatever makes a line. The test reads the logs by itself.
func TestNodes(t *testing.T) {
	t.Parallel()
	s := loggen.ScenarioNamed("slow node")
	dir := t.TempDir()
	var paths []string
	for node := range s.Nodes {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("node%d.hdr", node)))
		var log bytes.Buffer
		if err := errors.Join(s.Write(&log, node), os.WriteFile(paths[node], log.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{"", "-agg 20", "-by input", "-by input,tag -agg 0", "-type report", "-compare", "-type throughput", "-of x.html", "-by input -of x.html"} {
		var p *chart.Picture
		app := app()
		app.Action = func(c *urfave.Context) error {
			o, err := parseOptions(c)
			if err != nil {
				return err
			}
			all, err := cli.NewScan(c, cli.NewDiagnostics(io.Discard, "", false))
			if err == nil {
				p, err = gather(c, all, o)
			}
			return err
		}
		if status := cli.Run(context.Background(), app, append(append(strings.Fields("-q -e 59 "+args), "--"), paths...)); status != 0 {
			t.Fatalf("%s: exit status %d", args, status)
		}
		if args == "-compare" || args == "-type throughput" {
			if len(p.Nodes) > 0 {
				t.Errorf("%s: logs beside one another", args)
			}
			continue
		}
		if len(p.Nodes) != s.Nodes {
			t.Fatalf("%s: %d logs", args, len(p.Nodes))
		}
		for node, series := range p.Nodes {
			want := windowsOf(t, paths[node], p.NodeWindow)
			points := series.Lines[0].Points
			if series.Label != fmt.Sprint("node", node) || len(points) != len(want) || int64(len(points)) != 60_000/p.NodeWindow {
				t.Fatalf("%s: %q has %d points, want %d", args, series.Label, len(points), len(want))
			}
			for _, point := range points {
				if point.Value != want[point.Start] {
					t.Errorf("%s: %s at %v: %v, want %v", args, series.Label, point.Start, point.Value, want[point.Start])
				}
			}
		}
	}
}

// TestBrowserStrip points at the strip of a page of three logs. It has the ratios of percentiles
// that the test reads by itself, and their colours, also of a part of the time.
func TestBrowserStrip(t *testing.T) {
	b, paths := newBrowser(t), writeScenario(t, "slow node")
	for _, args := range []string{"-q -e 59 -times each -by input", "-q -e 59 -times each -theme dark -agg 5"} {
		p := b.open(t, append(strings.Fields(args), paths...)...)
		if p.Strip == nil || len(p.Strip.Rows) != len(paths) || len(p.Strip.Starts) < 12 {
			t.Fatalf("strip %+v", p.Strip)
		}
		window := p.Strip.Ends[0] - p.Strip.Starts[0]
		var all []map[float64]float64
		for _, path := range paths {
			all = append(all, windowsOf(t, path, window))
		}
		dark := strings.Contains(args, "dark")
		check := func(node, second int) {
			t.Helper()
			start := int64(second) * 1000 / window * window
			var values []float64
			for _, log := range all {
				values = append(values, log[float64(start)])
			}
			want := values[node]
			slices.Sort(values)
			want /= values[1]
			got := b.eval(t, fmt.Sprintf(`JSON.stringify((() => {
				const row = 10 + 15 * %d + 7, x = Math.round(stripX(%v)), over = document.getElementById('strip-over'), box = over.getBoundingClientRect();
				const frame = requestAnimationFrame;
				window.requestAnimationFrame = draw => draw();
				over.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + x, clientY: box.top + row }));
				window.requestAnimationFrame = frame;
				const g = %s;
				return [document.getElementById('readout').textContent, [...g.getImageData(x, row, 1, 1).data].slice(0, 3)];
			})())`, node, float64(second)+0.5, copyOf("strip")))
			text := fmt.Sprintf("node%d, %d s to %d s: p99 is %s times that of the median log", node, start/1000, (start+window)/1000, strconv.FormatFloat(want, 'g', 3, 64))
			if !strings.Contains(got, text) {
				t.Errorf("%s: node %d at %d s: %s, want %s", args, node, second, got, text)
			}
			scale := p.Themes[map[bool]string{false: "light", true: "dark"}[dark]].Change
			part := 0.5 + math.Log(want)/math.Log(8)/2
			of := scale[int(math.Round(part*float64(len(scale)-1)))]
			if colour := fmt.Sprintf("[%d,%d,%d]", of>>16&255, of>>8&255, of&255); !strings.Contains(got, colour) {
				t.Errorf("%s: node %d at %d s: %s, want %s for %v", args, node, second, got, colour, want)
			}
		}
		define := func(from, to float64) {
			left, _ := b.at(t, "time", 0)
			right, _ := b.at(t, "time", 1)
			b.eval(t, fmt.Sprintf("window.stripX = s => %v - document.getElementById('strip').getBoundingClientRect().left + (s - %v) / %v * %v", left, from, to-from, right-left))
		}
		define(float64(p.From)/1000, float64(p.To)/1000)
		for node := range paths {
			for _, second := range []int{2, 31, 57} {
				check(node, second)
			}
		}
		b.screenshot(t, fmt.Sprintf("hdrplot-strip-%v.png", dark))
		b.eval(t, "location.hash = 't=20,40'")
		b.until(t, "document.getElementById('range').textContent.includes('from 20')")
		define(20, 40)
		check(2, 33)
		check(0, 21)
	}
	b.open(t, append([]string{"-q", "-compare"}, paths...)...)
	if got := b.eval(t, "document.getElementById('strips').offsetParent"); got != "null" {
		t.Errorf("with -compare there is a strip: %s", got)
	}
	b.checkConsole(t)
}

// windowsOf returns the 99th percentiles of windows of the first minute of a log, by when
// they start.
func windowsOf(t *testing.T, path string, window int64) map[float64]float64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sums := map[int64]*histogram.Histogram{}
	r := hdrlog.NewReader(file, path)
	for r.Scan() {
		rec := r.Record()
		if rec.Kind != hdrlog.IntervalRecord || rec.Interval.StartMillis() >= loggen.ScenarioStart+60_000 {
			continue
		}
		h, err := rec.Interval.Histogram()
		if err != nil {
			t.Fatal(err)
		}
		if at := (rec.Interval.StartMillis() - loggen.ScenarioStart) / window; sums[at] == nil {
			sums[at] = h.Clone()
		} else if err := sums[at].Add(h); err != nil {
			t.Fatal(err)
		}
	}
	all := map[float64]float64{}
	for at, sum := range sums {
		all[float64(at*window)] = float64(sum.ValueAtPercentile(99))
	}
	return all
}
