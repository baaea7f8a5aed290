package picture

import (
	"cmp"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"math/bits"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// The parts of an HTML file.
var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// pageColumns is how many columns the lines of an HTML file are thinned to: several times the width of a screen, so
// that there is something to zoom into.
const pageColumns = 4000

// page is the data of an HTML file, as page.js takes it. Times are seconds from the origin.
type page struct {
	Type      Type         `json:"type"`
	Unit      string       `json:"unit"`
	ValueName string       `json:"valueName"`
	Log       bool         `json:"log"`
	Absolute  bool         `json:"absolute"`
	Origin    float64      `json:"origin"`
	From      float64      `json:"from"`
	To        float64      `json:"to"`
	HasTime   bool         `json:"hasTime"`
	Height    float64      `json:"height"`
	Theme     pageTheme    `json:"theme"`
	Series    []pageSeries `json:"series"`
	Rest      *pageBand    `json:"rest,omitempty"`
	Limits    []pageLimit  `json:"limits"`
	Summary   []Summary    `json:"summary"`
	Notes     []string     `json:"notes"`
}

type pageTheme struct {
	Background string   `json:"background"`
	Text       string   `json:"text"`
	Faint      string   `json:"faint"`
	Grid       string   `json:"grid"`
	Band       string   `json:"band"`
	Limit      string   `json:"limit"`
	Heat       []string `json:"heat"`
}

type pageSeries struct {
	Label   string       `json:"label"`
	Colour  string       `json:"colour"`
	Dash    []float64    `json:"dash"`
	Lines   []pageLine   `json:"lines"`
	Windows *pageWindows `json:"windows,omitempty"`
	Curve   *pageCurve   `json:"curve,omitempty"` // where there are no windows to compute one from
}

// pageLine is a line: starts, durations and values of its points, and the indexes of those that follow a gap.
type pageLine struct {
	Name      string    `json:"name"`
	Dash      []float64 `json:"dash"`
	Starts    []float64 `json:"s"`
	Durations []float64 `json:"d"`
	Values    []float64 `json:"v"`
	Gaps      []int     `json:"gaps"`
}

// pageBand is what is drawn of the series without a line: from the lowest to the highest of them, or all in a heat map.
type pageBand struct {
	Label   string         `json:"label"`
	From    []float64      `json:"from"`
	To      []float64      `json:"to"`
	Low     []float64      `json:"low"`
	High    []float64      `json:"high"`
	Windows []*pageWindows `json:"windows"`
}

type pageCurve struct {
	X []float64 `json:"x"`
	V []float64 `json:"v"`
}

type pageLimit struct {
	Percentile float64 `json:"percentile"`
	Value      float64 `json:"value"`
	Label      string  `json:"label"`
}

// pageWindows is the histograms of a series by time: the packed counts of one window after another, in base64, with their
// sizes in bytes.
type pageWindows struct {
	Unit   float64   `json:"unit"`
	Half   int       `json:"half"`  // binary logarithm of half the sub-buckets of a bucket
	Shift  int       `json:"shift"` // binary logarithm of the lowest discernible value
	Slots  int       `json:"slots"`
	Start  []float64 `json:"start"`
	End    []float64 `json:"end"`
	Max    []float64 `json:"max"`
	Sizes  []int     `json:"sizes"`
	Counts string    `json:"counts"`
}

// WriteHTML writes the picture as a web page that needs nothing but itself: the chart, percentile curves of the time in
// view, and the summary as a table.
func (p *Picture) WriteHTML(w io.Writer) error {
	data, err := json.Marshal(p.page()) // which escapes < and >, so that no text ends the script
	if err != nil {
		return err
	}
	_, err = strings.NewReplacer(
		"{{title}}", html.EscapeString(p.Title),
		"{{style}}", pageCSS,
		"{{data}}", string(data),
		"{{script}}", pageJS,
	).WriteString(w, pageHTML)
	return err
}

func (p *Picture) page() *page {
	s := &sheet{Picture: p, colours: p.theme()}
	out := &page{
		Type: p.Type, Unit: spelled(p.Unit), ValueName: s.valueName(), Log: p.LogValues, Absolute: p.Absolute, Origin: p.Origin,
		Height: p.Height, Theme: s.colours.page(), Limits: []pageLimit{}, Summary: p.Summary, Notes: p.pageNotes(),
		Series: []pageSeries{},
	}
	if p.Type == Percentiles || p.Type == Heatmap {
		out.ValueName = "value"
		if p.Type == Percentiles && len(p.Series) > 0 {
			out.ValueName = "maximum of " + p.Span
		}
	}
	if out.Summary == nil {
		out.Summary = []Summary{}
	}
	limits := slices.Clone(p.Limits)
	slices.SortStableFunc(limits, func(a, b Limit) int { return cmp.Compare(a.Percentile, b.Percentile) })
	for _, l := range limits {
		s.scale = s.scaleOf(l.Value)
		out.Limits = append(out.Limits, pageLimit{l.Percentile, l.Value, "SLA: " + s.limitLabel(l)})
	}
	out.fill(s)
	return out
}

func (p *Picture) pageNotes() []string {
	notes := p.notes()
	if len(p.Windows) > 0 {
		notes = append(notes, "Percentile curves, and the summary of a part of the time, are within 0.8% of the values recorded. Maxima, and the summary of the whole, are exact.")
	}
	if p.WindowSeconds > 0 {
		notes = append(notes, fmt.Sprintf("For so many intervals to fit into a page, those within %s s are counted together in curves of a part of the time.", number(p.WindowSeconds)))
	}
	return append([]string{}, notes...)
}

// fill adds the series: those that have a line, or else those that have a curve.
func (out *page) fill(s *sheet) {
	from, to, ok := timeRange(s.Series)
	if !ok {
		shown, rest := split(s.Curves, (*Curve).max)
		for i, curve := range shown {
			st := s.styleOf(i, 0, 1)
			out.Series = append(out.Series, pageSeries{
				Label: curve.Label, Colour: hex(st.colour), Dash: lengths(st.dashes), Lines: []pageLine{}, Curve: curve.page(),
			})
		}
		if len(rest) > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("The other %d are not drawn here.", len(rest)))
		}
		return
	}
	out.HasTime = true
	out.From, out.To = roomy(from, to, s.Absolute)
	width := (out.To - out.From) / pageColumns
	shown, rest := split(s.Series, (*Series).max)
	for i, series := range shown {
		st := s.styleOf(i, 0, len(series.Lines))
		ps := pageSeries{Label: series.Label, Colour: hex(st.colour), Dash: lengths(st.dashes), Lines: []pageLine{}}
		for n, line := range series.Lines {
			dash := s.styleOf(i, n, len(series.Lines)).dashes
			ps.Lines = append(ps.Lines, pageLineOf(line.Name, lengths(dash), runs(line.Points, width)))
		}
		ps.Windows = s.windowsOf(series.Label)
		out.Series = append(out.Series, ps)
	}
	if len(rest) > 0 {
		out.Rest = pageBandOf(fmt.Sprintf("the other %d", len(rest)), envelope(rest, out.From, out.To, 1000))
		if len(s.Windows) > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("The percentile curves are of the %d series with the highest maximum.", len(shown)))
		}
	}
	if s.Type == Heatmap {
		for _, series := range rest {
			if windows := s.windowsOf(series.Label); windows != nil {
				out.Rest.Windows = append(out.Rest.Windows, windows)
			}
		}
	}
}

