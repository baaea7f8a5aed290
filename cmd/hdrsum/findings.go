package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/gate"
	"hdrkit/internal/table/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// oneRun is why options do not go together with -baseline.
const oneRun = "it looks at one run"

// findingFlags are the options that find what was bad, and who did it.
func findingFlags() []urfave.Flag {
	return []urfave.Flag{
		cli.Option{Check: cli.AtLeastOne, Not: "baseline", Why: oneRun, Flag: &urfave.IntFlag{Name: "worst", Category: cli.GroupOutput, DefaultText: "none",
			Usage: "list the `N` worst separate moments: time, length, maximum, tag and log"}},
		cli.Option{Check: cli.Percent, Not: "baseline", Why: oneRun, Flag: &urfave.Float64Flag{Name: "who", Category: cli.GroupOutput, DefaultText: "none",
			Usage: "list what each tag of each log, or what -by says, has of the values above this `PERCENTILE` of all values, and the percentile without it"}},
	}
}

// findings are what -worst and -who find.
type findings struct {
	most       int     // moments, 0 for none
	percentile float64 // of -who
	who        bool
	by         bool // -by says whose shares they are
	width      int  // of the terminal, 0 for a file

	worst  []output.Moment
	levels []output.Level
	shares *output.Shares
}

func (f *findings) wanted() bool { return f.most > 0 || f.who }

// parts returns what keeps what is to be found, nil if nothing is.
func (f *findings) parts(omission bool) *summary.Parts {
	switch {
	case f.most > 0:
		return &summary.Parts{Counts: true}
	case omission:
		return &summary.Parts{Sums: f.who, Times: true, Most: mostTimes}
	case f.who:
		return &summary.Parts{Sums: true}
	}
	return nil
}

// newFindings reads the options.
func newFindings(c *urfave.Context) findings {
	f := findings{most: c.Int("worst"), percentile: c.Float64("who"), who: cli.Given(c, "who"), by: cli.Given(c, "by")}
	if toStdout(c) {
		f.width = cli.Width(c.App.Writer)
	}
	return f
}

// find finds it, once the logs are read and the scale is known.
func (f *findings) find(o *options, d *cli.Diagnostics, parts []*summary.Parts, summaries []*output.Summary) (err error) {
	factor := gate.Factors(summaries, o.by)
	if f.most > 0 {
		if f.worst, f.levels, err = parts[0].Worst(f.most, factor); err != nil {
			return fmt.Errorf("-worst: %w", err)
		}
	}
	if f.who {
		names := make(map[string]bool)
		ofTags, ofInputs := true, true
		if f.by && !o.by.All() { // one row has everything
			ofTags, ofInputs = !o.by.Inputs() || !o.by.AddsTags(), o.by.Inputs()
		}
		if f.shares, err = parts[0].Who(f.percentile, factor, func(input string, tag []byte) (string, []byte) {
			names[tags.Text(tag)] = true
			switch {
			case !ofInputs:
				return "", o.by.Row(input, tag)
			case !ofTags:
				return input, nil
			}
			return input, tag
		}); err != nil {
			return fmt.Errorf("-who: %w", err)
		}
		f.shares.Tags, f.shares.Inputs = ofTags, ofInputs
		d.AddsUp("-who", slices.Sorted(maps.Keys(names)))
	}
	return nil
}

// document adds it to a document.
func (f *findings) document(doc *output.Document, scale output.Scale) {
	if f.most > 0 {
		doc.Worst(f.worst, f.levels, scale)
	}
	if f.who {
		doc.Who(f.shares, scale)
	}
}

// write writes it, after something else if that is set.
func (f *findings) write(w io.Writer, o *options, after bool) error {
	if f.most > 0 {
		if after {
			fmt.Fprintln(w)
		}
		after = true
		if err := output.WriteWorst(w, f.worst, f.levels, o.scale, o.zone, f.width); err != nil {
			return err
		}
	}
	if !f.who {
		return nil
	}
	if after {
		fmt.Fprintln(w)
	}
	return output.WriteWho(w, f.shares, o.scale, f.width)
}
