//go:build browser

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart/page/pagetest"
	"hdrkit/internal/clitest"
)

// browser opens pages in headless Chromium and keeps what they write to its console, exceptions
// included.
type browser struct {
	context.Context
	mu      sync.Mutex
	console []string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	b, stop := startBrowser(t)
	t.Cleanup(stop)
	return b
}

// startBrowser starts a browser that runs until stop.
func startBrowser(t testing.TB) (b *browser, stop func()) {
	t.Helper()
	clitest.RequireTools(t, "chromium")
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(clitest.Patience),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.WindowSize(1300, 1700))
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stopBrowser := chromedp.NewContext(allocator)
	stop = func() {
		stopBrowser()
		stopAllocator()
	}
	b = &browser{Context: ctx}
	b.do(t, chromedp.Navigate("about:blank"))
	messages := chromedp.Console(ctx)
	go func() {
		for message, err := range messages {
			if err != nil {
				return // the browser is closed
			}
			b.mu.Lock()
			b.console = append(b.console, message.String())
			b.mu.Unlock()
		}
	}()
	return b, stop
}

// checkConsole fails the test if a page wrote to the console.
func (b *browser) checkConsole(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.console) > 0 {
		t.Errorf("on the console: %q", b.console)
	}
	b.console = nil
}

func (b *browser) do(t testing.TB, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b, actions...); err != nil {
		t.Fatal(err)
	}
}

