package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/report"
)

const (
	// MaxLines is the number of series that get a line of their own.
	MaxLines = 12
	// restColumns is the number of columns to which the lines of series in the grey band are
	// thinned.
	restColumns = 500
)

// New returns the data of a page that shows a picture. If the rows of all intervals are larger than
// the limit, it merges intervals into wider windows until the rows fit.
func New(p *chart.Picture) (*Data, error) {
	limit := cmp.Or(p.Looks.PageSize, chart.MaxPageSize)
	fitted := *p
	width := max(p.Precision.WindowMillis, 1)
	columns := chart.PageColumns
	from, to, _ := p.TimeRange()
	for {
		last, most := float64(width) > to-from && columns < 100, limit
		if last {
			most = 0
		}
		d := DataOf(&fitted, width, columns, math.MaxInt64, most)
		size := d.Rows.Size()
		if size <= limit || last {
			return d, nil
		}
		columns = max(columns/2, 50)
		before := countWindows(fitted.Series)
		for countWindows(fitted.Series)*size > before*limit && float64(width) <= to-from {
			width = chart.Wider(width)
			series, err := widened(&fitted, width)
			if err != nil {
				return nil, err
			}
			fitted.Series = series
		}
	}
}

// widened returns the series of a picture with windows that are width milliseconds long.
func widened(p *chart.Picture, width int64) ([]chart.Series, error) {
	all := slices.Clone(p.Series)
	for i := range all {
		windows, err := p.Precision.Widen(all[i].Windows, width, p.Time.Origin)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", chart.Named(all[i].Label), err)
		}
		all[i].Windows = windows
	}
	return all, nil
}

func countWindows(all []chart.Series) (n int) {
	for _, s := range all {
		n += len(s.Windows)
	}
	return n
}

// DataOf returns the data of a page that shows a picture, whose windows are width milliseconds
// long. It thins lines to a number of columns, but not from the time recent on. If the rows take
// more than most bytes and most is not 0, they have only a size.
func DataOf(p *chart.Picture, width int64, columns int, recent int64, most int) *Data {
	lines := chart.Timeline
	if p.Type.Chart.Marks == chart.Lines {
		lines = p.Type
	}
	out := &Data{
		Picture: pictureOf(p),
		Caption: p.Caption(),
		Top:     some(report.Headline(p.Texts.Findings)),
		Charts: Charts{
			Lines:  described(p, lines),
			Cells:  described(p, chart.Heatmap),
			Rates:  described(p, chart.Throughput),
			Curves: described(p, chart.Percentiles),
			Heat:   true,
			Themes: chart.Themes,
		},
		Dated:    p.Time.Dated(),
		Times:    Times{Zone: p.Time.Location().String(), Offsets: [][2]int64{}},
		Measures: []string{},
		Series:   []Series{},
		Rows:     &Rows{most: most},
	}
	if from, to, timed := p.TimeRange(); timed {
		out.From, out.To = int64(math.Floor(from)), int64(math.Ceil(to))
		out.Offsets = axis.Offsets((from+float64(p.Time.Origin))/1000, (to+float64(p.Time.Origin))/1000, p.Time.Location())
	}
	if width > 1 || p.Precision.Aggregate > 0 {
		out.Window = max(width, p.Precision.Aggregate)
		out.WindowAt = chart.WindowAt(p.Time.Origin, out.Window) - p.Time.Origin
	}
	addSeries(out, p.Series, columns, recent)
	charts := *p
	charts.Type = chart.Timeline
	out.Facets = charts.Looks.Facets || charts.Crowded()
	charts.Looks.Facets = true
	titles := map[string]string{} // titles of facets by label
	for _, part := range charts.FacetsOf() {
		for _, s := range part.Picture.Series {
			titles[s.Label] = part.Tag
		}
	}
	for i := range out.Series {
		out.Series[i].Facet = titles[out.Series[i].Label]
	}
	if before, after, ok := p.Compared(); ok {
		out.Compared = []string{before[0].Group, after[0].Group}
		out.Change = chart.ChangeScale()
	}
	return out
}

