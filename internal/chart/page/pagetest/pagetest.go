// Package pagetest decodes the data of pages, and collects pictures of generated intervals, for
// tests.
package pagetest

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"regexp"
	"testing"

	"hdrkit/internal/chart/page"
)

// A Page is the data of a page, with its decoded rows.
type Page struct {
	page.Data
	Rows string `json:"rows"`
	// Lines has the lines of each series by measure, and Windows the windows of each series.
	Lines   [][]Line   `json:"-"`
	Windows [][]Window `json:"-"`
}

// A Window is a row with the counts of an interval, or of several merged intervals.
type Window struct {
	Start, Skew, Length, Intervals, Count, Source int64
	Min, Max, Sum                                 float64
	Counts                                        []byte
}

// A Line has the points of a line: their starts (S) and lengths (D) in milliseconds, and their
// values (V).
type Line struct{ S, D, V []float64 }

var outside = regexp.MustCompile(`(?i)(src|href)="?(https?:)?//|\burl\(|@import|\bimport\b`)

// Read decodes the data of a page. It fails the test if the page loads another file.
func Read(t testing.TB, file []byte) *Page {
	t.Helper()
	if found := outside.Find(file); found != nil {
		t.Errorf("the page loads something: %q", found)
	}
	_, data, _ := bytes.Cut(file, []byte(`<script id="data" type="application/json">`))
	data, _, _ = bytes.Cut(data, []byte("</script>"))
	p := &Page{}
	if err := json.Unmarshal(data, p); err != nil {
		t.Fatal(err)
	}
	p.Windows = make([][]Window, len(p.Series))
	p.Lines = make([][]Line, len(p.Series))
	for i := range p.Lines {
		p.Lines[i] = make([]Line, len(p.Measures))
	}
	p.Extend(t, p.Rows)
	return p
}

// Extend decodes more rows, which are text as in a page or in an event of a live page.
func (p *Page) Extend(t testing.TB, rows string) {
	t.Helper()
	packed, err := base64.StdEncoding.DecodeString(rows)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	p.read(plain)
}

func (p *Page) read(rows []byte) {
	r := bytes.NewReader(rows)
	last := int64(0)
	uvarint := func() int64 { v, _ := binary.ReadUvarint(r); return int64(v) }
	start := func() int64 { v, _ := binary.ReadVarint(r); last += v; return last }
	float := func() float64 {
		var b [8]byte
		r.Read(b[:])
		return math.Float64frombits(binary.LittleEndian.Uint64(b[:]))
	}
	add := func(line *Line, start, length int64, value float64) {
		line.S = append(line.S, float64(start))
		line.D = append(line.D, float64(length))
		line.V = append(line.V, value)
	}
	for r.Len() > 0 {
		kind := uvarint()
		series := uvarint()
		switch kind {
		case 0:
			uvarint()
			uvarint()
			float()
		case 1:
			w := Window{
				Start:     start(),
				Skew:      uvarint(),
				Length:    uvarint(),
				Intervals: uvarint(),
				Count:     uvarint(),
				Source:    uvarint(),
				Min:       float(),
				Max:       float(),
				Sum:       float(),
			}
			w.Counts = make([]byte, uvarint())
			r.Read(w.Counts)
			p.Windows[series] = append(p.Windows[series], w)
		default:
			add(&p.Lines[series][uvarint()], start(), uvarint(), float())
		}
	}
}