// eval returns what an expression in the page comes to.
func (b *browser) eval(t testing.TB, expression string) string {
	t.Helper()
	result, err := chromedp.Run(b, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// open opens a page made with args.
func (b *browser) open(t *testing.T, args ...string) *pagetest.Page {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	hdrplot(t, "", append(args, "-of", file)...)
	b.navigate(t, file)
	return readPage(t, read(t, file))
}

// navigate opens a page and waits until it is drawn.
func (b *browser) navigate(t *testing.T, file string) {
	t.Helper()
	b.do(t, chromedp.Navigate("file://"+file), chromedp.WaitReady(chromedp.CSS("html[data-ready]")))
}

// screenshot keeps a picture of the page, among the artifacts where CI asks for some.
func (b *browser) screenshot(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("HDRKIT_ARTIFACTS")
	if dir == "" {
		dir = t.TempDir()
	}
	shot, err := chromedp.Run(b, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if len(shot) < 10000 {
		t.Errorf("the screenshot has %d bytes", len(shot))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), shot, 0o666); err != nil {
		t.Fatal(err)
	}
}

// copyOf is JavaScript for a copy of a canvas to read pixels of: reading those of the page's own
// draws a warning.
func copyOf(canvas string) string {
	return `(() => { const c = document.getElementById('` + canvas + `');
		const g = new OffscreenCanvas(c.width, c.height).getContext('2d', { willReadFrequently: true });
		g.drawImage(c, 0, 0);
		return g; })()`
}

// pixels returns a number that changes when what a canvas shows does.
func (b *browser) pixels(t *testing.T, canvas string) string {
	t.Helper()
	return b.eval(t, `(() => { const g = `+copyOf(canvas)+`;
		let h = 0; for (const v of g.getImageData(0, 0, g.canvas.width, g.canvas.height).data) h = (h * 31 + v) | 0; return h; })()`)
}

// at returns where a part, 0 to 1, of a chart's horizontal axis is on the screen: the lowest row of
// pixels with a long line.
func (b *browser) at(t *testing.T, canvas string, part float64) (x, y float64) {
	t.Helper()
	b.eval(t, `document.getElementById('`+canvas+`').scrollIntoView({ block: 'nearest' })`)
	var box struct{ Left, Top, Height, AxisLeft, AxisRight float64 }
	text := b.eval(t, `JSON.stringify((() => {
		const c = document.getElementById('`+canvas+`'), r = c.getBoundingClientRect(), g = `+copyOf(canvas)+`;
		let bottom = c.height - 1, line = null;
		for (; bottom > 0 && !line; bottom--) {
			const row = g.getImageData(0, bottom, c.width, 1).data;
			for (let x = 0, on = []; x < c.width; x++) {
				if (row[4 * x + 3] > 128) on.push(x); else on = [];
				if (on.length > c.width / 2) line = on;
			}
		}
		const scale = r.width / c.width;
		return { Left: r.left, Top: r.top, Height: r.height, AxisLeft: line[0] * scale, AxisRight: (line[line.length - 1] + 1) * scale };
	})())`)
	if err := json.Unmarshal([]byte(text), &box); err != nil {
		t.Fatal(err)
	}
	return box.Left + box.AxisLeft + part*(box.AxisRight-box.AxisLeft), box.Top + box.Height/2
}

// hover moves the pointer, and waits until the page has drawn that.
func (b *browser) hover(t *testing.T, canvas string, part float64) {
	t.Helper()
	x, y := b.at(t, canvas, part)
	b.do(t, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
	b.await(t, "new Promise(requestAnimationFrame)") // the page shows it with the next frame
}

// show gives the page's address a fragment, and waits until the page shows what that says.
func (b *browser) show(t *testing.T, fragment string) {
	t.Helper()
	b.await(t, `new Promise(shown => {
		addEventListener('hashchange', () => requestAnimationFrame(shown), { once: true }); // after the page's own
		location.hash = '`+fragment+`';
	})`)
}

func (b *browser) drag(t *testing.T, from, to float64) {
	t.Helper()
	x0, y := b.at(t, "time", from)
	x1, _ := b.at(t, "time", to)
	b.do(t, chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x0, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, (x0+x1)/2, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x1, y, chromedp.ButtonLeft))
}

// TestBrowser drives a page: toggles, read-outs, zoom, and what is recomputed.
func TestBrowser(t *testing.T) {
	b := newBrowser(t)
	p := b.open(t, "-ovr", "1000000", "-unit", "ms", "-title", "Node 1", "../../testdata/logs/node1.hdr")
	if got := b.eval(t, "document.title + document.getElementById('title').textContent"); got != "Node 1Node 1" {
		t.Errorf("title %q", got)
	}
	if got := b.eval(t, "document.querySelectorAll('#summary tbody tr').length"); got != "6" {
		t.Errorf("%s rows", got)
	}
	if got := b.eval(t, "document.getElementById('noscript') || document.querySelectorAll('#toggles button').length"); got != "6" {
		t.Errorf("%s toggles", got)
	}
	b.screenshot(t, "hdrplot-whole.png")

	// The read-out has the values of the interval beneath the pointer.
	hover := func() string {
		b.hover(t, "time", partOf(p, 85))
		return b.eval(t, "document.getElementById('readout').textContent")
	}
	line := p.Lines[3][0]
	point := 0
	for i, start := range line.S {
		if start <= 85000 && 85000 < start+line.D[i] {
			point = i
		}
	}
	readout := hover()
	if want := fmt.Sprintf("simple1-rt %.4g ms", line.V[point]); !strings.Contains(readout, want) || !strings.HasPrefix(readout, "00:08:0") {
		t.Errorf("read-out %q, want %q in it", readout, want)
	}

	// A series that is switched off is neither drawn nor read out, until it is switched on again.
	before := b.pixels(t, "time") + b.pixels(t, "curve")
	click := func() {
		b.do(t, chromedp.Click(chromedp.CSS(`button[data-series="simple1-rt"]`)))
	}
	click()
	if got := b.eval(t, `document.querySelector('button[data-series="simple1-rt"]').getAttribute('aria-pressed')`); got != "false" {
		t.Errorf("pressed is %q", got)
	}
	if off := hover(); strings.Contains(off, "simple1-rt") || !strings.Contains(off, "simple1-st") {
		t.Errorf("read-out %q", off)
	}
	if b.pixels(t, "time")+b.pixels(t, "curve") == before {
		t.Error("the charts are as before")
	}
	click()
	if on := hover(); on != readout {
		t.Errorf("read-out %q, was %q", on, readout)
	}
	if b.pixels(t, "time")+b.pixels(t, "curve") != before {
		t.Error("the charts are not as before")
	}

	// The percentile curve reads out the value at a percentile.
	b.hover(t, "curve", 0.5)
	if got := b.eval(t, "document.getElementById('curve-readout').textContent"); !strings.Contains(got, "%insert-rt ") || !strings.Contains(got, " ms") {
		t.Errorf("read-out of the curve %q", got)
	}

	testZoom(t, b, p)
	b.checkConsole(t)
}

// partOf returns where a time in seconds is in the view of the whole.
func partOf(p *pagetest.Page, seconds float64) float64 {
	return (seconds*1000 - float64(p.From)) / float64(p.To-p.From)
}

// testZoom zooms to the intervals from the fifth to the seventh, and goes back.
func testZoom(t *testing.T, b *browser, p *pagetest.Page) {
	curve := b.pixels(t, "curve")
	b.drag(t, partOf(p, 41), partOf(p, 69))
	b.screenshot(t, "hdrplot-zoomed.png")
	var from, to float64
	if _, err := fmt.Sscanf(b.eval(t, "location.hash"), "#t=%f,%f", &from, &to); err != nil || math.Abs(from-41) > 1.5 || math.Abs(to-69) > 1.5 {
		t.Errorf("address %q", b.eval(t, "location.hash"))
	}
	if got := b.eval(t, "document.getElementById('curve-title').textContent"); got != "Percentiles of the time in view" {
		t.Errorf("title %q", got)
	}
	if b.pixels(t, "curve") == curve {
		t.Error("the curve is as before")
	}
	b.do(t, chromedp.Click(chromedp.CSS("#whole")))
	if b.eval(t, "document.getElementById('curve-title').textContent") != "Percentiles" || b.eval(t, "location.hash") != "" {
		t.Error("the whole range is not back")
	}
	b.do(t, chromedp.Click(chromedp.CSS("#back")))
	if got := b.eval(t, "location.hash"); !strings.HasPrefix(got, "#t=4") {
		t.Errorf("address %q after going back", got)
	}
	b.do(t, chromedp.Click(chromedp.CSS("#whole")))
}

// TestBrowserPages opens a page of each type, and of the extremes, and looks for errors.
func TestBrowserPages(t *testing.T) {
	b := newBrowser(t)
	const logs = "../../testdata/logs/"
	for name, args := range map[string][]string{
		"timeline":    {"-p", "max,50", "-log", "-time", "absolute", "-theme", "dark", "-sla", "5000000", logs + "node1.hdr"},
		"throughput":  {"-type", "throughput", logs + "node1.hdr"},
		"heatmap":     {"-type", "heatmap", "-in", "ns", logs + "node1.hdr"},
		"percentiles": {"-type", "percentiles", "-sla", "99<=5,99.9<=20", "-unit", "ms", "-ovr", "1000000", logs + "node1.hdr"},
		"hgrm":        {"-type", "percentiles", "../../testdata/expected/node1.it-hgrm.out"},
		"mixed":       {"-type", "percentiles", "-compare", "../../testdata/expected/node1.it-hgrm.out", "-in", "ns", logs + "node2.hdr"},
		"many-tags":   {logs + "many-tags.hdr"},
		"odd-tags":    {logs + "odd-tags.hdr"},
		"all-empty":   {logs + "all-empty.hdr"},
		"huge-values": {"-log", logs + "huge-values.hdr"},
		"huge-counts": {"-type", "heatmap", logs + "huge-counts.hdr"},
		"double":      {logs + "double.hdr"},
	} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, args...)
			b.do(t, chromedp.WaitReady(chromedp.CSS("#curve")))
			if len(p.Lines) > 0 && len(p.Lines[0]) > 0 && len(p.Lines[0][0].V) > 0 {
				b.hover(t, "time", 0.4)
				b.drag(t, 0.2, 0.7)
			}
			b.hover(t, "curve", 0.3)
			b.screenshot(t, "hdrplot-"+name+".png")
			b.checkConsole(t)
		})
	}
}

