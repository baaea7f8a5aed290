// Package page writes charts as a web page of one file, which loads no others. The page draws lines
// over time, percentile curves, heat maps and a table of the time in view.
//
// [Data] is the format that the script of the page reads. A file contains one Data. A live page
// gets a Data, and then an [Update] for new rows, as server-sent events.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"slices"
	"strings"
	"sync"

	"hdrkit/internal/chart"
	"hdrkit/output"
)

// Data is everything that a page gets: the picture that the page shows, what it needs to draw it
// again for another time, and the rows. Times are milliseconds since Origin, and values are in
// Unit.
type Data struct {
	Picture
	// Caption says which logs, which time and how many values the page shows.
	Caption string `json:"caption"`
	// Top has the sentences of the most important findings, as at the top of a report.
	Top []string `json:"top"`
	Charts
	// Live is set if the page gets more data as server-sent events: an event all is a new Data, and
	// an event rows is an [Update].
	Live bool `json:"live,omitempty"`
	// Dated is set if Origin is a time of the calendar.
	Dated bool `json:"dated"`
	Times
	Measures []string `json:"measures"`
	Series   []Series `json:"series"`
	// Compared has the groups of two logs that are compared, before and after, or is nil. Then the
	// heat map shows the difference of the logs.
	Compared []string `json:"compared,omitempty"`
	// Change is the scale of the difference of the heat map.
	Change *chart.Scale `json:"change,omitempty"`
	// Step is the length of the windows of a live page in milliseconds. A live page has a Status.
	Step int64 `json:"step,omitempty"`
	*Status
	Rows *Rows `json:"rows"`
}

// A Picture is what a page needs of a [chart.Picture] beside its series.
type Picture struct {
	chart.Looks
	chart.TimeAxis
	chart.ValueAxis
	chart.Events
	chart.Texts
	// Ran, Sources, Digits and Changed are those of a [chart.Picture].
	Ran     map[string][][2]int64        `json:"ran,omitempty"`
	Sources []string                     `json:"sources,omitempty"`
	Digits  int                          `json:"digits"`
	Changed map[string]map[string]string `json:"changed,omitempty"`
}

// Charts describes the charts of a page. Heat is set if the page shows the heat map at first.
type Charts struct {
	Lines  chart.Chart             `json:"lines"`
	Rates  chart.Chart             `json:"rates"`
	Cells  chart.Chart             `json:"cells"`
	Curves chart.Chart             `json:"curves"`
	Heat   bool                    `json:"heat"`
	Themes map[string]*chart.Theme `json:"themes"`
}

// Times says which time a page shows: the whole range is from From to To.
type Times struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Zone is the name of the time zone. Each of Offsets has a time in seconds since the epoch, and
	// by how many seconds the zone is ahead of UTC from then on.
	Zone    string     `json:"zone"`
	Offsets [][2]int64 `json:"offsets"`
	// If several intervals share a row, Window is the length of their windows, else 0. Windows
	// begin at WindowAt and at multiples of Window from there. A view begins and ends at one of
	// these times.
	Window   int64 `json:"window"`
	WindowAt int64 `json:"windowAt"`
	// Recent is set if the windows are shorter from a time on.
	Recent *Recent `json:"recent,omitempty"`
}

// A Recent is the time from which windows are shorter, and their length from then on.
type Recent struct {
	From   int64 `json:"from"`
	Window int64 `json:"window"`
}

// An Update is what a live page gets after its Data: new rows of series that it knows, and all
// marks.
type Update struct {
	To    int64        `json:"to"`
	Marks []chart.Mark `json:"marks"`
	Status
	// Findings and Top replace those of Data, unless Findings is nil.
	Findings []output.Finding `json:"findings"`
	Top      []string         `json:"top"`
	Rows     *Rows            `json:"rows"`
}

// A Status says how far the logs of a live page are read.
type Status struct {
	// Inputs are the logs with a state that a reader should know, such as logs that ended. Logs is
	// the number of all logs.
	Inputs []Input `json:"inputs"`
	Logs   int     `json:"logs"`
	// Now is the time of the server. End is the end of the last interval of the log that is
	// farthest behind. Logs that ended do not count. End is nil if all logs ended.
	Now int64  `json:"now"`
	End *int64 `json:"end"`
}

// An Input is a log that a live page follows. State is a text such as "is silent", and End is the
// end of its last interval.
type Input struct {
	Name  string `json:"name"`
	State string `json:"state"`
	End   int64  `json:"end"`
}

