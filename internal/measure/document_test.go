package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"hdrkit/hdrlog"
)

// perTag has values in seconds.
type perTag map[string][]float64

// decode reads JSON by the standard library.
func decode[T any](t *testing.T, text []byte) (document T) {
	t.Helper()
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// readLLM reads the arrays of vLLM or SGLang.
func readLLM(t *testing.T, text []byte, all perTag) {
	of := decode[struct {
		TTFTs  []float64
		ITLs   [][]float64
		Errors []string
	}](t, text)
	for n, ttft := range of.TTFTs {
		if of.Errors[n] != "" {
			continue
		}
		latency := ttft
		for _, itl := range of.ITLs[n] {
			latency += itl
			all["itl"] = append(all["itl"], itl)
		}
		all["ttft"] = append(all["ttft"], ttft)
		all["latency"] = append(all["latency"], latency)
	}
}

// TestDocuments reads documents of other programs, and compares all values with those that the
// standard library reads.
func TestDocuments(t *testing.T) {
	for _, test := range []struct {
		file, format string
		requests     string // failed without a value, and all
		read         func(t *testing.T, text []byte, all perTag)
	}{
		{"hyperfine.json", "hyperfine", "0 of 50", func(t *testing.T, text []byte, all perTag) {
			for _, r := range decode[struct {
				Results []struct {
					Command string
					Times   []float64
				}
			}](t, text).Results {
				all[r.Command] = r.Times
			}
		}},
		{"vllm.json", "vllm", "2 of 30", readLLM},
		{"sglang.jsonl", "vllm", "2 of 24", func(t *testing.T, text []byte, all perTag) {
			for line := range bytes.Lines(text) {
				readLLM(t, line, all)
			}
		}},
		{"aiperf.jsonl", "aiperf", "0 of 9", func(t *testing.T, text []byte, all perTag) {
			type metric struct{ Value any }
			for line := range bytes.Lines(text) {
				r := decode[struct {
					Metadata map[string]any
					Metrics  map[string]metric
				}](t, line)
				latency, ok := r.Metrics["request_latency"].Value.(float64)
				if r.Metadata["benchmark_phase"] == "warmup" || !ok {
					continue
				}
				all["latency"] = append(all["latency"], latency/1000)
				all["ttft"] = append(all["ttft"], r.Metrics["time_to_first_token"].Value.(float64)/1000)
				for _, itl := range r.Metrics["inter_chunk_latency"].Value.([]any) {
					all["itl"] = append(all["itl"], itl.(float64)/1000)
				}
			}
		}},
		{"guidellm.json", "guidellm", "0 of 12", func(t *testing.T, text []byte, all perTag) {
			for n, b := range decode[struct {
				Benchmarks []struct {
					Requests struct{ Successful []map[string]any }
				}
			}](t, text).Benchmarks {
				of := []string{"/synchronous", "/constant/2.5"}[n]
				for _, r := range b.Requests.Successful {
					all["latency"+of] = append(all["latency"+of], r["request_latency"].(float64))
					all["ttft"+of] = append(all["ttft"+of], r["time_to_first_token_ms"].(float64)/1000)
					if itl, ok := r["inter_token_latency_ms"].(float64); ok {
						all["itl"+of] = append(all["itl"+of], itl/1000)
					}
				}
			}
		}},
		{"jmh.json", "jmh", "0 of 842", func(t *testing.T, text []byte, all perTag) {
			for _, b := range decode[[]struct {
				Benchmark     string
				Params        map[string]string
				PrimaryMetric struct {
					ScoreUnit        string
					RawDataHistogram [][][][2]float64
				}
			}](t, text) {
				tag := b.Benchmark + "/size=" + b.Params["size"]
				per := map[string]float64{"us/op": 1e6, "ms/op": 1e3}[b.PrimaryMetric.ScoreUnit]
				for _, fork := range b.PrimaryMetric.RawDataHistogram {
					for _, slot := range slices.Concat(fork...) {
						for range int(slot[1]) {
							all[tag] = append(all[tag], slot[0]/per)
						}
					}
				}
			}
		}},
		{"locust.json", "locust", "0 of 557", func(t *testing.T, text []byte, all perTag) {
			for _, e := range decode[[]struct {
				Name          string
				ResponseTimes map[string]int `json:"response_times"`
			}](t, text) {
				for key, count := range e.ResponseTimes {
					value, _ := strconv.ParseFloat(key, 64)
					for range count {
						all[e.Name] = append(all[e.Name], value/1000)
					}
				}
			}
		}},
	} {
		t.Run(test.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(folder(), test.file))
			if err != nil {
				t.Fatal(err)
			}
			compact := new(bytes.Buffer)
			if json.Compact(compact, text) != nil { // lines of JSON
				compact = bytes.NewBuffer(text)
			}
			want := make(perTag)
			test.read(t, text, want)
			for _, text := range [][]byte{text, compact.Bytes()} {
				r, err := NewReader(iotest.HalfReader(bytes.NewReader(text)), test.file, "", Options{})
				if err != nil {
					t.Fatal(err)
				}
				got := make(perTag)
				requests, without := 0, 0
				for r.Scan() {
					row := &r.parser.row
					switch {
					case r.bad != nil:
						t.Fatal(r.bad)
					case row.NoValue:
						without++
						requests++
						continue
					case !row.Part:
						requests += int(row.Count)
					}
					for range row.Count {
						got[string(row.Tag)] = append(got[string(row.Tag)], time.Duration(row.Value).Seconds())
					}
				}
				if r.Err() != nil || r.Format() != test.format || fmt.Sprintf("%d of %d", without, requests) != test.requests {
					t.Errorf("%v, %s, %d of %d", r.Err(), r.Format(), without, requests)
				}
				for tag, values := range want {
					found := got[tag]
					delete(got, tag)
					slices.Sort(values)
					slices.Sort(found)
					if len(found) != len(values) {
						t.Errorf("%s: %d values, want %d", tag, len(found), len(values))
						continue
					}
					for n := range values {
						if math.Abs(values[n]-found[n]) > 1e-8 {
							t.Errorf("%s: value %d is %v, want %v", tag, n, found[n], values[n])
							break
						}
					}
				}
				for tag := range got {
					t.Errorf("there is no tag %s", tag)
				}
			}
		})
	}
}

