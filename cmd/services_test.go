//go:build unix

package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hdrkit/internal/clitest"
)

// serve starts a service and waits until it answers at the URL. It ends with the test.
func serve(t *testing.T, ready string, name string, args ...string) {
	t.Helper()
	var log strings.Builder
	service := exec.Command(name, args...)
	service.Stdout, service.Stderr = &log, &log
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- service.Wait() }()
	t.Cleanup(func() {
		service.Process.Kill()
		<-exited
		if t.Failed() {
			said := log.String()
			t.Logf("%s said at the end:\n%s", name, said[max(0, len(said)-2000):])
		}
	})
	clitest.Await(t, "an answer of "+name, nil, func() bool {
		select {
		case err := <-exited:
			exited <- err
			t.Fatalf("%s ended: %v", name, err)
		default:
		}
		response, err := http.Get(ready)
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode/100 == 2
	})
}

// get returns what is at a URL as JSON. A service may answer with 503 although it says that it is
// ready.
func get(t *testing.T, address string, into any) {
	t.Helper()
	var body []byte
	clitest.Await(t, address, func() string { return string(body) }, func() bool {
		response, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if body, err = io.ReadAll(response.Body); err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusServiceUnavailable {
			t.Fatalf("%s: %s: %s", address, response.Status, body)
		}
		return response.StatusCode == http.StatusOK
	})
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("%s: %v: %s", address, err, body)
	}
}

// rows returns the rows of a log as -st ndjson has them, by tag, "" for none.
func rows(t *testing.T, args ...string) map[string][]map[string]any {
	t.Helper()
	build(t)
	byTag := make(map[string][]map[string]any)
	for line := range strings.Lines(printed(t, "hdrsum", append(args, "-st", "ndjson")...)) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		tag, _ := row["tag"].(string)
		byTag[tag] = append(byTag[tag], row)
	}
	return byTag
}

func end(row map[string]any) int64 { return int64(row["end_ms"].(float64)) }

// prometheus backfills an empty Prometheus with OpenMetrics text, by promtool, starts it and
// returns its URL.
func prometheus(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	file, config, data := filepath.Join(dir, "om.txt"), filepath.Join(dir, "prometheus.yml"), filepath.Join(dir, "data")
	for path, content := range map[string]string{file: text, config: "scrape_configs: []\n"} {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("promtool", "tsdb", "create-blocks-from", "openmetrics", file, data).CombinedOutput(); err != nil {
		t.Fatalf("promtool: %v\n%s", err, out)
	}
	address := clitest.Address(t)
	serve(t, "http://"+address+"/-/ready", "prometheus", "--config.file="+config, "--storage.tsdb.path="+data,
		"--storage.tsdb.retention.time=100y", "--web.listen-address="+address)
	return "http://" + address
}

// sample is a value at a time, in milliseconds since the epoch.
type sample struct {
	time  int64
	value float64
}

// samples returns all that Prometheus has of the series that a selector finds, by labels, as they
// are in JSON.
func samples(t *testing.T, prometheus, selector string, at int64) map[string][]sample {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any
			}
		}
	}
	query := url.Values{"query": {selector + "[10y]"}, "time": {strconv.FormatFloat(float64(at)/1000, 'f', 3, 64)}}
	get(t, prometheus+"/api/v1/query?"+query.Encode(), &answer)
	all := make(map[string][]sample)
	for _, series := range answer.Data.Result {
		labels, _ := json.Marshal(series.Metric)
		for _, pair := range series.Values {
			value, err := strconv.ParseFloat(pair[1].(string), 64)
			if err != nil {
				t.Fatal(err)
			}
			all[string(labels)] = append(all[string(labels)], sample{int64(math.Round(pair[0].(float64) * 1000)), value})
		}
	}
	return all
}

// same reports whether two figures are the same but for roundoff; NaN is the same as NaN.
func same(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-12*math.Abs(b)
}

// TestPrometheus fills Prometheus with a log and queries every figure back.
func TestPrometheus(t *testing.T) {
	clitest.RequireTools(t, "promtool", "prometheus")
	build(t)
	for _, log := range []string{"node1", "odd-tags", "double", "empty-intervals", "huge-values"} {
		t.Run(log, func(t *testing.T) {
			args := []string{"../testdata/logs/" + log + ".hdr", "-ovr", "1e9", "-p", "0,50,99,99.9,99.999"}
			text := printed(t, "hdrsum", append(args, "-st", "openmetrics", "-metric", "latency_seconds")...)
			server := prometheus(t, text)
			quantiles := map[string]string{"0.0": "p0", "0.5": "p50", "0.99": "p99", "0.999": "p99.9", "0.99999": "p99.999", "1.0": "max"}
			wanted := 0
			for tag, rows := range rows(t, args...) {
				label := map[string]string{}
				if tag != "" {
					label["tag"] = tag
				}
				got := samples(t, server, `{__name__=~"latency_seconds.*",tag=`+strconv.Quote(tag)+`}`, end(rows[len(rows)-1])+1)
				series := func(name, quantile string) []sample {
					key := map[string]string{"__name__": name}
					for k, v := range label {
						key[k] = v
					}
					if quantile != "" {
						key["quantile"] = quantile
					}
					text, _ := json.Marshal(key)
					return got[string(text)]
				}
				var count, sum float64
				for n, row := range rows {
					check := func(name, quantile string, want float64) {
						t.Helper()
						wanted++
						s := series(name, quantile)
						if len(s) != len(rows) {
							t.Fatalf("tag %q: %s %s has %d samples, want %d", tag, name, quantile, len(s), len(rows))
						}
						if s[n].time != end(row) || !same(s[n].value, want) {
							t.Errorf("tag %q, interval %d: %s %s is %v, want %v at %d", tag, n, name, quantile, s[n], want, end(row))
						}
					}
					for quantile, column := range quantiles {
						want, ok := row[column].(float64)
						if !ok {
							want = math.NaN() // nothing was recorded
						}
						check("latency_seconds", quantile, want)
					}
					mean, _ := row["mean"].(float64)
					count += row["count"].(float64)
					sum += mean * row["count"].(float64)
					check("latency_seconds_count", "", count)
					check("latency_seconds_sum", "", sum)
				}
			}
			if lines := strings.Count(text, "\n") - 4; wanted != lines {
				t.Errorf("compared %d samples of %d", wanted, lines)
			}
			compareTotals(t, server, args)
		})
	}
}

