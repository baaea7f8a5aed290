//go:build unix

package cmd

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
	"hdrkit/internal/report"
	outputs "hdrkit/output"
)

// TestSentences: the findings of a log are the same sentences in a table, in a list, in JSON, in
// Markdown, in JUnit, in the texts of a report and in the data of a page. TestBrowserSentences of
// hdrplot looks at pages in a browser.
func TestSentences(t *testing.T) {
	build(t)
	for _, name := range []string{"spike", "slow node", "shift", "warm-up", "pauses", "dead node"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testSentences(t, name)
		})
	}
}

// testSentences compares the sentences about a scenario.
func testSentences(t *testing.T, name string) {
	folder := t.TempDir()
	run := func(command string, args ...string) string {
		t.Helper()
		c := exec.Command(command, args...)
		c.Dir = folder
		out, err := c.Output()
		if err != nil && c.ProcessState.ExitCode() != 4 {
			t.Fatalf("%s %q: %v", command, args, err)
		}
		return string(out)
	}
	s := loggen.ScenarioNamed(name)
	var paths []string
	for node := range s.Nodes {
		path := fmt.Sprintf("%s%d.hdr", strings.ReplaceAll(name, " ", "-"), node+1)
		file, err := os.Create(filepath.Join(folder, path))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write(file, node); err != nil {
			t.Fatal(err)
		}
		file.Close()
		paths = append(paths, path)
	}
	for _, limits := range []string{"", "p99<=3ms", "p99<=1s"} {
		switch {
		case limits == "p99<=1s" && name != "spike":
			continue // one limit that holds is like another
		case limits == "" && name != "spike" && name != "warm-up":
			continue // the limit that fails adds a sentence to the others
		}
		args := append([]string{"-q", "-unit", "ms"}, paths...)
		if limits != "" {
			args = append(args, "-sla", limits)
		}
		with := func(more ...string) []string { return append(args[:len(args):len(args)], more...) }
		var document outputs.Document
		if err := json.Unmarshal([]byte(run("hdrsum", with("-st", "json")...)), &document); err != nil {
			t.Fatal(err)
		}
		top := report.Headline(document.Findings)
		table := run("hdrsum", with("-st", "table")...)
		if next := nextCommand.FindStringSubmatch(table); next != nil {
			shell := exec.Command("sh", "-c", next[1])
			shell.Dir = folder
			if out, err := shell.CombinedOutput(); err != nil && shell.ProcessState.ExitCode() != 4 {
				t.Errorf("%s, %q: %s: %v\n%s", name, limits, next[1], err, out)
			}
			top = append(top, strings.TrimSpace(next[0]))
		}
		if !strings.HasPrefix(table, strings.Join(top, "\n")+"\n\n") {
			t.Errorf("%s, %q: a table begins with\n%.300s\nwant\n%s", name, limits, table, strings.Join(top, "\n"))
		}
		texts := map[string]string{
			"a list":   run("hdrsum", with("-st", "findings")...),
			"Markdown": unescaped(run("hdrsum", with("-st", "markdown")...)),
			"a page":   pageData.FindString(run("hdrplot", with("-of", "-", "-format", "html")...)),
		}
		for _, f := range document.Findings {
			for place, text := range texts {
				if place == "a page" {
					quoted, _ := json.Marshal(f.Sentence)
					f.Sentence = strings.Trim(string(quoted), `"`)
				}
				if !strings.Contains(text, f.Sentence) {
					t.Errorf("%s, %q: %s has no %q", name, limits, place, f.Sentence)
				}
			}
		}
		drawn := svgText(run("hdrplot", with("-type", "report", "-of", "-", "-format", "svg", "-width", "2000")...))
		for _, line := range report.Headline(document.Findings) {
			word, rest := report.Judged(line)
			if !strings.Contains(drawn, strings.TrimSpace(rest)) || !strings.Contains(drawn, word) {
				t.Errorf("%s, %q: a report has no %q", name, limits, line)
			}
		}
		if limits == "" {
			continue
		}
		junit := html.UnescapeString(run("hdrsum", with("-st", "junit")...))
		for _, f := range document.Findings {
			want := 2 // some programs show the attribute, some the text
			if f.Weight == outputs.Holds {
				want = 1
			}
			if f.Verdict() && strings.Count(junit, f.Sentence) != want {
				t.Errorf("%s, %q: JUnit does not have %q %d times:\n%s", name, limits, f.Sentence, want, junit)
			}
		}
	}
}

// nextCommand finds the command to type next.
var nextCommand = regexp.MustCompile(`(?m)^Next: (.*)\n`)

// notLive are the kinds that need more than the windows of a live page, or logs that do not grow.
var notLive = []string{"warmup", "shift", "groups", "outlier", "clock", "cut"}

