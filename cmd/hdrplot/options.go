package main

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // for machines without

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/draw"
	"hdrkit/internal/cli"
	"hdrkit/internal/gate"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

var formats = []string{"png", "svg", "pdf", "html"}

// typeList returns the types for help.
func typeList() (all []cli.Type) {
	for _, t := range chart.Types {
		all = append(all, cli.Type{Name: t.Name, What: t.What})
	}
	return all
}

// options are the options of the command line.
type options struct {
	kind      *chart.Type
	format    draw.Format
	of        string
	levels    []float64 // percentiles
	units     *cli.Units
	ratio     float64 // of logs, known when their comments were read
	limits    []gate.Limit
	aggregate int64           // milliseconds
	given     map[string]bool // "agg", "p": somebody chose
	linear    bool
	by        *tags.By // what makes a line
	compare   bool
	marks     []mark

	// picture has the looks.
	picture chart.Picture
}

func parseOptions(c *urfave.Context) (o *options, err error) {
	o = &options{
		of:      c.String("of"),
		given:   map[string]bool{"agg": cli.Given(c, "agg"), "p": cli.Given(c, "p")},
		linear:  c.Bool("linear"),
		compare: c.Bool("compare"), aggregate: cli.Millis(c, "agg"),
		picture: chart.Picture{
			Span: "each interval", Title: c.String("title"), Width: c.Float64("width"), Height: c.Float64("height"), DPI: c.Int("dpi"),
			LogValues: c.Bool("log"), Low: c.Float64("ymin"), High: c.Float64("ymax"), Facets: c.String("facet") != "",
		},
	}
	look := &o.picture
	for _, parse := range []func() error{
		func() (err error) { look.Zone, err = cli.Zone(c); return err },
		func() (err error) { o.format, err = parseFormat(c, o.of); return err },
		func() (err error) { o.units, err = cli.NewUnits(c); return err },
		func() (err error) { o.limits, err = parseLimits(c.StringSlice("sla")); return err },
		func() (err error) { o.marks, err = parseMarks(c.StringSlice("mark"), look.Zone); return err },
	} {
		if err := parse(); err != nil {
			return nil, err
		}
	}
	o.kind = chart.Types[slices.IndexFunc(chart.Types, func(t *chart.Type) bool { return t.Name == cli.Choice(c, "type") })]
	if o.kind == chart.Report && o.format == draw.HTML { // a page has all of it
		o.kind = chart.Timeline
	}
	look.Type, look.Absolute = o.kind, cli.Choice(c, "time") == "absolute"
	if theme := cli.Choice(c, "theme"); theme != "auto" {
		look.Theme = theme
	}
	if difference := o.compare && o.kind == chart.Heatmap && o.format != draw.HTML; difference && look.Facets {
		return nil, cli.Usagef("-facet and -compare do not go together with -type heatmap: choose a tag with -incT")
	} else if (difference || o.kind == chart.Report) && !cli.Given(c, "height") {
		look.Height = 900
	}
	look.PageSize = int(c.Float64("page-size") * 1e6)
	if err := draw.Check(look); err != nil {
		return nil, cli.Usagef("-width, -height and -dpi: %w", err)
	}
	switch low, high := look.Low, look.High; {
	case !(low >= 0) || !(high >= 0) || cli.Given(c, "ymax") && high <= low:
		return nil, cli.Usagef("-ymin %v and -ymax %v: an axis goes from 0 or more to a higher value", low, high)
	case low == 0 && cli.Given(c, "ymin") && (look.LogValues || o.kind.Chart.Log):
		return nil, cli.Usagef("-ymin 0: a logarithmic axis begins above 0")
	case o.compare && !look.Absolute && slices.ContainsFunc(o.marks, func(m mark) bool { return m.when.Origin != scan.LogStart }):
		return nil, cli.Usagef("-mark: logs that are laid over one another by -compare have no clock time; -time absolute, or a time since the start, has one")
	}
	return o, o.parseLevels(c)
}

