//go:build browser

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart/page/pagetest"
)

// A spike is a point of a line: when its middle is, in seconds.
type spike struct {
	label         string
	middle, value float64
}

// spikes returns the highest points of a page.
func spikes(p *pagetest.Page, count int) (all []spike) {
	for n, s := range p.Series {
		line := p.Lines[n][0]
		if s.Rest {
			continue // it has no read-out
		}
		for i, v := range line.V {
			all = append(all, spike{s.Label, (line.S[i] + line.D[i]/2) / 1000, v})
		}
	}
	slices.SortStableFunc(all, func(a, b spike) int { return cmp.Compare(b.value, a.value) })
	return all[:count]
}

// day writes a day of twenty tags with an interval a minute, and returns its path.
func day(t *testing.T) string {
	t.Helper()
	w := newWriter(t, filepath.Join(t.TempDir(), "day.hdr"))
	random := rand.New(rand.NewPCG(1, 2))
	for minute := range 1440 {
		for tag := range 20 {
			h, err := histogram.New(histogram.Layout{Digits: 2, Lowest: 1000})
			if err != nil {
				t.Fatal(err)
			}
			for range 10 {
				h.Record(int64(1e6 * random.ExpFloat64()))
			}
			if random.IntN(500) == 0 {
				h.Record(int64(1e8 * (1 + random.Float64())))
			}
			if err := w.log.Interval(fmt.Appendf(nil, "tag%02d", tag), 60*float64(minute), 60, h); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.log.Flush(); err != nil {
		t.Fatal(err)
	}
	return w.file.Name()
}

// TestBrowserSpikes points at the pixel of each of the highest points of an hour and of a day. The
// read-out has its value. A click shows it.
func TestBrowserSpikes(t *testing.T) {
	b, hour := newBrowser(t), hour(t, 600)
	for _, c := range []struct {
		log, kind, canvas, over string
		interval                float64
	}{{hour, "timeline", "time", "time-over", 1}, {hour, "heatmap", "heat-map", "heat-over", 1}, {day(t), "timeline", "time", "time-over", 60}} {
		kind := c.canvas
		p := b.open(t, "-if", c.log, "-ovr", "1000000", "-unit", "ms", "-type", c.kind)
		all := spikes(p, 40)
		left, y := b.at(t, c.canvas, 0)
		right, _ := b.at(t, c.canvas, 1)
		at := func(s spike) float64 { return math.Round(left + partOf(p, s.middle)*(right-left)) }
		var places []float64
		for _, s := range all {
			places = append(places, at(s))
		}
		var read [][]string
		text := b.eval(t, fmt.Sprintf(`JSON.stringify((() => {
			const frame = requestAnimationFrame, over = document.getElementById('%s');
			window.requestAnimationFrame = draw => draw();
			const read = %s.map(clientX => {
				over.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY: %v }));
				return [...document.querySelectorAll('#readout span')].map(span => span.textContent);
			});
			window.requestAnimationFrame = frame;
			return read;
		})())`, c.over, strings.ReplaceAll(fmt.Sprint(places), " ", ","), y))
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			t.Fatal(err)
		}
		for n, s := range all {
			found := slices.ContainsFunc(read[n], func(text string) bool {
				want := fmt.Sprintf("%.4g ms", s.value)
				return strings.HasPrefix(text, s.label+" ") && strings.HasSuffix(text, want) || strings.HasPrefix(text, "highest maximum: "+want+", "+s.label+", ")
			})
			higher := slices.ContainsFunc(all[:n], func(o spike) bool { return math.Abs(at(o)-at(s)) < 4 })
			if !found && !higher {
				t.Errorf("%s at %v s, %v ms: %q", s.label, s.middle, s.value, read[n])
			}
		}
		x := at(all[0])
		for _, event := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMouseMoved, input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
			b.do(t, chromedp.MouseEvent(event, x, y, chromedp.ButtonLeft))
		}
		var from, to float64
		if _, err := fmt.Sscanf(b.eval(t, "location.hash"), "#t=%f,%f", &from, &to); err != nil || from > all[0].middle || to < all[0].middle || to-from > 25*c.interval {
			t.Errorf("%s: a click at %v shows %s", kind, all[0].middle, b.eval(t, "location.hash"))
		}
	}
	b.checkConsole(t)
}