// windowsOf returns the histograms of the series with a label, nil if there are none.
func (p *Picture) windowsOf(label string) *pageWindows {
	for n := range p.Windows {
		if p.Windows[n].Label == label {
			return p.Windows[n].page()
		}
	}
	return nil
}

func pageLineOf(name string, dash []float64, runs [][]Point) pageLine {
	line := pageLine{Name: name, Dash: dash, Starts: []float64{}, Durations: []float64{}, Values: []float64{}, Gaps: []int{}}
	for i, run := range runs {
		if i > 0 {
			line.Gaps = append(line.Gaps, len(line.Values))
		}
		for _, p := range run {
			line.Starts = append(line.Starts, millis(p.Start))
			line.Durations = append(line.Durations, millis(p.End-p.Start))
			line.Values = append(line.Values, p.Value)
		}
	}
	return line
}

func pageBandOf(label string, bands []band) *pageBand {
	out := &pageBand{Label: label, From: []float64{}, To: []float64{}, Low: []float64{}, High: []float64{}, Windows: []*pageWindows{}}
	for _, b := range bands {
		if math.IsNaN(b.low) {
			continue
		}
		out.From, out.To = append(out.From, millis(b.from)), append(out.To, millis(b.to))
		out.Low, out.High = append(out.Low, b.low), append(out.High, b.high)
	}
	return out
}

func (c *Curve) page() *pageCurve {
	out := &pageCurve{X: []float64{}, V: []float64{}}
	for _, p := range c.points() {
		out.X, out.V = append(out.X, p.Start), append(out.V, p.Value)
	}
	return out
}

func (ws *WindowSeries) page() *pageWindows {
	if len(ws.Windows) == 0 {
		return nil
	}
	layout := ws.Windows[0].counts.Layout()
	out := &pageWindows{
		Unit: ws.Unit, Half: bits.Len(uint(layout.SubBuckets())) - 2, Shift: bits.Len64(uint64(layout.Lowest)) - 1,
	}
	var counts []byte
	for _, w := range ws.Windows {
		if w.Count == 0 {
			continue
		}
		for index := range w.counts.Slots() {
			out.Slots = max(out.Slots, index+1)
		}
		out.Start, out.End = append(out.Start, millis(w.Start)), append(out.End, millis(w.End))
		out.Max, out.Sizes = append(out.Max, w.Max), append(out.Sizes, w.counts.Size())
		counts = w.counts.AppendCounts(counts)
	}
	if len(counts) == 0 {
		return nil
	}
	out.Counts = base64.StdEncoding.EncodeToString(counts)
	return out
}

// millis rounds seconds to what logs tell.
func millis(seconds float64) float64 { return math.Round(seconds*1000) / 1000 }

func (c *colours) page() pageTheme {
	t := pageTheme{hex(c.background), hex(c.text), hex(c.faint), hex(c.grid), hex(c.band), hex(c.limit), nil}
	for i := range 64 {
		t.Heat = append(t.Heat, hex(c.heatAt(float64(i)/63)))
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