// TestBrowserHeatmap draws a heat map of a constant load. No column may have more than another one,
// whichever tags have a line.
func TestBrowserHeatmap(t *testing.T) {
	const tags, perSecond, seconds = 20, 100, 200 // 2000 values a second of each size; lines hide two of them
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []int64{1000, 30000, 1000000} {
		if err := h.RecordN(value, perSecond); err != nil {
			t.Fatal(err)
		}
	}
	path := writeLog(t, "even.hdr", func(w *hdrlog.Writer) (err error) {
		for second := range seconds {
			for tag := range tags {
				err = errors.Join(err, w.Interval(fmt.Appendf(nil, "tag%d", tag), float64(second), 1, h))
			}
		}
		return err
	})
	b := newBrowser(t)
	b.open(t, "-if", path, "-type", "heatmap")
	if got := b.eval(t, `document.getElementById("scale").textContent`); got != "1101001kvalues per second" {
		t.Errorf("scale %s", got)
	}
	others := b.eval(t, `(() => {
		const g = `+copyOf("heat-map")+`, { data } = g.getImageData(0, 0, g.canvas.width, g.canvas.height), seen = {};
		const scale = JSON.parse(document.getElementById('data').textContent).themes.light.heat;
		for (let i = 0; i < data.length; i += 4) {
			const colour = '#' + [0, 1, 2].map(n => data[i + n].toString(16).padStart(2, '0')).join('');
			if (scale.includes(colour)) seen[colour] = true;
		}
		return Object.keys(seen).length === 1 && seen[scale.at(-1)];
	})()`)
	if others != "true" {
		t.Error("a column has more than another one")
	}
	for _, part := range []float64{0.01, 0.5, 0.99} {
		b.hover(t, "rate", part)
		if got := b.eval(t, "document.getElementById('rate-readout').textContent"); got != "total 6k/s" {
			t.Errorf("at %v: %q", part, got)
		}
	}
	b.checkConsole(t)
}
