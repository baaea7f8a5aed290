package measure

import (
	"bytes"
	stdcsv "encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/clitest"
)

// A sample is a file that a real tool wrote, and how the test reads it, with other code than the
// package.
type sample struct {
	file    string
	format  string // that is found
	options Options
	// read returns the measurements.
	read func(t *testing.T, text []byte) []measured
}

type measured struct {
	time, value *big.Rat // seconds
	tag         string
	failed      bool
}

func folder() string { return filepath.Join(clitest.Root(), "testdata", "measurements") }

// records reads CSV with the standard library.
func records(t *testing.T, text []byte, delimiter rune) [][]string {
	t.Helper()
	r := stdcsv.NewReader(bytes.NewReader(text))
	r.Comma = delimiter
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func rat(t *testing.T, text string, scale int64) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return r.Mul(r, big.NewRat(1, scale))
}

// seconds returns a time as seconds.
func seconds(t *testing.T, layout, text string) *big.Rat {
	t.Helper()
	at, err := time.Parse(layout, text)
	if err != nil {
		t.Fatal(err)
	}
	return big.NewRat(at.UnixNano(), 1e9)
}

func readJTL(delimiter rune, at func(t *testing.T, text string) *big.Rat) func(*testing.T, []byte) []measured {
	return func(t *testing.T, text []byte) (all []measured) {
		for _, r := range records(t, text, delimiter)[1:] {
			tag := r[2]
			if strings.HasPrefix(r[4], "Number of samples in transaction") {
				tag += "/transaction"
			}
			all = append(all, measured{at(t, r[0]), rat(t, r[1], 1e3), tag, r[7] == "false"})
		}
		return all
	}
}

func epochMillis(t *testing.T, text string) *big.Rat { return rat(t, text, 1e3) }

func readK6CSV(at func(t *testing.T, text string) *big.Rat) func(*testing.T, []byte) []measured {
	return func(t *testing.T, text []byte) (all []measured) {
		for _, r := range records(t, text, ',')[1:] {
			if r[0] == "http_req_duration" {
				all = append(all, measured{at(t, r[1]), rat(t, r[2], 1e3), r[9], r[6] == "false"})
			}
		}
		return all
	}
}

func readK6JSON(t *testing.T, text []byte) (all []measured) {
	for line := range bytes.Lines(text) {
		var point struct {
			Type, Metric string
			Data         struct {
				Time  string
				Value json.Number
				Tags  map[string]string
			}
		}
		if err := json.Unmarshal(line, &point); err == nil && point.Type == "Point" && point.Metric == "http_req_duration" {
			all = append(all, measured{
				seconds(t, time.RFC3339Nano, point.Data.Time), rat(t, string(point.Data.Value), 1e3),
				point.Data.Tags["name"], point.Data.Tags["expected_response"] == "false",
			})
		}
	}
	return all
}

func readVegetaCSV(t *testing.T, text []byte) (all []measured) {
	for _, r := range records(t, text, ',') {
		all = append(all, measured{rat(t, r[0], 1e9), rat(t, r[2], 1e9), r[1], r[1] != "200"})
	}
	return all
}

func readVegetaJSON(t *testing.T, text []byte) (all []measured) {
	for line := range bytes.Lines(text) {
		var result struct {
			Code      int
			Timestamp string
			Latency   int64
		}
		if err := json.Unmarshal(line, &result); err != nil {
			t.Fatal(err)
		}
		all = append(all, measured{
			seconds(t, time.RFC3339Nano, result.Timestamp), big.NewRat(result.Latency, 1e9), fmt.Sprint(result.Code), result.Code != 200,
		})
	}
	return all
}

// readLines reads each line with a regular expression of four groups: time, method, status, value.
func readLines(expression, layout string, scale int64) func(*testing.T, []byte) []measured {
	return func(t *testing.T, text []byte) (all []measured) {
		for line := range strings.Lines(string(text)) {
			m := regexp.MustCompile(expression).FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				t.Fatalf("%q does not match", line)
			}
			at := new(big.Rat)
			if layout == "" {
				at = rat(t, m[1], 1)
			} else if layout == "ms" {
				at = rat(t, m[1], 1e3)
			} else {
				at = seconds(t, layout, m[1])
			}
			all = append(all, measured{at, rat(t, m[4], scale), m[2] + "/" + m[3], m[3] >= "400"})
		}
		return all
	}
}