// TestPaths reads values by their paths, with what stands beside them.
func TestPaths(t *testing.T) {
	of := func(value string, tags ...string) Columns { return Columns{Value: value, Tags: tags} }
	for _, test := range []struct {
		text    string
		columns Columns
		want    string
	}{
		{`{"a":[1,2,[3]],"b":[4]}`, of("a[]"), "1 2 3"},
		{`{"r":[{"t":[1,2],"c":"x"},{"c":"y","t":[3]}]}`, of("r[].t", "r[].c"), "x:1 x:2 y:3"},
		{`{"r":[{"t":[1,2],"c":"x"},{"c":"y","t":[3]}]}`, of("r[1].t"), "3"},
		{`{"r":[{"t":[1,2],"c":"x"},{"c":"y","t":[3]}]}`, of("r[].t[0]", "r[].c"), "x:1 y:3"},
		{`{"t":[1,2],"ok":["x","y"],"m":"z"}`, of("t[]", "ok", "m"), "x/z:1 y/z:2"}, // beside, behind and above
		{`{"t":{"120":5,"7":2}}`, of("t{}"), "120*5 7*2"},
		{`[{"n":"a","t":{"1":1}},{"n":"b","t":{"2":2}}]`, of("[].t{}", "[].n"), "a:1 b:2*2"},
		{`[[1,5],[2,6]]`, Columns{Value: "[][0]", Count: "[][1]"}, "1*5 2*6"},
		{`{"a":[1,2],"b":[[1],[1,3]]}`, of("sum=a+b,a=a[]"), "sum:2 sum:6 a:1 a:2"},
		{`{"a":[1,2],"b":[[1],[1,3]]}`, of("a[],b"), "a:1 a:2 b:1 b:1 b:3"},
		{"{\"a\":[1]}\n{\"a\":[2]}\n", of("a[]"), "1 2"},
		{`{"a":[1,null,2]}`, of("a[]"), "1 2"},
		{`{"a":[1,"x"]}`, of("a[]"), `1 f:2: a[]: not a number: "x"`},
		{`{"a":[1,2`, of("a[]"), "1 2 f:3: line: the file is cut short"},
		{`{"a":[1,2]]`, of("a[]"), "1 2 f:3: line: not a JSON value, or cut short"},
		{`{"a":[` + strings.Repeat(`{"b":"`+strings.Repeat(`\"],`, 500)+`"},`, 100) + `{"c":7}]}`, of("a[].c"), "7"},
	} {
		r, err := NewReader(iotest.HalfReader(strings.NewReader(test.text)), "f", "", Options{Columns: test.columns, Unit: hdrlog.Second})
		if err != nil {
			t.Errorf("%.100s: %v", test.text, err)
			continue
		}

		var all []string
		for r.Scan() {
			if r.bad != nil {
				all = append(all, r.bad.Error())
				continue
			}
			row := ""
			if r.parser.row.Tag != nil {
				row = string(r.parser.row.Tag) + ":"
			}
			row += fmt.Sprint(r.parser.row.Value / 1e9)
			if r.parser.row.Count != 1 {
				row += fmt.Sprint("*", r.parser.row.Count)
			}
			all = append(all, row)
		}
		if r.Err() != nil {
			all = append(all, r.Err().Error())
		}
		if got := strings.Join(all, " "); got != test.want {
			t.Errorf("%s of %.100s: %s, want %s", test.columns.Value, test.text, got, test.want)
		}
	}
}

// TestLongDocument has a document whose values wait for what belongs to them, and take too much.
func TestLongDocument(t *testing.T) {
	defer func(most int) { maxDocument = most }(maxDocument)
	maxDocument = 8 << 20
	element := func(values int) string { return `{"a":[` + strings.Repeat("1,", values) + `1],"m":"x"}` }
	for _, test := range []struct {
		text, value, tag string
		rows             int
		err              string
	}{
		{element(150_000), "a[]", "m", 0, "line 1: a document has more than 8 MiB of values; jq makes lines of it"},
		{element(150_000), "a[]", "", 150_001, "<nil>"}, // nothing belongs to them
		{"[" + element(60_000) + "," + element(60_000) + "," + element(60_000) + "]", "[].a", "[].m", 180_003, "<nil>"},
		{element(60_000) + "\n" + element(60_000) + "\n" + element(60_000), "a[]", "m", 180_003, "<nil>"},
	} {
		o := Options{Columns: Columns{Value: test.value}, Unit: hdrlog.Second}
		if test.tag != "" {
			o.Columns.Tags = []string{test.tag}
		}
		r, err := NewReader(strings.NewReader(test.text), "f", "", o)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for ; r.Scan(); rows++ {
			if r.bad != nil || (string(r.parser.row.Tag) == "x") != (test.tag != "") {
				t.Fatal(r.bad, string(r.parser.row.Tag))
			}
		}
		if got := fmt.Sprint(r.Err()); got != test.err || rows != test.rows {
			t.Errorf("%s with %q: %d rows, %s; want %d, %s", test.value, test.tag, rows, got, test.rows, test.err)
		}
	}
}
