package influx

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/output"
	"hdrkit/output/internal/rowtest"
	"hdrkit/tags"
)

// TestWriter checks what every writer of rows has to stand.
func TestWriter(t *testing.T) { rowtest.New(New).Check(t, "latency") }

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
		w, err := New(io.Discard, measurement)
		if err != nil {
			return
		}
		if err := w.Row(rowtest.Row(tag, 50)); errors.Is(err, output.ErrPoint) && tags.Text(tag) == "" {
			return
		}
		p := read(t, rowtest.New(New).Format(t, hdrlog.Scale{}, measurement, rowtest.Row(tag, 50)))
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
	if got := rowtest.New(New).Format(t, hdrlog.Scale{Ratio: 10}, "latency", rowtest.Row(nil, 50), rowtest.Row([]byte("a"), 50)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want = "latency length=1,count=0i,per_second=0,window_p99=100,window_max=12351.9,window_count=4i 0\n"
	if got := rowtest.New(New).Format(t, hdrlog.Scale{Ratio: 10}, "latency", rowtest.Moving()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// A row without a length has no rate.
	if got := rowtest.New(New).Format(t, hdrlog.Scale{}, "latency", &output.Row{}); got != "latency length=0,count=0i 0\n" {
		t.Error(got)
	}
}

// TestRefused: what a line cannot hold.
func TestRefused(t *testing.T) {
	for name, want := range map[string]string{
		"#x": "InfluxDB ignores a line that begins with #: it is a comment", "": `invalid measurement ""`, "a\n": `invalid measurement "a\n"`, `a\`: `invalid measurement "a\\"`, "\xff": `invalid measurement "\xff"`,
	} {
		if _, err := New(io.Discard, name); err == nil || err.Error() != want {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, end := range []int64{1 << 60, -1 << 60} {
		if err := rowtest.New(New).Write(io.Discard, hdrlog.Scale{}, "latency", &output.Row{End: end}); !errors.Is(err, output.ErrPoint) {
			t.Error(err)
		}
	}
}
