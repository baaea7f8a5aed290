//go:build browser

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"hdrkit/internal/base/message"
	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
	"hdrkit/internal/report"
	"hdrkit/output"
)

// shownFindings returns the sentences that a page shows: those at its top, and the list.
func (b *browser) shownFindings(t *testing.T) (top, all []string) {
	t.Helper()
	var shown [2][]string
	text := b.eval(t, `JSON.stringify(['#result > div', '#findings > li'].map(list => [...document.querySelectorAll(list)].map(e => e.textContent)))`)
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		t.Fatal(err)
	}
	return shown[0], shown[1]
}

// checkSentences checks that a page shows the findings of a document, in their order.
func (b *browser) checkSentences(t *testing.T, what string, want []output.Finding) {
	t.Helper()
	top, all := b.shownFindings(t)
	if !slices.Equal(top, report.Headline(want)) {
		t.Errorf("%s: at the top %q, want %q", what, top, report.Headline(want))
	}
	if len(all) != len(want) {
		t.Errorf("%s: %d findings, want %d: %q", what, len(all), len(want), all)
		return
	}
	for n, f := range want {
		if !strings.HasPrefix(all[n], f.Sentence) {
			t.Errorf("%s: finding %d is %q, want %q", what, n, all[n], f.Sentence)
		}
	}
}

// TestBrowserSentences: a page, hdrkit.html and a live page say what hdrsum says, in the same
// words. TestSentences compares other places, and TestLiveSentences all that a live page says. It
// adds up the logs of several nodes, so their limits fail at other times.
func TestBrowserSentences(t *testing.T) {
	viewer := buildViewer(t)
	b := newBrowser(t)
	hdrsum, hdrlive := clitest.Build(t, "hdrsum"), clitest.Build(t, "hdrlive")
	dir := t.TempDir()
	scenario := func(name string) (paths []string) {
		s := loggen.ScenarioNamed(name)
		for node := range s.Nodes {
			path := filepath.Join(dir, fmt.Sprintf("%s%d.hdr", strings.ReplaceAll(name, " ", "-"), node+1))
			file, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if err := s.Write(file, node); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
		return paths
	}
	broken := filepath.Join(dir, "outage.hdr")
	outage(t, broken)
	for _, test := range []struct {
		name  string
		paths []string
		limit string
	}{
		{"spike", scenario("spike"), ""},
		{"slow node", scenario("slow node"), "p99<=3ms"},
		{"shift", scenario("shift"), "p99<=1s"},
		{"warm-up", scenario("warm-up"), ""},
		{"pauses", scenario("pauses"), "p99<=3ms"},
		{"dead node", scenario("dead node"), "p99<=1s"},
		{"outage", []string{broken}, ""},
	} {
		args := []string{"-q", "-in", "ns", "-unit", "ms"}
		if test.limit != "" {
			args = append(args, "-sla", test.limit)
		}
		inputs := append(args[:len(args):len(args)], test.paths...)
		out, err := exec.Command(hdrsum, append(inputs, "-st", "json")...).Output()
		exit := new(exec.ExitError)
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != message.Exceeded) {
			t.Fatal(err)
		}
		var document output.Document
		if err := json.Unmarshal(out, &document); err != nil {
			t.Fatal(err)
		}
		if len(document.Findings) == 0 {
			t.Fatalf("%s: hdrsum finds nothing", test.name)
		}

		b.open(t, inputs...)
		b.checkSentences(t, test.name+": page", document.Findings)

		b.viewer(t, viewer, "#in=ns&sla="+test.limit)
		b.choose(t, slices.Clone(test.paths)...)
		b.checkSentences(t, test.name+": hdrkit.html", document.Findings)
		top := strings.Join(report.Headline(document.Findings), "\n") + "\n\n"
		if got := b.eval(t, "document.querySelector('#table-text pre').textContent"); !strings.HasPrefix(got, top) {
			t.Errorf("%s: the text of hdrkit.html begins with %.300q, want %q", test.name, got, top)
		}

		server := serveAt(t, hdrlive, append(inputs, "-idle", "200ms", "-serve", "127.0.0.1:0")...)
		b.do(t, chromedp.Navigate(server.address), chromedp.WaitReady(chromedp.CSS("html[data-ready]")))
		for _, f := range document.Findings {
			sentence := strings.TrimSuffix(f.Sentence, ".")
			one := len(test.paths) == 1 && !slices.Contains([]string{"warmup", "shift"}, f.Kind)
			if f.Kind != "limit" && f.Kind != "figure" && !one {
				continue
			}
			if !one {
				sentence, _, _ = strings.Cut(sentence, "; above it ")
			}
			quoted, _ := json.Marshal(sentence)
			b.until(t, "[...document.querySelectorAll('#findings > li')].some(e => e.textContent.startsWith("+string(quoted)+"))")
		}
		server.stop()
	}
	b.mu.Lock()
	b.console = nil // connections that end
	b.mu.Unlock()
}
