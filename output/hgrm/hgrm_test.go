package hgrm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hdrkit/hdrlog"
)

// TestReference reads every distribution that the reference printed and compares the last row with
// its closing comments.
func TestReference(t *testing.T) {
	files, err := filepath.Glob("../../testdata/expected/*hgrm*.out")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) == 0 {
			continue // the reference prints nothing of a log without intervals
		}
		if !Detect(text) {
			t.Errorf("%s: not detected", file)
		}
		all, err := Read(bytes.NewReader(text), "x.hgrm")
		if strings.Contains(string(text), "Total count    =            0]") {
			if !errors.Is(err, ErrEmpty) {
				t.Errorf("%s: %v", file, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if len(all) != 1 || all[0].Name != "" {
			t.Errorf("%s: %d distributions, the first %q", file, len(all), all[0].Name)
		}
		last := all[0].Rows[len(all[0].Rows)-1]
		_, comment, _ := strings.Cut(string(text), "#[Max     =")
		end := strings.Fields(strings.NewReplacer(",", " ", "]", " ").Replace(comment))
		if row(t, end[0]+" 1 "+end[4]) != last {
			t.Errorf("%s: the last row is %+v, the comments say %q", file, last, end)
		}
	}
}

// row reads a row.
func row(t *testing.T, text string) Row {
	t.Helper()
	row, field, err := parse(text)
	if err != nil {
		t.Fatalf("%s: %v", field, err)
	}
	return row
}

func TestRead(t *testing.T) {
	const head = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
	for _, test := range []struct{ name, text, want string }{
		{"plain", head + " 1.5 0.5 1 2.00\n 2.5 1.0 2\n#[Mean = 2]\n", ""},
		{"commas", "\"Value\",\"Percentile\",\"TotalCount\",\"1/(1-Percentile)\"\n1.5,0.5,1,2.00\n2.5,1.0,2,Infinity\n", ""},
		{"byte-order mark and CRLF", "\ufeff" + strings.ReplaceAll(head, "\n", "\r\n") + "1.5 0.5 1 2.00\r\n2.5 1.0 2\r\n", ""},
		{"empty", head, "x.hgrm:2: line: no percentile in it"},
		{"cut short", head + "1.5 0.5\n", "x.hgrm:3: count: field is missing"},
		{"words", head + "some text here\n", `x.hgrm:3: value: not a number: "some"`},
		{"above 1", head + "1 99.9 4\n", "x.hgrm:3: percentile: 99.9 is above 1"},
		{"fraction", head + "1 0.9 4.5\n", `x.hgrm:3: count: not a number: "4.5"`},
		{"comments between rows", "#[StartTime: 5]\n# mine\n" + head + " 1.5 0.5 1 2.00\n# mine\n 2.5 1.0 2\n", ""},
		{"no header", "1.5 0.5 1 2.00\n", "x.hgrm:1: line: a row without the header Value, Percentile, TotalCount before it"},
		{"rows after the end", head + " 1.5 0.5 1\n#[Mean = 2]\n2.5 1.0 2\n", "x.hgrm:5: line: a row without the header Value, Percentile, TotalCount before it"},
		{"back", head + "1 0.9 4\n2 0.8 5\n", "x.hgrm:4: percentile: less than on the line before"},
	} {
		t.Run(test.name, func(t *testing.T) {
			all, err := Read(strings.NewReader(test.text), "x.hgrm")
			if test.want == "" {
				want := []Distribution{{Rows: []Row{{1.5, 50, 1}, {2.5, 100, 2}}}}
				if err != nil || !reflect.DeepEqual(all, want) {
					t.Errorf("%+v, %v", all, err)
				}
				return
			}
			var syntax *hdrlog.SyntaxError
			if !errors.As(err, &syntax) || err.Error() != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
	if Detect([]byte("#[Histogram log format version 1.3]")) || Detect([]byte(`"StartTimestamp","Interval_Length"`)) {
		t.Error("a log is taken for a distribution")
	}
}

// TestFiles reads files as tools write them: the two of HistogramLogProcessor (Java) were written
// by it.
func TestFiles(t *testing.T) {
	t.Parallel()
	// From each distribution: name, number of rows, last row.
	for file, want := range map[string]string{
		"HistogramLogProcessor.hgrm": `"" 72 {300.417 100 16000}`,
		"HistogramLogProcessor.csv":  `"" 65 {298.844 100 5384}`,
		"wrk2.txt":                   `"Recorded Latency" 4 {6.403 100 11000}, "Uncorrected Latency" 3 {2.001 100 11000}`,
		"vegeta.txt":                 `"" 94 {16.407451 100 90}`,
		"vespa.csv":                  `"query_latency { \"chain\": \"a\", \"zone\": \"b\" }" 3 {9 100 8}, "hits" 2 {4 100 1}`,
	} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		if !Detect(text) {
			t.Errorf("%s: not detected", file)
		}
		all, err := Read(bytes.NewReader(text), file)
		if err != nil {
			t.Error(err)
			continue
		}
		var got []string
		for _, d := range all {
			got = append(got, fmt.Sprintf("%q %d %v", d.Name, len(d.Rows), d.Rows[len(d.Rows)-1]))
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

// TestNames reads files with several distributions whose names are missing or equal.
func TestNames(t *testing.T) {
	t.Parallel()
	one := "Value Percentile TotalCount\n1 1 1\n#[Mean = 1]\n"
	text := one + "#[Tag: a]\n" + one + "#[Tag: a]\n" + one + "#[Tag: 1]\n" + one + one + "Value Percentile TotalCount\n"
	all, err := Read(strings.NewReader(text), "x.hgrm")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range all {
		names = append(names, d.Name)
	}
	if got := strings.Join(names, ","); got != "1,a,a 3,1 4,5" {
		t.Errorf("names %s", got)
	}
}

// FuzzRead checks that a file that can be read is detected, and that its distributions have
// different names and ascending rows.
func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := Read(bytes.NewReader(text), "x")
		if err != nil {
			return
		}
		seen := make(map[string]bool)
		for _, d := range all {
			if seen[d.Name] || len(d.Rows) == 0 {
				t.Errorf("%d rows of %q", len(d.Rows), d.Name)
			}
			seen[d.Name] = true
			for n, row := range d.Rows {
				if row.Percentile > 100 || row.Count < 0 || n > 0 && (row.Value < d.Rows[n-1].Value || row.Percentile < d.Rows[n-1].Percentile) {
					t.Errorf("row %d of %q: %v", n, d.Name, row)
				}
			}
		}
	})
}
