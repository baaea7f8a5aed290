package cli

import (
	"testing"

	"github.com/urfave/cli/v2"
)

// TestUnitsLater proves that what comes later does not change the unit in which values were printed
// before.
func TestUnitsLater(t *testing.T) {
	run(t, append(UnitFlags(), RatioFlag()), func(c *cli.Context) error {
		u, err := NewUnits(c)
		if err != nil {
			return err
		}
		f := u.Finder()
		for _, log := range []struct {
			tag, comment string
			factor       float64
		}{{"a", "#UNITS:us", 1}, {"b", "#UNITS:ns", 1e-3}, {"c", "#UNITS:ms", 1e3}} {
			if err := u.Comment(f, log.tag+".hdr", []byte(log.comment)); err != nil {
				t.Error(err)
			}
			u.Kept(f, log.tag+".hdr", []byte(log.tag))
			scale, err := u.Scale(false)
			if err != nil || scale.Ratio != 1 || scale.Name != "us" {
				t.Errorf("%s: %+v, %v", log.tag, scale, err)
			}
			if factor, err := u.Factor(f, []byte(log.tag)); factor != log.factor || err != nil {
				t.Errorf("%s: %v, %v", log.tag, factor, err)
			}
		}
		return nil
	})
}
