//go:build browser

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"hdrkit/internal/chart"
	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
)

// viewer opens hdrkit.html, which it builds, with a fragment.
func (b *browser) viewer(t testing.TB, file, fragment string) {
	t.Helper()
	b.do(t, chromedp.Navigate("about:blank"), chromedp.Navigate("file://"+file+fragment), chromedp.WaitReady(chromedp.CSS("html[data-waits]")))
	b.eval(t, `(URL.createObjectURL = (create => blob => { window.made = blob; return create.call(URL, blob); })(URL.createObjectURL), 0)`)
	b.eval(t, "(window.violations = [], addEventListener('securitypolicyviolation', event => window.violations.push(event.violatedDirective)), 0)")
}

func buildViewer(t testing.TB) string {
	t.Helper()
	clitest.RequireTools(t, "chromium")
	file := filepath.Join(t.TempDir(), "hdrkit.html")
	if out, err := exec.Command(filepath.Join(clitest.Root(), "release", "viewer"), file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

func generate(t testing.TB, path string, o loggen.Options) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(loggen.Write(f, o), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// choose chooses files in the place of those that are there, and waits for what the page shows.
func (b *browser) choose(t testing.TB, files ...string) {
	t.Helper()
	for n := range files {
		files[n], _ = filepath.Abs(files[n])
	}
	b.eval(t, "document.getElementById('clear').click()")
	b.do(t, chromedp.SetUploadFiles(chromedp.CSS("#files"), files))
	b.answered(t)
}

func (b *browser) answered(t testing.TB) {
	t.Helper()
	b.until(t, "'ready' in document.documentElement.dataset")
}

// messages returns what the viewer says about logs.
func (b *browser) messages(t *testing.T) string {
	t.Helper()
	return b.eval(t, "[...document.querySelectorAll('#messages div')].map(line => line.textContent + '\\n').join('')")
}

// saved returns the page that the viewer saves.
func (b *browser) saved(t *testing.T) string {
	t.Helper()
	b.eval(t, "document.getElementById('save').click()")
	return b.await(t, "window.made.text()")
}

// nextLine is the line of the next command.
var nextLine = regexp.MustCompile(`(?m)^Next: .*\n`)

// A summaryOf is a part of what hdrsum prints as JSON.
type summaryOf struct {
	Summaries []struct {
		Tag            string
		TotalCount     int64
		Min, Mean, Max float64
		Throughput     float64
		Percentiles    []struct{ Percentile, Value float64 }
	}
}

// TestBrowserViewer reads logs in hdrkit.html. What it saves is what hdrplot writes, byte for byte,
// it says what hdrplot says, and its table has the figures that hdrsum prints.
func TestBrowserViewer(t *testing.T) {
	file := buildViewer(t)
	b := newBrowser(t)
	hdrplot, hdrsum := clitest.Build(t, "hdrplot"), clitest.Build(t, "hdrsum")
	dir := t.TempDir()
	var ten []string
	for n := range 10 {
		path := filepath.Join(dir, fmt.Sprintf("run%d.hdr", n))
		if err := os.WriteFile(path, read(t, fmt.Sprintf("../../testdata/logs/node%d.hdr", n%3+1)), 0o666); err != nil {
			t.Fatal(err)
		}
		ten = append(ten, path)
	}
	large := filepath.Join(dir, "large.hdr")
	generate(t, large, loggen.Options{Seconds: 400, Rate: 10000, Seed: 1, Start: loggen.ScenarioStart, Distinct: 100})
	const logs, dialects = "../../testdata/logs/", "../../testdata/dialects/"
	for _, test := range []struct {
		name     string
		files    []string
		fragment string
		args     []string // of hdrplot, nil for -unit ms
	}{
		{name: "log", files: []string{logs + "node1.hdr"}},
		{name: "damaged", files: []string{dialects + "malformed.hlog"}},
		{name: "gzip", files: []string{dialects + "text.hlog.gz"}},
		{name: "zstd", files: []string{dialects + "gzip-two-members.hlog.zst"}},
		{name: "jtl", files: []string{"../../testdata/measurements/jmeter.jtl"}},
		{name: "k6", files: []string{"../../testdata/measurements/k6.json"}},
		{name: "compared", files: []string{logs + "node1.hdr", logs + "node2.hdr"}, fragment: "#logs=compare", args: []string{"-unit", "ms", "-compare"}},
		{name: "apart", files: []string{logs + "node1.hdr", logs + "node2.hdr"}, fragment: "#logs=apart&unit=log", args: []string{"-by", "input,tag"}},
		{name: "ten", files: ten},
		{name: "large", files: []string{large}},
		{name: "options", files: []string{logs + "node1.hdr"}, fragment: "#unit=us&in=ns&p=max%2C99.9&incT=simple.*&excT=.*-wt&s=10&e=1m&agg=20s&sla=p99%3C%3D50ms",
			args: []string{"-agg", "20s", "-sla", "p99<=50ms", "-unit", "us", "-in", "ns", "-p", "max,99.9", "-incT", "simple.*", "-excT", ".*-wt", "-s", "10", "-e", "1m"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b.viewer(t, file, test.fragment)
			b.choose(t, test.files...)
			b.screenshot(t, "viewer-"+test.name+".png")
			if test.args == nil {
				test.args = []string{"-unit", "ms"}
			}
			var bases []string
			for _, file := range test.files { // messages have no folders
				bases = append(bases, filepath.Base(file))
			}
			title := strings.TrimSuffix(bases[0], filepath.Ext(bases[0]))
			title = strings.TrimSuffix(title, ".hlog")
			if len(bases) > 1 {
				title = fmt.Sprintf("%d logs", len(bases))
			}
			run := func(command string, args ...string) (stdout, stderr string) {
				var out, err bytes.Buffer
				c := exec.Command(command, append(args, bases...)...)
				c.Dir, c.Stdout, c.Stderr = filepath.Dir(test.files[0]), &out, &err
				c.Run() // the status of malformed lines
				return out.String(), strings.ReplaceAll(err.String(), filepath.Base(command)+": ", "")
			}
			page, said := run(hdrplot, append(slices.Clone(test.args), "-title", title, "-format", "html", "-of", "-")...)
			if got := b.messages(t); got != said {
				t.Errorf("the viewer says\n%s\nhdrplot says\n%s", got, said)
			}
			got := b.saved(t)
			if got != page {
				t.Errorf("the saved page has %d bytes, that of hdrplot %d", len(got), len(page))
			}
			if b.eval(t, "document.getElementById('title').textContent") != title || b.eval(t, "document.getElementById('curve').offsetHeight > 100") != "true" {
				t.Error("the page is not shown")
			}
			if test.fragment != "" {
				return
			}
			document, _ := run(hdrsum, append(slices.Clone(test.args), "-st", "json", "-p", "50,90,99,99.9,99.99")...)
			var want summaryOf
			if err := json.Unmarshal([]byte(document), &want); err != nil {
				t.Fatal(err)
			}
			table := map[string]chart.Summary{}
			for _, row := range readPage(t, []byte(got)).Summary {
				table[row.Label] = row
			}
			if len(table) == 0 || len(table) != len(want.Summaries) {
				t.Fatalf("%d rows, hdrsum has %d", len(table), len(want.Summaries))
			}
			for _, w := range want.Summaries {
				row := table[w.Tag]
				figures, wanted := []float64{float64(row.Count), row.Min, row.Mean, row.Max, row.PerSecond}, []float64{float64(w.TotalCount), w.Min, w.Mean, w.Max, w.Throughput}
				figures = append(figures, row.Percentiles...)
				for _, p := range w.Percentiles {
					wanted = append(wanted, p.Value)
				}
				if !slices.EqualFunc(figures, wanted, func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }) {
					t.Errorf("%s has %v, in hdrsum %v", w.Tag, figures, wanted)
				}
			}
			text, _ := run(hdrsum, append(slices.Clone(test.args), "-st", "table")...)
			text = nextLine.ReplaceAllString(text, "") // which nobody can type in a page
			if got := b.eval(t, "document.querySelector('#table-text pre').textContent"); got != strings.TrimSuffix(text, "\n") && got != text {
				t.Errorf("the text is\n%s\nhdrsum prints\n%s", got, text)
			}
			b.checkConsole(t)
		})
	}
	t.Run("use", func(t *testing.T) { testViewerUse(t, b, file) })
}

// testViewerUse drops, pastes, stops and adds, and gives a picture. The address keeps what was
// chosen, and nothing leaves the page.
func testViewerUse(t *testing.T, b *browser, file string) {
	b.viewer(t, file, "")
	b.screenshot(t, "viewer-empty.png")
	if runtime.NumCPU() > 1 {
		b.until(t, "'warm' in document.documentElement.dataset")
	}
	if got := b.eval(t, "document.body.innerText"); !strings.Contains(got, "never leaves this machine") || strings.Contains(got, "Summary") {
		t.Errorf("at first it says %q", got)
	}
	rows := func() string {
		return b.eval(t, "[...document.querySelectorAll('#summary tbody tr')].map(row => row.cells[0].textContent + ' ' + row.cells[2].textContent)")
	}

	// A log is dropped, and a folder is refused. A second one adds up.
	path := func(name string) string {
		path, err := filepath.Abs("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	drop := func(files ...string) {
		t.Helper()
		b.eval(t, "delete document.documentElement.dataset.ready")
		for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
			b.do(t, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
				_, err := cdp.Call(ctx, target, input.DispatchDragEvent, input.DispatchDragEventParams{
					Type: kind, X: 300, Y: 100, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1},
				})
				return err
			}))
		}
		b.answered(t)
	}
	drop(path("testdata/logs/node1.hdr"))
	if got := rows(); !strings.Contains(got, "simple1-rt 38,726") {
		t.Errorf("node1.hdr has %s", got)
	}
	drop(path("testdata/logs/node2.hdr"), path("testdata/logs"))
	if got := rows(); strings.Contains(got, "simple1-rt 38,726") || !strings.Contains(b.messages(t), "adds up 2 logs") || !strings.Contains(b.messages(t), "logs is a folder: open it, and drop the logs in it") {
		t.Errorf("both have %s, and it says %s", got, b.messages(t))
	}
	b.eval(t, "document.querySelectorAll('#logs button')[1].click()")
	b.answered(t)
	if got := rows(); !strings.Contains(got, "simple1-rt 38,726") {
		t.Errorf("without node2.hdr: %s", got)
	}

	// A view stays with other options, and the address has both.
	b.show(t, "t=26,60&hide=insert-rt")
	b.eval(t, `(field => { field.value = 'us'; field.dispatchEvent(new Event('change', { bubbles: true })); })(document.querySelector('[name=unit]'))`)
	b.answered(t)
	address := b.eval(t, "location.hash")
	if got := b.eval(t, "document.getElementById('summary').tHead.textContent"); address != "#t=26,60&hide=insert-rt&unit=us" || !strings.Contains(got, "p99 (µs)") {
		t.Errorf("the address is %s, and the table has %s", address, got)
	}
	whole := b.eval(t, "document.getElementById('range').textContent")
	b.viewer(t, file, address)
	b.choose(t, path("testdata/logs/node1.hdr"))
	if got := b.eval(t, "document.getElementById('range').textContent"); got != whole || b.eval(t, "location.hash") != address {
		t.Errorf("with its address the page shows %q, not %q", got, whole)
	}

	// A log is pasted.
	b.viewer(t, file, "")
	b.eval(t, `(text => {
		const clipboardData = new DataTransfer();
		clipboardData.setData('text', text);
		document.getElementById('paste').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
	})(`+strconv.Quote(string(read(t, "../../testdata/logs/node1.hdr")))+`)`)
	b.answered(t)
	if got := rows(); !strings.Contains(got, "simple1-rt 38,726") || b.eval(t, "document.title") != "pasted" {
		t.Errorf("the pasted log has %s", got)
	}

	// What is stopped can begin again.
	b.eval(t, "(document.querySelector('[name=unit]').dispatchEvent(new Event('change', { bubbles: true })), document.getElementById('stop').click())")
	if got := b.messages(t); got != "Stopped.\n" {
		t.Errorf("it says %q", got)
	}
	b.choose(t, path("testdata/logs/node2.hdr"))
	if got := b.eval(t, "document.title"); got != "node2" {
		t.Errorf("the page is %s", got)
	}

	// A mistake in an option keeps the page, and marks its field.
	limit := func(text string) {
		b.eval(t, "(field => (field.value = '"+text+"', field.dispatchEvent(new Event('change', { bubbles: true }))))(document.querySelector('[name=sla]'))")
		b.until(t, "'ready' in document.documentElement.dataset")
	}
	limit("p99<=fast")
	if got := b.messages(t); !strings.HasPrefix(got, "-sla p99<=fast: ") || !strings.HasSuffix(got, "The page below has the options before.\n") {
		t.Errorf("of a mistake it says %q", got)
	}
	state := "document.querySelector('[name=sla]').getAttribute('aria-invalid') + ' ' + (document.querySelector('main').offsetHeight > 0)"
	if got := b.eval(t, state); got != "true true" {
		t.Errorf("the field is invalid, and the page is there: %s", got)
	}
	limit("")
	if got := b.eval(t, state); got != "null true" {
		t.Errorf("the field is invalid, and the page is there: %s", got)
	}

	// A picture is refused, and no page is shown.
	b.choose(t, path("docs/report.png"))
	if got := b.messages(t); !strings.Contains(got, "no intervals in the input\n") || !strings.Contains(got, "report.png is no log, but a picture; ") || b.eval(t, "document.querySelector('main').offsetHeight") != "0" {
		t.Errorf("of a picture it says %q", got)
	}
	b.checkConsole(t)
	if got := b.eval(t, "window.violations"); got != "" {
		t.Errorf("violations: %s", got)
	}
	refused := `new Promise(done => {
		addEventListener('securitypolicyviolation', event => done(event.violatedDirective));
		fetch('http://127.0.0.1:9/').then(() => done('connects'), () => {});
	})`
	if got := b.await(t, refused); got != "connect-src" {
		t.Errorf("a connection: %s", got)
	}
}
