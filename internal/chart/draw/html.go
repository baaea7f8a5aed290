package draw

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"image/color"
	"io"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/chart/page"
)

const (
	// pageColumns is how many columns the lines of a page are thinned to: several times the width
	// of a screen, so that there is something to zoom into.
	pageColumns = 4000
	// restColumns is the same for series that have no line of their own at first.
	restColumns = 500
	// pageSize is the limit of a page's data in bytes, if none is given.
	pageSize = 16 << 20
)

// WriteHTML writes the picture as a web page that needs nothing but itself: see package page.
func (p *Picture) WriteHTML(w io.Writer) error {
	d, err := p.Page()
	if err != nil {
		return err
	}
	return page.Write(w, d)
}

// Page returns the picture as the data of a page. It keeps each interval if they all fit, and
// merges windows until they do.
func (p *Picture) Page() (*page.Data, error) {
	limit := cmp.Or(p.PageSize, pageSize)
	windows, width, columns := p.Windows, max(p.WindowMillis, 1), pageColumns
	from, to, _ := p.span()
	for {
		size, widest := sampled(windows), float64(width) > to-from
		if widest || size <= limit/10*11 {
			d := p.pageOf(&page.Rows{Once: true}, windows, width, columns, math.MaxInt64)
			if size = d.Rows.Size(); size <= limit || widest && columns < 100 {
				return d, nil
			}
		}
		columns = max(columns/2, 50)
		for before := countWindows(windows); countWindows(windows)*size > before*limit && float64(width) <= to-from; {
			width = wider(width)
			var err error
			if windows, err = p.widened(windows, width); err != nil {
				return nil, err
			}
		}
	}
}

// sampled returns how many bytes windows take in a page, about. To make all rows and to find that
// they are too many takes a tenth of the time of a page.
func sampled(all []WindowSeries) int {
	const every = 16
	rows, skip := page.Rows{Once: true}, 0
	for i, ws := range all {
		var some []Window
		for ; skip < len(ws.Windows); skip += every {
			some = append(some, ws.Windows[skip])
		}
		skip -= len(ws.Windows)
		ws.Windows = some
		ws.addTo(&rows, i)
	}
	return every * rows.Size()
}

func countWindows(all []WindowSeries) (n int) {
	for _, ws := range all {
		n += len(ws.Windows)
	}
	return n
}

// widened returns windows merged into those of a width.
func (p *Picture) widened(all []WindowSeries, width int64) (merged []WindowSeries, err error) {
	for _, ws := range all {
		if ws.Windows, err = widened(ws.Windows, width, p.Origin); err != nil {
			return nil, fmt.Errorf("%s: %w", named(ws.Label), err)
		}
		merged = append(merged, ws)
	}
	return merged, nil
}

// pageOf returns the data of a page with rows, which are empty: with windows of a width, and lines
// thinned to columns up to where those that are recent begin.
func (p *Picture) pageOf(rows *page.Rows, windows []WindowSeries, width int64, columns int, recent int64) *page.Data {
	out := &page.Data{
		Title: p.Title, Unit: axis.Spelled(p.Unit), Log: p.LogValues, Facets: p.Facets, Caption: p.caption(), Heat: true,
		Lines: p.pageChart(p.lines()), Cells: p.pageChart(Heatmap), Rates: p.pageChart(Throughput), Curves: p.pageChart(Percentiles),
		Absolute: p.Absolute, Zone: p.zone().String(), Origin: p.Origin, Height: p.Height, Theme: string(p.Theme),
		Themes: map[string]page.Theme{"light": themeOf(Light), "dark": themeOf(Dark)}, Digits: p.Digits,
		Offsets: [][2]int64{}, Measures: []string{}, Sources: p.Logs, Series: []page.Series{}, Marks: []page.Mark{},
		Summary: p.Summary, Notes: append([]string{}, p.Notes...), Rows: rows,
	}
	if out.Summary == nil {
		out.Summary = []page.Summary{}
	}
	for _, m := range p.Marks {
		out.Marks = append(out.Marks, page.Mark{Time: int64(m.Time), Text: m.Text})
	}
	out.Worst = PageMoments(p.Worst)
	from, to, ok := p.span()
	if !ok {
		p.addCurves(out)
		return out
	}
	out.From, out.To = int64(math.Floor(from)), int64(math.Ceil(to))
	out.Offsets = axis.Offsets((from+float64(p.Origin))/1000, (to+float64(p.Origin))/1000, p.zone())
	if width > 1 || p.Aggregate > 0 {
		out.Window = max(width, p.Aggregate)
		out.WindowAt = windowAt(p.Origin, out.Window) - p.Origin
	}
	p.addSeries(out, windows, columns, recent)
	if st := p.strip(mostRows); st != nil {
		st.addTo(out)
	}
	if before, after, ok := p.compared(); ok {
		out.Compared = []string{before[0].Group, after[0].Group}
		out.Change = changeScale("times as many per second; stripes: in one log only", "as many")
	}
	return out
}

// span returns the range of time of the picture, and false if it has none.
func (p *Picture) span() (from, to float64, ok bool) {
	if from, to, ok = timeRange(p.Series); ok {
		from, to = roomy(from, to, p.Absolute)
	}
	return from, to, ok
}

// PageMoments returns moments as a page has them.
func PageMoments(all []Moment) []page.Moment {
	out := []page.Moment{}
	for _, m := range all {
		out = append(out, page.Moment{Start: int64(m.Start), End: int64(m.End), Peak: int64(m.Peak), Value: m.Value, Label: m.Label, Name: m.Name})
	}
	return out
}

// lines returns the type of the chart of lines on a page.
func (p *Picture) lines() *Type {
	if p.Type.Chart.Marks == page.Lines {
		return p.Type
	}
	return Timeline
}

