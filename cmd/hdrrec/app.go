package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/cli"
	"hdrkit/internal/logs"
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
   hdrrec -guess results.jtl               # the command line, for a script
   hdrrec memtier.json | hdrsum -unit ms   # histograms in base64
   tail -n +1 -F results.csv | hdrrec - | hdrlive -    # while it is written

The log has values in nanoseconds, and says so.

exit status: 0, or 1 if nothing could be recorded, 2 for a wrong command line,
3 if malformed or late rows were left out`

// options are the values of the command line.
type options struct {
	logs.Inputs
	logs.Run
	output     string
	format     string
	rows       measure.Options
	tagColumns string // the value of -tag, a list with commas
	moment     string
	failed     measure.Failed
	size, late int64 // milliseconds
	lateGiven  bool
	guess      bool
	digits     int
}

func app() *cli.Command {
	o := new(options)
	o.Untagged, o.Output = true, &o.output
	c := &cli.Command{
		Streams:     message.Streams{Name: "hdrrec"},
		Usage:       "make HdrHistogram logs of single measurements",
		UsageText:   "hdrrec [options] [file ...]",
		Description: examples,
		Common:      []string{"if", "format", "time", "value", "tag", "in", "interval", "at", "errors", "late", "of"},
		Args:        cli.Arguments(&o.Inputs),
	}
	c.Options = o.define(&c.Streams)
	c.Action = func() error { return run(&c.Streams, o) }
	return c
}

// groupRows is the group of options that describe the rows of a file.
const groupRows = "Rows"

func (o *options) define(std *message.Streams) []cli.Option {
	verbose := cli.Option{
		Name:    "v",
		Aliases: "verbose",
		Group:   cli.GroupRun,
		Value:   cli.Bool(&o.Verbose),
		Usage:   "print how many rows were read and what became of them",
	}
	return slices.Concat(cli.Without(cli.InputOptions(&o.Inputs), "second"), o.columnOptions(), o.rowOptions(),
		o.timeOptions(), o.logOptions(), cli.Without(cli.RunOptions(std, &o.Run), "j", "v"), []cli.Option{verbose})
}

// columnOptions returns the options that name columns, and the format.
func (o *options) columnOptions() []cli.Option {
	r := &o.rows
	return []cli.Option{
		{
			Name:    "format",
			Group:   groupRows,
			Values:  measure.Names(),
			Value:   cli.Choice(&o.format, ""),
			Default: "what the first lines show",
			Usage:   "the `FORMAT` of the files: " + strings.Join(measure.Names(), ", "),
		},
		{
			Name:  "time",
			Group: groupRows,
			Value: cli.Text(&r.Columns.Time, ""),
			Given: &r.NoTime,
			Usage: "the `COLUMN` of the time: a name, or a number from 1; in JSON a path, such as " +
				".request.time; '' for no time",
		},
		{
			Name:  "value",
			Group: groupRows,
			Value: cli.Text(&r.Columns.Value, ""),
			Usage: "the `COLUMN` of the value",
		},
		{
			Name:  "count",
			Group: groupRows,
			Value: cli.Text(&r.Columns.Count, ""),
			Usage: "the `COLUMN` that says how often the value came; such a file needs no time",
		},
		{
			Name:  "above",
			Group: groupRows,
			Value: cli.Text(&r.Above, ""),
			Usage: "values above the highest edge of buckets, which nobody knows, are `VALUE`, such as 10s",
		},
		{
			Name:  "where",
			Group: groupRows,
			Value: cli.Each(&r.Where, parseConditions),
			Usage: "read the rows whose column has a value: `COLUMN=VALUE`, COLUMN~REGEXP, or != " +
				"and !~ for the others; may be repeated",
		},
		{
			Name:  "end",
			Group: groupRows,
			Value: cli.Text(&r.Columns.End, ""),
			Usage: "the `COLUMN` of the end: the value is the time from -time to that",
		},
		{
			Name:  "ok",
			Group: groupRows,
			Value: cli.Text(&r.Columns.OK, ""),
			Usage: "the `COLUMN` of the success: true or false, a word such as OK or KO, or a " +
				"status of HTTP; with ! before it, the text of an error",
		},
	}
}

// rowOptions returns the options that say how to read rows.
func (o *options) rowOptions() []cli.Option {
	r := &o.rows
	return []cli.Option{
		{
			Name:  "tag",
			Group: groupRows,
			Value: cli.Text(&o.tagColumns, ""),
			Given: &r.NoTags,
			Usage: "make the tag of these `COLUMNS`, a list, joined with /; '' for no tag",
		},
		{
			Name:    "metric",
			Group:   groupRows,
			Value:   cli.Text(&r.Metric, ""),
			Default: "http_req_duration",
			Usage:   "of k6, read the metrics whose name matches `REGEXP`",
		},
		{
			Name:  "pattern",
			Group: groupRows,
			Value: cli.Text(&r.Pattern, ""),
			Usage: "lines have this `PATTERN`: the log_format of nginx, the LogFormat of Apache, or a regular " +
				"expression with groups such as (?P<time>...), (?P<value>...), (?P<unit>...) and (?P<tag>...)",
		},
		{
			Name:    "delimiter",
			Group:   groupRows,
			Value:   cli.Parsed(&r.Delimiter, "", parseDelimiter),
			Usage:   "`CHARACTER` separates columns",
			Default: "a comma, a tab, a semicolon or a bar, as the first line shows",
		},
		{
			Name:    "in",
			Group:   groupRows,
			Values:  unit.Names,
			Value:   cli.Unit(&r.Unit),
			Usage:   "the `UNIT` of values: ns, us, ms or s",
			Default: "that of the format",
		},
		{
			Name:  "guess",
			Group: groupRows,
			Value: cli.Bool(&o.guess),
			Usage: "print the whole command line for each file, with all columns and units, and record nothing",
		},
	}
}

// timeOptions returns the options about times and failed requests.
func (o *options) timeOptions() []cli.Option {
	r := &o.rows
	return []cli.Option{
		{
			Name:    "time-in",
			Group:   groupRows,
			Values:  unit.Names,
			Value:   cli.Unit(&r.TimeUnit),
			Usage:   "the `UNIT` of times that are numbers: s, ms, us or ns",
			Default: "by the number of digits",
		},
		{
			Name:  "start",
			Group: groupRows,
			Value: cli.Text(&r.Start, ""),
			Usage: "times are since `TIME`, a date or a number since 1970: for files whose times count from " +
				"the start of the run",
		},
		{
			Name:    "tz",
			Aliases: "time-zone",
			Group:   groupRows,
			Value:   cli.Parsed(&r.Zone, "UTC", logs.ParseZone),
			Usage:   "the `ZONE` of times without a zone: Europe/Berlin, +02:00 or Local",
		},
		{
			Name:    "at",
			Group:   groupRows,
			Values:  []string{"start", "end"},
			Value:   cli.Choice(&o.moment, ""),
			Default: "what the time of the format is",
			Usage:   "a value belongs to the interval of its `MOMENT`: start or end",
		},
		{
			Name:   "errors",
			Group:  groupRows,
			Values: []string{"keep", "drop", "tag"},
			Value:  cli.Pick(&o.failed, "keep", failedByName),
			Usage: "`WHAT` becomes of failed requests: keep, drop, or tag (a tag of their " +
				"own, TAG/" + measure.FailedTag + ")",
		},
	}
}

// logOptions returns the options of the log to write.
func (o *options) logOptions() []cli.Option {
	return []cli.Option{
		{
			Name:  "interval",
			Group: cli.GroupOutput,
			Value: cli.PositiveLength(&o.size, "1s"),
			Usage: "write an interval for each tag and `TIME`",
		},
		{
			Name:    "late",
			Group:   cli.GroupOutput,
			Value:   cli.Length(&o.late, ""),
			Given:   &o.lateGiven,
			Default: "60s, or 5s if rows are new",
			Usage: "rows of a pipe may come `TIME` later than others; then their interval is " +
				"written, and rows after that are reported and left out",
		},
		{
			Name:  "digits",
			Group: cli.GroupOutput,
			Value: cli.Int(&o.digits, "3", cli.Between(0, histogram.MaxDigits)),
			Usage: "histograms have `N` significant digits, 0 to 5",
		},
		cli.OutputOption(&o.output, "write to `FILE`, not to standard output"),
	}
}

func failedByName(name string) measure.Failed {
	return map[string]measure.Failed{"drop": measure.DropFailed, "tag": measure.TagFailed}[name]
}

func parseConditions(text string) ([]measure.Condition, error) {
	condition, err := measure.ParseCondition(text)
	return []measure.Condition{condition}, err
}

func parseDelimiter(text string) (byte, error) {
	if text = strings.ReplaceAll(text, `\t`, "\t"); text == "" {
		return 0, nil
	}
	if len(text) != 1 || text[0] >= utf8.RuneSelf || text[0] == '"' {
		return 0, message.Usagef("-delimiter %q is not one ASCII character; \\t is a tab", text)
	}
	return text[0], nil
}

// A command is one run of hdrrec.
type command struct {
	std         *message.Streams
	options     *options
	diagnostics *logs.Diagnostics
	recording   measure.Recording
	recorder    *measure.Recorder
	readers     []*measure.Reader
	printed     map[string]bool // names of inputs whose interpretation was printed
}

// run records the rows of all inputs, or prints the command lines of -guess.
func run(std *message.Streams, o *options) error {
	r := o.command(std)
	inputs, err := o.Find(std)
	if err != nil {
		return err
	}
	s := &scan.Scan{Inputs: inputs}
	if o.guess {
		return r.printGuesses(std.Out, s)
	}
	stop := logs.ShowProgress(s, std)
	defer stop()
	return r.finish(logs.WriteLog(o.output, std.Out, inputs, o.Strict, func(w io.Writer) error { return r.record(w, s) }))
}

// record records files and pipes to their ends, and writes the log to w.
func (r *command) record(w io.Writer, s *scan.Scan) error {
	var files []scan.Input
	for _, input := range s.Inputs {
		if !input.Once {
			files = append(files, input)
		}
	}
	rest := &measure.Files{
		Recording: r.recording,
		Budget:    measure.NewLogBudget(r.options.Ledger()),
		Open:      func() ([]*measure.Reader, io.Closer, error) { return r.openAll(s, files) },
	}
	if len(files) < len(s.Inputs) {
		return r.recordPipes(w, s, rest)
	}
	log, err := rest.Log()
	if err != nil {
		return err
	}
	defer log.Close()
	if _, err := io.Copy(w, log); err != nil {
		return err
	}
	r.recorder = log.Recorder
	if !r.recorder.HasIntervals() {
		return errNothing
	}
	return nil
}

// recordPipes records inputs of which some are pipes. files has the others, which the first reading
// has read: their rows are not late.
func (r *command) recordPipes(w io.Writer, s *scan.Scan, files *measure.Files) error {
	back, err := files.NeededLate()
	if err != nil {
		return err
	}
	log := hdrlog.NewWriter(w)
	r.recording.Late = max(r.recording.Late, back)
	r.recorder = measure.NewRecorder(log, r.recording)
	var g *growingPipe
	inputs := s.Inputs
	if len(inputs) == 1 {
		g = &growingPipe{command: r, w: w, log: log, late: r.options.late}
		if !r.options.lateGiven {
			g.late = presentLate
		}
		inputs = []scan.Input{g.input(inputs[0])}
		cli.OnInterrupt(scan.Grace, func(bool) { g.interrupted() })
	}
	readers, closer, err := r.openAll(s, inputs)
	if err != nil {
		return err
	}
	defer closer.Close()
	if g != nil {
		g.reader = readers[0]
	}
	if err := r.recorder.Run(readers); err != nil {
		return err
	}
	if !r.recorder.HasIntervals() {
		return errNothing
	}
	return log.Flush()
}

var errNothing = errors.New("nothing was recorded")

type closers []io.Closer

func (all closers) Close() (err error) {
	for _, c := range all {
		err = cmp.Or(err, c.Close())
	}
	return err
}

// openAll opens inputs. If one fails, it closes the others.
func (r *command) openAll(s *scan.Scan, inputs []scan.Input) (readers []*measure.Reader, _ io.Closer, err error) {
	var all closers
	for n := range inputs {
		file, err := inputs[n].Open()
		if err != nil {
			all.Close()
			return nil, nil, err
		}
		all = append(all, file)
		reader, err := r.openReader(s.Count(file), inputs[n].Name)
		if err != nil {
			all.Close()
			return nil, nil, err
		}
		readers = append(readers, reader)
	}
	r.readers = readers
	return readers, all, nil
}

// openReader opens a file, and prints as what it is read if the user has not named its columns.
func (r *command) openReader(file io.Reader, name string) (*measure.Reader, error) {
	reader, err := measure.NewReader(file, name, r.options.format, r.options.rows)
	var usage measure.OptionError
	var unknown *measure.UnknownError
	switch {
	case err == nil && reader.Guessed() && !r.std.Quiet && !r.printed[name]:
		r.printed[name] = true
		r.diagnostics.Warnf("%s is read as %s; -time, -value and -tag name other columns", name, reader.Interpretation())
	case errors.As(err, &usage):
		return nil, message.Usagef("%w", err)
	case errors.As(err, &unknown) && logs.KindOf(unknown.Begin) != "":
		return nil, fmt.Errorf("%s has no measurements, but is %s", name, logs.KindOf(unknown.Begin))
	}
	return reader, err
}

// command returns the run of the options.
func (o *options) command(std *message.Streams) *command {
	r := &command{std: std, options: o, diagnostics: logs.NewDiagnostics(std, o.Strict), printed: make(map[string]bool)}
	r.recording = measure.UsualRecording()
	if !o.lateGiven {
		o.late = r.recording.Late
	}
	if o.tagColumns != "" {
		o.rows.Columns.Tags = strings.Split(o.tagColumns, ",")
	}
	o.UnitOf = func(string) (hdrlog.Unit, bool) { return o.rows.Unit, o.rows.Unit != 0 }
	r.recording.Failed = o.failed
	if o.moment != "" {
		r.recording.AtEnd = func(*measure.Reader) bool { return o.moment == "end" }
	}
	r.recording.Late = o.late
	r.recording.Size = o.size
	r.recording.Layout.Digits = o.digits
	r.recording.Memory = o.Ledger()
	r.recording.Report = r.reportRow
	return r
}

// reportRow prints the error of a row. It prints only the first late row.
func (r *command) reportRow(row *hdrlog.SyntaxError) error {
	if errors.Is(row, measure.ErrLate) {
		return r.diagnostics.Late(row, "-late says how long to wait")
	}
	return r.diagnostics.Report(row, true)
}

// finish prints what became of the rows, and returns the command's error or status. err is the
// error of the run.
func (r *command) finish(err error) error {
	if err != nil && err != errNothing {
		return err
	}
	n, warn := &r.recorder.Counts, r.diagnostics.Warnf
	for _, reader := range r.readers {
		if reader.Unterminated() {
			warn("%s:%d: the last line has no end; if it was cut short, its last number is wrong", reader.Name(),
				reader.Line())
		}
	}
	if r.recorder.WholeSeconds() {
		warn("%s", logs.CoarseTimes)
	}
	if r.recorder.Timeless() {
		warn("%s", logs.NoTimes)
	}
	for _, reader := range r.readers {
		if loss := reader.Inexactness(); loss != "" {
			warn("%s: %s", reader.Name(), loss)
		}
	}
	requests := n.Requests
	if requests.NoValue > 0 {
		warn("%d of %d requests failed or were skipped, and have no value", requests.NoValue, requests.All)
	}
	switch {
	case requests.Dropped > 0:
		warn("%d of %d requests failed and are left out", requests.Dropped, requests.All)
	case requests.Failed > requests.NoValue && r.recording.Failed == measure.KeepFailed:
		warn("%d of %d requests failed and are recorded with the others; -errors drop or -errors tag changes that",
			requests.Failed-requests.NoValue, requests.All)
	}
	if r.options.Verbose {
		r.std.Verbosef("%d rows recorded, %d dropped because they failed, %d of no interest, %d "+
			"too late, %d malformed",
			n.Recorded, n.Dropped+n.NoValue, n.Unchosen, n.Late, n.Malformed)
	}
	if err == errNothing {
		r.diagnostics.Close()
		return r.nothingError()
	}
	return r.diagnostics.Close()
}

// nothingError returns the error for inputs without a row to record.
func (r *command) nothingError() error {
	n := &r.recorder.Counts
	switch {
	case r.readers[0].Format() == "hist" && n.Malformed == 0:
		return fmt.Errorf("%s has no histograms, and is no list of measurements: a table, or a JSON "+
			"object on each line", r.readers[0].Name())
	case n.Unchosen > 0 && n.Malformed == 0:
		return r.readers[0].NothingChosen()
	case n.Malformed > 0:
		return errors.New("none of the rows could be recorded")
	case n.Dropped+n.NoValue > 0:
		return errors.New("all requests failed")
	}
	return errors.New("no rows in the input")
}
