// Package rowtest has rows for tests of formats, and a test that each [output.RowWriter] must pass.
package rowtest

import (
	"errors"
	"io"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
)

// New is a function of a format that returns its writer of rows. Name is the name of the metric.
type New func(w io.Writer, name string) (output.RowWriter, error)

// Row returns a row of a tag, with four values.
func Row(tag []byte, percentiles ...float64) *output.Row {
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	h.RecordN(1000, 3)
	h.Record(123456)
	r := &output.Row{
		Tag:      tag,
		Start:    1468800401076,
		End:      1468800411074,
		Relative: 0.002,
		Length:   9.998,
		Covered:  9.998,
		Stats:    output.StatsOf(h, percentiles, output.Stats{}),
	}
	r.Total.Add(&r.Stats)
	return r
}

// Moving returns an empty row with a moving window of four values.
func Moving() *output.Row {
	window := &output.Stats{
		Count:       4,
		Percentiles: []output.PercentileValue{{Percentile: 99, Value: output.FloatValue(1000)}},
		Max:         output.FloatValue(123519),
	}
	return &output.Row{Length: 1, Covered: 1, Moving: window}
}

// Write writes rows in a scale with a new writer, and closes the writer.
func (n New) Write(to io.Writer, scale hdrlog.Scale, name string, rows ...*output.Row) error {
	w, err := n(to, name)
	for at := 0; at < len(rows) && err == nil; at++ {
		rows[at].Scale = scale
		err = w.Row(rows[at])
	}
	if err != nil {
		return err
	}
	return w.Close()
}

// Format returns the text that Write writes.
func (n New) Format(t testing.TB, scale hdrlog.Scale, name string, rows ...*output.Row) string {
	t.Helper()
	var text strings.Builder
	if err := n.Write(&text, scale, name, rows...); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// Check tests that the writer returns the error of a device that is full, for each number of bytes
// that fit. It also tests that the writer heeds [hdrlog.Scale.Times].
func (n New) Check(t *testing.T, name string) {
	rows := []*output.Row{Row(nil, 50), Row([]byte("a"), 50)}
	whole := n.Format(t, hdrlog.Scale{Ratio: 10}, name, rows...)
	for capacity := range whole {
		w := fullWriter{capacity: capacity}
		if err := n.Write(&w, hdrlog.Scale{Ratio: 10}, name,
			rows...); !errors.Is(err, errFull) || !strings.HasPrefix(whole, string(w.written)) {
			t.Fatalf("room for %d of %d bytes: %v, %q", capacity, len(whole), err, w.written)
		}
	}
	for _, row := range []*output.Row{Row([]byte("a"), 50), Moving()} {
		want := n.Format(t, hdrlog.Scale{Ratio: 1e3}, name, row)
		if got := n.Format(t, hdrlog.Scale{Ratio: 1e6}.Times(1000), name, row); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

var errFull = errors.New("device full")

// A fullWriter is a device for capacity bytes. Later bytes are an error.
type fullWriter struct {
	written  []byte
	capacity int
}

func (w *fullWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.capacity-len(w.written))
	w.written = append(w.written, p[:n]...)
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}
