package hgrm

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/hdrlog"
)

// TestReference reads every distribution that the reference printed and compares the last row with its closing comments.
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
		rows, err := Read(bytes.NewReader(text), "x.hgrm")
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
		last := rows[len(rows)-1]
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
		{"back", head + "1 0.9 4\n2 0.8 5\n", "x.hgrm:4: percentile: less than on the line before"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows, err := Read(strings.NewReader(test.text), "x.hgrm")
			if test.want == "" {
				if err != nil || len(rows) != 2 || rows[0] != (Row{1.5, 50, 1}) || rows[1] != (Row{2.5, 100, 2}) {
					t.Errorf("%+v, %v", rows, err)
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
