// Package viewer makes pages from logs for hdrkit.html, which has no command line and no files but
// those that a reader drops into the browser. The pages are those of hdrplot with the same options,
// byte for byte. Package wasm connects this package to JavaScript.
package viewer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/page"
	"hdrkit/internal/gate"
	"hdrkit/internal/loggen"
	"hdrkit/internal/logs"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/question/plot"
	"hdrkit/internal/report"
	"hdrkit/internal/scan"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/output/hgrm"
)

// A Request has the values of options of hdrplot, as text. The JSON names are the names of the
// options. An empty value leaves out the option.
type Request struct {
	Unit        string `json:"unit"`
	In          string `json:"in"`
	Percentiles string `json:"p"`
	Include     string `json:"incT"`
	Exclude     string `json:"excT"`
	By          string `json:"by"`
	Limits      string `json:"sla"`
	Aggregate   string `json:"agg"`
	From        string `json:"s"`
	To          string `json:"e"`
	Compare     bool   `json:"compare"`
}

// An Answer is the page of a request, with the table and the messages that stand beside it.
type Answer struct {
	// The page that hdrplot writes is Before, the base64 of Rows, and After. Rows come in parts,
	// and without base64, which the browser needs only to save the page.
	Before, After string
	Rows          [][]byte
	Table         string   // as hdrsum prints it, empty if logs are compared
	Messages      []string // lines that a command prints to standard error
}

// Memory is the budget of the ledger in bytes. The browser needs about twice as much, for garbage
// and for memory that the ledger does not count.
const Memory = 384 << 20

// Make reads inputs and returns their page. With an error, the answer has the messages only. Make
// calls progress, unless it is nil, with the share of the bytes that are read, from 0 to 1.
func Make(r *Request, inputs []scan.Input, progress func(share float64)) (*Answer, error) {
	var messages bytes.Buffer
	a := new(Answer)
	err := a.fill(&message.Streams{
		Name: prefix,
		In:   strings.NewReader(""),
		Out:  io.Discard,
		Err:  &messages,
	}, r, inputs, progress)
	for line := range strings.Lines(messages.String()) {
		a.Messages = append(a.Messages, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), prefix+": "))
	}
	if limit := new(ledger.LimitError); errors.As(err, &limit) {
		why, _, _ := strings.Cut(limit.Error(), ", or raise -memory")
		err = fmt.Errorf("%s. A browser has less room than the commands hdrsum and hdrplot", why)
	}
	return a, err
}

// prefix is the name of the program in messages, which the page does not show.
const prefix = "hdrkit"

// Warm makes the page of a generated log. The browser optimises the code meanwhile, before a reader
// chooses logs.
func Warm() error {
	var log bytes.Buffer
	if err := loggen.Write(&log, loggen.Options{Seconds: 200, Rate: 10000, Seed: 1, Distinct: 10}); err != nil {
		return err
	}
	_, err := Make(&Request{Unit: "ms"}, []scan.Input{{
		Name: "warm",
		Size: int64(log.Len()),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(log.Bytes())), nil },
	}}, nil)
	return err
}

// fill reads inputs and sets all of the answer but its messages.
func (a *Answer) fill(std *message.Streams, r *Request, inputs []scan.Input, progress func(share float64)) error {
	o, err := r.options(inputs)
	if err != nil {
		return err
	}
	if o.Type, err = chartType(inputs); err != nil {
		return err
	}
	if !o.Compare && o.Type == chart.Timeline {
		o.Sums = a.addTable
	}
	diagnostics := logs.NewDiagnostics(std, false)
	in, err := o.Find(std, diagnostics)
	if err != nil {
		return err
	}
	in.Scan.Progress = shareMeter(inputs, progress)
	p, err := o.Gather(std, in)
	if err != nil {
		return err
	}
	diagnostics.Close() // writes the last messages
	if p == nil {
		return logs.NothingLeft(in.Scan)
	}
	if err := a.addFindings(p.Texts.Findings); err != nil {
		return err
	}
	p.Looks.Title = logs.BaseName(inputs[0].Name)
	if len(inputs) > 1 {
		p.Looks.Title = fmt.Sprintf("%d logs", len(inputs))
	}
	d, err := page.New(p)
	if err != nil {
		return err
	}
	a.Before, a.After, err = page.Around(d)
	a.Rows = d.Rows.Deflated()
	return err
}

