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
