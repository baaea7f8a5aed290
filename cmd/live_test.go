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
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"hdrkit/internal/clitest"
)

// madeLog writes the log of a test with windows of a second, and returns its path and the
// percentiles of all its values.
func madeLog(t *testing.T) (path string, exact map[float64]float64) {
	t.Helper()
	build(t)
	path = filepath.Join(t.TempDir(), "all.hdr")
	w := clitest.NewLogWriter(t, path, 0, "insert-rt")
	for s := range 30 {
		w.Second(s, int64(1e6+3e4*s), 2000)
	}
	var summary struct {
		Summaries []struct {
			Percentiles []struct{ Percentile, Value float64 }
		}
	}
	text := printed(t, "hdrsum", path, "-ovr", "1e9", "-st", "json", "-p", "50,90,99,99.9")
	if err := json.Unmarshal([]byte(text), &summary); err != nil {
		t.Fatal(err)
	}
	exact = map[float64]float64{}
	for _, p := range summary.Summaries[0].Percentiles {
		exact[p.Percentile] = p.Value
	}
	return path, exact
}

// livePrometheus starts a Prometheus that takes native histograms, with a configuration, and
// returns its URL.
func livePrometheus(t *testing.T, config string) string {
	t.Helper()
	dir, at := t.TempDir(), clitest.Address(t)
	path := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(path, []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	serve(t, "http://"+at+"/-/ready", "prometheus", "--config.file="+path, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--storage.tsdb.retention.time=100y", "--web.listen-address="+at, "--enable-feature=native-histograms", "--web.enable-remote-write-receiver")
	return "http://" + at
}

// value returns the value of a query that has one, NaN if it has none. At is in seconds since the
// epoch.
func value(t *testing.T, server, query string, at float64) float64 {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	parameters := url.Values{"query": {query}, "time": {strconv.FormatFloat(at, 'f', 3, 64)}}
	get(t, server+"/api/v1/query?"+parameters.Encode(), &answer)
	if len(answer.Data.Result) != 1 {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(answer.Data.Result[0].Value[1].(string), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkQuantiles compares the quantiles that Prometheus computes of native histograms with those of
// hdrsum. It returns the largest relative error.
func checkQuantiles(t *testing.T, server string, schema int, exact map[float64]float64, at float64) {
	t.Helper()
	bound := math.Exp2(math.Exp2(float64(-schema))) - 1
	largest := 0.0
	for p, want := range exact {
		got := value(t, server, fmt.Sprintf(`histogram_quantile(%v, latency_seconds{tag="insert-rt"})`, p/100), at)
		off := math.Abs(got/want - 1)
		largest = max(largest, off)
		if !(off <= bound) {
			t.Errorf("schema %d: the %vth percentile is %v, want %v within %.3f%%", schema, p, got, want, 100*bound)
		}
	}
	t.Logf("schema %d: within %.3f%% of the exact percentiles, bound %.3f%%", schema, 100*largest, 100*bound)
}

// TestPrometheusScrape has Prometheus scrape a log that is followed.
func TestPrometheusScrape(t *testing.T) {
	clitest.RequireTools(t, "prometheus")
	path, exact := madeLog(t)
	for _, schema := range []int{5} {
		at := clitest.Address(t)
		server := livePrometheus(t, fmt.Sprintf("scrape_configs: [{job_name: hdrsum, scrape_interval: 1s, static_configs: [{targets: [%q]}]}]", at))
		// The last window is complete when a line of the next one is there.
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		log := filepath.Join(t.TempDir(), "log.hdr")
		last := clitest.Line(t, 30, 1, 1, "other")
		if err := os.WriteFile(log, append(text, last...), 0o666); err != nil {
			t.Fatal(err)
		}
		p := clitest.Start(t, nil, "hdrlive", "-if", log, "-in", "ns", "-metric", "latency_seconds", "-serve", at)
		scraped := 0.0 // a time with a scrape: a later one may fail
		p.Await("a scrape", func() bool {
			scraped = float64(time.Now().UnixMilli()) / 1000
			return value(t, server, `histogram_count(latency_seconds{tag="insert-rt"})`, scraped) == 60000
		})
		checkQuantiles(t, server, schema, exact, scraped)
		if got := value(t, server, `count(latency_seconds_window)`, scraped); got != 4 {
			t.Errorf("%v quantiles of the window", got)
		}
		if got := value(t, server, `hdrkit_lines_total`, scraped); !(got > 30) {
			t.Errorf("%v lines", got)
		}
	}
}

// TestPrometheusPush has Prometheus receive a complete log by remote write.
func TestPrometheusPush(t *testing.T) {
	clitest.RequireTools(t, "prometheus")
	path, exact := madeLog(t)
	for _, schema := range []int{5} {
		server := livePrometheus(t, "scrape_configs: []")
		log, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		clitest.Start(t, log, "hdrlive", "-", "-s", "start", "-in", "ns", "-metric", "latency_seconds", "-push", server+"/api/v1/write").Ends(0)
		at := float64(clitest.LiveStart + 30)
		checkQuantiles(t, server, schema, exact, at)
		if got := value(t, server, `count_over_time(latency_seconds_window_max{tag="insert-rt"}[1m])`, at); got != 30 {
			t.Errorf("%v windows", got)
		}
		rows := rows(t, path, "-agg", "1", "-ovr", "1e9")["insert-rt"]
		if got, want := value(t, server, `latency_seconds_window{percentile="99"}`, at), rows[29]["p99"]; got != want {
			t.Errorf("the 99th percentile of the last window is %v, not %v", got, want)
		}
		rate := value(t, server, `histogram_count(rate(latency_seconds{tag="insert-rt"}[10s]))`, at)
		if math.Abs(rate-2000) > 1 {
			t.Errorf("%v values per second", rate)
		}
	}
}

// TestInfluxDBPush follows three logs into InfluxDB. It has exactly one point for each tag and
// window.
func TestInfluxDBPush(t *testing.T) {
	clitest.RequireTools(t, "influxd")
	build(t)
	server := influxdb(t)
	response, err := http.PostForm(server+"/query", url.Values{"q": {`CREATE DATABASE loadtest`}})
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
	dir := t.TempDir()
	all := clitest.Writers(t, dir, 10)
	p := clitest.Start(t, nil, "hdrlive", "-ip", dir, "-if", `node\d\.hdr`, "-in", "ns", "-unit", "ms",
		"-from", "start", "-idle", "1h", "-push", server+"/write?db=loadtest&precision=ms")
	points := func() map[string][][]any {
		var answer struct {
			Results []struct {
				Series []struct {
					Tags   map[string]string
					Values [][]any
				}
			}
		}
		query := url.Values{"db": {"loadtest"}, "epoch": {"ms"}, "q": {`SELECT "count", "max" FROM latency GROUP BY "tag"`}}
		get(t, server+"/query?"+query.Encode(), &answer)
		found := map[string][][]any{}
		for _, s := range answer.Results[0].Series {
			found[s.Tags["tag"]] = s.Values
		}
		return found
	}
	p.Await("nine windows", func() bool { return len(points()["insert-rt"]) == 9 })
	clitest.WriteSeconds(all, 10, 20)
	p.Await("nineteen windows", func() bool { return len(points()["insert-rt"]) == 19 })
	p.Interrupt(os.Interrupt, 0)
	found := points()
	for _, tag := range []string{"insert-rt", "insert-wt"} {
		for n, point := range found[tag] {
			if want := float64(clitest.LiveStart+n+1) * 1000; point[0] != want || point[1] != 300.0 {
				t.Errorf("tag %s: point %d is %v, not at %v", tag, n, point, want)
			}
		}
		if len(found[tag]) != 20 {
			t.Errorf("tag %s: %d points", tag, len(found[tag]))
		}
	}
}
