//go:build browser

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"hdrkit/internal/clitest"
)

// emulate sets features of the reader's device, such as prefers-color-scheme, and the medium.
func (b *browser) emulate(t *testing.T, medium string, features ...*emulation.MediaFeature) {
	t.Helper()
	b.do(t, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: medium, Features: features})
		return err
	}))
}

// TestBrowserAccessible runs axe over pages of all types, in both themes.
func TestBrowserAccessible(t *testing.T) {
	axe := filepath.Join(os.Getenv("HDRKIT_LIBRARIES"), "node_modules/axe-core/axe.min.js")
	clitest.RequireTools(t, "chromium", axe)
	script, err := os.ReadFile(axe)
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t)
	server := serveAt(t, clitest.Build(t, "hdrlive"), "-serve", "127.0.0.1:0", "-if", "../../testdata/logs/node1.hdr", "-in", "ns", "-unit", "ms", "-agg", "10", "-sla", "p99<=50ms,max<=1ms")
	for _, scheme := range []string{"light", "dark"} {
		b.emulate(t, "screen", &emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme}, &emulation.MediaFeature{Name: "prefers-reduced-motion", Value: "reduce"})
		for _, kind := range paged {
			p := b.open(t, "-type", kind.Name, "-p", "max,50", "-sla", "3e8", "../../testdata/logs/node1.hdr")
			if len(p.Series) == 0 {
				t.Fatal("no series")
			}
			if got := b.eval(t, "document.documentElement.style.colorScheme"); got != scheme {
				t.Errorf("the page is %s, the reader prefers %s", got, scheme)
			}
			b.eval(t, `(document.querySelector('#toggles button').click(), document.querySelector('#keys').open = true)`)
			b.violations(t, string(script), kind.Name+", "+scheme)
			b.show(t, "with=10,40&t=50,90")
			b.violations(t, string(script), kind.Name+" of two ranges, "+scheme)
		}
		for _, args := range []string{"", "-compare"} {
			b.open(t, append(strings.Fields(args), "-q", "../../testdata/logs/node1.hdr", "../../testdata/logs/node2.hdr")...)
			if hidden := b.eval(t, "document.getElementById('change').hidden"); hidden != fmt.Sprint(args == "") {
				t.Errorf("%s: the scale of ratios is hidden: %s", args, hidden)
			}
			b.violations(t, string(script), "two logs "+args+", "+scheme)
		}
		b.do(t, chromedp.Navigate(server.address))
		b.until(t, "document.querySelectorAll('#summary tbody tr').length === 6 && document.querySelectorAll('#lights li').length === 2")
		b.eval(t, "(document.getElementById('found').open = true, 0)")
		b.violations(t, string(script), "live, "+scheme)
	}
	b.checkConsole(t)
}

// violations runs axe in the page.
func (b *browser) violations(t *testing.T, axe, what string) {
	t.Helper()
	if _, err := chromedp.Run(b, chromedp.Evaluate[string](axe+"\n;''")); err != nil {
		t.Fatal(err)
	}
	var found []struct {
		ID    string
		Nodes []struct{ HTML string }
	}
	if err := json.Unmarshal([]byte(b.await(t, "axe.run().then(r => JSON.stringify(r.violations))")), &found); err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Errorf("%s: %s: %v", what, v.ID, v.Nodes)
	}
}

// await returns what a promise comes to.
func (b *browser) await(t *testing.T, promise string) string {
	t.Helper()
	b.eval(t, "(window.awaited = null, "+promise+".then(v => window.awaited = v), 0)")
	got := ""
	clitest.Await(t, promise, nil, func() bool {
		got = b.eval(t, "window.awaited")
		return got != "null"
	})
	return got
}

