//go:build unix

package cmd

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hdrkit/internal/loggen"
	outputs "hdrkit/output"
)

// TestSentences: the findings of a log are the same sentences in a table, in a list, in JSON, in
// Markdown, in JUnit, in the texts of a report and in the data of a page. TestBrowserSentences of
// hdrplot looks at pages in a browser.
func TestSentences(t *testing.T) {
	build(t)
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
	for _, name := range []string{"spike", "slow node", "shift", "warm-up", "pauses", "dead node"} {
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
			if limits == "p99<=1s" && name != "spike" {
				continue // one limit that holds is like another
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
			top := outputs.Top(document.Findings)
			table := run("hdrsum", with("-st", "table")...)
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
			report := svgText(run("hdrplot", with("-type", "report", "-of", "-", "-format", "svg", "-width", "2000")...))
			for _, line := range top {
				word, rest := outputs.Judged(line)
				if !strings.Contains(report, strings.TrimSpace(rest)) || !strings.Contains(report, word) {
					t.Errorf("%s, %q: a report has no %q", name, limits, line)
				}
			}
			if limits == "" {
				continue
			}
			junit := html.UnescapeString(run("hdrsum", with("-st", "junit")...))
			for _, f := range document.Findings {
				if f.Verdict() && !strings.Contains(junit, f.Sentence) {
					t.Errorf("%s, %q: JUnit has no %q", name, limits, f.Sentence)
				}
			}
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
