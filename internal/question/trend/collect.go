package trend

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/logs"
	"hdrkit/internal/scan"
	"hdrkit/internal/sides"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// Undated is the message about the order of runs without dates.
const Undated = "some logs do not say when they began, so the order of runs is that in which they were given"

// Options say which figures to collect, and how.
type Options struct {
	Logs    *logs.Options
	Figures []output.Figure
	// GivenOrder keeps the runs in the order in which they were given. Otherwise runs with dates
	// are in the order of their starts.
	GivenOrder bool
	// Readable chooses a unit for people that suits the values.
	Readable bool
	// Judged is a limit that depends on the unit of the values, empty if there is none.
	Judged string
}

// A collection has the figures of the runs that are read so far. The figures are in the units of
// their runs.
type collection struct {
	options Options
	std     *message.Streams
	units   *logs.Units
	runs    []run
	rows    map[string]*row // by [merge.AppendKey]
	account *ledger.Account
}

// A run is a run of the collection.
type run struct {
	sides.TrendRun
	logs  *logs.Logs // know the units of its logs
	empty bool       // the run has no interval
}

// A row has the figures of a tag in all runs. All slices have the run as index.
type row struct {
	tag     []byte
	allTags bool
	points  [][]confidence.RunFigure // by figure, then by run
	typical []unit.Typical
	maxima  []float64
	factors []float64 // convert values to a common unit, 0 if the run has no values of the tag
}

// Collect reads the runs of a scan, one after another, and finds how their figures change. It keeps
// only the figures of a run, so its memory does not grow with the length of runs.
func Collect(std *message.Streams, s *scan.Scan, units *logs.Units, o Options) (*sides.Trend, error) {
	c := &collection{options: o, std: std, units: units, rows: make(map[string]*row)}
	c.account = s.Memory.Open("tags with their figures of runs", "choose some with -incT, or add them up with -it")
	all := len(s.Runs())
	err := summary.EachRun(s, c.read, func(run *scan.Scan, r *summary.Result) error { return c.addRun(run, r, all) })
	if err != nil {
		return nil, err
	}
	if len(c.rows) == 0 {
		return nil, logs.NothingLeft(s)
	}
	scale, err := c.scale()
	if err != nil {
		return nil, err
	}
	t := c.trend()
	t.Scale = scale
	return t, nil
}

// read adds up the logs of a run, in memory of its own.
func (c *collection) read(s *scan.Scan) (*summary.Result, error) {
	s.Memory = s.Memory.Empty()
	next := run{
		TrendRun: sides.TrendRun{Name: s.Inputs[0].RunName(), Start: math.MaxInt64},
		logs:     c.units.Watch(s),
	}
	for _, in := range s.Inputs {
		next.Inputs = append(next.Inputs, in.Name)
	}
	c.runs = append(c.runs, next)
	if err := c.options.Logs.Times.FindSteady(c.std, s); err != nil {
		return nil, err
	}
	return summary.Collect(s, summary.Options{})
}

// addRun adds the figures of the latest run. All is the number of all runs.
func (c *collection) addRun(s *scan.Scan, result *summary.Result, all int) error {
	defer result.Release()
	n := len(c.runs) - 1
	newest := &c.runs[n]
	for _, sum := range result.Summaries {
		newest.Start = min(newest.Start, sum.Start)
		if err := c.add(sum, n, all); err != nil {
			return err
		}
	}
	if newest.empty = len(result.Summaries) == 0; newest.empty {
		// An empty run has no start. The start of the run before keeps it behind that run.
		newest.Start = 0
		if n > 0 {
			newest.Start = c.runs[n-1].Start
		}
		c.std.Say("%s: %v", newest.Name, logs.Nothing(s))
	}
	return nil
}

// add adds the figures of a tag in run n of all runs.
func (c *collection) add(s *output.Summary, n, all int) error {
	key := string(merge.AppendKey(nil, s.Tag))
	r := c.rows[key]
	if r == nil {
		r = &row{
			tag:     s.Tag,
			allTags: s.AllTags,
			typical: make([]unit.Typical, all),
			maxima:  make([]float64, all),
			factors: make([]float64, all),
		}
		for range c.options.Figures {
			points := make([]confidence.RunFigure, all)
			for k := range points {
				points[k].Value = math.NaN()
			}
			r.points = append(r.points, points)
		}
		c.rows[key] = r
		if err := c.account.Add(1, len(s.Tag)+all*(32+16*len(c.options.Figures))); err != nil {
			return err
		}
	}
	for k, f := range c.options.Figures {
		r.points[k][n] = sides.RunFigureOf(s, f)
	}
	if h := s.Counts(); h.TotalCount() > 0 {
		r.factors[n] = 1
		r.typical[n] = unit.TypicalOf(h, 1)
		r.maxima[n] = h.MaxFloat()
	}
	return nil
}

// scale returns how to print values, and converts all points to printed units.
func (c *collection) scale() (hdrlog.Scale, error) {
	if err := c.units.CheckLimit(c.options.Judged); err != nil {
		return hdrlog.Scale{}, err
	}
	scale, err := c.units.Scale(false)
	if err != nil {
		return scale, err
	}
	var typical []unit.Typical
	highest := 0.0
	for _, r := range c.rows {
		for n := range c.runs {
			if r.factors[n] == 0 {
				continue
			}
			if r.factors[n], err = c.runs[n].logs.Factor(r.tag); err != nil {
				return scale, err
			}
			of := r.typical[n]
			of.Median *= r.factors[n]
			typical = append(typical, of)
			highest = max(highest, r.maxima[n]*r.factors[n])
		}
	}
	if c.options.Readable {
		scale = c.units.Readable(scale, typical...)
	}
	c.units.Doubt(highest)
	for _, r := range c.rows {
		for k, f := range c.options.Figures {
			for n := range r.points[k] {
				p := &r.points[k][n]
				if !f.Unitless() {
					p.Value = unit.Divide(p.Value, scale.Ratio/cmp.Or(r.factors[n], 1))
				}
			}
		}
	}
	return scale, nil
}

// trend sorts the runs and the tags, and finds the levels of each figure.
func (c *collection) trend() *sides.Trend {
	t := new(sides.Trend)
	order := make([]int, len(c.runs))
	dated := true
	for n, run := range c.runs {
		order[n] = n
		dated = dated && (run.empty || run.Dated())
	}
	switch {
	case c.options.GivenOrder:
	case dated:
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.runs[a].Start, c.runs[b].Start) })
	case len(c.runs) > 1:
		c.std.Say("%s", Undated)
	}
	for _, n := range order {
		if c.runs[n].empty {
			c.runs[n].Start = 0
		}
		t.Runs = append(t.Runs, c.runs[n].TrendRun)
	}
	var rows []*row
	for _, r := range c.rows {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b *row) int { return tags.Compare(a.tag, b.tag) })
	for _, r := range rows {
		for k, figure := range c.options.Figures {
			f := sides.TrendFigure{Tag: r.tag, AllTags: r.allTags, Figure: figure}
			for _, n := range order {
				f.Points = append(f.Points, r.points[k][n])
			}
			f.Levels, f.Deviation = Find(f.Points)
			t.Figures = append(t.Figures, f)
		}
	}
	return t
}
