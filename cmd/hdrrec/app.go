package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/cli"
	"hdrkit/internal/live"
	"hdrkit/internal/measure"
	"hdrkit/internal/scan"
)

const examples = `examples:
   hdrrec results.jtl -of jmeter.hdr       # JMeter's CSV, by label
   hdrrec k6.csv.gz -tag method,name -of k6.hdr     # tags such as GET/home
   hdrrec vegeta.csv -interval 10s -errors drop | hdrsum -unit ms
   hdrrec access.log -tag method,status -of nginx.hdr     # nginx or Apache
   hdrrec table.csv -time 1 -value 2 -tag 3 -in ms -of table.hdr
   hdrrec requests.ndjson -value .request_time -in s -of requests.hdr
   hdrrec memtier.json | hdrsum -unit ms   # histograms in base64
   tail -F results.csv | hdrrec - | hdrlive -      # while it is written

The log has values in nanoseconds, and says so.

exit status: 0, or 1 if nothing could be recorded, 2 for a wrong command line,
3 if malformed or late rows were left out`

func app() *urfave.App {
	return &urfave.App{
		Name:        "hdrrec",
		Usage:       "make HdrHistogram logs of single measurements",
		UsageText:   "hdrrec [options] [file ...]",
		Description: examples,
		Flags:       flags(),
		Action:      run,
		Metadata: cli.Guide{
			Common: []string{"if", "format", "time", "value", "tag", "in", "interval", "at", "errors", "late", "of"},
		}.Metadata(),
	}
}

// groupRows is the group of options that say what the rows of a file are.
const groupRows = "Rows"

func flags() []urfave.Flag {
	return slices.Concat(cli.Without(cli.InputFlags(), "second"), []urfave.Flag{
		cli.Option{Check: cli.OneOf, Values: measure.Names(), Flag: &urfave.StringFlag{Name: "format", Category: groupRows, DefaultText: "what the first lines show",
			Usage: "the `FORMAT` of the files: " + strings.Join(measure.Names(), ", ")}},
		&urfave.StringFlag{Name: "time", Category: groupRows,
			Usage: "the `COLUMN` of the time: a name, or a number from 1; in JSON a path, such as .request.time"},
		&urfave.StringFlag{Name: "value", Category: groupRows, Usage: "the `COLUMN` of the value"},
		&urfave.StringFlag{Name: "end", Category: groupRows, Usage: "the `COLUMN` of the end: the value is the time from -time to that"},
		&urfave.StringFlag{Name: "ok", Category: groupRows,
			Usage: "the `COLUMN` of the success: true or false, a word such as OK or KO, or a status of HTTP; with ! before it, the text of an error"},
		&urfave.StringFlag{Name: "tag", Category: groupRows,
			Usage: "make the tag of these `COLUMNS`, a list, joined with /; '' for no tag"},
		&urfave.StringFlag{Name: "metric", Category: groupRows, DefaultText: "http_req_duration",
			Usage: "of k6, read the metrics whose name matches `REGEXP`"},
		&urfave.StringFlag{Name: "pattern", Category: groupRows,
			Usage: "lines of an access log have this `PATTERN`, the log_format of nginx or the LogFormat of Apache"},
		&urfave.StringFlag{Name: "delimiter", Category: groupRows, Usage: "`CHARACTER` separates columns",
			DefaultText: "a comma, a tab, a semicolon or a bar, as the first line shows"},
		cli.Option{Values: unit.Names, Flag: &urfave.StringFlag{Name: "in", Category: groupRows, Usage: "the `UNIT` of values: ns, us, ms or s", DefaultText: "that of the format"}},
		cli.Option{Values: unit.Names, Flag: &urfave.StringFlag{Name: "time-in", Category: groupRows, Usage: "the `UNIT` of times that are numbers: s, ms, us or ns",
			DefaultText: "by the number of digits"}},
		&urfave.StringFlag{Name: "tz", Aliases: []string{"time-zone"}, Value: "UTC", Category: groupRows,
			Usage: "the `ZONE` of times without a zone: Europe/Berlin, +02:00 or Local"},
		cli.Option{Check: cli.OneOf, Values: []string{"start", "end"}, Flag: &urfave.StringFlag{Name: "at", Category: groupRows, DefaultText: "what the time of the format is",
			Usage: "a value belongs to the interval of its `MOMENT`: start or end"}},
		cli.Option{Check: cli.OneOf, Values: []string{"keep", "drop", "tag"}, Flag: &urfave.StringFlag{Name: "errors", Category: groupRows, Value: "keep",
			Usage: "`WHAT` becomes of failed requests: keep, drop, or tag (a tag of their own, TAG/" + measure.FailedTag + ")"}},
		cli.Option{Check: cli.SomeLength, Flag: &urfave.StringFlag{Name: "interval", Category: cli.GroupOutput, Value: "1s", Usage: "write an interval for each tag and `TIME`"}},
		cli.Option{Check: cli.Length, Flag: &urfave.StringFlag{Name: "late", Category: cli.GroupOutput, DefaultText: "60s, or 5s in a pipe whose rows are new",
			Usage: "rows may be `TIME` later than others; then their interval is written, and rows after that are reported and left out"}},
		cli.Option{Check: cli.Between(0, histogram.MaxDigits), Flag: &urfave.IntFlag{Name: "digits", Category: cli.GroupOutput, Value: 3, Usage: "histograms have `N` significant digits, 0 to 5"}},
		cli.OutputFlag("write to `FILE`, not to standard output"),
	}, cli.Without(cli.RunFlags(), "j", "v"), []urfave.Flag{
		&urfave.BoolFlag{Name: "v", Aliases: []string{"verbose"}, Category: cli.GroupRun, Usage: "print how many rows were read and what became of them"},
	})
}

