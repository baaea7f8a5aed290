package cli

import (
	"fmt"
	"math"
	"testing"

	"github.com/urfave/cli/v2"

	"hdrkit/internal/base/unit"
)

// TestUnitsLater proves that what comes later does not change the unit in which values were printed
// before.
func TestUnitsLater(t *testing.T) {
	run(t, append(UnitFlags(), RatioFlag()), func(c *cli.Context) error {
		u, err := NewUnits(c)
		if err != nil {
			return err
		}
		logs := u.Logs()
		for _, log := range []struct {
			tag, comment string
			factor       float64
		}{{"a", "#UNITS:us", 1}, {"b", "#UNITS:ns", 1e-3}, {"c", "#UNITS:ms", 1e3}} {
			if err := logs.Comment(log.tag+".hdr", []byte(log.comment)); err != nil {
				t.Error(err)
			}
			logs.Kept(log.tag+".hdr", []byte(log.tag))
			scale, err := u.Scale(false)
			if err != nil || scale.Ratio != 1 || scale.Name != "us" {
				t.Errorf("%s: %+v, %v", log.tag, scale, err)
			}
			if factor, err := logs.Factor([]byte(log.tag)); factor != log.factor || err != nil {
				t.Errorf("%s: %v, %v", log.tag, factor, err)
			}
		}
		return nil
	})
}

// TestDoubt proves that any value of a unit that is stated is believed, and that one of a unit that
// is assumed is doubted if it is no time in nanoseconds.
func TestDoubt(t *testing.T) {
	said := func(comment string, highest float64, args ...string) string {
		_, text := run(t, append(UnitFlags(), RatioFlag()), func(c *cli.Context) error {
			u, err := NewUnits(c)
			if err != nil {
				return err
			}
			u.Headed = true
			if err := u.Logs().Comment("a.hdr", []byte(comment)); err != nil {
				return err
			}
			if _, err := u.Scale(true); err != nil {
				return err
			}
			u.Doubt(highest)
			u.Doubt(highest)
			return nil
		}, args...)
		return text
	}
	for exponent := -3; exponent < 70; exponent++ {
		highest := math.Ldexp(1, exponent)
		for _, name := range unit.Names {
			if text := said("#UNITS:"+name, highest) + said("#", highest, "-in", name); text != "" {
				t.Errorf("%v %s: %s", highest, name, text)
			}
		}
		if text := said("#", highest); (text != "") != (highest < 1e3 || highest > 3600e9) {
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
		if text := said("#", highest); text != want {
			t.Errorf("%v: %q, want %q", highest, text, want)
		}
	}
}
