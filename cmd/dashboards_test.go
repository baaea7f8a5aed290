//go:build unix

package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"hdrkit/internal/clitest"
	"hdrkit/internal/live/prom"
)

// page returns a section of docs/dashboards.md or docs/operate.md.
func page(t *testing.T, section string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/dashboards.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := os.ReadFile("../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text)+string(more), "\n## "+section+"\n")
	if !ok {
		t.Fatalf("no section %s", section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

// commandsIn returns the commands of a section, a line each.
func commandsIn(t *testing.T, section string) string {
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

// shell runs commands in a folder with a log and returns what they printed. What they leave running
// ends with the test. The logs of tests are of the past, which -push leaves out.
func shell(t *testing.T, dir, script string) string {
	t.Helper()
	build(t)
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o777); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile("../testdata/logs/node1.hdr")
	if err != nil {
		t.Fatal(err)
	}
	// The other machine of ssh is this one.
	for path, text := range map[string]string{"run.hdr": string(log), "bin/ssh": "#!/bin/sh\nshift\nexec \"$@\"\n"} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	// Files, not pipes: those would have to be read until what runs in the background ends.
	out, err := os.Create(filepath.Join(dir, "shell.out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	// A slow machine takes longer until a service answers, and nobody must be silent meanwhile.
	script = strings.NewReplacer("hdrlive - ", "hdrlive - ", "hdrlive ", "hdrlive -from start -idle 1h ", "--retry 30 ", "--retry 300 ").Replace(script)
	sh := exec.Command("bash", "-e", "-c", script)
	sh.Dir = dir
	sh.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	sh.Stdout, sh.Stderr = out, out
	sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := sh.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// What runs in the background may still write to the folder until it has ended.
		syscall.Kill(-sh.Process.Pid, syscall.SIGKILL)
		clitest.Await(t, "the end of what runs in the background", nil, func() bool {
			return syscall.Kill(-sh.Process.Pid, 0) != nil
		})
	})
	err = sh.Wait()
	printed, _ := os.ReadFile(out.Name())
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	return string(printed)
}

// cells returns the queries in the tables of a section.
func cells(t *testing.T, section string) []string {
	t.Helper()
	var all []string
	for _, row := range regexp.MustCompile("(?m)^\\| [^`]+ \\| (`.+`) \\|$").FindAllStringSubmatch(page(t, section), -1) {
		for _, query := range strings.Split(row[1], ", `") {
			all = append(all, strings.Trim(query, "`"))
		}
	}
	if len(all) < 4 {
		t.Errorf("%d queries only in section %s", len(all), section)
	}
	return all
}

// awaitQuery waits until a query of Prometheus finds something.
func awaitQuery(t *testing.T, server, query string, at float64) {
	t.Helper()
	clitest.Await(t, query, nil, func() bool {
		var answer struct {
			Data struct{ Result []any }
		}
		parameters := url.Values{"query": {query}}
		if at != 0 {
			parameters.Set("time", fmt.Sprint(at))
		}
		// Prometheus may answer a query with 503 although it says that it is ready.
		err := json.Unmarshal([]byte(clitest.Fetch(server+"/api/v1/query?"+parameters.Encode())), &answer)
		return err == nil && len(answer.Data.Result) > 0
	})
}

// expand puts values in the place of the variables of a Grafana dashboard.
var expand = strings.NewReplacer("$tag", ".*", "$__rate_interval", "1m", "$timeFilter", "time > 0").Replace

// TestDashboardsScrape runs the page's way from logs that are written to Prometheus, then its
// queries, and those of the Grafana dashboard.
func TestDashboardsScrape(t *testing.T) {
	clitest.RequireTools(t, "prometheus", "bash")
	const section = "While a test runs: Prometheus"
	dir, server := t.TempDir(), clitest.Address(t)
	all := clitest.Writers(t, dir, 3)
	shell(t, dir, strings.NewReplacer("127.0.0.1:9103", clitest.Address(t), "127.0.0.1:9090", server, "scrape_interval: 5s", "scrape_interval: 1s").Replace(commandsIn(t, section)))
	clitest.KeepWriting(t, all, 3)
	for _, query := range append(cells(t, section), dashboard(t, "live", "expr")...) {
		awaitQuery(t, "http://"+server, expand(query), 0)
	}
}

// TestOperateFiles runs the commands of the unit and of the sidecar until they show values.
func TestOperateFiles(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile("../docs/operate/hdrlive.service")
	if err != nil {
		t.Fatal(err)
	}
	sidecar, err := os.ReadFile("../docs/operate/sidecar.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, start, _ := strings.Cut(strings.ReplaceAll(string(unit), "\\\n", " "), "\nExecStart=/usr/bin/hdrlive ")
	start, _, _ = strings.Cut(start, "\n")
	build(t)
	var args []string
	for _, found := range regexp.MustCompile(`(?m)^ +- (-\S+)$`).FindAllStringSubmatch(string(sidecar), -1) {
		args = append(args, found[1])
	}
	for name, args := range map[string][]string{"unit": strings.Fields(strings.ReplaceAll(start, "'", "")), "sidecar": args} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, at := t.TempDir(), clitest.Address(t)
			clitest.Writers(t, dir, 3)
			auth := filepath.Join(dir, "auth")
			if err := os.WriteFile(auth, []byte("token42"), 0o600); err != nil {
				t.Fatal(err)
			}
			here := strings.NewReplacer("/var/log/loadtest", dir, "/logs", dir, "${STATE_DIRECTORY}", dir, "/etc/hdrkit/auth", auth, "127.0.0.1:9103", at, ":9103", at)
			for n := range args {
				args[n] = here.Replace(args[n])
			}
			p := clitest.Start(t, nil, "hdrlive", args...)
			p.Await("values", func() bool {
				request, _ := http.NewRequest(http.MethodGet, "http://"+at+"/metrics", nil)
				request.Header.Set("Authorization", "Bearer token42")
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					return false
				}
				defer response.Body.Close()
				body, _ := io.ReadAll(response.Body)
				return strings.Contains(string(body), "\nlatency_seconds_count{")
			})
			if text := clitest.Fetch("http://" + at + "/healthz"); text != "healthy\n" {
				t.Errorf("%q", text)
			}
			p.Interrupt(syscall.SIGTERM, 0)
		})
	}
}

// TestOperateUnit lets systemd's own tool check the unit, where there is one.
func TestOperateUnit(t *testing.T) {
	t.Parallel()
	clitest.RequireTools(t, "systemd-analyze")
	text, err := os.ReadFile("../docs/operate/hdrlive.service")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "hdrlive.service")
	text = []byte(strings.Replace(string(text), "ExecStart=/usr/bin/hdrlive", "ExecStart=/bin/true", 1)) // it must be there
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"verify", "--man=no", path}, {"security", "--offline=true", "--threshold=20", path}} {
		if out, err := exec.Command("systemd-analyze", args...).CombinedOutput(); err != nil {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
}

// TestAlerts lets Prometheus's own tool check the alerts and try each. Every metric in them is one
// that the page describes.
func TestAlerts(t *testing.T) {
	t.Parallel()
	const file = "../docs/prometheus/alerts.yml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	watching := page(t, "What it says of itself")
	for _, metric := range regexp.MustCompile(`hdrkit_\w+`).FindAllString(string(text), -1) {
		if !strings.Contains(watching, "`"+metric+"`") {
			t.Errorf("the page lacks %s", metric)
		}
	}
	clitest.RequireTools(t, "promtool")
	for _, args := range [][]string{{"check", "rules", file}, {"test", "rules", "testdata/alerts_test.yml"}} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
}

// TestOperatePort runs the page's way to a port with a password and TLS.
func TestOperatePort(t *testing.T) {
	clitest.RequireTools(t, "bash", "openssl", "curl")
	dir, at := t.TempDir(), clitest.Address(t)
	clitest.Writers(t, dir, 3)
	_, number, _ := net.SplitHostPort(at)
	script := strings.ReplaceAll(commandsIn(t, "The port"), ":9103", ":"+number)
	printed := shell(t, dir, script)
	lines := strings.Split(strings.TrimSpace(script), "\n")
	// The first answer may come before the first window.
	clitest.Await(t, "a metric", func() string { return printed }, func() bool {
		again := exec.Command("bash", "-c", lines[len(lines)-1])
		again.Dir = dir
		out, err := again.CombinedOutput()
		if printed = string(out); err != nil {
			t.Fatal(printed)
		}
		return strings.Contains(printed, "# TYPE latency histogram")
	})
	if answer := clitest.Fetch("http://" + at + "/metrics"); !strings.Contains(answer, "HTTPS server") {
		t.Errorf("without TLS: %q", answer)
	}
}

// TestDashboardsRemoteWrite runs the page's way to a Prometheus that receives.
func TestDashboardsRemoteWrite(t *testing.T) {
	clitest.RequireTools(t, "prometheus", "bash")
	server := livePrometheus(t, "scrape_configs: []")
	dir := t.TempDir()
	clitest.Writers(t, dir, 10)
	shell(t, dir, strings.ReplaceAll(commandsIn(t, "While a test runs: remote write"), "http://127.0.0.1:9090", server))
	for _, query := range cells(t, "While a test runs: Prometheus") {
		if !strings.Contains(query, "hdrkit_") {
			awaitQuery(t, server, query, clitest.LiveStart+10)
		}
	}
}

// TestDashboardsOTLP runs the page's way to a receiver of OpenTelemetry, which takes nothing that
// the protocol does not know. All values arrive, each in one window.
func TestDashboardsOTLP(t *testing.T) {
	clitest.RequireTools(t, "bash")
	dir := t.TempDir()
	clitest.Writers(t, dir, 6)
	r := clitest.Receive(t, func(int) int { return http.StatusOK })
	shell(t, dir, strings.ReplaceAll(commandsIn(t, "While a test runs: OpenTelemetry"), "http://127.0.0.1:4318", r.URL))
	var points map[string][]*metrics.ExponentialHistogramDataPoint
	clitest.Await(t, "five windows of two tags", nil, func() bool {
		points = otlpPoints(t, r.Text())
		return len(points["insert-rt"]) == 5 && len(points["insert-wt"]) == 5
	})
	for tag, all := range points {
		for n, p := range all {
			if n > 0 && p.StartTimeUnixNano != all[n-1].TimeUnixNano || p.TimeUnixNano-p.StartTimeUnixNano != 1e9 {
				t.Errorf("%s: a window from %d to %d", tag, p.StartTimeUnixNano, p.TimeUnixNano)
			}
			if p.Count != 300 || p.Scale != 10 || p.GetMin() < 0.0009 || p.GetMax() > 0.02 {
				t.Errorf("%s: %d values from %v to %v at scale %d", tag, p.Count, p.GetMin(), p.GetMax(), p.Scale)
			}
		}
	}
}

// otlpPoints returns the points of requests by tag, and checks what a receiver relies on.
func otlpPoints(t *testing.T, requests string) map[string][]*metrics.ExponentialHistogramDataPoint {
	t.Helper()
	all := map[string][]*metrics.ExponentialHistogramDataPoint{}
	if requests == "" {
		return all
	}
	unpacked, err := gzip.NewReader(strings.NewReader(requests))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	var data metrics.MetricsData
	if err := proto.Unmarshal(text, &data); err != nil {
		t.Fatal(err)
	}
	if again, err := (proto.MarshalOptions{Deterministic: true}).Marshal(&data); err != nil || len(again) != len(text) {
		t.Errorf("%d bytes of %d have a meaning: %v", len(again), len(text), err)
	}
	for _, r := range data.ResourceMetrics {
		m := r.ScopeMetrics[0].Metrics[0]
		e := m.GetExponentialHistogram()
		p := e.DataPoints[0]
		sum := p.ZeroCount
		for _, count := range p.Positive.BucketCounts {
			sum += count
		}
		if m.Name != "request.latency" || m.Unit != "s" || e.AggregationTemporality != metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA || sum != p.Count {
			t.Errorf("%v", m)
		}
		tag := p.Attributes[0].Value.GetStringValue()
		all[tag] = append(all[tag], p)
	}
	return all
}

// TestDashboardsRemoteLogs runs the page's way to logs on other machines.
func TestDashboardsRemoteLogs(t *testing.T) {
	clitest.RequireTools(t, "bash", "tail")
	dir := t.TempDir()
	clitest.Writers(t, dir, 5)
	os.Rename(filepath.Join(dir, "node0.hdr"), filepath.Join(dir, "node2.hdr"))
	shell(t, dir, commandsIn(t, "Logs on other machines"))
	clitest.Await(t, "all.hdr", nil, func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, "all.hdr"))
		return strings.Count(string(text), "Tag=insert-rt,") == 4
	})
}