// A command is one run.
type command struct {
	c           *urfave.Context
	diagnostics *cli.Diagnostics
	format      string
	options     measure.Options
	size, late  int64 // milliseconds
	layout      histogram.Layout
	memory      *ledger.Ledger
	recorder    measure.Recorder
	readers     []*measure.Reader
}

// run is the command: it checks the options, and records the rows.
func run(c *urfave.Context) error {
	r := &command{c: c, diagnostics: cli.NewDiagnostics(c.App.ErrWriter, c.App.Name, c.Bool("strict"))}
	if err := r.check(); err != nil {
		return err
	}
	var err error
	if r.memory, err = cli.Memory(c); err != nil {
		return err
	}
	inputs, err := cli.Inputs(c)
	if err != nil {
		return err
	}
	s := &scan.Scan{Inputs: inputs}
	stop := cli.ShowProgress(s, c.App.ErrWriter, c.Bool("q"))
	defer stop()
	return r.end(cli.WriteLog(c, inputs, func(w io.Writer) error { return r.record(w, s) }))
}

// record records files to their ends.
func (r *command) record(w io.Writer, s *scan.Scan) error {
	log := hdrlog.NewWriter(w)
	r.recorder.Into(log, r.size, r.layout, r.memory, func(log *hdrlog.Writer) error {
		return r.readers[0].Header(log, r.recorder.AtEnd(r.readers[0]))
	})
	for n := range s.Inputs {
		file, err := s.Inputs[n].Open()
		if err != nil {
			return err
		}
		defer file.Close()
		in := s.Count(file)
		var g *growing
		if len(s.Inputs) == 1 && s.Inputs[n].Once {
			g = &growing{command: r, Reader: in, w: w, log: log, late: r.late}
			if in = g; !cli.Given(r.c, "late") {
				g.late = soon
			}
			cli.OnInterrupt(live.Grace, g.interrupted)
		}
		reader, err := r.open(in, s.Inputs[n].Name)
		if err != nil {
			return err
		}
		if r.readers = append(r.readers, reader); g != nil {
			g.reader = reader
		}
	}
	if err := r.recorder.Run(slices.Clone(r.readers)); err != nil {
		return err
	}
	if !r.recorder.Some() {
		return errNothing
	}
	return log.Flush()
}

var errNothing = errors.New("nothing was recorded")

// open opens a file.
func (r *command) open(file io.Reader, name string) (*measure.Reader, error) {
	reader, err := measure.NewReader(file, name, r.format, r.options)
	var usage measure.OptionError
	var unknown *measure.UnknownError
	switch {
	case errors.As(err, &usage):
		return nil, cli.Usagef("%w", err)
	case errors.As(err, &unknown) && cli.KindOf(unknown.Begin) != "":
		return nil, fmt.Errorf("%s has no measurements, but is %s", name, cli.KindOf(unknown.Begin))
	}
	return reader, err
}

