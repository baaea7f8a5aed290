//go:build unix

// Package actiontest runs the steps of action.yml as a runner of GitHub does, in a folder of its
// own and with an environment that the test makes.
package actiontest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// An action is what action.yml says.
type action struct {
	Inputs map[string]struct {
		Description, Default string
		Required             bool
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []step
	}
}

type step struct {
	ID, If, Name, Shell, Run, Uses string
	Env, With                      map[string]string
}

func load(t *testing.T) (a action, root string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	return a, root
}

var expression = regexp.MustCompile(`\$\{\{ ([a-z._-]+) \}\}`)

// A run is one of the action.
type run struct {
	status                int
	log, summary          string
	outputs               map[string]string
	folder, temp, addPath string
}

// start runs the steps with inputs, on a machine with these folders in its PATH before others.
func start(t *testing.T, path string, inputs map[string]string) *run {
	t.Helper()
	a, root := load(t)
	temp := t.TempDir()
	r := &run{folder: t.TempDir(), temp: temp, outputs: map[string]string{}}
	for _, name := range []string{"node1.hdr", "node2.hdr"} {
		text, err := os.ReadFile(filepath.Join(root, "testdata/logs", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(r.folder, name), text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, copy := range [][2]string{{"node1.hdr", "old/1.hdr"}, {"node2.hdr", "old/2.hdr"}, {"node2.hdr", "new/1.hdr"}, {"node1.hdr", "new/2.hdr"}} {
		os.MkdirAll(filepath.Join(r.folder, filepath.Dir(copy[1])), 0o777)
		if err := os.Link(filepath.Join(r.folder, copy[0]), filepath.Join(r.folder, copy[1])); err != nil {
			t.Fatal(err)
		}
	}
	values := map[string]string{"github.action_path": root}
	for name, input := range a.Inputs {
		values["inputs."+name] = input.Default
	}
	for name, value := range inputs {
		if _, ok := a.Inputs[name]; !ok {
			t.Fatalf("there is no input %s", name)
		}
		values["inputs."+name] = value
	}
	expand := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(match string) string {
			name := expression.FindStringSubmatch(match)[1]
			value, ok := values[name]
			if !ok && !strings.HasPrefix(name, "steps.") {
				t.Errorf("nobody sets %s", name)
			}
			return value
		})
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(temp, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, s := range a.Runs.Steps {
		if s.Uses != "" {
			continue
		}
		if s.Shell != "bash" {
			t.Fatalf("step %q has shell %q", s.Name, s.Shell)
		}
		command := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", expand(s.Run))
		command.Dir = r.folder
		command.Env = append(os.Environ(), "PATH="+read("path")+path+os.Getenv("PATH"), "RUNNER_TEMP="+temp,
			"GITHUB_OUTPUT="+filepath.Join(temp, "output"), "GITHUB_PATH="+filepath.Join(temp, "path"),
			"GITHUB_STEP_SUMMARY="+filepath.Join(temp, "summary"))
		for name, value := range s.Env {
			command.Env = append(command.Env, name+"="+expand(value))
		}
		out, err := command.CombinedOutput()
		r.log += string(out)
		for line := range strings.Lines(read("output")) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			values["steps."+s.ID+".outputs."+name] = value
		}
		if text := read("path"); text != "" { // one folder on each line
			r.addPath = text
			if err := os.WriteFile(filepath.Join(temp, "path"), []byte(strings.ReplaceAll(text, "\n", ":")), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if r.status = command.ProcessState.ExitCode(); err != nil {
			break
		}
	}
	r.summary = read("summary")
	for name, output := range a.Outputs {
		r.outputs[name] = expand(output.Value)
	}
	return r
}

// TestAction runs the action with several inputs, after it has built the commands once.
func TestAction(t *testing.T) {
	first := start(t, "", map[string]string{"logs": "node1.hdr", "in": "ns", "unit": "ms"})
	if first.status != 0 || !strings.Contains(first.log, "hdrsum version ") || first.addPath == "" {
		t.Fatalf("status %d, %s", first.status, first.log)
	}
	path := strings.TrimSpace(first.addPath) + ":" // the others find the commands there
	files := func(r *run) (names []string) {
		entries, err := os.ReadDir(r.outputs["folder"])
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return names
	}
	if got, want := files(first), []string{"latency.html", "percentiles.png", "summary.json", "summary.md", "timeline.png"}; !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
	if !strings.HasPrefix(first.summary, "### Latency\n\n**p99 of simple1-rt is 140.9 ms.") || !strings.Contains(first.summary, "\n| insert-rt | 5,384 |") {
		t.Errorf("summary %s", first.summary)
	}

	for _, test := range []struct {
		name           string
		inputs         map[string]string
		status         int
		output         string // status
		log, inSummary string // parts of them
		tags           int
	}{
		{"limits hold", map[string]string{"limits": "99<=1s\n\n  max<=1s  \n"}, 0, "0", "", "**HOLDS: max of simple1-rt is 356 ms of 1 s.**\n", 6},
		{"a limit does not hold", map[string]string{"limits": "99<=1ms"}, 4, "4", "::error::hdrkit: FAILS: p99 of simple1-rt is ", "### Latency\n\n**FAILS: p99 of simple1-rt is ", 6},
		{"a change", map[string]string{"logs": "node2.hdr", "baseline": "node1.hdr", "limits": "50<=+1%", "tags": "insert-rt"}, 0, "5", "Run again: three times in a row is a failure", "**NOT PROVEN: p50 rose by 7.53% ", 1},
		{"a change that passes", map[string]string{"logs": "node2.hdr", "baseline": "node1.hdr", "limits": "50<=+1%", "tags": "insert-rt", "undecided": "pass"}, 0, "0", "::warning::hdrkit: NOT PROVEN: p50 rose by 7.53% ", "**NOT PROVEN: p50 rose by 7.53% ", 1},
		{"undecided fails", map[string]string{"logs": "node2.hdr", "baseline": "node1.hdr", "limits": "50<=+1%", "tags": "insert-rt", "undecided": "fail"}, 5, "5", "::error::hdrkit: a limit is undecided", "NOT PROVEN", 1},
		{"no baseline yet", map[string]string{"baseline": "ci/base*.hdr", "limits": "99<=+10% or +2ms,99<=1s\n50<= +5%,throughput>=-10/s"}, 0, "0", "::notice::hdrkit: there is no baseline yet", "- HOLDS: p99 of insert-rt is 33.03 ms of 1 s.\n", 6},
		{"only limits of a baseline that is not there", map[string]string{"baseline": "nosuch", "limits": "99<=+10%"}, 0, "0", "::notice::", "insert-rt", 6},
		{"globs", map[string]string{"logs": "node[12].hdr", "tags": "insert-rt", "percentiles": "50"}, 0, "0", "", "| p50 |", 1},
		{"a folder", map[string]string{"logs": "new", "tags": "insert-rt"}, 0, "0", "", "insert-rt", 1},
		{"runs", map[string]string{"logs": "new", "baseline": "old", "runs": "true", "limits": "50<=+1000%", "tags": "insert-rt"}, 0, "0", "", "insert-rt", 1},
		{"a baseline", map[string]string{"logs": "node2.hdr", "baseline": "node1.hdr", "limits": "50<=+1000%"}, 0, "0", "", "limit +1000%", 6},
		{"several logs", map[string]string{"logs": "node1.hdr\nnode2.hdr\n", "tags": "insert-rt"}, 0, "0", "", "insert-rt", 1},
		{"a pattern", map[string]string{"logs": `node.*\.hdr`, "tags": "insert-rt,insert-st"}, 0, "0", "", "insert-rt", 2},
		{"no log", map[string]string{"logs": "nosuch.hdr"}, 1, "1", "::error::hdrkit: hdrsum could not read the logs", "", 0},
		{"no name of a log", map[string]string{"logs": " \n"}, 2, "", "::error::hdrkit: the input logs is empty", "", 0},
		{"a wrong limit", map[string]string{"limits": "$(touch hacked)"}, 2, "2", "-sla", "", 0},
		{"malformed lines", map[string]string{"logs": "damaged.hdr"}, 0, "3", "::warning::hdrkit: some lines", "insert-rt", 7},
		{"commands of GitHub in a log", map[string]string{"logs": "damaged.hdr", "limits": "99<=1ns"}, 4, "4", "::error::hdrkit: FAILS: p99 of ", "FAILS", 7},
	} {
		t.Run(test.name, func(t *testing.T) {
			inputs := map[string]string{"logs": "node1.hdr", "in": "ns", "unit": "ms", "pictures": "none"}
			maps.Copy(inputs, test.inputs)
			if inputs["logs"] == "damaged.hdr" {
				damaged := filepath.Join(t.TempDir(), "damaged.hdr")
				text, err := os.ReadFile("../../testdata/logs/node1.hdr")
				if err == nil {
					line := string(text[bytes.Index(text, []byte("Tag=insert-rt,")):])
					line = line[len("Tag=insert-rt") : strings.Index(line, "\n")+1]
					err = os.WriteFile(damaged, []byte(string(text)+"Tag=x,##[stop-commands]tok:::add-mask::e,y\nTag=##[add-mask]e:::f"+line), 0o666)
				}
				if err != nil {
					t.Fatal(err)
				}
				inputs["logs"] = damaged
			}
			r := start(t, path, inputs)
			if r.status != test.status || r.outputs["status"] != test.output && test.output != "" ||
				!strings.Contains(r.log, test.log) || !strings.Contains(r.summary, test.inSummary) {
				t.Errorf("status %d, outputs %q\n%s\n%s", r.status, r.outputs, r.log, r.summary)
			}
			outside := regexp.MustCompile(`(?m)^::(error|warning|notice)::hdrkit: `).ReplaceAllString(r.log, "")
			if strings.Contains(outside, "##[") || strings.Contains(outside, "::") {
				t.Errorf("the runner takes a part of this for a command:\n%s", r.log)
			}
			if _, err := os.Stat(filepath.Join(r.folder, "hacked")); err == nil {
				t.Error("an input ran as a command")
			}
			if test.tags == 0 {
				return
			}
			var summary struct{ Summaries []struct{ Tag *string } }
			text, err := os.ReadFile(r.outputs["json"])
			if err == nil {
				err = json.Unmarshal(text, &summary)
			}
			if err != nil || len(summary.Summaries) != test.tags {
				t.Errorf("%v, %d tags", err, len(summary.Summaries))
			}
			if names := files(r); !slices.Equal(names, []string{"summary.json", "summary.md"}) {
				t.Errorf("there are %q", names)
			}
		})
	}
	// At the third time in a row the job fails, if the workflow keeps the file that counts.
	state := filepath.Join(t.TempDir(), "kept", "state")
	worse, better := "50<=+1%", "50<=+1000%"
	for n, run := range []struct {
		limits string
		status int
		log    string
	}{
		{worse, 0, "Run again"}, {worse, 0, "Run again"}, {better, 0, ""}, {worse, 0, "Run again"}, {worse, 0, "Run again"},
		{worse, 5, "::error::hdrkit: a limit looks worse for the third time in a row"}, {worse, 5, "third time"}, {better, 0, ""}, {worse, 0, "Run again"},
	} {
		r := start(t, path, map[string]string{"logs": "node2.hdr", "baseline": "node1.hdr", "in": "ns", "unit": "ms", "pictures": "none", "tags": "insert-rt", "limits": run.limits, "state": state})
		if r.status != run.status || !strings.Contains(r.log, run.log) {
			t.Errorf("run %d: status %d\n%s", n, r.status, r.log)
		}
	}
}

// TestInputs: each input and output is used, and described in docs/action.md.
func TestInputs(t *testing.T) {
	a, root := load(t)
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/action.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, input := range a.Inputs {
		if input.Description == "" || !strings.Contains(string(text), "inputs."+name) || !strings.Contains(string(page), fmt.Sprintf("`%s`", name)) {
			t.Errorf("input %s", name)
		}
	}
	for name := range a.Outputs {
		if !strings.Contains(string(page), fmt.Sprintf("`%s`", name)) {
			t.Errorf("output %s", name)
		}
	}
	for _, s := range a.Runs.Steps {
		if s.Uses == "" && strings.Contains(s.Run, "inputs.") {
			t.Errorf("step %q puts an input into a command, where a shell reads it", s.Name)
		}
	}
}