// compareTotals compares the counters with the summary of the whole log.
func compareTotals(t *testing.T, server string, args []string) {
	t.Helper()
	var summary struct {
		Summaries []struct {
			Tag        *string
			TotalCount float64
			Mean       *float64
			EndMs      int64
		}
	}
	if err := json.Unmarshal([]byte(printed(t, "hdrsum", append(args, "-st", "json")...)), &summary); err != nil {
		t.Fatal(err)
	}
	for _, s := range summary.Summaries {
		tag := ""
		if s.Tag != nil {
			tag = *s.Tag
		}
		for _, counts := range samples(t, server, `latency_seconds_count{tag=`+strconv.Quote(tag)+`}`, s.EndMs+1) {
			if last := counts[len(counts)-1]; last.value != s.TotalCount {
				t.Errorf("tag %q: the last count is %v, want %v", tag, last, s.TotalCount)
			}
		}
		for _, sums := range samples(t, server, `latency_seconds_sum{tag=`+strconv.Quote(tag)+`}`, s.EndMs+1) {
			if last := sums[len(sums)-1]; s.Mean != nil && math.Abs(last.value/s.TotalCount / *s.Mean - 1) > 1e-3 {
				t.Errorf("tag %q: the mean of all is %v, want %v", tag, last.value/s.TotalCount, *s.Mean)
			}
		}
	}
}

// TestPromtoolCheck has promtool lint the names, units and types. It reads the older text format,
// which has no such times and one sample a series: those of the first interval of a tag do.
func TestPromtoolCheck(t *testing.T) {
	clitest.RequireTools(t, "promtool")
	build(t)
	text := printed(t, "hdrsum", "../testdata/logs/digits3.hdr", "-e", "0", "-ovr", "1e9", "-st", "openmetrics", "-metric", "latency_seconds")
	var plain strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			line = line[:strings.LastIndexByte(line, ' ')] + "\n"
		}
		plain.WriteString(line)
	}
	lint := exec.Command("promtool", "check", "metrics")
	lint.Stdin = strings.NewReader(plain.String())
	if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// influxdb starts an empty InfluxDB and returns its URL.
func influxdb(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	config, at := filepath.Join(dir, "influxdb.conf"), clitest.Address(t)
	content := fmt.Sprintf(`reporting-disabled = true
bind-address = %q
[meta]
dir = %[2]q
[data]
dir = %[3]q
wal-dir = %[4]q
[http]
bind-address = %[5]q
`, clitest.Address(t), filepath.Join(dir, "meta"), filepath.Join(dir, "data"), filepath.Join(dir, "wal"), at)
	if err := os.WriteFile(config, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	serve(t, "http://"+at+"/ping", "influxd", "-config", config)
	return "http://" + at
}

// TestInfluxDB writes logs to InfluxDB and queries every figure back.
func TestInfluxDB(t *testing.T) {
	clitest.RequireTools(t, "influxd")
	build(t)
	server := influxdb(t)
	for _, log := range []string{"node1", "odd-tags", "double", "empty-intervals", "huge-counts"} {
		t.Run(log, func(t *testing.T) {
			args := []string{"../testdata/logs/" + log + ".hdr", "-ovr", "1e6", "-p", "50,99,99.9"}
			points := printed(t, "hdrsum", append(args, "-st", "influx", "-metric", "request latency")...)
			response, err := http.PostForm(server+"/query", url.Values{"q": {`CREATE DATABASE "` + log + `"`}})
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, response.Body) // it answers before it has done so
			response.Body.Close()
			response, err = http.Post(server+"/write?db="+log, "text/plain", strings.NewReader(points))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if body, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusNoContent {
				t.Fatalf("%s: %s", response.Status, body)
			}
			var answer struct {
				Results []struct {
					Series []struct {
						Tags    map[string]string
						Columns []string
						Values  [][]any
					}
				}
			}
			query := url.Values{"db": {log}, "epoch": {"ms"}, "q": {`SELECT * FROM "request latency" GROUP BY "tag"`}}
			get(t, server+"/query?"+query.Encode(), &answer)
			want := rows(t, args...)
			if len(answer.Results) != 1 || len(answer.Results[0].Series) != len(want) {
				t.Fatalf("%+v", answer)
			}
			for _, series := range answer.Results[0].Series {
				rows := want[series.Tags["tag"]]
				if len(series.Values) != len(rows) {
					t.Errorf("tag %q: %d points, want %d", series.Tags["tag"], len(series.Values), len(rows))
					continue
				}
				for n, values := range series.Values {
					for m, name := range series.Columns {
						want := rows[n][name]
						if name == "time" {
							want = float64(end(rows[n]))
						}
						got := values[m]
						if a, ok := got.(float64); ok {
							if b, ok := want.(float64); ok && same(a, b) {
								continue
							}
						}
						if got != want {
							t.Errorf("tag %q, interval %d: %s is %v, want %v", series.Tags["tag"], n, name, got, want)
						}
					}
				}
			}
		})
	}
}