// readNamed reads each line with a regular expression of groups named time, value, method and
// status. Scale returns how many units of the value of a line are a second.
func readNamed(expression, layout string, scale func(line string) int64) func(*testing.T, []byte) []measured {
	e := regexp.MustCompile(expression)
	return func(t *testing.T, text []byte) (all []measured) {
		for line := range strings.Lines(string(text)) {
			m := e.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				t.Fatalf("%q does not match", line)
			}
			of := func(name string) string { return m[e.SubexpIndex(name)] }
			at := new(big.Rat)
			if layout == "" {
				at = rat(t, of("time"), 1)
			} else {
				at = seconds(t, layout, of("time"))
			}
			failed := of("status") >= "400" || of("status") == "000"
			all = append(all, measured{at, rat(t, of("value"), scale(line)), of("method") + "/" + of("status"), failed})
		}
		return all
	}
}

func millis(string) int64 { return 1e3 }

// readGatling reads lines with an expression of four groups: name, start, end, status.
func readGatling(expression string) func(*testing.T, []byte) []measured {
	return func(t *testing.T, text []byte) (all []measured) {
		for _, m := range regexp.MustCompile(expression).FindAllStringSubmatch(string(text), -1) {
			start, end := epochMillis(t, m[2]), epochMillis(t, m[3])
			all = append(all, measured{start, end.Sub(end, start), m[1], m[4] == "KO"})
		}
		return all
	}
}

// readW3C reads a log of the extended format whose time-taken is seconds times scale.
func readW3C(scale int64) func(*testing.T, []byte) []measured {
	return func(t *testing.T, text []byte) (all []measured) {
		var names []string
		for line := range strings.Lines(string(text)) {
			if header, ok := strings.CutPrefix(line, "#Fields: "); ok {
				names = strings.Fields(header)
			}
			if line[0] == '#' {
				continue
			}
			fields := strings.Fields(line)
			of := func(name string) string { return fields[slices.Index(names, name)] }
			at := seconds(t, time.DateTime, of("date")+" "+of("time"))
			all = append(all, measured{at, rat(t, of("time-taken"), scale), "", of("sc-status") >= "400" || of("sc-status") == "000"})
		}
		return all
	}
}

// readSubResults is readJTL of the samples whose requests home and direct have sub-results.
func readSubResults(t *testing.T, text []byte) (all []measured) {
	all = readJTL(',', epochMillis)(t, text)
	for n := range all {
		if strings.HasPrefix(all[n].tag, "home-") || strings.HasPrefix(all[n].tag, "direct-") {
			all[n].tag += "/sub-result"
		}
	}
	return all
}

// readJMeterXML reads elements of XML by the standard library.
func readJMeterXML(t *testing.T, text []byte) (all []measured) {
	type element struct {
		Elapsed  int64  `xml:"t,attr"`
		Start    int64  `xml:"ts,attr"`
		Success  bool   `xml:"s,attr"`
		Label    string `xml:"lb,attr"`
		Message  string `xml:"rm,attr"`
		XMLName  xml.Name
		Children []element `xml:",any"`
	}
	var document struct {
		Samples []element `xml:",any"`
	}
	if err := xml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var add func(e element, suffix string)
	add = func(e element, suffix string) {
		if e.XMLName.Local == "java.net.URL" {
			return
		}
		below := "/sub-result"
		if strings.HasPrefix(e.Message, "Number of samples in transaction") {
			suffix = "/transaction"
			below = ""
		}
		all = append(all, measured{big.NewRat(e.Start, 1000), big.NewRat(e.Elapsed, 1000), e.Label + suffix, !e.Success})
		for _, child := range e.Children {
			add(child, below)
		}
	}
	for _, sample := range document.Samples {
		add(sample, "")
	}
	return all
}

