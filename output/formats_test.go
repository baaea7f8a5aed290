package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/people"
)

// someSummary returns a summary of four values.
func someSummary(tag []byte) *Summary {
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	h.RecordN(1000, 3)
	h.Record(123456)
	return &Summary{Tag: tag, Histogram: h, Intervals: 2, Start: 1468800401076, End: 1468800411074, Period: 9998}
}

// scaled gives a summary a scale.
func scaled(s *Summary, scale hdrlog.Scale) *Summary {
	s.Scale = scale
	return s
}

// scaledRow gives a row a scale.
func scaledRow(r *Row, scale hdrlog.Scale) *Row {
	r.Scale = scale
	return r
}

// summaryFormats are the formats of one or more summaries, by name.
var summaryFormats = map[string]func(w io.Writer, s *Summary) error{
	"percentiles": func(w io.Writer, s *Summary) error {
		return Percentiles(w, s, []float64{50, 99}, nil)
	},
	"hgrm": func(w io.Writer, s *Summary) error { return HGRM(w, s, 2) },
	"csv":  func(w io.Writer, s *Summary) error { return Bins(w, s, 10000) },
	"csve": func(w io.Writer, s *Summary) error { return DoublingBins(w, s, 100) },
	"csvr": RecordedValues,
	"table as csv": func(w io.Writer, s *Summary) error {
		return SummaryCSV(w, s, []float64{50, 99}, nil, true)
	},
	"json": func(w io.Writer, s *Summary) error {
		return JSON(w, NewDocument([]*Summary{s}, []float64{50}, nil, nil))
	},
}

// rowFormats are the formats of rows, by name.
var rowFormats = map[string]func(w io.Writer) RowWriter{
	"timeline":    func(w io.Writer) RowWriter { return Timeline(w, nil) },
	"timeline in": func(w io.Writer) RowWriter { return TimelineIn(w, nil) },
	"ndjson":      func(w io.Writer) RowWriter { return NDJSON(w, nil) },
}

// allFormats are all formats, each with an output of several rows or of one summary.
func allFormats() map[string]func(w io.Writer) error {
	all := make(map[string]func(w io.Writer) error)
	for name, format := range summaryFormats {
		all[name] = func(w io.Writer) error { return format(w, scaled(someSummary([]byte("a")), hdrlog.Scale{Ratio: 10})) }
	}
	for name, format := range rowFormats {
		all[name] = func(w io.Writer) error {
			rows := format(w)
			for _, tag := range [][]byte{nil, []byte("a"), []byte("b")} {
				if err := rows.Row(scaledRow(someRow(tag, 50), hdrlog.Scale{Ratio: 10})); err != nil {
					return err
				}
			}
			return rows.Close()
		}
		all[name+" with moving windows"] = func(w io.Writer) error {
			rows := format(w)
			if err := rows.Row(scaledRow(movingRow(), hdrlog.Scale{Ratio: 10})); err != nil {
				return err
			}
			return rows.Close()
		}
	}
	return all
}

// movingRow returns an empty row with a moving window of four values.
func movingRow() *Row {
	h := someSummary(nil).Histogram
	return &Row{Length: 1, Covered: 1, Moving: &Stats{Count: 4, Percentiles: []PercentileValue{{99, ValueOf(h, 1000)}}, Max: ValueOf(h, 123519)}}
}

// TestMoving checks the figures of an empty row with a moving window in each format.
func TestMoving(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"timeline": "start,relative_start,length,tag,count,per_second,min,mean,max,window_p99,window_max,window_count\n1970-01-01T00:00:00.000Z,0.000,1.000,,0,0,,,,100,12351.9,4\n",
		"ndjson":   `"count":0,"per_second":0,"min":null,"mean":null,"max":null,"window_p99":100,"window_max":12351.9,"window_count":4}`,
	} {
		text := format(t, func(w *bytes.Buffer) RowWriter { return rowFormats[name](w) }, scaledRow(movingRow(), hdrlog.Scale{Ratio: 10}))
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %s in %s", name, want, text)
		}
	}
}

var errFull = errors.New("device full")

// A fullWriter fails once it has room bytes.
type fullWriter struct {
	written []byte
	room    int
}

func (w *fullWriter) Write(p []byte) (int, error) {
	if fits := w.room - len(w.written); len(p) > fits {
		w.written = append(w.written, p[:fits]...)
		return fits, errFull
	}
	w.written = append(w.written, p...)
	return len(p), nil
}

// TestWriteErrors writes each format to a writer that fails at every byte position in turn. The
// format must return the error, and what it wrote before must be the beginning of its output.
func TestWriteErrors(t *testing.T) {
	t.Parallel()
	for name, format := range allFormats() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var whole bytes.Buffer
			if err := format(&whole); err != nil || whole.Len() < 20 {
				t.Fatalf("%d bytes, %v", whole.Len(), err)
			}
			for room := range whole.Len() {
				w := fullWriter{room: room}
				if err := format(&w); !errors.Is(err, errFull) {
					t.Fatalf("room for %d of %d bytes: error %v", room, whole.Len(), err)
				}
				if !bytes.HasPrefix(whole.Bytes(), w.written) {
					t.Fatalf("room for %d bytes: wrote %q", room, w.written)
				}
			}
		})
	}
}

