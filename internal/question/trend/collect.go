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

// Undated says in which order runs are if they have no dates.
const Undated = "some logs do not say when they began, so the order of runs is that in which they were given"

// Options say what to collect.
type Options struct {
	Logs    *logs.Options
	Figures []output.Figure
	// GivenOrder keeps the runs in the order in which they were given. Otherwise it is that of
	// their starts, if they have dates.
	GivenOrder bool
	// Readable says that the values choose the unit in which they are printed, for people.
	Readable bool
	// Judged is a limit that depends on the unit of the values, empty if there is none.
	Judged string
}

// A collection is the figures of runs so far, each in the unit of its run.
type collection struct {
	options Options
	std     *message.Streams
	units   *logs.Units
	runs    []run
	rows    map[string]*row
	account *ledger.Account
}

type run struct {
	sides.TrendRun
	logs  *logs.Logs // know its units
	empty bool
}

// A row is the figures of a tag. What it has of a run is at the index of the run.
type row struct {
	tag     []byte
	allTags bool
	points  [][]confidence.RunFigure // points of each figure
	typical []unit.Typical
	maxima  []float64
	factors []float64 // of the values, 0 for none
}

// Collect reads the runs of a scan, one after another, and finds the changes of their figures. It
// keeps nothing else of a run, so memory does not grow with the length of runs.
func Collect(std *message.Streams, s *scan.Scan, units *logs.Units, o Options) (*sides.Trend, error) {
	c := &collection{options: o, std: std, units: units, rows: make(map[string]*row)}
	c.account = s.Memory.Open("tags with their figures of runs", "choose some with -incT, or add them up with -it")
	all := len(s.Runs())
	err := summary.EachRun(s, c.read, func(run *scan.Scan, r *summary.Result) error { return c.take(run, r, all) })
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

// take takes the figures of a run, which is one of all.
func (c *collection) take(s *scan.Scan, result *summary.Result, all int) error {
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
		// It stays where it was given: behind the run before.
		newest.Start = 0
		if n > 0 {
			newest.Start = c.runs[n-1].Start
		}
		c.std.Say("%s: %v", newest.Name, logs.Nothing(s))
	}
	return nil
}

// add takes the figures of a tag in a run.
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

// scale finds out how to print values, and converts them to that.
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

// trend puts the runs and tags into their order, and finds the changes.
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
