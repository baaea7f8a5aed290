// Package page writes charts as a web page that needs nothing but itself. The page draws lines over
// time, percentile curves, heat maps and a table of the time in view.
//
// [Data] is the only format that the page reads. A file holds one Data. A live page takes the same,
// with more of its rows, as server-sent events.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"strings"
	"sync"
)

// Data is what a page shows. Times are milliseconds from Origin, values are in Unit.
type Data struct {
	Title string `json:"title"`
	// Caption says what the page shows: of which logs, of what time, and how many values.
	Caption string `json:"caption"`
	Unit    string `json:"unit"`
	// Lines, Cells, Rates and Curves describe the charts. Heat has the cells shown at first.
	Lines  Chart `json:"lines"`
	Rates  Chart `json:"rates"`
	Cells  Chart `json:"cells"`
	Curves Chart `json:"curves"`
	Heat   bool  `json:"heat"`
	// Facets has a chart for each series at first.
	Facets bool `json:"facets,omitempty"`
	// Log makes the axes of values logarithmic at first.
	Log bool `json:"log"`
	// Live is set if the page gets further data: each Data event replaces all, each rows event is
	// an [Update].
	Live bool `json:"live,omitempty"`
	// Absolute labels the time axis with clock times in Zone. Each of Offsets holds a time in
	// seconds since the epoch, and how many seconds the zone is ahead of UTC from then on.
	Absolute bool       `json:"absolute"`
	Zone     string     `json:"zone"`
	Offsets  [][2]int64 `json:"offsets"`
	// Origin is time 0, in milliseconds since the epoch. The whole range is from From to To.
	Origin int64   `json:"origin"`
	From   int64   `json:"from"`
	To     int64   `json:"to"`
	Height float64 `json:"height"`
	// Theme is light or dark. If it is empty, the page follows the reader's preference.
	Theme  string           `json:"theme"`
	Themes map[string]Theme `json:"themes"`
	// Digits is the precision of the rows' counts, in significant decimal digits.
	Digits int `json:"digits"`
	// If several intervals were merged into a row, Window is the length of such a window. A window
	// begins at WindowAt and at every multiple of Window from there; views begin and end there too.
	Window   int64 `json:"window"`
	WindowAt int64 `json:"windowAt"`
	// Recent is set if the windows are shorter from some time on.
	Recent   *Recent  `json:"recent,omitempty"`
	Measures []string `json:"measures"`
	Series   []Series `json:"series"`
	Marks    []Mark   `json:"marks"`
	// Worst are the worst moments of the whole range, the worst first. Those of a part are the
	// ones with their peaks in it.
	Worst []Moment `json:"worst"`
	// Compared are the groups of two logs, before and after. A heat map shows their difference.
	Compared []string `json:"compared,omitempty"`
	// Strip is set if there are several logs beside each other. Change is the scale of ratios of
	// Strip, or of the difference.
	Strip  *Strip `json:"strip,omitempty"`
	Change *Scale `json:"change,omitempty"`
	// Sources are the logs, if there are several.
	Sources []string `json:"sources,omitempty"`
	// Summary is the table of the whole range; the page computes that of a part from the rows.
	Summary []Summary `json:"summary"`
	Notes   []string  `json:"notes"`
	// Inputs is that of Update.
	Inputs []Input `json:"inputs,omitempty"`
	Rows   *Rows   `json:"rows"`
}

// A Chart describes a chart: what its axes show, and what lies between them. Package picture draws
// it as a picture, and the page's script draws it in a browser.
type Chart struct {
	// Marks are what shows the data: Lines or Cells over time, or Curves over percentiles.
	Marks string `json:"marks"`
	// Name is the title of the axis of values.
	Name string `json:"name"`
	// Rate says that values are numbers per second. Unit is the unit of other values, empty if it
	// is unknown.
	Rate bool   `json:"rate"`
	Unit string `json:"unit"`
	// Log makes the axis of values logarithmic, always or at first.
	Log bool `json:"log"`
	// Low and High are the ends of the axis of values, if they are fixed.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
	// Baseline is a value to draw a line at, if it is above 0.
	Baseline float64 `json:"baseline"`
	// Limits are service levels. Breaches has the times shaded in which a line is above its limit.
	Limits   []Limit `json:"limits"`
	Breaches bool    `json:"breaches"`
	// Empty is what stands in a picture without data, and EmptyView in a page if the time in view
	// has none.
	Empty     string `json:"-"`
	EmptyView string `json:"empty"`
}

// What shows the data of a chart.
const (
	Lines  = "lines"
	Cells  = "cells"
	Curves = "curves"
)

// A Recent says which windows are shorter: those from a time on.
type Recent struct {
	From   int64 `json:"from"`
	Window int64 `json:"window"`
}

// An Update is what a live page gets after its Data: further rows, of series that it knows, and all
// marks. Worst is nil if it is as before.
type Update struct {
	To    int64    `json:"to"`
	Marks []Mark   `json:"marks"`
	Worst []Moment `json:"worst,omitzero"`
	// Inputs says how the inputs are.
	Inputs []Input `json:"inputs"`
	Rows   *Rows   `json:"rows"`
}