var samples = []sample{
	{"jmeter-subresults.jtl", "jtl", Options{}, readSubResults},
	{"jmeter-redirects.jtl", "jtl", Options{}, readSubResults},
	{"jmeter.xml", "jtl", Options{}, readJMeterXML},
	{"jmeter.jtl", "jtl", Options{}, readJTL(',', epochMillis)},
	{"jmeter-tab.jtl", "jtl", Options{}, readJTL('\t', epochMillis)},
	{"jmeter-semicolon.jtl", "jtl", Options{}, readJTL(';', func(t *testing.T, text string) *big.Rat {
		return seconds(t, "2006/01/02 15:04:05.000", text)
	})},
	{"jmeter-transaction.jtl", "jtl", Options{}, readJTL(',', epochMillis)},
	{"jmeter-bare.jtl", "csv", Options{Columns: Columns{Time: "1", Value: "2", Tags: []string{"3"}, OK: "8"}, Unit: hdrlog.Millisecond}, func(t *testing.T, text []byte) []measured {
		return readJTL(',', epochMillis)(t, append([]byte("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17\n"), text...))
	}},
	{"k6.csv", "k6", Options{}, readK6CSV(func(t *testing.T, text string) *big.Rat { return rat(t, text, 1) })},
	{"k6-nano.csv", "k6", Options{}, readK6CSV(func(t *testing.T, text string) *big.Rat { return seconds(t, time.RFC3339Nano, text) })},
	{"k6.json", "k6", Options{}, readK6JSON},
	{"vegeta.csv", "vegeta", Options{}, readVegetaCSV},
	{"vegeta.json", "vegeta", Options{}, readVegetaJSON},
	{"vegeta-8.csv", "vegeta", Options{}, readVegetaCSV},
	{"iis.log", "w3c", Options{}, readW3C(1e3)},
	{"cloudfront.log", "w3c", Options{}, readW3C(1)},
	{"tsung.dump", "tsung", Options{}, func(t *testing.T, text []byte) (all []measured) {
		for _, r := range records(t, text, ';')[1:] {
			all = append(all, measured{rat(t, r[0], 1), rat(t, r[8], 1e3), "", r[6] >= "400"})
		}
		return all
	}},
	{"go-ycsb.csv", "go-ycsb", Options{}, func(t *testing.T, text []byte) (all []measured) {
		for _, r := range records(t, text, ',')[1:] {
			all = append(all, measured{rat(t, r[1], 1e6), rat(t, r[2], 1e6), r[0], false})
		}
		return all
	}},
	{"hey.csv", "hey", Options{}, func(t *testing.T, text []byte) (all []measured) {
		for _, r := range records(t, text, ',')[1:] {
			all = append(all, measured{rat(t, r[7], 1), rat(t, r[0], 1), "", r[6] >= "400"})
		}
		return all
	}},
	{"ab.tsv", "ab", Options{}, func(t *testing.T, text []byte) (all []measured) {
		for _, r := range records(t, text, '\t')[1:] {
			all = append(all, measured{seconds(t, time.ANSIC, r[0]), rat(t, r[4], 1e3), "", false})
		}
		return all
	}},
	{"fio.log", "fio", Options{}, func(t *testing.T, text []byte) (all []measured) {
		for line := range strings.Lines(string(text)) {
			var at, value, direction int64
			fmt.Sscanf(line, "%d, %d, %d,", &at, &value, &direction)
			all = append(all, measured{big.NewRat(at, 1e3), big.NewRat(value, 1e9), []string{"read", "write"}[direction], false})
		}
		return all
	}},
	{"pgbench.log", "pgbench", Options{}, func(t *testing.T, text []byte) (all []measured) {
		for _, r := range records(t, text, ' ') {
			at := rat(t, r[4], 1)
			all = append(all, measured{at.Add(at, rat(t, r[5], 1e6)), rat(t, r[2], 1e6), "", false})
		}
		return all
	}},
	{"h2load.log", "h2load", Options{}, func(t *testing.T, text []byte) (all []measured) {
		for _, r := range records(t, text, '\t') {
			all = append(all, measured{rat(t, r[0], 1e6), rat(t, r[2], 1e6), "", r[1] >= "400"})
		}
		return all
	}},
	{"oha.csv", "oha", Options{}, func(t *testing.T, text []byte) (all []measured) {
		for _, r := range records(t, text, ',')[1:] {
			all = append(all, measured{rat(t, r[0], 1), rat(t, r[4], 1), "", r[6] >= "400"})
		}
		return all
	}},
	{"fortio.log", "fortio", Options{}, func(t *testing.T, text []byte) (all []measured) {
		for line := range bytes.Lines(text) {
			var r struct {
				Latency, Timestamp json.Number
				OK                 bool
			}
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			all = append(all, measured{rat(t, r.Timestamp.String(), 1e9), rat(t, r.Latency.String(), 1), "", !r.OK})
		}
		return all
	}},
	{"ghz.json", "ghz", Options{}, func(t *testing.T, text []byte) (all []measured) {
		var report struct {
			Details []struct {
				Timestamp, Error string
				Latency          int64
			}
		}
		if err := json.Unmarshal(text, &report); err != nil {
			t.Fatal(err)
		}
		for _, r := range report.Details {
			all = append(all, measured{seconds(t, time.RFC3339Nano, r.Timestamp), big.NewRat(r.Latency, 1e9), "", r.Error != ""})
		}
		return all
	}},
	{"gatling-2.0.log", "gatling", Options{}, readGatling(`(?m)^.*\tREQUEST\t.*\t(.*)\t(\d+)\t\d+\t\d+\t(\d+)\t(OK|KO)\t.*$`)},
	{"gatling-3.2.log", "gatling", Options{}, readGatling(`(?m)^REQUEST\t\d+\t\t(.*)\t(\d+)\t(\d+)\t(OK|KO)\t.*$`)},
	{"gatling.log", "gatling", Options{}, readGatling(`(?m)^REQUEST\t.*\t(.*)\t(\d+)\t(\d+)\t(OK|KO)\t.*$`)},
	{"caddy.log", "caddy", Options{}, func(t *testing.T, text []byte) (all []measured) {
		for line := range bytes.Lines(text) {
			var entry struct {
				TS, Duration json.Number
				Status       int
			}
			if err := json.Unmarshal(line, &entry); err != nil {
				t.Fatal(err)
			}
			all = append(all, measured{rat(t, entry.TS.String(), 1), rat(t, entry.Duration.String(), 1), "", entry.Status >= 400})
		}
		return all
	}},
	{"envoy.log", "envoy", Options{Columns: Columns{Tags: []string{"method", "status"}}},
		readLines(`^\[(\S+)\] "(\S+).*?" (\d+) \S+ \d+ \d+ (\d+) `, time.RFC3339Nano, 1e3)},
	{"istio.log", "istio", Options{Columns: Columns{Tags: []string{"method", "status"}}},
		readNamed(`^\[(?P<time>\S+)\] "(?P<method>\w+) .*?" (?P<status>\d+) .*?" \d+ \d+ (?P<value>\d+) `, time.RFC3339Nano, millis)},
	{"squid.log", "squid", Options{Columns: Columns{Tags: []string{"method", "status"}}},
		readNamed(`^(?P<time>\S+) +(?P<value>\d+) \S+ \w+/(?P<status>\d+) \d+ (?P<method>\w+) `, "", millis)},
	{"uwsgi.log", "uwsgi", Options{Columns: Columns{Tags: []string{"method", "status"}}},
		readNamed(`\[(?P<time>\w+ \w+ .{2} [^]]+)\] (?P<method>\w+) .* in (?P<value>\d+) m.* (?P<status>\d+)\) \d+ headers`, time.ANSIC, func(line string) int64 {
			if strings.Contains(line, "micros") {
				return 1e6
			}
			return 1e3
		})},
	{"heroku.log", "heroku", Options{Columns: Columns{Tags: []string{"method", "status"}}},
		readNamed(`^(?P<time>\S+) .* method=(?P<method>\w+) .* service=(?P<value>\d+)ms status=(?P<status>\d+) `, time.RFC3339Nano, millis)},
	{"haproxy.log", "haproxy", Options{Columns: Columns{Tags: []string{"method", "status"}}},
		func(t *testing.T, text []byte) (all []measured) {
			for line := range strings.Lines(string(text)) {
				m := regexp.MustCompile(`\[(\S+)\] web app/app1 \S+/(\d+) (\d+) .* "(\w+) `).FindStringSubmatch(line)
				all = append(all, measured{seconds(t, "02/Jan/2006:15:04:05.000", m[1]), rat(t, m[2], 1e3), m[4] + "/" + m[3], m[3] >= "400"})
			}
			return all
		}},
	{"nginx.log", "accesslog", Options{Columns: Columns{Tags: []string{"method", "status"}}},
		readLines(`\[(.*?)\] "(\S*).*?" (\d+) \d+ ".*" (\S+)$`, "02/Jan/2006:15:04:05 -0700", 1)},
	{"nginx-msec.log", "accesslog", Options{Columns: Columns{Tags: []string{"$request_method", "status"}},
		Pattern: "$msec $request_method $status $request_time $upstream_response_time $uri"}, readLines(`^(\S+) (\S+) (\S+) (\S+)`, "", 1)},
	{"nginx.ndjson", "ndjson", Options{Columns: Columns{Value: "request_time", Tags: []string{"method", ".status"}, OK: "status"}, Unit: hdrlog.Second},
		readLines(`"time":"(.*?)".*"method":"(.*?)".*"status":(\d+).*"request_time":([0-9.]+)`, time.RFC3339, 1)},
	{"apache.log", "accesslog", Options{Columns: Columns{Tags: []string{"method", "%>s"}},
		Pattern: `%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\" %D`}, readLines(`\[(.*?)\] "(\S*).*?" (\d+) \d+ ".*" (\S+)$`, "02/Jan/2006:15:04:05 -0700", 1e6)},
	{"apache-msec.log", "accesslog", Options{Columns: Columns{Tags: []string{"%m", "status"}}, Pattern: `%{msec}t %m %>s %{us}T %T %U`},
		readLines(`^(\S+) (\S+) (\S+) (\S+)`, "ms", 1e6)},
}