// pictureOf returns what a page needs of a picture beside its series.
func pictureOf(p *chart.Picture) Picture {
	picture := Picture{
		Looks:     p.Looks,
		TimeAxis:  p.Time,
		ValueAxis: p.Values,
		Events:    p.Events,
		Texts:     p.Texts,
		Ran:       p.Ran,
		Sources:   p.Inputs.Logs,
		Digits:    p.Precision.Digits,
		Changed:   p.Comparison.Changed,
	}
	picture.Unit = axis.Spelled(picture.Unit)
	picture.Marks = some(picture.Marks)
	picture.Worst = some(picture.Worst)
	picture.Findings = some(picture.Findings)
	picture.Summary = some(picture.Summary)
	picture.Notes = some(picture.Notes)
	if names := p.PhasesWithoutLane(); len(names) > 0 {
		picture.Notes = append(picture.Notes, "Grey, too: "+strings.Join(names, ", ")+".")
	}
	return picture
}

// some returns a copy of a list that is not nil, so that JSON has a list and not null.
func some[T any](all []T) []T { return append([]T{}, all...) }

// described returns the description of a chart of a page. The chart has the limits of the picture
// if both show rates or both show values.
func described(p *chart.Picture, t *chart.Type) chart.Chart {
	c := p.Describe(t)
	c.Limits = []chart.Limit{}
	if c.Rate == p.Type.Chart.Rate {
		c.Low = p.Values.Low
		c.High = p.Values.High
		c.Limits = p.LabelledLimits()
		if c.Marks == chart.Lines {
			c.Limits = p.LineLimits()
		}
	}
	return c
}

// addSeries adds series with their lines and windows, or with their curves if the series have no
// times.
func addSeries(out *Data, series []chart.Series, columns int, recent int64) {
	shown, rest := chart.Highest(series, (*chart.Series).Max, MaxLines)
	if timed := out.To > out.From; len(rest) > 0 && timed {
		out.Notes = append(out.Notes, fmt.Sprintf("Of %d series, the %d with the highest maximum have a line; "+
			"the grey band is from the lowest to the highest of the rest.", len(series), MaxLines))
	} else if len(rest) > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("The other %d are not drawn here.", len(rest)))
		rest = nil
	}
	all := slices.Concat(shown, rest)
	groups, lines := chart.GroupsAndLines(all)
	out.Measures = append(out.Measures, lines...)
	styles := chart.Styles(groups, lines)
	for i, series := range all {
		drawn := Series{Label: series.Label, Group: series.Group, Rest: i >= len(shown)}
		width := float64(out.To-out.From) / float64(columns)
		if drawn.Rest {
			width = float64(out.To-out.From) / float64(min(columns, restColumns))
		}
		for n, line := range series.Lines {
			drawn.Colours = append(drawn.Colours, styles[i][n].Colour)
			drawn.Dashes = append(drawn.Dashes, styles[i][n].Dashes)
			old, late := chart.SplitAt(line.Points, recent)
			addRuns(out.Rows, i, n, append(chart.Stretches(old, width), chart.Stretches(late, 1)...))
		}
		if len(series.Lines) == 0 {
			st := styles[i][0]
			drawn.Colours = []int{st.Colour}
			drawn.Dashes = [][]float64{st.Dashes}
			drawn.Curve = &series.Curve
		}
		if series.Corrected.Count > 0 {
			drawn.Corrected = &series.Corrected
		}
		out.Series = append(out.Series, drawn)
		addWindows(out.Rows, i, &series)
	}
}

// addRuns adds the points of a line as rows of the series with an index. The first point of a run
// is not joined with the run before if there is time between them.
func addRuns(rows *Rows, index, measure int, runs [][]chart.Point) {
	end := math.Inf(-1)
	for _, run := range runs {
		for j, point := range run {
			gap := j == 0 && point.Start > end
			rows.Point(index, measure, int64(point.Start), int64(point.End-point.Start), point.Value, gap)
			end = math.Max(end, point.End)
		}
	}
}

// addWindows adds the windows of a series as rows of the series with an index.
func addWindows(rows *Rows, index int, s *chart.Series) {
	var counts []byte
	for n, w := range s.Windows {
		if n == 0 {
			rows.LayoutOf(index, w.Counts.Layout(), s.Unit)
		}
		counts = w.AppendCounts(counts[:0])
		rows.Window(index, &w, counts)
	}
}