// TestBrowserKeys uses a page without a pointer.
func TestBrowserKeys(t *testing.T) {
	b := newBrowser(t)
	b.open(t, "-linear", "../../testdata/logs/node1.hdr")
	press := func(target, key string, shift bool) {
		t.Helper()
		b.eval(t, `document.querySelector('`+target+`').dispatchEvent(new KeyboardEvent('keydown', { key: '`+key+`', shiftKey: `+map[bool]string{true: "true", false: "false"}[shift]+`, bubbles: true, cancelable: true }))`)
		b.await(t, "new Promise(requestAnimationFrame)")
	}
	text := func(id string) string { return b.eval(t, "document.getElementById('"+id+"').textContent") }
	press("#time-over", "ArrowRight", false)
	press("#time-over", "ArrowRight", true)
	if got := text("readout"); !strings.Contains(got, "insert-rt ") {
		t.Errorf("read-out %q", got)
	}
	press("#curve-over", "ArrowRight", false)
	if got := text("curve-readout"); !strings.Contains(got, "%insert-rt ") {
		t.Errorf("read-out %q", got)
	}
	press("body", "Escape", false)
	if got := text("readout") + text("curve-readout"); got != "" {
		t.Errorf("read-out %q without a pointer", got)
	}
	for _, step := range []struct{ key, want string }{
		{"+", "#t=30,90"}, {"d", "#t=60,120"}, {"a", "#t=30,90"}, {"b", "#t=60,120"}, {"0", ""}, {"-", ""},
	} {
		press("body", step.key, false)
		if got := b.eval(t, "location.hash"); !near(got, step.want) {
			t.Errorf("after %s the address is %q, want about %q", step.key, got, step.want)
		}
	}
	before := b.pixels(t, "curve")
	press("body", "l", false)
	if b.pixels(t, "curve") == before || b.eval(t, "document.getElementById('log').getAttribute('aria-pressed')") != "true" {
		t.Error("the axis is as before")
	}
	press("body", "2", false)
	if got := b.eval(t, "[...document.querySelectorAll('#toggles [aria-pressed=true]')].map(e => e.textContent)"); got != "insert-st" {
		t.Errorf("%s alone", got)
	}
	press("body", "n", false)
	if got := b.eval(t, "document.querySelectorAll('#toggles [aria-pressed=true]').length"); got != "6" {
		t.Errorf("%s series", got)
	}
	// The table is sorted by the columns that are pressed.
	for i, want := range []string{"descending", "ascending"} {
		b.eval(t, "document.querySelectorAll('#summary thead button')[2].click()")
		if got := b.eval(t, "document.querySelectorAll('#summary thead th')[2].getAttribute('aria-sort')"); got != want {
			t.Errorf("press %d: sorted %s", i, got)
		}
	}
	b.checkConsole(t)
}

// near reports whether two addresses of views are less than 5 s apart.
func near(got, want string) bool {
	a, b := ends(got), ends(want)
	return (a == nil) == (b == nil) && (a == nil || a[0]-b[0] < 5 && b[0]-a[0] < 5 && a[1]-b[1] < 5 && b[1]-a[1] < 5)
}

func ends(address string) (all []float64) {
	json.Unmarshal([]byte("["+strings.TrimPrefix(address, "#t=")+"]"), &all)
	if len(all) != 2 {
		return nil
	}
	return all
}

// TestBrowserSizes opens a page of long tags on a large screen, a tablet and a phone, in both
// themes: nothing scrolls sideways, axe finds nothing, charts have room, and a tap shows values.
func TestBrowserSizes(t *testing.T) {
	axe := filepath.Join(os.Getenv("HDRKIT_LIBRARIES"), "node_modules/axe-core/axe.min.js")
	clitest.RequireTools(t, "chromium", axe)
	script, err := os.ReadFile(axe)
	if err != nil {
		t.Fatal(err)
	}
	long := "com.example.platform.checkout.payments.v2.PaymentService/"
	log := strings.ReplaceAll(string(read(t, "../../testdata/logs/node1.hdr")), "Tag=", "Tag="+long)
	path := filepath.Join(t.TempDir(), "long.hdr")
	if err := os.WriteFile(path, []byte(log), 0o666); err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t)
	for _, scheme := range []string{"light", "dark"} {
		b.emulate(t, "screen", &emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme}, &emulation.MediaFeature{Name: "prefers-reduced-motion", Value: "reduce"})
		for _, width := range []int64{1400, 800, 390} {
			what := fmt.Sprint(scheme, ", ", width)
			b.do(t, chromedp.EmulateViewport(width, 844))
			b.open(t, "-in", "ns", "-unit", "ms", "-sla", "300", path)
			b.violations(t, string(script), what)
			b.screenshot(t, "hdrplot-"+strings.ReplaceAll(what, ", ", "-")+".png")
			if got := b.eval(t, "document.documentElement.scrollWidth - innerWidth"); got != "0" {
				t.Errorf("%s: the page is %s pixels too wide", what, got)
			}
			if got := b.eval(t, `(() => {
				const at = [...document.querySelectorAll('#summary th')].findIndex(th => th.textContent.startsWith('p99 ')), cell = document.querySelector('#summary tbody tr').cells[at].getBoundingClientRect();
				return cell.right <= innerWidth && cell.bottom < innerHeight / 2;
			})()`); got != "true" && width != 800 { // which scrolls sideways
				t.Errorf("%s: p99 is not on the first screen", what)
			}
			left, _ := b.at(t, "time", 0)
			right, _ := b.at(t, "time", 1)
			if right-left < 290 {
				t.Errorf("%s: the chart is %v pixels wide", what, right-left)
			}
			b.eval(t, `(() => {
				const over = document.getElementById('time-over'), box = over.getBoundingClientRect();
				for (const type of ['pointermove', 'pointerleave']) {
					over.dispatchEvent(new PointerEvent(type, { pointerType: 'touch', clientX: box.left + box.width / 2, clientY: box.top + 20 }));
				}
			})()`)
			b.await(t, "new Promise(requestAnimationFrame)")
			if got := b.eval(t, "document.getElementById('readout').textContent"); !strings.Contains(got, " ms") {
				t.Errorf("%s: a tap shows %q", what, got)
			}
		}
	}
	b.checkConsole(t)
}