// ends are the formats, and samples of other formats, whose times are those of ends.
var ends = []string{"squid", "heroku", "k6", "nginx.log", "nginx-msec.log", "caddy", "pgbench", "fio", "w3c", "tsung", "jvm", "trace-gc"}

// TestSamples reads what real tools wrote, and compares every row with what the standard library
// reads.
func TestSamples(t *testing.T) {
	for _, s := range samples {
		t.Run(s.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(folder(), s.file))
			if err != nil {
				t.Fatal(err)
			}
			want := s.read(t, text)
			r, err := NewReader(bytes.NewReader(text), s.file, "", s.options)
			if err != nil {
				t.Fatal(err)
			}
			if r.Format() != s.format {
				t.Errorf("format %s, want %s", r.Format(), s.format)
			}
			n := 0
			for ; r.Scan(); n++ {
				if r.bad != nil {
					t.Fatal(r.bad)
				}
				if n >= len(want) {
					continue
				}
				row, w := &r.parser.row, want[n]
				if big.NewRat(row.Time, 1e9).Cmp(w.time) != 0 || big.NewRat(row.Value, 1e9).Cmp(w.value) != 0 ||
					string(row.Tag) != w.tag || row.Failed != w.failed {
					t.Errorf("row %d: %d %d %s %v, want %s %s %s %v", n, row.Time, row.Value, row.Tag, row.Failed,
						w.time.FloatString(9), w.value.FloatString(9), w.tag, w.failed)
				}
			}
			if n != len(want) || n == 0 || r.Err() != nil {
				t.Errorf("%d rows, want %d; %v", n, len(want), r.Err())
			}
		})
	}
}