// TestZeroValues formats summaries and rows whose fields are not set: each either works or returns
// an error.
func TestZeroValues(t *testing.T) {
	t.Parallel()
	for name, format := range summaryFormats {
		var b bytes.Buffer
		if err := format(&b, &Summary{}); err != nil {
			t.Errorf("%s of an empty summary: %v", name, err)
		}
		b.Reset()
		h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		h.Record(5)
		if err := format(&b, &Summary{Histogram: h, Period: 1}); err != nil || strings.Contains(b.String(), "Inf") {
			t.Errorf("%s with a zero scale: %v, %s", name, err, &b)
		}
	}
	for name, format := range rowFormats {
		var b bytes.Buffer
		if err := format(&b).Row(&Row{}); err != nil || strings.Contains(b.String(), "Inf") {
			t.Errorf("%s of an empty row: %v, %s", name, err, &b)
		}
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	s := someSummary(nil)
	for name, test := range map[string]struct {
		got  error
		want string
	}{
		"ticks":          {HGRM(io.Discard, s, 0), "0 ticks: a percentile distribution needs at least 1"},
		"csv zero":       {Bins(io.Discard, s, 0), "bins of 0: the width must be a positive number"},
		"csve not a num": {DoublingBins(io.Discard, s, math.NaN()), "bins of NaN: the width must be a positive number"},
		"too many bins":  {Bins(io.Discard, s, 1e-9), "more than 1000000 bins of 1e-09: use wider bins (-obs of hdrsum), or values for the recorded ones only"},
	} {
		if test.got == nil || test.got.Error() != test.want {
			t.Errorf("%s: %v, want %s", name, test.got, test.want)
		}
	}
}

// TestExactIntegers prints values above 2^53. A float64 alone cannot hold them.
func TestExactIntegers(t *testing.T) {
	t.Parallel()
	h, _ := histogram.New(histogram.Layout{Digits: 5, Lowest: 1})
	h.Record(1<<53 + 1<<40)
	h.Record(math.MaxInt64)
	s := &Summary{Histogram: h, Period: 1000}
	const high = "9223372036854775807"
	var b bytes.Buffer
	doc := NewDocument([]*Summary{s}, []float64{100}, nil, nil)
	if err := JSON(&b, doc); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Summaries []struct {
			Min, Max    int64
			Percentiles []struct{ Value int64 }
		}
	}
	if err := json.Unmarshal(b.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if got := read.Summaries[0]; got.Min != h.Min() || got.Max != math.MaxInt64 || got.Percentiles[0].Value != math.MaxInt64 {
		t.Errorf("json: %+v", got)
	}

	row := &Row{Stats: StatsOf(h, []float64{100}, Stats{})}
	for _, name := range []string{"ndjson", "timeline"} {
		text := format(t, func(w *bytes.Buffer) RowWriter { return rowFormats[name](w) }, row)
		if strings.Count(text, high) != 2 {
			t.Errorf("%s: %s does not have %s twice", name, text, high)
		}
	}

	b.Reset()
	if err := DoublingBins(&b, s, 1); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if last := lines[len(lines)-1]; last != "4611686018427387904,1" {
		t.Errorf("csve: the last line is %s", last)
	}
	for n, line := range lines[2:] {
		if want := fmt.Sprintf("%d,", int64(1)<<n); !strings.HasPrefix(line, want) {
			t.Errorf("csve: %s, want %s", line, want)
		}
	}

	if got := ValueOf(h, 9007199254740993000).text(hdrlog.Scale{Ratio: 1000}); got != "9007199254740993" {
		t.Errorf("2^53+1 thousands: %s", got)
	}
	if got := people.Shortest(math.MaxInt64 - 1023); got != "9223372036854774784" {
		t.Errorf("2^63-1024: %s", got)
	}
}

// TestFactor proves that every format prints microseconds with a factor of 1000 in milliseconds, as
// it prints them without a factor.
func TestFactor(t *testing.T) {
	t.Parallel()
	in, of := hdrlog.Scale{Ratio: 1e6, Unit: "ms"}, hdrlog.Scale{Ratio: 1e3, Unit: "ms"}
	for name, format := range summaryFormats {
		var got, want bytes.Buffer
		s := someSummary([]byte("a"))
		s.Maxima = Maxima{Start: s.Start, Step: 5000, Values: []float64{1000, 123456}}
		if err := format(&want, scaled(s, of)); err != nil {
			t.Fatal(err)
		}
		if err := format(&got, scaled(s, in.Times(1000))); err != nil {
			t.Fatal(err)
		}
		text := got.String()
		if name == "json" { // which has the ratio of the tag
			text = strings.Replace(strings.Replace(text, "      \"unitRatio\": 1000,\n", "", 1), "\"unitRatio\": 1000000,", "\"unitRatio\": 1000,", 1)
		}
		if text != want.String() {
			t.Errorf("%s:\n%s\nwant\n%s", name, text, &want)
		}
	}
	for name, format := range rowFormats {
		for _, row := range []*Row{someRow([]byte("a"), 50), movingRow()} {
			var got, want bytes.Buffer
			if err := format(&want).Row(scaledRow(row, of)); err != nil {
				t.Fatal(err)
			}
			if err := format(&got).Row(scaledRow(row, in.Times(1000))); err != nil {
				t.Fatal(err)
			}
			if got.String() != want.String() {
				t.Errorf("%s:\n%s\nwant\n%s", name, &got, &want)
			}
		}
	}
}
