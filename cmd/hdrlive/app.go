package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/cli"
	"hdrkit/internal/finding"
	"hdrkit/internal/gate"
	"hdrkit/internal/live"
	"hdrkit/internal/live/port"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/live/push"
	"hdrkit/internal/live/serve"
	"hdrkit/internal/live/sinks"
	"hdrkit/internal/logs"
	"hdrkit/internal/metric"
	"hdrkit/internal/question/asked"
)

const examples = `examples:
   hdrlive 'node.*\.hdr'                  # a table that is drawn again
   hdrlive 'node.*\.hdr' -serve 127.0.0.1:8080    # a page, and /metrics
   hdrlive 'node.*\.hdr' -of merged.hdr -state merged.state
   hdrlive run.hdr -push http://127.0.0.1:8086/write?db=load -state s
   hdrlive 'node.*\.hdr' | hdrsum -it     # the merged log, in a pipe
   hdrlive 'node.*\.hdr' -st ndjson -agg 10s      # rows for programs
   hdrlive run.hdr -in ns -sla 'p99<=20ms' -abort # 4 as soon as it fails
   tail -n +1 -F results.jtl | hdrrec - | hdrlive -    # any other tool

It waits for logs that are not there yet, and ends with Ctrl-C, SIGTERM, SIGHUP
or -for.

exit status: 0, 129 after SIGHUP, or 1 if an output failed, 2 for a wrong
command line, 3 if malformed lines were skipped, intervals had no place or logs
were not read, 4 if a limit of -sla does not hold`

// options are the values of the command line.
type options struct {
	logs.Inputs
	logs.Tags
	logs.Run
	targets   targets
	verdicts  verdicts
	units     unit.Options
	sinks     sinks.Options
	from      string // start or now
	fromGiven bool
	idle      int64 // in milliseconds, 0 without -idle
	length    int64 // of the run in milliseconds, 0 without -for
	port      port.Options
}

// targets are the outputs that the command line names.
type targets struct {
	format    string // of rows, empty without -st
	of, state string
	pushes    []*url.URL
}

// verdicts are the limits of -sla, and whether a failing limit ends the run.
type verdicts struct {
	limits []gate.Limit
	abort  bool
	stop   gate.Stop // when a failing limit ends the run, if abort is set
}

func app() *cli.Command {
	o := new(options)
	o.Waits, o.Output = true, &o.targets.of
	c := &cli.Command{
		Streams:     message.Streams{Name: "hdrlive"},
		Usage:       "merge HdrHistogram logs while they are written",
		UsageText:   "hdrlive [options] [log ...]",
		Description: examples,
		Common: []string{"if", "incT", "excT", "by", "agg", "st", "of", "serve", "push", "state", "p",
			"unit", "in", "sla", "abort", "for"},
		Args: cli.Arguments(&o.Inputs),
	}
	c.Options = slices.Concat(cli.InputOptions(&o.Inputs), []cli.Option{cli.TaggedInputOption(&o.Inputs)},
		cli.TagOptions(&o.Tags, &o.Inputs, "merge"), o.outputOptions(), cli.UnitOptions(&o.units), o.limitOptions(),
		portOptions(&o.port), cli.Without(cli.RunOptions(&c.Streams, &o.Run), "j", "v"))
	c.Action = func() error { return run(&c.Streams, o) }
	return c
}

// outputOptions returns the options that say what is merged, and where the output goes.
func (o *options) outputOptions() []cli.Option {
	return []cli.Option{
		cli.ByOption(&o.Tags),
		{
			Name:    "s",
			Aliases: "start from",
			Group:   cli.GroupChoice,
			Values:  []string{"start", "now"},
			Value:   cli.Choice(&o.from, "start"),
			Given:   &o.fromGiven,
			Default: "start; now for -push without -state",
			Usage:   "begin at this `MOMENT`: start, with all that is in the logs, or now",
		},
		{
			Name:    "agg",
			Aliases: "aggregate",
			Group:   cli.GroupOutput,
			Value:   cli.PositiveLength(&o.sinks.Size, "1s"),
			Usage:   "merge the intervals of each window of `TIME`, by their middles; windows start at multiples of it",
		},
		{
			Name:    "st",
			Aliases: "summaryType summary-type",
			Group:   cli.GroupOutput,
			Values:  sinks.Formats,
			Value:   cli.Choice(&o.targets.format, ""),
			Default: "a table on a terminal; nothing with -of, -serve or -push; otherwise the merged log",
			Usage:   "print rows of this `TYPE`: " + strings.Join(sinks.Formats, ", "),
		},
		cli.OutputOption(&o.targets.of, "write the merged log to `FILE`, which grows"),
		{
			Name:  "serve",
			Group: cli.GroupOutput,
			Value: cli.Text(&o.port.Address, ""),
			Usage: "show a page at `ADDRESS`, such as 127.0.0.1:8080, with metrics for Prometheus " +
				"at /metrics, and /healthz and /readyz",
		},
		{
			Name:  "push",
			Group: cli.GroupOutput,
			Value: cli.Each(&o.targets.pushes, parsePush),
			Usage: "send windows to `URL`: an InfluxDB, a receiver of Prometheus remote write " +
				"(/api/v1/...), or one of OpenTelemetry (otlp+http://...); credentials are " +
				"read from " + prom.Credentials + "; repeatable",
		},
		{
			Name:  "state",
			Group: cli.GroupOutput,
			Rules: cli.Rules{Needs: "of serve push"},
			Value: cli.Text(&o.targets.state, ""),
			Usage: "store in `FILE` how far the outputs are, and continue there after a restart",
		},
		cli.PercentilesOption(cli.Parsed(&o.sinks.Percentiles, "50,90,99,99.9", asked.ParsePercentiles),
			"show these `PERCENTILES` of each window, such as 50,99.9,max"),
	}
}