// check reads the options.
func (r *command) check() (err error) {
	c := r.c
	r.format, r.size, r.late, r.layout = cli.Choice(c, "format"), cli.Millis(c, "interval"), measure.DefaultLate, histogram.Layout{Digits: c.Int("digits")}
	if cli.Given(c, "late") {
		r.late = cli.Millis(c, "late")
	}
	o := &r.options
	o.Columns = measure.Columns{Time: c.String("time"), Value: c.String("value"), End: c.String("end"), OK: c.String("ok")}
	o.Metric, o.Pattern = c.String("metric"), c.String("pattern")
	if tags := c.String("tag"); tags != "" {
		o.Tags = strings.Split(tags, ",")
	}
	o.NoTags = cli.Given(c, "tag")
	for option, u := range map[string]*unit.Unit{"in": &o.Unit, "time-in": &o.TimeUnit} {
		if c.String(option) != "" {
			if *u, err = unit.ParseOption(c.String(option)); err != nil {
				return cli.Usagef("-%s: %w", option, err)
			}
		}
	}
	if o.Zone, err = cli.Zone(c); err != nil {
		return err
	}
	if text := strings.ReplaceAll(c.String("delimiter"), `\t`, "\t"); text != "" {
		if len(text) != 1 || text[0] >= utf8.RuneSelf || text[0] == '"' {
			return cli.Usagef("-delimiter %q is not one ASCII character; \\t is a tab", text)
		}
		o.Delimiter = text[0]
	}
	r.recorder.Failed = map[string]measure.Failed{"drop": measure.DropFailed, "tag": measure.TagFailed}[cli.Choice(c, "errors")]
	r.recorder.AtEnd = (*measure.Reader).AtEnd
	if at := cli.Choice(c, "at"); at != "" {
		r.recorder.AtEnd = func(*measure.Reader) bool { return at == "end" }
	}
	r.recorder.Late, r.recorder.Report = r.late, r.report
	return nil
}

// report prints what is wrong with a row. Of late rows it prints the first one.
func (r *command) report(row *hdrlog.SyntaxError) error {
	if !errors.Is(row, measure.ErrLate) {
		return r.diagnostics.Report(row, true)
	}
	if r.recorder.Counts.Late == 1 {
		r.diagnostics.Warnf("%v, written when a row %s later was read; -late says how long to wait", row, millis(r.late))
	}
	if r.c.Bool("strict") {
		return cli.Status(cli.Skipped)
	}
	return nil
}

func millis(ms int64) string { return fmt.Sprintf("%gs", float64(ms)/1000) }

// end prints what became of the rows, and returns the error or the status of the command.
func (r *command) end(err error) error {
	if err != nil && err != errNothing {
		return err
	}
	n, warn := &r.recorder.Counts, r.diagnostics.Warnf
	for _, reader := range r.readers {
		if reader.Unended() {
			warn("%s:%d: the last line has no end; if it was cut short, its last number is wrong", reader.Name(), reader.Line())
		}
	}
	requests := n.Recorded + n.Dropped
	switch {
	case n.Dropped > 0:
		warn("%d of %d requests failed and are left out", n.Dropped, requests)
	case n.Failed > 0 && r.recorder.Failed == measure.KeepFailed:
		warn("%d of %d requests failed and are recorded with the others; -errors drop or -errors tag changes that", n.Failed, requests)
	}
	if r.c.Bool("v") {
		cli.Verbosef(r.c, "%d rows recorded, %d dropped because they failed, %d of other metrics, %d too late, %d malformed",
			n.Recorded, n.Dropped, n.Other, n.Late, n.Malformed)
	}
	if err == errNothing {
		r.diagnostics.Close()
		return r.nothing()
	}
	status := r.diagnostics.Close()
	if n.Late > 0 {
		warn("left out %d rows that came too late", n.Late)
		status = cli.Status(cli.Skipped)
	}
	return status
}

// nothing returns the error of an input that has nothing to record.
func (r *command) nothing() error {
	n := &r.recorder.Counts
	switch {
	case r.readers[0].Format() == "hist" && n.Malformed == 0:
		return fmt.Errorf("%s has no histograms, and is no list of measurements: a table, or a JSON object on each line", r.readers[0].Name())
	case n.Other > 0 && n.Malformed == 0:
		return fmt.Errorf("no row has a metric that -metric chooses; there are %s", strings.Join(r.readers[0].Metrics(), ", "))
	case n.Malformed > 0:
		return errors.New("none of the rows could be recorded")
	case n.Dropped > 0:
		return errors.New("all requests failed")
	}
	return errors.New("no rows in the input")
}
