//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hdrkit/internal/clitest"
)

// page returns a section of docs/dashboards.md.
func page(t *testing.T, section string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/dashboards.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n## "+section+"\n")
	if !ok {
		t.Fatalf("no section %s", section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

// commands returns the commands of a section, a line each.
func commands(t *testing.T, section string) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(page(t, section)) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			lines = append(lines, command)
		}
	}
	if len(lines) == 0 {
		t.Fatalf("no commands in section %s", section)
	}
	return strings.Join(lines, "")
}

// shell runs commands in a folder with a log and returns what they printed. What they leave running ends with the test.
func shell(t *testing.T, dir, script string) string {
	t.Helper()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "bin", "hdrsum"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	log, err := os.ReadFile("../../testdata/logs/node1.hdr")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "fixed.hdr"), log, 0o666); err != nil {
		t.Fatal(err)
	}
	// Files, not pipes: those would have to be read until what runs in the background ends.
	out, err := os.Create(filepath.Join(dir, "shell.out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	sh := exec.Command("sh", "-e", "-c", script)
	sh.Dir = dir
	sh.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	sh.Stdout, sh.Stderr = out, out
	sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := sh.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-sh.Process.Pid, syscall.SIGTERM)
		time.Sleep(200 * time.Millisecond) // it may still write to its folder
		syscall.Kill(-sh.Process.Pid, syscall.SIGKILL)
	})
	err = sh.Wait()
	printed, _ := os.ReadFile(out.Name())
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	return string(printed)
}

// TestDashboardsPrometheus runs the page's way from a file to Prometheus, then the queries it gives, and those of the
// Grafana dashboard.
func TestDashboardsPrometheus(t *testing.T) {
	clitest.RequireTools(t, "promtool", "prometheus", "curl")
	const section = "From a file to Prometheus"
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	printed := shell(t, t.TempDir(), strings.ReplaceAll(commands(t, section), "127.0.0.1:9090", address))
	rows := rows(t, "../../testdata/logs/node1.hdr", "-incT", "insert-rt", "-ovr", "1e9")["insert-rt"]
	if want := fmt.Sprintf("%v @[1468800420", rows[0]["p99"]); !strings.Contains(printed, want) {
		t.Errorf("promtool query printed, without %q:\n%s", want, printed)
	}

	cells := regexp.MustCompile("\\| `([^`]+)` \\|").FindAllStringSubmatch(page(t, section), -1)
	if len(cells) < 5 {
		t.Errorf("%d queries only", len(cells))
	}
	for _, cell := range cells {
		queryRange(t, "http://"+address, cell[1])
	}
	for _, expr := range dashboard(t) {
		queryRange(t, "http://"+address, strings.NewReplacer("$tag", ".*", "$__rate_interval", "1m").Replace(expr))
	}
}

// queryRange has Prometheus draw a query over the log's time, in which it must find something.
func queryRange(t *testing.T, server, query string) {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct{ Values [][2]any }
		}
	}
	parameters := url.Values{"query": {query}, "start": {"1468800401"}, "end": {"1468800530"}, "step": {"10"}}
	get(t, server+"/api/v1/query_range?"+parameters.Encode(), &answer)
	if len(answer.Data.Result) == 0 {
		t.Errorf("%s finds nothing", query)
	}
	for _, series := range answer.Data.Result {
		if len(series.Values) < 5 {
			t.Errorf("%s finds only %v", query, series.Values)
		}
	}
}

