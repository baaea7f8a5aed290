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
	"slices"
	"strings"
	"sync"

	"hdrkit/internal/chart"
	"hdrkit/output"
)

// Data is what a page shows. Times are milliseconds from Origin, values are in Unit.
type Data struct {
	*chart.Picture
	// Caption says what the page shows: of which logs, of what time, and how many values.
	Caption string `json:"caption"`
	// Top are the most important of the findings, as a report has them.
	Top []string `json:"top"`
	Charts
	// Live is set if the page gets further data: each Data event replaces all, each rows event is
	// an [Update].
	Live bool `json:"live,omitempty"`
	// Dated says that Origin is a time of the calendar.
	Dated bool `json:"dated"`
	Times
	Measures []string `json:"measures"`
	Series   []Series `json:"series"`
	// Compared are the groups of two logs, before and after. A heat map shows their difference.
	Compared []string `json:"compared,omitempty"`
	// Change is the scale of the difference.
	Change *chart.Scale `json:"change,omitempty"`
	// Step is the length of the windows that a live page gets, and Status is that of Update.
	Step int64 `json:"step,omitempty"`
	*Status
	Rows *Rows `json:"rows"`
}

// Charts describe the charts of a page. Heat has the cells shown at first.
type Charts struct {
	Lines  chart.Chart             `json:"lines"`
	Rates  chart.Chart             `json:"rates"`
	Cells  chart.Chart             `json:"cells"`
	Curves chart.Chart             `json:"curves"`
	Heat   bool                    `json:"heat"`
	Themes map[string]*chart.Theme `json:"themes"`
}

// Times say which time a page shows. The whole range is from From to To.
type Times struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Zone is the zone of clock times. Each of Offsets holds a time in seconds since the epoch, and
	// how many seconds the zone is ahead of UTC from then on.
	Zone    string     `json:"zone"`
	Offsets [][2]int64 `json:"offsets"`
	// If several intervals were merged into a row, Window is the length of such a window. A window
	// begins at WindowAt and at every multiple of Window from there; views begin and end there too.
	Window   int64 `json:"window"`
	WindowAt int64 `json:"windowAt"`
	// Recent is set if the windows are shorter from some time on.
	Recent *Recent `json:"recent,omitempty"`
}

// A Recent is the time from which on windows are shorter, and their length.
type Recent struct {
	From   int64 `json:"from"`
	Window int64 `json:"window"`
}

// An Update is what a live page gets after its Data: further rows, of series that it knows, and all
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

// A Status is the state of the logs of a live page.
type Status struct {
	// Inputs are the logs of which somebody should know, such as those that ended. Logs is the
	// number of all.
	Inputs []Input `json:"inputs"`
	Logs   int     `json:"logs"`
	// Now is the time of the server. End is when the last interval ends of the log that is the
	// farthest behind, of those that go on. It is nil if none does.
	Now int64  `json:"now"`
	End *int64 `json:"end"`
}

// An Input is a log that a live page follows. End is when its last interval ends, and State is such
// as "is silent".
type Input struct {
	Name  string `json:"name"`
	State string `json:"state"`
	End   int64  `json:"end"`
}

// A Series is what is shown of a tag or an input.
type Series struct {
	Label string `json:"label"`
	// Group is the input of a series. The time that was measured is the longest of its series'.
	Group string `json:"group"`
	// Facet is the title of its small chart. Runs that are compared share those of their tags.
	Facet string `json:"facet"`
	// Colours are indexes of Theme.Lines, and Dashes lengths in pixels, by measure.
	Colours []int       `json:"colours"`
	Dashes  [][]float64 `json:"dashes"`
	// Rest has the series drawn in the band of all those that have no line of their own.
	Rest bool `json:"rest"`
	// Failed is set if its values are of requests that failed.
	Failed bool `json:"failed,omitempty"`
	// Curve is the percentile curve of a series without rows.
	Curve *chart.Curve `json:"curve,omitempty"`
	// Corrected is that of the whole time with the values that were due while the recorder waited,
	// if it seems that it did.
	Corrected *chart.Curve `json:"corrected,omitempty"`
}

//go:embed page.html page.css js/*.js
var files embed.FS

func file(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// shownLater are the modules of the script of a page without data, and modules those of a page that
// has data. Each module may import only those before it.
var (
	shownLater = strings.Fields(`numbers ticks store state canvas phases charts dom overview table
		confidence tiles live page address changes times look findings legend panels moments readout
		pointer ranges describe summary latest drawing controls main`)
	modules = append(slices.Clone(shownLater), "start")
)

// Script returns the modules joined to one script.
var Script = sync.OnceValue(func() string { return joined(modules) })

func joined(modules []string) string {
	var script strings.Builder
	for _, name := range modules {
		script.WriteString(plain(file("js/" + name + ".js")))
	}
	return script.String()
}

// plain returns a module without its imports and exports. It leaves out comments, indents and empty
// lines: they are a quarter of all bytes, and no page needs them. " // " begins a comment, so no
// string of a module may contain it.
func plain(module string) string {
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

// Around returns what stands before the rows in a page, which are base64 of [Rows.Deflated], and
// what stands after them. There is no copy of the rows in memory.
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
		_, err := text.WriteString(block("data", "application/json", string(data)))
		return err
	})
	at := strings.Index(text.String(), rows) + len(rows)
	return text.String()[:at], text.String()[at:], err
}

// write fills the page in. Data writes its data.
func write(w io.Writer, title, policy, style, viewer, script string, data func() error) error {
	before, after, _ := strings.Cut(file("page.html"), "{{data}}")
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

// block returns a block of data, which has no end of a script in it.
func block(id, kind, text string) string {
	return `<script id="` + id + `" type="` + kind + `">` + text + "</script>\n"
}

func script() string { return "\n" + Script() }
func style() string  { return "\n" + file("page.css") }

// Policy returns the Content-Security-Policy of a page: it may run its own script, and a live page
// may connect to where it came from.
func Policy(live bool) string {
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; " +
		"style-src " + hashOf(style()) + "; script-src " + hashOf(script())
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