// limitOptions returns the options for metrics, limits and the end of a run.
func (o *options) limitOptions() []cli.Option {
	return []cli.Option{
		{
			Name:    "metric",
			Group:   cli.GroupValues,
			Value:   cli.Text(&o.sinks.Metric, ""),
			Default: metric.Default,
			Usage:   "the `NAME` of metrics, whose values are seconds if their unit is known",
		},
		{
			Name:  "sla",
			Doubt: gate.Doubt,
			Group: cli.GroupLimits,
			Value: cli.Each(&o.verdicts.limits, gate.Parse),
			Usage: "check `LIMITS` of hdrsum at the end, and exit with 4 if one does not hold: " +
				"p99.9<=20ms,insert-rt:max<=100, 'p99<=20ms in 99% of 1s'; repeatable",
		},
		{
			Name:  "abort",
			Group: cli.GroupLimits,
			Rules: cli.Rules{Needs: "sla"},
			Value: cli.Bool(&o.verdicts.abort),
			Usage: "end as soon as a limit fails",
		},
		{
			Name:  "abort-after",
			Group: cli.GroupLimits,
			Rules: cli.Rules{Needs: "abort"},
			Value: cli.Length(&o.verdicts.stop.After, "1m"),
			Usage: "wait `TIME` before a figure that may still become better, such as a percentile, " +
				"may end the run; max<=, min>= and count<= end it at once",
		},
		{
			Name:    "idle",
			Group:   cli.GroupLive,
			Value:   cli.Length(&o.idle, ""),
			Default: "5s, or twice the longest interval of the log",
			Usage:   "wait `TIME` for a log that has nothing new, then write the window without it",
		},
		{
			Name:    "for",
			Group:   cli.GroupLive,
			Value:   cli.Length(&o.length, ""),
			Default: "no end",
			Usage:   "end after `TIME`",
		},
	}
}

func parsePush(text string) ([]*url.URL, error) {
	u, err := push.ParseURL(text)
	return []*url.URL{u}, err
}

// endTime is the time that receivers have at the end to take rows. scrapeTime is the shortest time
// for a last scrape. Tests make both longer.
var endTime, scrapeTime = 5 * time.Second, time.Second

// A command is one run of hdrlive.
type command struct {
	std     *message.Streams
	options *options
	port    *port.Port  // nil without -serve
	state   *live.State // stores nothing without -state
	start   int64       // intervals that start before this time are left out, in milliseconds since the epoch

	followed *logs.Logs // finds the units of values

	hangup  atomic.Bool // SIGHUP has ended the run
	outputs []live.Output
	gate    *sinks.Gate // nil if no output needs it
	table   bool        // standard output shows a table
	metrics *sinks.Metrics
	page    *sinks.Page
	server  serve.Server
	senders []prom.Sender
}

// run opens the state and the merged log, and merges the logs.
func run(std *message.Streams, o *options) error {
	d := logs.NewDiagnostics(std, o.Strict)
	r := &command{std: std, options: o, state: new(live.State)}
	if err := r.check(d); err != nil {
		return err
	}
	var err error
	if r.port, err = listen(std, o.port); err != nil {
		return err
	}
	if r.port != nil {
		defer r.port.Close()
	}
	if o.targets.state != "" {
		if r.state, err = live.OpenState(o.targets.state, o.sinks.Size, &r.start); err != nil {
			return err
		}
		defer r.state.Release()
	}
	if o.targets.of != "" {
		file, err := sinks.OpenFile(&o.sinks, o.targets.of)
		if err != nil {
			return err
		}
		defer file.Close()
		return r.merge(d, file)
	}
	return r.merge(d, nil)
}