// TestPercentiles records the samples, and compares percentiles with those of sorted values.
func TestPercentiles(t *testing.T) {
	for _, s := range samples {
		for _, atEnd := range []bool{false, true} {
			t.Run(fmt.Sprint(s.file, atEnd), func(t *testing.T) {
				text, err := os.ReadFile(filepath.Join(folder(), s.file))
				if err != nil {
					t.Fatal(err)
				}
				rec := recording{options: s.options, size: 500, late: 1e6, atEnd: &atEnd}
				log := rec.record(t, text)
				native := slices.Contains(ends, s.file) || slices.Contains(ends, s.format)
				if s.file == "fio.log" && !atEnd {
					t.Skip("the first ones begin before the run")
				}
				want := make(map[string][]float64) // nanoseconds
				for _, m := range s.read(t, text) {
					at := new(big.Rat).Set(m.time)
					if atEnd && !native {
						at.Add(at, m.value)
					} else if !atEnd && native {
						at.Sub(at, m.value)
					}
					f, _ := at.Float64()
					key := fmt.Sprintf("%s %d", logline.AppendTag(nil, []byte(m.tag), hdrlog.MaxTag), int64(math.Floor(f*2)))
					value, _ := m.value.Float64()
					want[key] = append(want[key], value*1e9)
				}
				got := intervals(t, log)
				if len(got) != len(want) {
					t.Errorf("%d intervals, want %d", len(got), len(want))
				}
				for key, values := range want {
					slices.Sort(values)
					h := got[key]
					if h == nil || h.TotalCount() != int64(len(values)) {
						t.Errorf("%s: %v, want %d values", key, h, len(values))
						continue
					}
					for _, percentile := range []float64{0.1, 25, 50, 75, 90, 99, 99.9, 100} {
						rank := max(1, int(math.Ceil(percentile/100*float64(len(values)))))
						value := values[rank-1]
						if found := float64(h.ValueAtPercentile(percentile)); found < math.Floor(value) || found > value*1.001+1 {
							t.Errorf("%s: percentile %v is %v, want %v", key, percentile, found, value)
						}
					}
				}
			})
		}
	}
}

