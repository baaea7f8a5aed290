package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"hdrkit/hdrlog/histogram"
)

// TestCockroach compares the histograms of lines with what hdrhistogram-go makes of them.
func TestCockroach(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(folder(), "cockroach-workload-stats.json"))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 20 { // of other precisions and ranges
		h := hdrhistogram.New(1+random.Int64N(1<<random.IntN(30)), 1<<45, 1+random.IntN(3))
		for range 20 {
			h.RecordValues(random.Int64N(1<<(1+random.IntN(44))), 1+random.Int64N(5))
		}
		line, err := json.Marshal(map[string]any{"Name": "a b", "Hist": h.Export(), "Elapsed": 5e8, "Now": "2024-05-01T10:00:01.5+02:00"})
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, line...), '\n')
	}
	r, err := NewReader(bytes.NewReader(text), "f", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	totals := make(map[string]int64)
	var decoder histogram.Decoder
	for line := range bytes.Lines(text) {
		var want struct {
			Name    string
			Hist    hdrhistogram.Snapshot
			Elapsed int64
			Now     time.Time
		}
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		other := hdrhistogram.Import(&want.Hist)
		if !r.Scan() || r.bad != nil {
			t.Fatalf("%.200s: %v", line, r.bad)
		}
		var h histogram.Histogram
		if err := decoder.Decode(&h, r.parser.row.Payload); err != nil {
			t.Fatal(err)
		}
		if string(r.parser.row.Tag) != want.Name || r.parser.row.Time != want.Now.UnixNano()-want.Elapsed || r.parser.row.Length != want.Elapsed {
			t.Errorf("%s from %d for %d", r.parser.row.Tag, r.parser.row.Time, r.parser.row.Length)
		}
		if h.TotalCount() != other.TotalCount() || h.Max() != other.Max() || h.Min() != other.Min() {
			t.Errorf("%.100s: %d values to %d, want %d to %d", line, h.TotalCount(), h.Max(), other.TotalCount(), other.Max())
		}
		totals[want.Name] += h.TotalCount()
	}
	if r.Scan() || totals["newOrder"] != 1100 || totals["payment"] != 1136 {
		t.Error(totals)
	}
}

// TestBadCockroach has lines that are no ticks.
func TestBadCockroach(t *testing.T) {
	const good = `{"Name":"a","Hist":{"LowestTrackableValue":1,"SignificantFigures":1,"Counts":[0,2]},"Elapsed":1000,"Now":"2024-05-01T10:00:01Z"}` + "\n"
	for _, change := range []struct{ from, to, want string }{
		{`"Elapsed":1000,`, "", "Elapsed: field is missing"},
		{`"Elapsed":1000`, `"Elapsed":-1`, `Elapsed: the number is negative: "-1"`},
		{`"LowestTrackableValue":1,`, "", "LowestTrackableValue: field is missing"},
		{`"SignificantFigures":1`, `"SignificantFigures":9`, "impossible histogram layout: 9 significant digits, not 0 to 5"},
		{"2024-05-01T10:00:01Z", "today", `field Now: not a time: "today"`},
		{"[0,2]", "[0,-2]", `Counts: the number is negative: "-2"`},
		{"[0,2]", "[0," + strings.Repeat("0,", 3000) + "2]", `Counts: slot 3001: the number is too large`},
		{"[0,2]", `[0,{"a":2}]`, `Counts: not a number: "1.a"`},
		{"}\n", "\n", `not a JSON value, or cut short: "{\"Name\":\"a\",\"Hist\":{\"LowestTrackableValue\":1,\"SignificantFig"`},
	} {
		text := good + strings.Replace(good, change.from, change.to, 1) + good
		r, err := NewReader(strings.NewReader(text), "f", "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for r.Scan() {
			got = append(got, fmt.Sprint(r.bad))
		}
		if all := strings.Join(got, "; "); all != "<nil>; f:2: payload: "+change.want+"; <nil>" {
			t.Errorf("%.200s: %s", text, all)
		}
	}
}