// check checks the options, and sets those of the outputs.
func (r *command) check(d *logs.Diagnostics) error {
	o := &r.options.sinks
	units, err := logs.NewUnits(r.std, r.options.units)
	if err != nil {
		return err
	}
	units.Judge(gate.NeedsUnit(r.options.verdicts.limits, &r.options.units))
	r.followed = units.NewLogs(r.options.Ledger())
	o.Units = r.followed
	o.Messages = d
	o.Memory = r.options.Ledger()
	o.EndTime = endTime
	o.ScrapeTime = scrapeTime
	if o.By, err = r.options.Rows(); err != nil {
		return err
	}
	formats := []string{r.options.targets.format}
	if r.options.port.Address != "" {
		formats = append(formats, metric.OpenMetrics)
	}
	for _, u := range r.options.targets.pushes {
		formats = append(formats, prom.ReceiverOf(u))
	}
	for _, format := range formats {
		if err := metric.Check(format, o.Metric); err != nil {
			return message.Usagef("-metric: %w", err)
		}
	}
	r.findFrom()
	return r.checkRest()
}

// findFrom sets the time before which intervals are left out. With -push and without a state,
// intervals that are already in the logs are left out, because an earlier run may have sent them.
func (r *command) findFrom() {
	implied := len(r.options.targets.pushes) > 0 && r.options.targets.state == "" && !r.options.fromGiven
	if r.options.from == "start" && !implied {
		return
	}
	size := r.options.sinks.Size
	r.start = (time.Now().UnixMilli() + size - 1) / size * size // the start of a window, so that no earlier run has a part of it
	if implied {
		r.std.Notef("leaving out intervals that start before %s; -s start sends them too, and "+
			"-state FILE continues after a restart", time.UnixMilli(r.start).UTC().Format(time.RFC3339))
	}
}

// checkRest checks combinations of options.
func (r *command) checkRest() error {
	for _, l := range r.options.verdicts.limits {
		switch {
		case l.Change != nil:
			return message.Usagef("-sla: %q is a change: hdrdiff compares logs that are complete", l.Text)
		case l.Window > 0 && l.Window != r.options.sinks.Size:
			return message.Usagef("-sla: %q: its windows must be as long as those of -agg", l.Text)
		}
	}
	switch {
	case slices.Contains([]string{".gz", ".zst"}, filepath.Ext(r.options.targets.of)):
		return message.Usagef("-of %s: a file that grows is not compressed", r.options.targets.of)
	case r.options.targets.of == "-":
		return message.Usagef("-of -: the merged log goes to standard output if no other output is asked for")
	}
	return nil
}

// merge opens the outputs, merges the logs, and returns the exit status. File is that of -of, or
// nil.
func (r *command) merge(d *logs.Diagnostics, file *sinks.File) error {
	out := r.newStdout()
	if err := r.open(out, file); err != nil {
		return err
	}
	some, err := r.mergeLogs(d)
	if errors.Is(err, live.ErrStopped) { // stopped while the outputs were reading windows of earlier runs
		return r.status(d.Close())
	}
	err = cmp.Or(err, out.disk.End())
	exceeded := errors.Is(err, sinks.ErrExceeded)
	if err != nil && !exceeded {
		return err
	}
	if some && len(r.options.verdicts.limits) > 0 {
		summaries, verdicts, err := r.gate.Judge(false)
		if err != nil {
			return err
		}
		if !r.table {
			sinks.WriteVerdicts(r.std.Err, summaries, verdicts, logs.Colour(r.std.Err))
		}
		if failed := finding.Failed(verdicts); failed != "" {
			d.Warnf("%s", failed)
			exceeded = true
		}
	}
	status := d.Close()
	switch {
	case exceeded:
		return message.Status(message.Exceeded)
	case !some && !r.hangup.Load():
		return cmp.Or(status, errors.New("no intervals in the input"))
	}
	return r.status(status)
}

// status returns the status of a run that would end with another one but for SIGHUP.
func (r *command) status(status error) error {
	if r.hangup.Load() {
		return message.Status(128 + int(syscall.SIGHUP)) // with this status, systemd starts the command again
	}
	return status
}

// serve starts answering requests at the port, if there is one.
func (r *command) serve(m *live.Merger) (stop func()) {
	if r.port == nil {
		return func() {}
	}
	r.metrics.Watch(m.Progress, m.Full, r.senders...)
	r.page.Watch(m.Progress)
	stop = r.server.Start(r.port.Start)
	fmt.Fprintln(r.std.Err, r.port.URL())
	return stop
}

