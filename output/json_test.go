package output

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
)

// TestJSONMarks: a name with marks of direction stands escaped in JSON, and means the same.
func TestJSONMarks(t *testing.T) {
	t.Parallel()
	const name = "a\u202eb\x7f\U000e0001 ü"
	var b strings.Builder
	if err := JSON(&b, []string{name}); err != nil {
		t.Fatal(err)
	}
	if want := "[\n  \"a\\u202eb\\u007f\\udb40\\udc01 ü\"\n]\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	var again []string
	if err := json.Unmarshal([]byte(b.String()), &again); err != nil || again[0] != name {
		t.Errorf("%q, %v", again, err)
	}
}

// TestStreamedDocument: a document whose summaries are made while it is written, and whose lists
// are written element by element, is the text of encoding/json.
func TestStreamedDocument(t *testing.T) {
	var summaries []*Summary
	made := 0
	for n := range 3 {
		h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		h.RecordN(int64(n+1), 5)
		summaries = append(summaries, &Summary{
			Tag:    []byte{byte('a' + n), '"', '<'},
			Period: int64(1000 + n),
			Load: func() *histogram.Histogram {
				made++
				return h
			},
		})
	}
	for _, rows := range [][]*Summary{nil, summaries[:1], summaries} {
		made = 0
		streamed := StreamDocument(rows, []float64{50, 99}, nil, nil)
		if made > 0 {
			t.Errorf("%d summaries are made before they are written", made)
		}
		whole := NewDocument(rows, []float64{50, 99}, nil, nil)
		for _, doc := range []*Document{whole, streamed} {
			doc.Inputs = []string{"log"}
			doc.Findings = []Finding{{Kind: "limit", Sentence: "It <holds>."}, {Kind: "few"}}
			doc.Limits = []DocumentVerdict{}
			doc.Broken(nil)
		}
		var want, got, all bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(whole); err != nil {
			t.Fatal(err)
		}
		err := JSON(&got, streamed)
		if err := cmp.Or(err, JSON(&all, whole)); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() || all.String() != want.String() {
			t.Errorf("streamed:\n%s\nwhole:\n%s\nwant:\n%s", &got, &all, &want)
		}
	}
}
