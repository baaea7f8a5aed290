//go:build browser

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/loggen"
	"hdrkit/output"
)

// outage writes a log of ten minutes with 20 s without values, after which requests had waited for
// up to 20 s.
func outage(t *testing.T, path string) {
	t.Helper()
	w := newWriter(t, path)
	for second := range 600 {
		h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(300) {
			value := 2e6 + i*2e4 + int64(second%7)*1e4
			if second == 220 && i%5 == 0 {
				value = 20e9 * (i + 1) / 300
			}
			if second < 200 || second >= 220 {
				h.Record(value)
			}
		}
		for _, tag := range []string{"read", "write"} {
			if err := w.log.Interval([]byte(tag), float64(second), 1, h); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.log.Flush(); err != nil {
		t.Fatal(err)
	}
}

// TestBrowserFindings follows the link of each finding to its time and its tag. Charts mark gaps,
// beats, breaches and the curve of requests that were due, and a legend names them.
func TestBrowserFindings(t *testing.T) {
	b := newBrowser(t)
	dir := t.TempDir()
	broken := filepath.Join(dir, "outage.hdr")
	outage(t, broken)
	paused := filepath.Join(dir, "pauses.hdr")
	file, err := os.Create(paused)
	if err != nil {
		t.Fatal(err)
	}
	if err := loggen.ScenarioNamed("pauses").Write(file, 0); err != nil {
		t.Fatal(err)
	}
	file.Close()
	for _, test := range []struct {
		log, limit    string
		kinds, legend []string
	}{
		{broken, "p99<=5ms", []string{"limit", "gap", "omission", "worst"}, []string{"above a limit", "with those that were due", "no values"}},
		{paused, "p99<=1s", []string{"limit", "rhythm", "worst"}, []string{"above a limit", "beat"}},
	} {
		p := b.open(t, "-q", "-in", "ns", "-unit", "ms", "-sla", test.limit, test.log)
		b.screenshot(t, "hdrplot-findings-"+filepath.Base(test.log)+".png")
		var findings []output.Finding
		if err := json.Unmarshal([]byte(b.eval(t, "JSON.stringify(JSON.parse(document.getElementById('data').textContent).findings)")), &findings); err != nil {
			t.Fatal(err)
		}
		for _, kind := range test.kinds {
			if !slices.ContainsFunc(findings, func(f output.Finding) bool { return f.Kind == kind }) {
				t.Errorf("no %s in %+v", kind, findings)
			}
		}
		legend := b.eval(t, "[...document.querySelectorAll('#toggles .name')].map(e => e.textContent)")
		for _, text := range test.legend {
			if !strings.Contains(legend, text) {
				t.Errorf("the legend is %q, without %q", legend, text)
			}
		}
		shown := func() string {
			return b.eval(t, "[...document.querySelectorAll('#toggles [aria-pressed=true]')].map(e => e.textContent)")
		}
		all := shown()
		for n, f := range findings {
			if f.Start == nil && f.Tag == "" {
				continue
			}
			b.show(t, "t=0,599.999&log=1")
			link := fmt.Sprintf("document.querySelectorAll('#findings li')[%d].querySelector('a')", n)
			if got := b.eval(t, link+".textContent"); !strings.HasPrefix(got, f.Sentence) {
				t.Errorf("link %d is %q, want %q", n, got, f.Sentence)
			}
			b.await(t, "new Promise(done => { addEventListener('hashchange', () => requestAnimationFrame(done), { once: true }); "+link+".click(); })")
			address := b.eval(t, "location.hash")
			if !strings.Contains(address, "log=1") {
				t.Errorf("%q leads to %s, without what was chosen", f.Sentence, address)
			}
			want := all
			if f.Tag != "" && all != f.Tag {
				want = f.Tag
			}
			if got := shown(); got != want {
				t.Errorf("%q shows %s, want %s", f.Sentence, got, want)
			}
			if f.Start == nil {
				continue
			}
			var from, to float64
			if _, err := fmt.Sscanf(address, "#t=%f,%f", &from, &to); err != nil {
				t.Errorf("%q leads to %s: %v", f.Sentence, address, err)
				continue
			}
			start := float64(*f.Start-p.Origin) / 1000
			end := start
			if f.End != nil {
				end = float64(*f.End-p.Origin) / 1000
			}
			if from > start || to < math.Min(end, 599.999) || to-from > 3*(end-start)+25 {
				t.Errorf("%q, from %v to %v, leads to %s", f.Sentence, start, end, address)
			}
		}
	}
	// The curve of those that were due is there only for the whole time, and is read out.
	b.open(t, "-q", "-in", "ns", "-unit", "ms", broken)
	b.hover(t, "curve", 0.3)
	if got := b.eval(t, "document.getElementById('curve-readout').textContent"); !strings.Contains(got, "with those that were due") {
		t.Errorf("it reads out %q", got)
	}
	b.show(t, "t=0,100")
	b.hover(t, "curve", 0.3)
	if got := b.eval(t, "document.getElementById('curve-readout').textContent"); strings.Contains(got, "due") || !strings.Contains(got, "read ") {
		t.Errorf("it reads out %q", got)
	}
	b.checkConsole(t)
}
