package logs

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
)

// TestUnitsLater proves that what comes later does not change the unit in which values were printed
// before.
func TestUnitsLater(t *testing.T) {
	u, err := NewUnits(&message.Streams{Name: "test", Err: io.Discard}, unit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	logs := u.NewLogs(nil)
	for _, log := range []struct {
		tag, comment string
		factor       float64
	}{{"a", "#UNITS:us", 1}, {"b", "#UNITS:ns", 1e-3}, {"c", "#UNITS:ms", 1e3}} {
		if err := logs.Comment(log.tag+".hdr", []byte(log.comment)); err != nil {
			t.Error(err)
		}
		logs.Kept(log.tag+".hdr", []byte(log.tag))
		scale, err := u.Scale(false)
		if err != nil || scale.Ratio != 1 || scale.Unit != "us" {
			t.Errorf("%s: %+v, %v", log.tag, scale, err)
		}
		if factor, err := logs.Factor([]byte(log.tag)); factor != log.factor || err != nil {
			t.Errorf("%s: %v, %v", log.tag, factor, err)
		}
	}
}

// TestReasonOnce proves that a log that is read for two purposes is one log in a message.
func TestReasonOnce(t *testing.T) {
	var stderr bytes.Buffer
	u, err := NewUnits(&message.Streams{Name: "test", Err: &stderr}, unit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := u.NewLogs(nil).Comment("a.hdr", []byte("#[Logging for: READ]")); err != nil {
			t.Fatal(err)
		}
		if _, err := u.Scale(false); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := stderr.String(), "test: a.hdr taken as us: `Logging for: READ`, as YCSB writes\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDoubt proves that any value of a unit that is stated is believed, and that one of a unit that
// is assumed is doubted if it is no time in nanoseconds.
func TestDoubt(t *testing.T) {
	said := func(comment string, highest float64, in hdrlog.Unit) string {
		var stderr bytes.Buffer
		u, err := NewUnits(&message.Streams{Name: "test", Err: &stderr}, unit.Options{In: in})
		if err != nil {
			t.Fatal(err)
		}
		u.Headed = true
		if err := u.NewLogs(nil).Comment("a.hdr", []byte(comment)); err != nil {
			t.Fatal(err)
		}
		if _, err := u.Scale(true); err != nil {
			t.Fatal(err)
		}
		u.Doubt(highest)
		u.Doubt(highest)
		return stderr.String()
	}
	for exponent := -3; exponent < 70; exponent++ {
		highest := math.Ldexp(1, exponent)
		for _, name := range unit.Names {
			in, _ := hdrlog.ParseUnit(name)
			if text := said("#UNITS:"+name, highest, 0); text != "" {
				t.Errorf("%v %s: %s", highest, name, text)
			}
			if text := said("#", highest, in); (text != "") != (highest*float64(in) > 3600e9) {
				t.Errorf("%v, taken as %s: %q", highest, name, text)
			}
		}
		if text := said("#", highest, 0); (text != "") != (highest < 1e3 || highest > 3600e9) {
			t.Errorf("%v: %q", highest, text)
		}
	}
	for highest, want := range map[float64]string{
		350:        "the highest value would be 350ns if values were in ns, as is assumed: -in us, -in ms or -in s says what they are",
		2 * 3600e9: "the highest value would be 2h0m0s if values were in ns, as is assumed: if they are no times, leave the unit out",
		0:          "",
		math.NaN(): "",
		1e3:        "",
		3600e9:     "",
	} {
		if want != "" {
			want = fmt.Sprintf("test: %s\n", want)
		}
		if text := said("#", highest, 0); text != want {
			t.Errorf("%v: %q, want %q", highest, text, want)
		}
	}
}

// TestUnitsCharged: what is known of the units of tags is charged, once for a tag.
func TestUnitsCharged(t *testing.T) {
	u, err := NewUnits(nil, unit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	memory := ledger.New(1 << 20)
	logs, others := u.NewLogs(memory), memory.Open("others", "")
	for n := range 10_000 {
		logs.Kept("a.hdr", fmt.Appendf(nil, "tag%05d", n%2000))
	}
	if err := others.Add(1, 1); err != nil {
		t.Fatalf("2,000 tags: %v", err)
	}
	for n := range 20_000 {
		logs.Kept("a.hdr", fmt.Appendf(nil, "tag%05d", n))
	}
	if err := others.Add(1, 1); err == nil || !strings.Contains(err.Error(), "20000 tags with their units") {
		t.Errorf("20,000 tags in a MiB: %v", err)
	}
}