// TestDashboardsPrometheus runs the page's way from a file to Prometheus, then the queries it
// gives, and those of the Grafana dashboard.
func TestDashboardsPrometheus(t *testing.T) {
	clitest.RequireTools(t, "promtool", "prometheus", "curl", "bash")
	const section = "From a file to Prometheus"
	server, past := clitest.Address(t), clitest.Address(t)
	printed := shell(t, t.TempDir(), strings.NewReplacer("127.0.0.1:9090", server, "127.0.0.1:9091", past).Replace(commandsIn(t, section)))
	rows := rows(t, "../testdata/logs/node1.hdr", "-incT", "insert-rt", "-ovr", "1e9")["insert-rt"]
	if want := fmt.Sprintf("%v @[1468800420", rows[0]["p99"]); !strings.Contains(printed, want) {
		t.Errorf("promtool query printed, without %q:\n%s", want, printed)
	}
	for _, query := range append(cells(t, section), dashboard(t, "latency", "expr")...) {
		queryRange(t, "http://"+server, expand(query))
	}
	for _, query := range cells(t, "While a test runs: Prometheus") {
		if !strings.Contains(query, "hdrkit_") {
			awaitQuery(t, "http://"+past, query, 1468800510)
		}
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

// A board is a Grafana dashboard, as far as the tests look at it.
type board struct {
	Title, UID, Refresh string
	SchemaVersion       int
	Time                struct{ From string }
	Templating          struct {
		List []struct {
			Name, Type string
			Query      any
		}
	}
	Panels []struct {
		ID         int
		Title      string
		Type       string
		Datasource struct{ Type, UID string }
		GridPos    struct{ X, Y, W, H int }
		Options    json.RawMessage
		Targets    []map[string]any
	}
}

// readBoard reads a dashboard of docs/grafana.
func readBoard(t *testing.T, name string) (b board, text string) {
	t.Helper()
	data, err := os.ReadFile("../docs/grafana/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	return b, string(data)
}

// dashboard returns the queries of a Grafana dashboard, which are in a field of its targets, and
// checks the rest of it.
func dashboard(t *testing.T, name, field string) []string {
	t.Helper()
	b, _ := readBoard(t, name)
	if b.Title == "" || b.UID == "" || b.SchemaVersion == 0 || len(b.Panels) == 0 {
		t.Errorf("%s: no dashboard: %+v", name, b)
	}
	if name != "latency" && (b.Refresh != "5s" || b.Time.From != "now-5m") {
		t.Errorf("%s: refresh %s, from %s", name, b.Refresh, b.Time.From)
	}
	var queries []string
	variables := map[string]bool{"__rate_interval": true, "timeFilter": true, "tag_tag": true}
	for _, v := range b.Templating.List {
		variables[v.Name] = true
		switch query := v.Query.(type) {
		case map[string]any:
			queries = append(queries, regexp.MustCompile(`label_values\((.*), \w+\)`).FindStringSubmatch(query["query"].(string))[1])
		case string:
			if v.Type == "query" {
				queries = append(queries, query)
			}
		}
	}
	ids := map[int]bool{}
	for _, p := range b.Panels {
		if ids[p.ID] || p.Title == "" || p.Datasource.UID != "${datasource}" ||
			p.GridPos.W < 1 || p.GridPos.H < 1 || p.GridPos.X+p.GridPos.W > 24 || len(p.Targets) == 0 {
			t.Errorf("%s: no panel: %+v", name, p)
		}
		ids[p.ID] = true
		refs := map[any]bool{}
		for _, target := range p.Targets {
			query, _ := target[field].(string)
			if refs[target["refId"]] || target["refId"] == nil || query == "" {
				t.Errorf("%s: no target: %+v", name, target)
			}
			refs[target["refId"]] = true
			for _, v := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(query, -1) {
				if !variables[v[1]] {
					t.Errorf("%s: %s: no variable %s", name, query, v[0])
				}
			}
			queries = append(queries, query)
		}
	}
	return queries
}

// TestDashboardMetrics compares the names and quantiles of the Grafana dashboards with those that
// are emitted.
func TestDashboardMetrics(t *testing.T) {
	t.Parallel()
	build(t)
	dir, at := t.TempDir(), clitest.Address(t)
	clitest.Writers(t, dir, 3)
	p := clitest.Start(t, nil, "hdrlive", "-ip", dir, "-if", `node\d\.hdr`, "-in", "ns", "-serve", at)
	live := ""
	p.Await("metrics", func() bool {
		live = clitest.Fetch("http://" + at + "/metrics")
		return strings.Contains(live, "window_max") && strings.Contains(live, "hdrkit_input_lag_seconds") // which comes later
	})
	for name, text := range map[string]string{
		"latency": printed(t, "hdrsum", "../testdata/logs/node1.hdr", "-in", "ns", "-st", "openmetrics"),
		"live":    live,
	} {
		for _, expr := range dashboard(t, name, "expr") {
			names := 0
			for _, f := range regexp.MustCompile(`((?:latency|hdrkit)_[a-z_]+)(\{[^}]*\})?`).FindAllStringSubmatch(expr, -1) {
				names++
				label := regexp.MustCompile(`(quantile|percentile)="[^"]*"`).FindString(f[2])
				line := regexp.MustCompile(`(?m)^` + f[1] + `(_bucket)?\{.*` + regexp.QuoteMeta(label) + `.*\} `)
				if !line.MatchString(text) {
					t.Errorf("%s: %s: no %s with %q is emitted", name, expr, f[1], label)
				}
			}
			if names == 0 {
				t.Errorf("%s: %s has no metric", name, expr)
			}
		}
	}
	points := printed(t, "hdrsum", "../testdata/logs/node1.hdr", "-st", "influx")
	for _, query := range dashboard(t, "influxdb", "query") {
		if field := regexp.MustCompile(`SELECT "(.+?)" FROM "latency" `).FindStringSubmatch(query); field != nil && !strings.Contains(points, ","+field[1]+"=") {
			t.Errorf("%s: no field %s is emitted", query, field[1])
		}
		if !strings.Contains(query, `FROM "latency"`) {
			t.Error(query)
		}
	}
}

// influxQuery returns the number of series that a query finds.
func influxQuery(t *testing.T, server, db, query string) int {
	t.Helper()
	var answer struct {
		Results []struct {
			Series []any
			Error  string
		}
	}
	get(t, server+"/query?"+url.Values{"db": {db}, "q": {query}}.Encode(), &answer)
	if answer.Results[0].Error != "" {
		t.Fatalf("%s: %s", query, answer.Results[0].Error)
	}
	return len(answer.Results[0].Series)
}

// TestDashboardsInfluxDB runs the page's ways to InfluxDB, and the queries of the Grafana
// dashboard.
func TestDashboardsInfluxDB(t *testing.T) {
	clitest.RequireTools(t, "influxd", "curl", "bash")
	server := influxdb(t)
	script := func(section string) string {
		return strings.ReplaceAll(commandsIn(t, section), "http://127.0.0.1:8086", server)
	}
	dir := t.TempDir()
	all := clitest.Writers(t, dir, 3)
	shell(t, dir, script("While a test runs: InfluxDB"))
	clitest.KeepWriting(t, all, 3)
	for _, query := range dashboard(t, "influxdb", "query") {
		want := 2 // tags
		if strings.HasPrefix(query, "SHOW") {
			want = 1
		}
		clitest.Await(t, query, nil, func() bool { return influxQuery(t, server, "loadtest", expand(query)) == want })
	}

	printed := shell(t, t.TempDir(), script("From a file to InfluxDB"))
	rows := rows(t, "../testdata/logs/node1.hdr", "-ovr", "1e6")
	for _, row := range rows["insert-rt"] {
		if want := fmt.Sprintf("%v,%v]", row["p99.9"], row["max"]); !strings.Contains(printed, want) {
			t.Errorf("the query printed, without %q:\n%s", want, printed)
		}
	}
}

// TestDashboardsFiles runs the page's commands for spreadsheets and notebooks.
func TestDashboardsFiles(t *testing.T) {
	clitest.RequireTools(t, "bash")
	dir := t.TempDir()
	shell(t, dir, commandsIn(t, "Spreadsheets and notebooks"))
	for name, begin := range map[string]string{"run.csv": "start,relative_start,", "run.ndjson": `{"start":"`} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.HasPrefix(string(text), begin) {
			t.Errorf("%s: %.100s, %v", name, text, err)
		}
	}
}

// TestSchema checks what the page says of the buckets of native histograms.
func TestSchema(t *testing.T) {
	t.Parallel()
	const schema = prom.Schema
	width := 100 * (math.Exp2(math.Exp2(-schema)) - 1)
	text := strings.Join(strings.Fields(page(t, "While a test runs: Prometheus")), " ")
	if want := fmt.Sprintf("schema %d: each bucket is %.2f%% wider than the one before.", schema, width); !strings.Contains(text, want) {
		t.Errorf("the page lacks %q", want)
	}
}

// TestGrafanaTypes checks the types of the dashboards, of their panels and of the options of
// panels.
func TestGrafanaTypes(t *testing.T) {
	clitest.RequireTools(t, "npm", "npx")
	dir := t.TempDir()
	code := `import type { Dashboard, Panel } from '@grafana/schema';
import type * as heatmap from '@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen';
import type * as timeseries from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';
// JSON has the values of enumerations, not their names.
type Plain<T> = T extends string ? ` + "`${T}`" + ` : T extends number | boolean | null | undefined ? T
	: T extends (infer U)[] ? Plain<U>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
`
	for _, name := range []string{"live", "influxdb", "latency"} {
		b, text := readBoard(t, name)
		code += fmt.Sprintf("{ const board: Plain<Dashboard> = %s; }\n", text)
		var parts struct{ Panels []json.RawMessage }
		if err := json.Unmarshal([]byte(text), &parts); err != nil {
			t.Fatal(err)
		}
		for n, p := range b.Panels {
			code += fmt.Sprintf("{ const panel: Plain<Panel<%s.Options, %[1]s.FieldConfig>> = %s; }\n", p.Type, parts.Panels[n])
			if p.Options != nil {
				code += fmt.Sprintf("{ const options: Plain<%s.Options> = %s; }\n", p.Type, p.Options)
			}
		}
	}
	for name, text := range map[string]string{
		"check.ts":     code,
		"package.json": `{"private": true}`,
		"tsconfig.json": `{"compilerOptions": {"strict": true, "noEmit": true, "module": "nodenext", "moduleResolution": "nodenext",
			"skipLibCheck": true, "target": "es2022", "types": []}, "files": ["check.ts"]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"npm", "install", "--no-audit", "--no-fund", "@grafana/schema@13.2.3", "typescript@5.9.3"}, {"npx", "tsc", "-p", "."},
	} {
		command := exec.Command(args[0], args[1:]...)
		command.Dir = dir
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
}