// An Input is a log that a live page follows. End is when its last interval ends, and State is
// empty while it goes on, or such as "is silent".
type Input struct {
	Name  string `json:"name"`
	State string `json:"state"`
	End   int64  `json:"end"`
}

// A Theme is a set of colours.
type Theme struct {
	Background string   `json:"background"`
	Text       string   `json:"text"`
	Faint      string   `json:"faint"`
	Grid       string   `json:"grid"`
	Band       string   `json:"band"`
	Limit      string   `json:"limit"`
	Lines      []string `json:"lines"`
	// Heat and Change are scales: from few to many, and from less to more.
	Heat   []string `json:"heat"`
	Change []string `json:"change"`
}

// A Strip has a row for each log, and a window from each of Starts to the same of Ends.
type Strip struct {
	Starts []int64    `json:"starts"`
	Ends   []int64    `json:"ends"`
	Rows   []StripRow `json:"rows"`
}

// A StripRow has the ratio of a log's 99th percentile to that of the median log, by window: 0 where
// the log has no values. Short is a label for a narrow place.
type StripRow struct {
	Label  string    `json:"label"`
	Short  string    `json:"short"`
	Ratios []float32 `json:"ratios"`
}

// A Scale is a logarithmic scale of ratios: 1 is in the middle, and Most at its end.
type Scale struct {
	Title string  `json:"title"`
	Most  float64 `json:"most"`
	Ticks []Tick  `json:"ticks"`
}

// A Tick is a label at a part of a scale, from 0 to 1.
type Tick struct {
	Part  float64 `json:"part"`
	Label string  `json:"label"`
}

// A Series is what is shown of a tag or an input.
type Series struct {
	Label string `json:"label"`
	// Group is the input of a series. The time that was measured is the longest of its series'.
	Group string `json:"group"`
	// Colours are indexes of Theme.Lines, and Dashes lengths in pixels, by measure.
	Colours []int       `json:"colours"`
	Dashes  [][]float64 `json:"dashes"`
	// Rest has the series drawn in the band of all those that have no line of their own.
	Rest bool `json:"rest"`
	// Curve is the percentile curve of a series without rows.
	Curve *Curve `json:"curve,omitempty"`
}

// A Curve is a percentile curve: values by their place on an axis of nines.
type Curve struct {
	X     []float64 `json:"x"`
	V     []float64 `json:"v"`
	Total int64     `json:"total"`
}

// A Limit is a service level.
type Limit struct {
	Percentile float64 `json:"percentile"`
	Value      float64 `json:"value"`
	Label      string  `json:"label"`
}

// A Mark is a text at a time.
type Mark struct {
	Time int64  `json:"time"`
	Text string `json:"text"`
}

// A Moment is a time that was bad, with the maximum Value at Peak. Label is that of its series, and
// Name says which tag of which log was bad.
type Moment struct {
	Start int64   `json:"start"`
	End   int64   `json:"end"`
	Peak  int64   `json:"peak"`
	Value float64 `json:"value"`
	Label string  `json:"label"`
	Name  string  `json:"name"`
}

// A Summary is a row of the table.
type Summary struct {
	Label       string    `json:"label"`
	Intervals   int64     `json:"intervals"`
	Count       int64     `json:"count"`
	PerSecond   float64   `json:"perSecond"`
	Min         float64   `json:"min"`
	Mean        float64   `json:"mean"`
	Max         float64   `json:"max"`
	Percentiles []float64 `json:"percentiles"` // at Levels
}

// Levels are the percentiles of the table.
var Levels = []float64{50, 90, 99, 99.9, 99.99}

//go:embed page.html page.css js/*.js
var files embed.FS

func file(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// modules are the parts of the script. Each may import only those before it.
var modules = []string{"numbers", "ticks", "store", "state", "canvas", "charts", "overview", "table", "live", "main"}

// Script returns the modules joined to one script.
var Script = sync.OnceValue(func() string {
	var script strings.Builder
	for _, name := range modules {
		for line := range strings.Lines(file("js/" + name + ".js")) {
			if !strings.HasPrefix(line, "import ") {
				script.WriteString(strings.TrimPrefix(line, "export "))
			}
		}
	}
	return script.String()
})

// Write writes the page.
func Write(w io.Writer, d *Data) error {
	data, err := json.Marshal(d) // which escapes < and >, so that no text ends the script
	if err != nil {
		return err
	}
	_, err = strings.NewReplacer(
		"{{title}}", html.EscapeString(d.Title),
		"{{policy}}", Policy(d.Live),
		"{{style}}", style(),
		"{{data}}", string(data),
		"{{script}}", script(),
	).WriteString(w, file("page.html"))
	return err
}

func script() string { return "\n" + Script() }
func style() string  { return "\n" + file("page.css") }

// Policy returns the Content-Security-Policy of a page: it may run its own script, and a live page
// may connect to where it came from.
func Policy(live bool) string {
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src " + hashOf(style()) + "; script-src " + hashOf(script())
	if live {
		policy += "; connect-src 'self'"
	}
	return policy
}

// hashOf returns the hash of a script or style for a Content-Security-Policy.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