// TestBrowserWithoutTime opens pages that know of no time. They have a legend and a table.
func TestBrowserWithoutTime(t *testing.T) {
	b := newBrowser(t)
	for name, c := range map[string]struct {
		args  []string
		table string
	}{
		"hgrm": {[]string{"-type", "percentiles", "../../testdata/expected/node1.it-hgrm.out"}, "tag values"},
	} {
		b.open(t, c.args...)
		if got := b.eval(t, "[...document.querySelectorAll('#toggles button')].filter(b => b.offsetParent).length > 0"); got != "true" {
			t.Errorf("%s: no legend", name)
		}
		got := b.eval(t, "document.getElementById('summary').innerText.replace(/\\s+/g, ' ')")
		if !strings.HasPrefix(got, c.table) {
			t.Errorf("%s: table %q", name, got)
		}
		b.screenshot(t, "hdrplot-without-time-"+name+".png")
	}
	b.checkConsole(t)
}

// TestBrowserTable finds tags in a table of many, sorts it, and compares its verdicts with its
// numbers.
func TestBrowserTable(t *testing.T) {
	b := newBrowser(t)
	b.open(t, "../../testdata/logs/many-tags.hdr")
	const rows = "document.querySelectorAll('#summary tbody tr').length"
	all, found := b.eval(t, "document.getElementById('more').textContent"), ""
	if got := b.eval(t, rows); got != "8" || !strings.HasPrefix(all, "all ") {
		t.Errorf("%s rows, %q", got, all)
	}
	b.do(t, chromedp.Click(chromedp.CSS("#more")))
	if got := b.eval(t, rows); "all "+got+" rows" != all {
		t.Errorf("%s of %s", got, all)
	}
	label := b.eval(t, "document.querySelector('#summary tbody tr:last-child').cells[0].textContent")
	top := b.eval(t, "document.getElementById('tools').getBoundingClientRect().top + scrollY")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#find"), strings.ToUpper(label)))
	if got := b.eval(t, "document.getElementById('tools').getBoundingClientRect().top + scrollY"); got != top {
		t.Errorf("a short table moves the buttons from %s to %s", top, got)
	}
	if found = b.eval(t, "document.querySelector('#summary tbody tr').cells[0].textContent"); !strings.Contains(found, label) {
		t.Errorf("found %s, not %s", found, label)
	}
	b.do(t, chromedp.Click(chromedp.CSS("#summary tbody th button")))
	if got := b.eval(t, "[...document.querySelectorAll('#toggles [aria-pressed=true]')].map(b => b.textContent)"); got != found {
		t.Errorf("a click at %s shows %s", found, got)
	}
	b.open(t, "-ovr", "1000000", "-unit", "ms", "-sla", "99<=20,max<=300", "../../testdata/logs/node1.hdr")
	var cells [][]string
	if err := json.Unmarshal([]byte(b.eval(t, "JSON.stringify([...document.querySelectorAll('#summary tbody tr')].map(r => [...r.cells].map(c => c.textContent)))")), &cells); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range cells {
		for n, limit := range map[int]float64{8: 20, 11: 300} {
			value, err := strconv.ParseFloat(row[n], 64)
			if err != nil {
				t.Fatal(err)
			}
			verdict := row[12]
			if (limit == 300) == strings.Contains(b.eval(t, "document.querySelector('#summary thead').rows[0].cells[13].textContent"), "300") {
				verdict = row[13]
			}
			if want := map[bool]string{true: "holds", false: "fails"}[value <= limit]; verdict != want {
				t.Errorf("%s: %v is %q below %v", row[0], value, verdict, limit)
			}
			seen[verdict] = true
		}
	}
	if !seen["holds"] || !seen["fails"] {
		t.Errorf("only %v", seen)
	}
	b.checkConsole(t)
}

// TestBrowserAddress changes what a page shows, and opens its address. That shows the same.
func TestBrowserAddress(t *testing.T) {
	b := newBrowser(t)
	b.open(t, "-linear", "../../testdata/logs/many-tags.hdr")
	if got := b.eval(t, "document.getElementById('range').textContent"); !strings.Contains(got, " (20") {
		t.Errorf("no date: %q", got)
	}
	b.do(t, chromedp.Click(chromedp.CSS("#log")), chromedp.Click(chromedp.CSS("#heat")), chromedp.Click(chromedp.CSS("#toggles button:last-of-type")))
	b.eval(t, "document.querySelectorAll('#toggles button')[1].click()")
	b.drag(t, 0.2, 0.7)
	state := "location.hash + [...document.querySelectorAll('[aria-pressed]')].map(b => b.textContent + b.getAttribute('aria-pressed'))"
	want := b.eval(t, state)
	for _, part := range []string{"t=", "&log=", "&heat=0", "&rest=0", "&hide="} {
		if !strings.Contains(want, part) {
			t.Errorf("%s is not in %s", part, want)
		}
	}
	pixels := b.pixels(t, "time")
	address := b.eval(t, "location.href")
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("html[data-ready]")))
	if got := b.eval(t, state); got != want || b.pixels(t, "time") != pixels {
		t.Errorf("it shows %s, before %s", got, want)
	}
	b.eval(t, "location.hash = ''")
	b.until(t, "document.querySelectorAll('#toggles [aria-pressed=false]').length === 0 && document.getElementById('log').getAttribute('aria-pressed') === 'false'")
	b.checkConsole(t)
}

