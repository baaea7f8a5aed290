package plot

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/chart"
	"hdrkit/internal/scan"
	"hdrkit/output/hgrm"
)

// A distribution is a percentile distribution with the name of its input.
type distribution struct {
	hgrm.Distribution
	input string
}

// unit returns the unit of the values, 0 if neither -in nor the file names it.
func (d *distribution) unit(options *unit.Options) hdrlog.Unit {
	if given, ok := options.Given(d.input); ok {
		return given
	}
	stated, _ := hdrlog.ParseUnit(d.Unit)
	return stated
}

// readDistributions reads the percentile distributions of files. Each becomes a series with a
// curve.
func (r *reading) readDistributions(inputs []scan.Input) error {
	var all []distribution
	for _, input := range inputs {
		file, err := input.Open()
		if err != nil {
			return err
		}
		some, err := hgrm.Read(file, input.Name)
		if err = cmp.Or(err, file.Close()); err != nil {
			return err
		}
		for _, d := range some {
			all = append(all, distribution{d, input.Name})
		}
	}
	options := &r.units.Options
	if r.found.unit == "" && options.Ratio == 0 && len(r.found.rows) == 0 {
		for n := range all {
			r.found.unit = cmp.Or(r.found.unit, all[n].unit(options).String())
		}
	}
	for n := range all {
		r.addDistribution(&all[n])
	}
	return nil
}

// addDistribution adds a series for a distribution. It converts values to the unit of the picture,
// or divides them by -ovr. Values of an unknown unit stay as they are, and a notice says so.
func (r *reading) addDistribution(d *distribution) {
	options := &r.units.Options
	ratio := cmp.Or(options.Ratio, 1)
	if to, ok := hdrlog.ParseUnit(r.found.unit); ok && options.Ratio == 0 {
		if in := d.unit(options); in != 0 {
			ratio = in.Per(to)
		} else {
			r.noteAssumedUnit(d.input, to)
		}
	}
	curve := chart.Curve{Count: d.Rows[len(d.Rows)-1].Count}
	for _, row := range d.Rows {
		curve.Steps = append(curve.Steps, chart.Step{Percentile: row.Percentile, Value: row.Value / ratio})
	}
	group := r.plan.labels[d.input]
	r.found.rows = append(r.found.rows, row{Series: chart.Series{
		Label: strings.TrimSpace(group + " " + d.Name),
		Group: group,
		Curve: curve,
	}})
}

// noteAssumedUnit says, once for each input, that the input does not state its unit, and that its
// values are taken as values in the given unit.
func (r *reading) noteAssumedUnit(input string, in hdrlog.Unit) {
	name := message.Printable(filepath.Base(input))
	note := fmt.Sprintf("%s does not state its unit: its values are taken as %s", name, in)
	if slices.Contains(r.found.notes, note+".") {
		return
	}
	r.found.notes = append(r.found.notes, note+".")
	r.std.Say("%s; -in %s names another", note, message.Quoted(name+"=UNIT"))
}