// TestBrowserPrint lays pages out for paper: nothing is wider than that, and the colours are light.
func TestBrowserPrint(t *testing.T) {
	b := newBrowser(t)
	for name, width := range map[string]int64{"A4": 703, "Letter": 725} { // in pixels, without margins of 12 mm
		b.do(t, chromedp.EmulateViewport(width, 1000))
		b.emulate(t, "screen", &emulation.MediaFeature{Name: "prefers-color-scheme", Value: "dark"})
		b.open(t, "../../testdata/logs/huge-values.hdr") // whose numbers are long
		b.emulate(t, "print", &emulation.MediaFeature{Name: "prefers-color-scheme", Value: "dark"})
		b.await(t, "new Promise(done => { const look = () => document.documentElement.style.colorScheme === 'light' ? done(1) : setTimeout(look, 10); look(); })")
		if got := b.eval(t, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); got != "0" {
			t.Errorf("%s: %s pixels are cut off", name, got)
		}
		if got := b.eval(t, "document.querySelector('#summary tr').lastElementChild.getBoundingClientRect().right <= innerWidth"); got != "true" {
			t.Errorf("%s: the last column is cut off", name)
		}
		if got := b.eval(t, "getComputedStyle(document.body).backgroundColor"); got != "rgb(255, 255, 255)" {
			t.Errorf("%s: the background is %s", name, got)
		}
		b.screenshot(t, "hdrplot-print-"+name+".png")
	}
	b.checkConsole(t)
}

// TestBrowserPaper prints a dark page to PDF as a user does. Each sheet of paper is light and has
// coloured pixels, which are those of a chart.
func TestBrowserPaper(t *testing.T) {
	t.Parallel()
	clitest.RequireTools(t, "chromium", "pdftoppm")
	for _, kind := range []string{"-type timeline", "-type heatmap", "-compare -incT .*-rt ../../testdata/logs/node2.hdr", "../../testdata/logs/node2.hdr"} {
		dir := t.TempDir()
		html, pdf := filepath.Join(dir, "page.html"), filepath.Join(dir, "page.pdf")
		hdrplot(t, "", append(strings.Fields(kind), "-q", "-if", "../../testdata/logs/node1.hdr", "-theme", "dark", "-of", html)...)
		for _, args := range [][]string{
			{"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + dir, "--print-to-pdf=" + pdf, "file://" + html},
			{"pdftoppm", "-r", "50", "-png", pdf, filepath.Join(dir, "sheet")},
		} {
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		for _, sheet := range []string{"sheet-1.png", "sheet-2.png"} { // a chart on each
			img, err := png.Decode(bytes.NewReader(read(t, filepath.Join(dir, sheet))))
			if err != nil {
				t.Fatal(err)
			}
			light, coloured := 0, 0
			size := img.Bounds().Size()
			for y := range size.Y {
				for x := range size.X {
					r, g, b, _ := img.At(x, y).RGBA()
					if low, high := min(r, g, b), max(r, g, b); low > 0xf000 {
						light++
					} else if high-low > 0x3000 {
						coloured++
					}
				}
			}
			if coloured < 300 || light < size.X*size.Y/2 {
				t.Errorf("%s, %s: %d of %d pixels are light, %d coloured", kind, sheet, light, size.X*size.Y, coloured)
			}
		}
	}
}

// TestBrowserSpeed prints how long it takes to open the page of an hour with six tags, and to move
// the pointer over it.
func TestBrowserSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads a large log")
	}
	b := newBrowser(t)
	log := hour(t, 600)
	for _, chosen := range paged {
		kind := chosen.Name
		b.open(t, "-q", "-type", kind, "-if", log)
		opened := b.eval(t, "document.documentElement.dataset.ready")
		moved := b.eval(t, `(() => {
			const canvas = document.getElementById('time-over'), box = canvas.getBoundingClientRect(), steps = 200;
			const frame = requestAnimationFrame;
			window.requestAnimationFrame = draw => draw();
			const begin = performance.now();
			for (let i = 0; i < steps; i++) {
				canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + box.width * (i + 1) / (steps + 1), clientY: box.top + box.height / 2 }));
			}
			const took = (performance.now() - begin) / steps;
			window.requestAnimationFrame = frame;
			return took.toFixed(2);
		})()`)
		if !strings.Contains(b.eval(t, "document.getElementById('readout').textContent"), " ") {
			t.Errorf("%s: nothing is read out", kind)
		}
		t.Logf("%s: %s ms until the page is drawn, %s ms for a move of the pointer", kind, opened, moved)
	}
}
