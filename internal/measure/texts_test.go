package measure

import (
	"bytes"
	stdcsv "encoding/csv"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// TestTextsMeasured: a table with a value is one of measurements, unless it has the other columns.
func TestTextsMeasured(t *testing.T) {
	for head, want := range map[string]bool{
		"start,name":                true,
		"start,name,latency_ms":     false,
		"start,name,latency_ms,end": true,
		"start,name,duration":       true,
		"start,latency":             false,
	} {
		r, _ := DetectTexts(strings.NewReader(head+"\n"), "f", []string{"start", "name", "end", "duration"}, 2)
		if (r != nil) != want {
			t.Errorf("%s: %t", head, r != nil)
		}
	}
}

// FuzzTexts: a table, lines of JSON and an array have the same texts. What has no such columns
// stays whole.
func FuzzTexts(f *testing.F) {
	f.Add("2026-05-04T03:02:01Z", "repair", "60", []byte("start,end\n1,2\n"))
	f.Add("a,\"b", "\n", "é", []byte("\x1f\x8b\x00"))
	f.Add("", "[", "{", []byte(`[{"start":1,"name":"a"}`))
	f.Fuzz(func(t *testing.T, start, name, end string, other []byte) {
		texts := []string{start, name, end}
		for n, text := range texts {
			text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r", ""), "?")
			if strings.Count(text, "\n") > 100 || len(text) > 1000 {
				return
			}
			texts[n] = text
		}
		var table bytes.Buffer
		w := stdcsv.NewWriter(&table)
		w.WriteAll([][]string{{"Start", "name", "End (ms)", "more"}, append(texts, "x"), append(texts, "y")})
		line, err := json.Marshal(map[string]string{"start": texts[0], "name": texts[1], "end": texts[2]})
		if err != nil {
			t.Fatal(err)
		}
		lines := string(line) + "\n" + string(line) + "\n"
		array := "[\n" + string(line) + ",\n" + string(line) + "]"
		for _, file := range []string{table.String(), lines, array} {
			r, _ := DetectTexts(strings.NewReader(file), "f", []string{"start", "name", "end", "duration"}, 2)
			if r == nil {
				t.Fatalf("no columns: %q", file)
			}
			rows := 0
			for ; r.Scan(); rows++ {
				if r.Bad() != nil {
					t.Fatalf("%v: %q", r.Bad(), file)
				}
				for n, want := range texts {
					if got := string(r.Text(n)); got != string(bytes.TrimSpace([]byte(want))) {
						t.Fatalf("%q, want %q: %q", got, want, file)
					}
				}
				if r.Text(3) != nil && len(r.Text(3)) > 0 {
					t.Fatalf("a duration: %q", file)
				}
			}
			if rows != 2 || r.Err() != nil {
				t.Fatalf("%d rows, %v: %q", rows, r.Err(), file)
			}
		}
		r, rest := DetectTexts(bytes.NewReader(other), "f", []string{"start", "name"}, 2)
		if r == nil {
			if whole, err := io.ReadAll(rest); err != nil || !bytes.Equal(whole, other) {
				t.Fatalf("%q, %v, of %q", whole, err, other)
			}
			return
		}
		for r.Scan() {
			r.Text(1)
		}
	})
}