// options returns the options of package plot for a request.
func (r *Request) options(inputs []scan.Input) (*plot.Options, error) {
	o := &plot.Options{
		Page:    true,
		Compare: r.Compare,
		Units:   unit.Options{Unit: r.Unit},
		Looks:   chart.New(chart.Timeline).Looks,
	}
	o.Axes.Time.Zone = time.UTC
	o.Looks.PageSize = chart.MaxPageSize
	o.Logs.Inputs.Given = inputs
	o.Logs.Run.Memory = Memory
	o.Logs.Run.Workers = 1
	o.Logs.Times.Steady = summary.SkipWarmup
	o.Logs.Times.From = r.From
	o.Logs.Times.To = r.To
	o.Logs.Times.Zone = time.UTC
	o.Logs.Tags.By = r.By
	if r.Compare {
		o.Logs.Times.SeparateOption = "compare"
	}
	for _, option := range []struct {
		text string
		to   *[]string
	}{{r.Include, &o.Logs.Tags.Include}, {r.Exclude, &o.Logs.Tags.Exclude}} {
		if option.text != "" {
			*option.to = []string{option.text}
		}
	}
	var err error
	if r.In != "" {
		if err = o.Units.ParseIn(r.In); err != nil {
			return nil, fmt.Errorf("-in: %w", err)
		}
	}
	if err := o.Units.Validate(); err != nil {
		return nil, fmt.Errorf("-unit: %w", err)
	}
	if r.Percentiles != "" {
		o.Percentiles, err = asked.ParsePercentiles(r.Percentiles)
	}
	if r.Limits != "" && err == nil {
		o.Limits, err = gate.ParseDrawn(r.Limits)
	}
	if r.Aggregate != "" && err == nil {
		o.Windows.Given = true
		if o.Windows.Length, err = scan.ParseLength(r.Aggregate); err != nil {
			err = fmt.Errorf("-agg %w", err)
		}
	}
	return o, err
}

// chartType returns the type of chart of the page: percentile curves if an input is a percentile
// distribution, and a timeline otherwise.
func chartType(inputs []scan.Input) (*chart.Type, error) {
	for _, input := range inputs {
		file, err := input.Open()
		if err != nil {
			return nil, err
		}
		begin, err := io.ReadAll(io.LimitReader(file, hgrm.DetectSize))
		file.Close()
		if err != nil {
			return nil, err
		}
		if hgrm.Detect(begin) {
			return chart.Percentiles, nil
		}
	}
	return chart.Timeline, nil
}

// addTable sets the table of logs that are added up.
func (a *Answer) addTable(units *logs.Units, side asked.Side) error {
	figures, err := asked.ParseFigures(asked.UsualFigures)
	if err != nil {
		return err
	}
	_, err = asked.Fit(units, &figures, nil, true, side)
	if err != nil || len(side.Summaries) == 0 {
		return err
	}
	var shown []*output.Summary
	for _, s := range side.Summaries {
		plain := *s
		plain.Confidence = nil // the table has no intervals
		shown = append(shown, &plain)
	}
	var text strings.Builder
	table := report.Table{Percentiles: figures.Percentiles, Shares: figures.Shares}
	err = table.Write(&text, shown)
	a.Table = text.String()
	return err
}

// addFindings adds to the table the findings that hdrsum prints above and below it.
func (a *Answer) addFindings(found []output.Finding) error {
	if a.Table == "" || len(found) == 0 {
		return nil
	}
	table := a.Table
	var text strings.Builder
	err := report.Write(&text, new(report.Table), report.Headline(found), found, func(w io.Writer) error {
		_, err := io.WriteString(w, table)
		return err
	})
	a.Table = text.String()
	return err
}

// shareMeter returns a function that a scan calls with the number of bytes of each read. The
// function calls progress with the share of all bytes of inputs, at most ten times a second. It is
// nil if progress is nil.
func shareMeter(inputs []scan.Input, progress func(share float64)) func(bytes int) {
	if progress == nil {
		return nil
	}
	all := int64(0)
	read := int64(0)
	last := time.Time{} // of a call of progress; the first call comes at once
	for _, input := range inputs {
		all += input.Size
	}
	var mu sync.Mutex
	return func(bytes int) {
		mu.Lock()
		defer mu.Unlock()
		read += int64(bytes)
		if time.Since(last) > 100*time.Millisecond {
			last = time.Now()
			progress(min(float64(read)/float64(cmp.Or(all, 1)), 1))
		}
	}
}