// parseFormat returns the format: that of -format, or that of the extension of the path.
func parseFormat(c *urfave.Context, path string) (draw.Format, error) {
	extension := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	if path == "-" && cli.Terminal(c.App.Writer) {
		return "", cli.Usagef("-of -: standard output is a terminal, which cannot show a picture; -of FILE writes a file")
	}
	if c.String("format") != "" {
		format := cli.Choice(c, "format")
		if extension != format && slices.Contains(formats, extension) {
			return "", cli.Usagef("-of %s and -format %s name different formats", path, format)
		}
		return draw.Format(format), nil
	}
	switch {
	case path == "":
		return draw.PNG, nil
	case path == "-":
		return "", cli.Usagef("-of -: -format must name the format of standard output, one of %s", strings.Join(formats, ", "))
	case !slices.Contains(formats, extension):
		return "", cli.Usagef("-of %s: the name ends with none of .%s; -format names a format, too", path, strings.Join(formats, ", ."))
	}
	return draw.Format(extension), nil
}

// parseLevels reads the percentiles of -p.
func (o *options) parseLevels(c *urfave.Context) (err error) {
	if !o.given["p"] {
		if o.levels = []float64{99, 100}; o.format == draw.HTML {
			o.levels = []float64{50, 99, 100} // of several series, the maxima alone
		}
		return nil
	}
	o.levels, err = cli.Percentiles(c)
	return err
}

// parseLimits reads service levels as hdrsum does. 20 stands for max<=20, and 99=5 for 99<=5.
func parseLimits(texts []string) (limits []gate.Limit, err error) {
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			part = strings.TrimSpace(part)
			switch {
			case strings.ContainsAny(part, "<>"):
			case strings.Contains(part, "="):
				part = strings.Replace(part, "=", "<=", 1)
			default:
				part = "max<=" + part
			}
			parsed, err := gate.Parse(part)
			if err != nil {
				return nil, cli.Usagef("-sla %s: %w", text, err)
			}
			l := parsed[0]
			if !l.Drawn() || !(l.Value > 0 && l.Value < 1e300) {
				return nil, cli.Usagef("-sla %s: a picture shows limits above 0 for percentiles or the maximum, such as 20 or 99<=5ms", text)
			}
			limits = append(limits, l)
		}
	}
	return limits, nil
}

// A mark is a text at a time.
type mark struct {
	when scan.Bound
	text string
}

// parseMarks reads marks such as 26=deploy. Times have the grammar of -s.
func parseMarks(texts []string, zone *time.Location) (marks []mark, err error) {
	for _, text := range texts {
		at, label, found := strings.Cut(text, "=")
		if !found || label == "" {
			return nil, cli.Usagef("-mark %q: give a time, =, and a text", text)
		}
		when, ok := scan.ParseTime(at, zone)
		if !ok || when.Origin == scan.LogEnd {
			return nil, cli.Usagef("-mark %q: %q is no time: give seconds, a duration such as 1m30s, or a time such as 2016-07-18 00:07:00", text, at)
		}
		marks = append(marks, mark{when, label})
	}
	return marks, nil
}

// dress adds to a picture what depends on its data.
func (o *options) dress(p *chart.Picture) {
	for _, m := range o.marks {
		at := m.when.Seconds * 1000
		switch m.when.Origin {
		case scan.Epoch:
			at -= float64(p.Origin)
		case scan.Midnight:
			at = m.when.Moment(float64(p.Origin)/1000)*1000 - float64(p.Origin)
		}
		p.Marks = append(p.Marks, chart.Mark{Time: int64(math.Round(at)), Text: m.text})
	}
	if paged := o.format == draw.HTML; !o.given["p"] && (paged || o.kind == chart.Timeline) {
		p.KeepMaxima(paged)
	}
	p.LogValues = p.LogValues || !o.linear && p.Steep()
	if o.units.Options.Unit != "" {
		p.Unit = axis.Fixed(p.Unit)
	}
}