// TestLiveSentences: a live page whose log has ended says what hdrsum says of the log, in the same
// words and order, but for what takes the whole course of a run. The log of several nodes is their
// union, as what hdrlive has.
func TestLiveSentences(t *testing.T) {
	build(t)
	folder := t.TempDir()
	logs := map[string]string{}
	for _, name := range []string{"spike", "slow node", "pauses", "dead node"} {
		logs[name] = filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".hdr")
		args := []string{"-of", logs[name]}
		s := loggen.ScenarioNamed(name)
		for node := range s.Nodes {
			path := fmt.Sprintf("%s.%d", logs[name], node)
			file, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Write(file, node); err != nil {
				t.Fatal(err)
			}
			file.Close()
			args = append(args, path)
		}
		if out, err := exec.Command("hdrunion", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for name, secondsOf := range map[string]func(second int) (values []int64, written bool){
		"gap":       gap,
		"omission":  omission,
		"failures":  steady,
		"groups":    cache,
		"malformed": steady,
	} {
		logs[name] = filepath.Join(folder, name+".hdr")
		writeLog(t, logs[name], name == "failures", secondsOf)
	}
	file, err := os.OpenFile(logs["malformed"], os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	file.WriteString("not a line\n")
	file.Close()
	seen := make(map[string]bool)
	for name, path := range logs {
		for _, limits := range []string{"p99<=3ms", ""} {
			args := []string{"-q", "-in", "ns", "-unit", "ms"}
			if limits != "" {
				args = append(args, "-sla", limits)
			}
			out, err := exec.Command("hdrsum", append(args[:len(args):len(args)], "-st", "json", path)...).Output()
			var document outputs.Document
			if json.Unmarshal(out, &document) != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var want []string
			for _, f := range document.Findings {
				if !slices.Contains(notLive, f.Kind) {
					want = append(want, f.Sentence)
					seen[f.Kind] = true
				}
			}
			if got := liveSentences(t, args, path); !slices.Equal(got, want) {
				t.Errorf("%s %s: a live page has\n%s\nwant\n%s", name, limits, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	for _, kind := range []string{"limit", "worst", "gap", "omission", "rhythm", "failures", "malformed", "figure"} {
		if !seen[kind] {
			t.Errorf("no log shows a %s", kind)
		}
	}
}

// steady is the values of a second of a run without events.
func steady(second int) (values []int64, written bool) {
	for n := range int64(100) {
		values = append(values, 2e6+n*2e4+int64(second%7)*1e4)
	}
	return values, true
}

// gap is a run in which no interval is written for 20 s.
func gap(second int) (values []int64, written bool) {
	if second >= 100 && second < 120 {
		return nil, false
	}
	return steady(second)
}

// omission is a run whose recorder waits for an answer for 20 s.
func omission(second int) (values []int64, written bool) {
	switch {
	case second >= 100 && second < 120:
		return nil, true
	case second == 120:
		return []int64{20e9}, true
	}
	return steady(second)
}

// cache is a run in which a tenth of the requests miss a cache.
func cache(second int) (values []int64, written bool) {
	values, _ = steady(second)
	for n := range values {
		if n%10 == 0 {
			values[n] *= 20
		}
	}
	return values, true
}

// writeLog writes a log with an interval each second, and another tag for failed requests.
func writeLog(t *testing.T, path string, failed bool, secondsOf func(second int) ([]int64, bool)) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := hdrlog.NewWriter(file)
	if err := cmp.Or(w.StartTime(loggen.ScenarioStart/1000), w.BaseTime(loggen.ScenarioStart/1000)); err != nil {
		t.Fatal(err)
	}
	for second := range 300 {
		values, written := secondsOf(second)
		if !written {
			continue
		}
		h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			h.Record(v)
		}
		tags := []string{"read"}
		if failed {
			tags = append(tags, "read/failed")
		}
		for _, tag := range tags {
			if err := w.Interval([]byte(tag), float64(second), 1, h); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// liveSentences returns the sentences of a live page after its log has ended.
func liveSentences(t *testing.T, args []string, path string) (all []string) {
	t.Helper()
	reader, writer := io.Pipe()
	p := clitest.Start(t, reader, "hdrlive", append(args[:len(args):len(args)], "-serve", "127.0.0.1:0", "-")...)
	answer, err := http.Get("http://" + p.Serves() + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		writer.Write(log)
		writer.Close()
	}()
	events := bufio.NewReader(answer.Body)
	for {
		line, err := events.ReadString('\n')
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			var event struct{ Findings []outputs.Finding }
			if json.Unmarshal([]byte(data), &event) == nil && event.Findings != nil {
				all = nil
				for _, f := range event.Findings {
					all = append(all, f.Sentence)
				}
			}
		}
		if err != nil {
			return all
		}
	}
}

// pageData finds the data of a page.
var pageData = regexp.MustCompile(`"findings":\[.*?\]`)

// unescaped returns a text of Markdown as it is read.
func unescaped(markdown string) string {
	return strings.NewReplacer("<!-- -->", "", `\`, "", "&lt;", "<", "&gt;", ">").Replace(markdown)
}

// svgText returns the texts of a picture.
func svgText(svg string) string {
	return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(svg, "\n"))
}