// dashboard returns the expressions of the Grafana dashboard.
func dashboard(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/grafana/latency.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Title, UID    string
		SchemaVersion int
		Templating    struct {
			List []struct {
				Name, Type, Definition string
			}
		}
		Panels []struct {
			ID          int
			Title, Type string
			Datasource  struct{ Type, UID string }
			GridPos     struct{ X, Y, W, H int }
			FieldConfig struct{ Defaults struct{ Unit string } }
			Targets     []struct{ RefID, Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	if board.Title == "" || board.UID == "" || board.SchemaVersion == 0 || len(board.Panels) == 0 {
		t.Errorf("no dashboard: %+v", board)
	}
	var expressions []string
	variables := map[string]bool{"__rate_interval": true}
	for _, v := range board.Templating.List {
		variables[v.Name] = true
		if v.Type == "query" {
			expressions = append(expressions, regexp.MustCompile(`label_values\((.*), \w+\)`).FindStringSubmatch(v.Definition)[1])
		}
	}
	ids := map[int]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "timeseries" || p.Datasource.Type != "prometheus" || p.FieldConfig.Defaults.Unit == "" ||
			p.GridPos.W < 1 || p.GridPos.H < 1 || p.GridPos.X+p.GridPos.W > 24 || len(p.Targets) == 0 {
			t.Errorf("no panel: %+v", p)
		}
		ids[p.ID] = true
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if refs[target.RefID] || target.RefID == "" || target.LegendFormat == "" {
				t.Errorf("no target: %+v", target)
			}
			refs[target.RefID] = true
			for _, v := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(target.Expr, -1) {
				if !variables[v[1]] {
					t.Errorf("%s: no variable %s", target.Expr, v[0])
				}
			}
			expressions = append(expressions, target.Expr)
		}
	}
	return expressions
}

// TestDashboardMetrics compares the names and quantiles of the Grafana dashboard with those that are emitted.
func TestDashboardMetrics(t *testing.T) {
	text := must(t, "../../testdata/logs/node1.hdr", "-ovr", "1e9", "-st", "openmetrics", "-metric", "request_latency_seconds")
	for _, expr := range dashboard(t) {
		found := regexp.MustCompile(`([a-z_]+)(\{[^}]*\})?`).FindAllStringSubmatch(expr, -1)
		names := 0
		for _, f := range found {
			if !strings.Contains(f[1], "latency") {
				continue
			}
			names++
			quantile := regexp.MustCompile(`quantile="[^"]*"`).FindString(f[2])
			line := regexp.MustCompile(`(?m)^` + f[1] + `\{.*` + regexp.QuoteMeta(quantile) + `.*\} `)
			if !line.MatchString(text) {
				t.Errorf("%s: no %s with %q is emitted", expr, f[1], quantile)
			}
		}
		if names == 0 {
			t.Errorf("%s has no metric", expr)
		}
	}
}

// TestDashboardsInfluxDB runs the page's way from a file and from a pipe to InfluxDB.
func TestDashboardsInfluxDB(t *testing.T) {
	clitest.RequireTools(t, "influxd", "curl")
	server := influxdb(t)
	dir := t.TempDir()
	text, err := os.ReadFile("../../testdata/logs/node1.hdr")
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(bytes.Lines(text))
	live, err := os.Create(filepath.Join(dir, "live.hdr"))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	live.Write(bytes.Join(lines[:5], nil))

	printed := shell(t, dir, strings.ReplaceAll(commands(t, "From a pipe to InfluxDB"), "http://127.0.0.1:8086", server))
	rows := rows(t, "../../testdata/logs/node1.hdr", "-ovr", "1e6")
	for _, row := range rows["insert-rt"] {
		if want := fmt.Sprintf("%v,%v]", row["p99.9"], row["max"]); !strings.Contains(printed, want) {
			t.Errorf("the query printed, without %q:\n%s", want, printed)
		}
	}
	for n, line := range lines[5:8] {
		live.Write(line)
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			var answer struct {
				Results []struct{ Series []struct{ Values [][]any } }
			}
			get(t, server+"/query?"+url.Values{"db": {"loadtest"}, "q": {`SELECT count("count") FROM live`}}.Encode(), &answer)
			if s := answer.Results[0].Series; len(s) > 0 && s[0].Values[0][1] == float64(n+1) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("line %d: no point after 10 s: %+v", n, answer)
			}
		}
	}
}

// TestDashboardsFiles runs the page's commands for spreadsheets and notebooks.
func TestDashboardsFiles(t *testing.T) {
	dir := t.TempDir()
	shell(t, dir, commands(t, "Spreadsheets and notebooks"))
	for name, begin := range map[string]string{"fixed.csv": "start,relative_start,", "fixed.ndjson": `{"start":"`} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.HasPrefix(string(text), begin) {
			t.Errorf("%s: %.100s, %v", name, text, err)
		}
	}
}