// TestBrowserFacets opens a page of twelve lines. Each has a chart of its own.
func TestBrowserFacets(t *testing.T) {
	b := newBrowser(t)
	b.open(t, "../../testdata/logs/many-tags.hdr")
	pressed := "document.getElementById('facets').getAttribute('aria-pressed')"
	height := "document.getElementById('time').clientHeight"
	facets := b.eval(t, pressed+" + ' ' + "+height)
	b.hover(t, "time", 0.4)
	if got := b.eval(t, "document.querySelectorAll('#readout i').length"); got != "12" {
		t.Errorf("%s lines are read out", got)
	}
	b.screenshot(t, "hdrplot-facets.png")
	pixels := b.pixels(t, "time")
	b.do(t, chromedp.Click(chromedp.CSS("#facets")))
	if got := b.eval(t, pressed+" + ' ' + "+height); got != "false 282" || facets != "true 889" || b.pixels(t, "time") == pixels {
		t.Errorf("%s, with facets %s", got, facets)
	}
	if got := b.eval(t, "location.hash"); got != "#facets=0" {
		t.Errorf("address %s", got)
	}
	b.open(t, "-facet", "tag", "../../testdata/logs/node1.hdr")
	if got := b.eval(t, pressed); got != "true" {
		t.Errorf("-facet: %s", got)
	}
	b.checkConsole(t)
}

// TestBrowserWorst opens pages of logs with known moments. They list those of the view, and a click
// shows one. The read-out of its column names the log.
func TestBrowserWorst(t *testing.T) {
	b := newBrowser(t)
	list := "JSON.stringify([...document.querySelectorAll('#worst button')].map(b => b.textContent))"
	b.open(t, append([]string{"-q", "-unit", "ms", "-in", "ns"}, writeScenario(t, "spike")...)...)
	if got, want := b.eval(t, list), `["at 00:05:00 for 1 s · 400 ms · node1 insert-rt"`; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	b.hover(t, "time", 300.5/600)
	if got := b.eval(t, "document.getElementById('readout').textContent"); !strings.Contains(got, "highest maximum: 400 ms, insert-rt, node1, 00:05:00 to 00:05:01") {
		t.Errorf("read-out %q", got)
	}
	pauses := writeScenario(t, "pauses")
	for _, kind := range []string{"timeline", "heatmap"} {
		b.open(t, append([]string{"-q", "-unit", "ms", "-in", "ns", "-type", kind}, pauses...)...)
		if got := b.eval(t, "document.querySelectorAll('#worst button').length"); got != "5" {
			t.Errorf("%s moments", got)
		}
		b.eval(t, "location.hash = 't=250,400'")
		b.until(t, list+`.replace(/ \u00b7.*?"/g, '').startsWith('["at 00:04:30 for 2 s,"at 00:05:30 for 2 s,"at 00:06:30 for 2 s')`)
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

// TestBrowserHugeCounts zooms into counts that take all bytes of an encoded number. A third of them
// is 5,000, so the table has that at the 90th percentile.
func TestBrowserHugeCounts(t *testing.T) {
	path := writeLog(t, "huge.hdr", func(w *hdrlog.Writer) (err error) {
		for second, count := range []int64{1 << 62, 3} {
			h, broken := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
			err = errors.Join(err, broken, h.RecordN(100, count), h.RecordN(5000, count/2), w.Interval(nil, float64(second), 1, h))
		}
		return err
	})
	b := newBrowser(t)
	b.open(t, "-q", "-if", path)
	b.eval(t, "location.hash = 't=0,1'")
	b.until(t, "document.querySelector('#summary tbody').textContent.includes('4,992 to 5,003')")
	b.checkConsole(t)
}