// pageChart describes a chart of a page. The limits of a rate are none for values.
func (p *Picture) pageChart(t *Type) page.Chart {
	c := p.describe(t)
	if c.Marks == page.Curves {
		c.Baseline = p.Baseline
	}
	c.Limits = []page.Limit{}
	if c.Rate != p.Type.Chart.Rate {
		return c
	}
	c.Low, c.High = p.Low, p.High
	s := newSheet(p, draw.Canvas{})
	s.what.Log = p.LogValues
	limits := slices.Clone(p.Limits)
	slices.SortStableFunc(limits, func(a, b Limit) int { return cmp.Compare(a.Percentile, b.Percentile) })
	for _, l := range limits {
		s.scale = axis.ScaleFor(c.Unit, l.Value)
		c.Limits = append(c.Limits, page.Limit{Percentile: l.Percentile, Value: l.Value, Label: "SLA: " + s.limitLabel(l)})
	}
	return c
}

// addSeries adds series with their lines and windows.
func (p *Picture) addSeries(out *page.Data, windows []WindowSeries, columns int, recent int64) {
	shown, rest := split(p.Series, (*Series).max, mostLines)
	for _, line := range shown[0].Lines {
		out.Measures = append(out.Measures, line.Name)
	}
	if len(rest) > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("Of %d series, the %d with the highest maximum have a line; the grey band is from the lowest to the highest of the rest.", len(p.Series), mostLines))
	}
	all := append(slices.Clone(shown), rest...)
	groups, lines := groupsOf(all)
	c := p.colours()
	styles := c.stylesFor(groups, len(lines))
	byLabel := make(map[string]*WindowSeries, len(windows))
	for i := range windows {
		byLabel[windows[i].Label] = &windows[i]
	}
	for i, series := range all {
		ps := page.Series{Label: series.Label, Group: series.Group, Rest: i >= len(shown)}
		width := float64(out.To-out.From) / float64(columns)
		if ps.Rest {
			width = float64(out.To-out.From) / float64(min(columns, restColumns))
		}
		for n, line := range series.Lines {
			st := styles.of(i, n)
			ps.Colours, ps.Dashes = append(ps.Colours, st.index), append(ps.Dashes, lengths(st.dashes))
			old, rest := splitAt(line.Points, recent)
			end := math.Inf(-1)
			for _, run := range append(runs(old, width), runs(rest, 1)...) {
				for j, point := range run {
					out.Rows.Point(i, n, int64(point.Start), int64(point.End-point.Start), point.Value, j == 0 && point.Start > end)
					end = math.Max(end, point.End)
				}
			}
		}
		out.Series = append(out.Series, ps)
		if ws := byLabel[series.Label]; ws != nil {
			ws.addTo(out.Rows, i)
		}
	}
}

// addCurves adds the curves of a picture that knows nothing of time.
func (p *Picture) addCurves(out *page.Data) {
	shown, rest := split(p.Curves, (*Curve).max, mostLines)
	c := p.colours()
	styles := c.stylesFor(groupsOfCurves(shown), 1)
	for i, curve := range shown {
		st := styles.of(i, 0)
		own := &page.Curve{X: []float64{}, V: []float64{}, Total: curve.Count}
		for _, point := range curve.points() {
			own.X, own.V = append(own.X, point.Start), append(own.V, point.Value)
		}
		out.Series = append(out.Series, page.Series{
			Label: curve.Label, Colours: []int{st.index}, Dashes: [][]float64{lengths(st.dashes)}, Curve: own,
		})
	}
	if len(rest) > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("The other %d are not drawn here.", len(rest)))
	}
}

// addTo adds the windows as rows of the series at index.
func (ws *WindowSeries) addTo(rows *page.Rows, index int) {
	var scratch histogram.Histogram
	for n, w := range ws.Windows {
		if n == 0 {
			addLayout(rows, index, w.counts.Layout(), ws.Unit)
		}
		w.addTo(rows, index, w.histogram(&scratch))
	}
}

func addLayout(rows *page.Rows, index int, layout histogram.Layout, unit float64) {
	rows.Layout(index, bits.Len(uint(layout.SubBuckets()))-2, bits.Len64(uint64(layout.Lowest))-1, unit)
}

// addTo adds the window, whose counts are h, as a row of the series at index.
func (w *Window) addTo(rows *page.Rows, index int, h *histogram.Histogram) {
	counts := make([]byte, 0, 1024)
	next := 0
	for index, n := range h.Slots() {
		counts = binary.AppendUvarint(binary.AppendUvarint(counts, uint64(index-next)), uint64(n))
		next = index + 1
	}
	rows.Window(index, page.Window{
		Start: w.Start, Skew: w.Start - w.Begin, Length: w.length(), Intervals: w.Intervals, Count: w.Count,
		Min: w.Min, Max: w.Max, Sum: w.Sum, Source: w.Source, Counts: counts,
	})
}

// themeOf returns the colours of a theme for a page.
func themeOf(name Theme) page.Theme {
	c := themes[name]
	t := page.Theme{
		Background: hex(c.background), Text: hex(c.text), Faint: hex(c.faint), Grid: hex(c.grid), Band: hex(c.band), Limit: hex(c.limit),
	}
	for _, line := range c.lines {
		t.Lines = append(t.Lines, hex(line))
	}
	for i := range 64 {
		t.Heat = append(t.Heat, hex(c.heatAt(float64(i)/63)))
	}
	for i := range 65 { // the middle is one of them
		t.Change = append(t.Change, hex(c.changeAt(float64(i)/64)))
	}
	return t
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// lengths returns lengths in pixels.
func lengths(points []vg.Length) []float64 {
	all := []float64{}
	for _, l := range points {
		all = append(all, float64(l/pixel))
	}
	return all
}
