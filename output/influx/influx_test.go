package influx

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
	"hdrkit/tags"
)

// someRow returns a row of a tag, with four values.
func someRow(tag []byte, percentiles ...float64) *output.Row {
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	h.Record(1000, 3)
	h.Record(123456, 1)
	r := &output.Row{Tag: tag, Start: 1468800401076, End: 1468800411074, Relative: 0.002, Length: 9.998, Covered: 9.998, Stats: output.StatsOf(h, percentiles, output.Stats{})}
	r.Total.Add(&r.Stats)
	return r
}

// movingRow returns an empty row with a moving window of four values.
func movingRow() *output.Row {
	return &output.Row{Length: 1, Covered: 1, Moving: &output.Stats{Count: 4, Percentiles: []output.PercentileValue{{Percentile: 99, Value: output.FloatValue(1000)}}, Max: output.FloatValue(123519)}}
}

// write writes rows.
func write(to io.Writer, scale output.Scale, measurement string, rows ...*output.Row) error {
	w, err := New(to, scale, measurement)
	for n := 0; n < len(rows) && err == nil; n++ {
		err = w.Row(rows[n])
	}
	if err != nil {
		return err
	}
	return w.Close()
}

// format returns rows as text.
func format(t testing.TB, scale output.Scale, measurement string, rows ...*output.Row) string {
	t.Helper()
	var text strings.Builder
	if err := write(&text, scale, measurement, rows...); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

var errFull = errors.New("device full")

// A fullWriter fails once it has room bytes.
type fullWriter struct {
	written []byte
	room    int
}

func (w *fullWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.room-len(w.written))
	if w.written = append(w.written, p[:n]...); n < len(p) {
		return n, errFull
	}
	return n, nil
}

// TestWriteErrors writes rows to a writer that fails at every byte position in turn.
func TestWriteErrors(t *testing.T) {
	rows := []*output.Row{someRow(nil, 50), someRow([]byte("a"), 50), movingRow()}
	whole := format(t, output.Scale{Ratio: 10}, "latency", rows[:2]...)
	for room := range whole {
		w := fullWriter{room: room}
		if err := write(&w, output.Scale{Ratio: 10}, "latency", rows[:2]...); !errors.Is(err, errFull) || !strings.HasPrefix(whole, string(w.written)) {
			t.Fatalf("room for %d of %d bytes: %v, %q", room, len(whole), err, w.written)
		}
	}
}

// TestFactor: microseconds with a factor of 1000 are the same as without a factor.
func TestFactor(t *testing.T) {
	for _, row := range []*output.Row{someRow([]byte("a"), 50), movingRow()} {
		want := format(t, output.Scale{Ratio: 1e3}, "latency", row)
		row.Factor = 1000
		if got := format(t, output.Scale{Ratio: 1e6}, "latency", row); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A point is what a line means.
type point struct {
	measurement string
	tag         *string
	fields      map[string]string
	at          string
}

// read reads a line as InfluxDB does: a backslash escapes a comma, a space or an equals sign.
func read(t testing.TB, line string) (p point) {
	t.Helper()
	token := func(ends string) string {
		for n := 0; n < len(line); n++ {
			if line[n] == '\\' && n+1 < len(line) && strings.IndexByte(", =", line[n+1]) >= 0 {
				n++
			} else if strings.IndexByte(ends, line[n]) >= 0 {
				text := strings.NewReplacer(`\,`, ",", `\ `, " ", `\=`, "=").Replace(line[:n])
				line = line[n:]
				return text
			}
		}
		t.Fatalf("none of %q in %q", ends, line)
		return ""
	}
	p.measurement = token(", ")
	if line[0] == ',' {
		line = line[1:]
		if key := token("="); key != "tag" {
			t.Errorf("a tag %q", key)
		}
		line = line[1:]
		text := token(" ")
		p.tag = &text
	}
	p.fields = map[string]string{}
	for separator := byte(' '); line[0] == separator; separator = ',' {
		line = line[1:]
		key := token("=")
		line = line[1:]
		value := token(", ")
		if p.fields[key] = value; value == "" {
			t.Errorf("field %q is empty", key)
		}
		if _, err := strconv.ParseFloat(strings.TrimSuffix(value, "i"), 64); err != nil {
			t.Error(err)
		}
	}
	line = line[1:]
	p.at = token("\n")
	if line != "\n" {
		t.Errorf("after the time: %q", line)
	}
	return p
}

// FuzzTags writes a point of any tag, and reads it.
func FuzzTags(f *testing.F) {
	for _, tag := range []string{"insert-rt", "", `back\slash\`, `quo"te`, "eq=ual", "größe", "99%", "\xff\xfe%", "line\vtab", `\`, "a{b}", "#x", "\u2028", `a\=b`, `a\\`} {
		f.Add([]byte(tag), "latency")
	}
	f.Add([]byte("x"), "my latency, all=1")
	f.Fuzz(func(t *testing.T, tag []byte, measurement string) {
		if bytes.ContainsAny(tag, ", \r\n") || strings.Contains(measurement, `\`) {
			return // no log has such a tag
		}
		w, err := New(io.Discard, output.Scale{}, measurement)
		if err != nil {
			return
		}
		if err := w.Row(someRow(tag, 50)); errors.Is(err, output.ErrPoint) && tags.Text(tag) == "" {
			return
		}
		p := read(t, format(t, output.Scale{}, measurement, someRow(tag, 50)))
		want := tags.Text(tag)
		if short, ok := strings.CutSuffix(want, `\`); ok {
			want = short + "%5C"
		}
		if p.tag == nil || *p.tag != want || !strings.Contains(measurement, "=") && p.measurement != measurement {
			t.Errorf("%q: measurement %q, tag %q, want %q", measurement, p.measurement, *p.tag, want)
		}
		if p.fields["count"] != "4i" || p.fields["p50"] != "1000" || p.fields["max"] != "123519" || p.at != "1468800411074000000" {
			t.Errorf("%+v", p)
		}
	})
}

func TestPoints(t *testing.T) {
	want := "latency length=9.998,count=4i,per_second=0.40008001600320064,min=100,mean=3162.2,p50=100,max=12351.9 1468800411074000000\n" +
		"latency,tag=a length=9.998,count=4i,per_second=0.40008001600320064,min=100,mean=3162.2,p50=100,max=12351.9 1468800411074000000\n"
	if got := format(t, output.Scale{Ratio: 10}, "latency", someRow(nil, 50), someRow([]byte("a"), 50)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want = "latency length=1,count=0i,per_second=0,window_p99=100,window_max=12351.9,window_count=4i 0\n"
	if got := format(t, output.Scale{Ratio: 10}, "latency", movingRow()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// A row without a length has no rate.
	if got := format(t, output.Scale{}, "latency", &output.Row{}); got != "latency length=0,count=0i 0\n" {
		t.Error(got)
	}
}

// TestRefused: what a line cannot hold.
func TestRefused(t *testing.T) {
	for name, want := range map[string]string{
		"#x": "InfluxDB ignores a line that begins with #: it is a comment", "": `invalid measurement ""`, "a\n": `invalid measurement "a\n"`, `a\`: `invalid measurement "a\\"`, "\xff": `invalid measurement "\xff"`,
	} {
		if _, err := New(io.Discard, output.Scale{}, name); err == nil || err.Error() != want {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, end := range []int64{1 << 60, -1 << 60} {
		if err := write(io.Discard, output.Scale{}, "latency", &output.Row{End: end}); !errors.Is(err, output.ErrPoint) {
			t.Error(err)
		}
	}
}