// intervals returns the histograms of a log, by tag and number of half seconds.
func intervals(t *testing.T, log string) map[string]*histogram.Histogram {
	t.Helper()
	all := make(map[string]*histogram.Histogram)
	r := hdrlog.NewReader(strings.NewReader(log), "log")
	var d histogram.Decoder
	for record := range r.All() {
		switch record.Kind {
		case hdrlog.Malformed, hdrlog.Notice:
			t.Fatal(record.Err)
		case hdrlog.IntervalRecord:
			key := string(record.Interval.Tag) + " " + strconv.FormatInt(record.Interval.StartMillis()/500, 10)
			if all[key] == nil {
				all[key] = new(histogram.Histogram)
			}
			if err := d.AddTo(all[key], record.Interval.Payload); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// A recording says how to record a text.
type recording struct {
	format     string
	options    Options
	size, late int64
	atEnd      *bool
	failed     Failed

	counts   Counts
	messages []string
	mostly   error // that most rows are malformed
}

// record returns the log of a text.
func (rec *recording) record(t testing.TB, texts ...[]byte) string {
	t.Helper()
	var log bytes.Buffer
	w := hdrlog.NewWriter(&log)
	o := UsualRecording()
	o.Late = rec.late
	o.Size = rec.size
	o.Failed = rec.failed
	o.Report = func(err *hdrlog.SyntaxError) error {
		rec.messages = append(rec.messages, err.Error())
		return nil
	}
	if rec.atEnd != nil {
		o.AtEnd = func(*Reader) bool { return *rec.atEnd }
	}
	r := NewRecorder(w, o)
	var readers []*Reader
	for n, text := range texts {
		reader, err := NewReader(bytes.NewReader(text), fmt.Sprintf("file%d", n), rec.format, rec.options)
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, reader)
	}
	if err := r.Run(readers); err != nil {
		if !errors.Is(err, ErrMostly) {
			t.Fatal(err)
		}
		rec.mostly = err
		r.intervals.write(math.MaxInt64)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	rec.counts = r.Counts
	return log.String()
}