// A Series is a line of a page, of a tag or of a log, without its rows.
type Series struct {
	Label string `json:"label"`
	// Group is the log of a series. All series of a group were measured for the same time.
	Group string `json:"group"`
	// Facet is the title of the small chart of the series. Compared runs share the chart of their
	// tag.
	Facet string `json:"facet"`
	// Colours has an index of Theme.Lines, and Dashes lengths in pixels, for each measure.
	Colours []int       `json:"colours"`
	Dashes  [][]float64 `json:"dashes"`
	// Rest is set if the series has no line of its own, and is drawn in the grey band.
	Rest bool `json:"rest"`
	// Failed is set if the values are those of requests that failed.
	Failed bool `json:"failed,omitempty"`
	// Curve is the percentile curve of a series without rows.
	Curve *chart.Curve `json:"curve,omitempty"`
	// Corrected is the curve with the values that were due while the recorder waited. It is nil if
	// the recorder seems not to have waited.
	Corrected *chart.Curve `json:"corrected,omitempty"`
}

//go:embed page.html page.css js/*.js
var files embed.FS

// embedded returns the text of an embedded file.
func embedded(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// viewerModules are the modules of the script of hdrkit.html, and pageModules those of a page with
// data. Each module may import only those before it.
var (
	viewerModules = strings.Fields(`numbers ticks store state canvas phases charts dom overview table
		confidence tiles live page address changes times look findings legend panels moments readout
		pointer ranges describe summary latest drawing controls main`)
	pageModules = append(slices.Clone(viewerModules), "start")
)

// Script returns the script of a page that has data.
var Script = sync.OnceValue(func() string { return joinModules(pageModules) })

// joinModules returns modules as one script.
func joinModules(names []string) string {
	var script strings.Builder
	for _, name := range names {
		script.WriteString(compact(embedded("js/" + name + ".js")))
	}
	return script.String()
}

// compact returns a module without its imports and exports. It leaves out comments, indents and
// empty lines: they are a quarter of all bytes, and no page needs them. " // " begins a comment,
// so no string of a module may contain it.
func compact(module string) string {
	var script strings.Builder
	imports := false // the line is in an import
	for line := range strings.Lines(module) {
		line = strings.Trim(line, " \n")
		imports = imports || strings.HasPrefix(line, "import ")
		code, _, _ := strings.Cut(strings.TrimPrefix(line, "export "), " // ")
		if !imports && code != "" && !strings.HasPrefix(code, "//") {
			script.WriteString(code + "\n")
		}
		imports = imports && !strings.HasSuffix(line, ";")
	}
	return script.String()
}

// Write writes the page.
func Write(w io.Writer, d *Data) error {
	before, after, err := Around(d)
	if err == nil {
		_, err = io.WriteString(w, before)
	}
	if err == nil {
		err = d.Rows.write(w)
	}
	if err == nil {
		_, err = io.WriteString(w, after)
	}
	return err
}

// Around returns the text of a page before and after its rows. The base64 of [Rows.Deflated]
// belongs in between. So a caller needs no copy of the rows in memory.
func Around(d *Data) (before, after string, err error) {
	const rows = `"rows":"`
	rest := *d
	rest.Rows = &Rows{out: new(deflated)}
	data, err := json.Marshal(&rest) // Marshal escapes < and >, so that no text ends the script
	if err != nil {
		return "", "", err
	}
	var text strings.Builder
	err = write(&text, d.Title, Policy(d.Live), style(), "", script(), func() error {
		_, err := text.WriteString(dataBlock("data", "application/json", string(data)))
		return err
	})
	at := strings.Index(text.String(), rows) + len(rows)
	return text.String()[:at], text.String()[at:], err
}

// write fills in page.html. Data writes the blocks of data.
func write(w io.Writer, title, policy, style, viewer, script string, data func() error) error {
	before, after, _ := strings.Cut(embedded("page.html"), "{{data}}")
	fill := strings.NewReplacer(
		"{{title}}", html.EscapeString(title),
		"{{policy}}", policy,
		"{{style}}", style,
		"{{viewer}}", viewer,
		"{{script}}", script,
	)
	_, err := fill.WriteString(w, before)
	if err == nil {
		err = data()
	}
	if err == nil {
		_, err = fill.WriteString(w, after)
	}
	return err
}

// dataBlock returns a block of data. The text must not contain the end of a script.
func dataBlock(id, kind, text string) string {
	return `<script id="` + id + `" type="` + kind + `">` + text + "</script>\n"
}

func script() string { return "\n" + Script() }
func style() string  { return "\n" + embedded("page.css") }

// Policy returns the Content-Security-Policy of a page. The page may run its own script. A live
// page may connect to its server.
func Policy(live bool) string {
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; " +
		"style-src " + hashOf(style()) + "; script-src " + hashOf(script())
	if live {
		policy += "; connect-src 'self'"
	}
	return policy
}

// hashOf returns the hash by which a Content-Security-Policy allows a script or a style.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