// open opens the outputs. Each goes on where the last run has ended. File is that of -of, or nil.
func (r *command) open(stdout *stdout, file *sinks.File) error {
	o := &r.options.sinks
	hasOutput := func(key string) bool {
		return slices.ContainsFunc(r.outputs, func(out live.Output) bool { return out.Key == key })
	}
	if file != nil {
		at := r.state.File()
		if at != nil && !file.Is(at.Path) {
			o.Messages.Notice("-of " + at.Path + " is no output any more; the state forgets it")
			at = nil
		}
		log, err := sinks.NewFileLog(o, file, at, r.state.OpenWindowsEnd())
		if err != nil {
			return err
		}
		r.state.TakeOpenWindows(log.OpenWindows)
		r.outputs = append(r.outputs, live.Output{Key: "-of " + r.options.targets.of, Sink: log, Full: file.Full})
	}
	if r.port != nil {
		most := time.Minute
		if r.options.verdicts.abort {
			most = endTime
		}
		r.metrics = sinks.NewMetrics(o, most)
		var err error
		title := strings.Join(r.options.Names, " ")
		if r.page, err = sinks.NewPage(o, &r.server, cmp.Or(title, "hdrlive"), r.options.verdicts.limits); err != nil {
			return err
		}
		r.server.Status = r.metrics.Handler()
		r.outputs = append(r.outputs, live.Output{Key: "metrics", Sink: r.metrics, When: live.AfterSave},
			live.Output{Key: "page", Sink: r.page})
	}
	for _, u := range r.options.targets.pushes {
		key := "-push " + push.Key(u)
		if hasOutput(key) {
			return message.Usagef("%s is given twice", key)
		}
		p := sinks.NewPush(o, u, r.state.Kept())
		r.senders = append(r.senders, p.Sender())
		r.outputs = append(r.outputs, live.Output{Key: key, Sink: p, When: live.AfterSave})
	}
	return r.openStdout(stdout)
}

// A stdout is standard output. If it is a regular file, text waits in memory while its disk is
// full.
type stdout struct {
	*logs.LineWriter
	disk *sinks.Disk
}

// Flush writes the complete lines, and the text that waits for space on the disk.
func (s *stdout) Flush() error { return cmp.Or(s.LineWriter.Flush(), s.disk.Flush()) }

func (r *command) newStdout() *stdout {
	s := &stdout{disk: sinks.NewDisk(&r.options.sinks, "standard output", r.std.Out)}
	to := r.std.Out
	if f, ok := to.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			to = s.disk
		}
	}
	s.LineWriter = logs.NewLineWriter(to, true)
	return s
}

// openStdout opens the output that goes to standard output, and the gate.
func (r *command) openStdout(stdout *stdout) error {
	o := &r.options.sinks
	others := len(r.outputs) > 0
	add := func(s live.Sink, when live.When) {
		// A reader that stops reading, such as head, ends the command only if there is no other
		// output.
		r.outputs = append(r.outputs, live.Output{
			Key:  "stdout",
			Sink: s,
			Drop: func(err error) bool { return others && errors.Is(err, syscall.EPIPE) },
			Full: stdout.disk.Full,
			When: when,
		})
	}
	r.table = message.Terminal(r.std.Out) && r.options.targets.format == ""
	if r.table || len(r.options.verdicts.limits) > 0 || r.page != nil {
		var stop *gate.Stop
		if r.options.verdicts.abort {
			stop = &r.options.verdicts.stop
			stop.Planned = r.options.length / o.Size
		}
		r.gate = sinks.NewGate(o, r.options.verdicts.limits, stop)
	}
	if r.page != nil {
		r.page.Judge(r.gate)
	}
	switch {
	case r.options.targets.format != "":
		add(sinks.NewRows(o, r.options.targets.format, stdout), live.CompleteOnly)
	case r.table:
		out := r.std.Out
		screen := &sinks.Terminal{
			W:      out,
			Width:  func() int { return logs.Width(out) },
			Height: func() int { return logs.Height(out) },
			Colour: logs.Colour(out),
		}
		if message.Terminal(r.std.Err) {
			r.std.Err = screen.Messages(r.std.Err)
		}
		add(sinks.NewTable(r.gate, screen, r.std.Next), live.Live)
		return nil
	case !others:
		add(sinks.NewLog(o, stdout), live.CompleteOnly)
	}
	if r.gate != nil { // last, so that the others get the window that ends the run
		r.outputs = append(r.outputs, live.Output{Key: "gate", Sink: r.gate})
	}
	return nil
}
