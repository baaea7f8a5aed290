package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // for machines without

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/gate"
	"hdrkit/internal/live"
	"hdrkit/internal/live/port"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/live/push"
	"hdrkit/internal/live/serve"
	"hdrkit/internal/live/sinks"
)

const examples = `examples:
   hdrlive 'node.*\.hdr'                  # a table that is drawn again
   hdrlive 'node.*\.hdr' -serve 127.0.0.1:8080    # a page, and /metrics
   hdrlive 'node.*\.hdr' -of merged.hdr -state merged.state
   hdrlive run.hdr -push http://127.0.0.1:8086/write?db=load -state s
   hdrlive 'node.*\.hdr' | hdrsum -it     # the merged log, in a pipe
   hdrlive 'node.*\.hdr' -st ndjson -agg 10s      # rows for programs
   hdrlive run.hdr -sla 'p99<=20ms' -abort        # 4 as soon as it fails
   tail -F results.jtl | hdrrec - | hdrlive -     # any other tool

It waits for logs that are not there yet, and ends with Ctrl-C, SIGTERM or -for.

exit status: 0, or 1 if an output failed, 2 for a wrong command line, 3 if
malformed lines were skipped, intervals had no place or logs were not read, 4
if a limit of -sla does not hold`

func app() *urfave.App {
	return &urfave.App{
		Name:        "hdrlive",
		Usage:       "merge HdrHistogram logs while they are written",
		UsageText:   "hdrlive [options] [log ...]",
		Description: examples,
		Flags:       flags(),
		Action:      run,
		Metadata: cli.Guide{
			Common: []string{"if", "incT", "excT", "by", "agg", "st", "of", "serve", "push", "state", "p", "unit", "in", "sla", "abort", "for"},
		}.Metadata(),
	}
}

func flags() []urfave.Flag {
	return slices.Concat(cli.InputFlags(), []urfave.Flag{cli.TaggedInputFlag()}, cli.TagFlags("merge"), []urfave.Flag{
		cli.ByFlag(),
		cli.Option{Check: cli.OneOf, Values: []string{"start", "now"}, Flag: &urfave.StringFlag{Name: "s", Aliases: []string{"start", "from"}, Value: "start", Category: cli.GroupChoice, DefaultText: "start; now for -push without -state",
			Usage: "begin at this `MOMENT`: start, with all that is in the logs, or now"}},
		cli.Option{Check: cli.SomeLength, Flag: &urfave.StringFlag{Name: "agg", Aliases: []string{"aggregate"}, Value: "1s", Category: cli.GroupOutput,
			Usage: "merge the intervals of each window of `TIME`, by their middles; windows start at multiples of it"}},
		cli.Option{Check: cli.OneOf, Values: sinks.Formats, Flag: &urfave.StringFlag{Name: "st", Aliases: []string{"summaryType", "summary-type"}, Category: cli.GroupOutput,
			DefaultText: "a table on a terminal; nothing with -of, -serve or -push; otherwise the merged log",
			Usage:       "print rows of this `TYPE`: " + strings.Join(sinks.Formats, ", ")}},
		cli.OutputFlag("write the merged log to `FILE`, which grows"),
		&urfave.StringFlag{Name: "serve", Category: cli.GroupOutput,
			Usage: "show a page at `ADDRESS`, such as 127.0.0.1:8080, with metrics for Prometheus at /metrics, and /healthz and /readyz"},
		&urfave.StringSliceFlag{Name: "push", Category: cli.GroupOutput,
			Usage: "send windows to `URL`: an InfluxDB, a receiver of Prometheus remote write (/api/v1/...), or one of OpenTelemetry (otlp+http://...); credentials are read from " + prom.Credentials + "; repeatable"},
		cli.Option{Needs: "of serve push", Flag: &urfave.StringFlag{Name: "state", Category: cli.GroupOutput, TakesFile: true,
			Usage: "keep in `FILE` how far the command is, so that each output goes on there when it is started again"}},
		cli.PercentilesFlag("50,90,99,99.9", "show these `PERCENTILES` of each window, such as 50,99.9,max"),
	}, cli.UnitFlags(), []urfave.Flag{
		&urfave.StringFlag{Name: "metric", Category: cli.GroupValues, DefaultText: prom.DefaultMetric,
			Usage: "the `NAME` of metrics, whose values are seconds if their unit is known"},
		&urfave.StringSliceFlag{Name: "sla", Category: cli.GroupLimits,
			Usage: "check `LIMITS` of hdrsum at the end, and exit with 4 if one does not hold: p99.9<=20ms,insert-rt:max<=100, 'p99<=20ms in 99% of 1s'; repeatable"},
		cli.Option{Needs: "sla", Flag: &urfave.BoolFlag{Name: "abort", Category: cli.GroupLimits, Usage: "end as soon as a limit fails"}},
		cli.Option{Check: cli.Length, Flag: &urfave.StringFlag{Name: "idle", Category: cli.GroupLive, DefaultText: "5s, or the longest interval of the log",
			Usage: "wait `TIME` for a log that has nothing new, then write the window without it"}},
		cli.Option{Check: cli.Length, Flag: &urfave.StringFlag{Name: "for", Category: cli.GroupLive, DefaultText: "no end", Usage: "end after `TIME`"}},
	}, portFlags(), cli.Without(cli.RunFlags(), "j", "v"))
}

// The time that receivers have at the end, and what a scrape has at least. Tests have more.
var endTime, scrapeTime = 5 * time.Second, time.Second

// A command is one run.
type command struct {
	c       *urfave.Context
	options sinks.Options
	format  string // of rows, empty without -st
	limits  []gate.Limit
	pushes  []*url.URL
	port    *port.Port  // nil without -serve
	state   *live.State // keeps nothing without -state
	from    int64
	length  int64 // of the run in milliseconds, 0 without -for

	outputs []live.Output
	gate    *sinks.Gate // nil if nothing needs it
	table   bool        // it is drawn
	metrics *sinks.Metrics
	page    *sinks.Page
	server  serve.Server
	senders []prom.Sender
}

// run is the command: it checks the options, opens the outputs and merges the logs.
func run(c *urfave.Context) error {
	d := cli.NewDiagnostics(c.App.ErrWriter, c.App.Name, c.Bool("strict"))
	r := &command{c: c, state: new(live.State)}
	if err := r.check(d); err != nil {
		return err
	}
	var err error
	if r.port, err = listen(c); err != nil {
		return err
	}
	if r.port != nil {
		defer r.port.Close()
	}
	if c.String("state") != "" {
		if r.state, err = live.OpenState(c.String("state"), r.options.Size, &r.from); err != nil {
			return err
		}
	}
	if of := c.String("of"); of != "" {
		file, err := sinks.OpenFile(of)
		if err != nil {
			return err
		}
		defer file.Close()
		return r.merge(d, file)
	}
	return r.merge(d, nil)
}

// check checks the options.
func (r *command) check(d *cli.Diagnostics) error {
	c, o := r.c, &r.options
	r.length, r.format = cli.Millis(c, "for"), cli.Choice(c, "st")
	units, err := cli.NewUnits(c)
	if err != nil {
		return err
	}
	*o = sinks.Options{Units: units.Logs(), Messages: d, Size: cli.Millis(c, "agg"), Metric: c.String("metric"), EndTime: endTime, ScrapeTime: scrapeTime}
	if o.Percentiles, err = cli.Percentiles(c); err != nil {
		return err
	}
	if o.By, err = cli.Rows(c); err != nil {
		return err
	}
	if o.Memory, err = cli.Memory(c); err != nil {
		return err
	}
	formats := []string{r.format}
	if c.String("serve") != "" {
		formats = append(formats, prom.OpenMetrics)
	}
	for _, text := range c.StringSlice("push") {
		u, err := push.ParseURL(text)
		if err != nil {
			return cli.Usagef("-push: %w", err)
		}
		r.pushes, formats = append(r.pushes, u), append(formats, prom.ReceiverOf(u))
	}
	for _, format := range formats {
		if err := prom.CheckMetric(format, o.Metric); err != nil {
			return cli.Usagef("-metric: %w", err)
		}
	}
	r.findFrom()
	return r.checkRest()
}

// findFrom finds out where to begin. Without a state, receivers may have what is in the logs, from
// an earlier run.
func (r *command) findFrom() {
	implied := len(r.pushes) > 0 && r.c.String("state") == "" && !cli.Given(r.c, "s")
	if cli.Choice(r.c, "s") == "start" && !implied {
		return
	}
	size := r.options.Size
	r.from = (time.Now().UnixMilli() + size - 1) / size * size // no earlier run has a part of this window
	if implied {
		cli.Notef(r.c, "leaving out intervals that start before %s; -s start sends them too, and -state FILE continues after a restart", time.UnixMilli(r.from).Format(time.TimeOnly))
	}
}

// checkRest checks the options that need others.
func (r *command) checkRest() error {
	c := r.c
	for _, list := range c.StringSlice("sla") {
		limits, err := gate.Parse(list)
		if err != nil {
			return cli.Usagef("-sla: %w", err)
		}
		r.limits = append(r.limits, limits...)
	}
	for _, l := range r.limits {
		switch {
		case l.Relative:
			return cli.Usagef("-sla: %q is relative to a baseline: hdrsum compares logs that are complete", l.Text)
		case l.Window > 0 && l.Window != r.options.Size:
			return cli.Usagef("-sla: %q: its windows must be as long as those of -agg", l.Text)
		}
	}
	switch {
	case c.String("state") != "" && runtime.GOOS == "windows":
		return cli.Usagef("-state needs a system that tells files apart, as Linux, macOS and the BSDs do")
	case slices.Contains([]string{".gz", ".zst"}, filepath.Ext(c.String("of"))):
		return cli.Usagef("-of %s: a file that grows is not compressed", c.String("of"))
	case c.String("of") == "-":
		return cli.Usagef("-of -: the merged log goes to standard output if no other output is asked for")
	}
	return nil
}

// merge merges the logs.
func (r *command) merge(d *cli.Diagnostics, file *sinks.File) error {
	if err := r.open(cli.NewLines(r.c.App.Writer, true), file); err != nil {
		return err
	}
	some, err := r.mergeLogs(d)
	exceeded := errors.Is(err, sinks.ErrExceeded)
	if err != nil && !exceeded {
		return err
	}
	if some && len(r.limits) > 0 {
		_, verdicts, _, err := r.gate.Judge(false)
		if err == nil && !r.table {
			err = gate.Write(r.c.App.ErrWriter, verdicts, cli.Colour(r.c.App.ErrWriter))
		}
		if err != nil {
			return err
		}
		if failed, _ := gate.Count(verdicts); failed > 0 {
			d.Warnf("%d of %d limits do not hold", failed, len(verdicts))
			exceeded = true
		}
	}
	status := d.Close()
	switch {
	case exceeded:
		return cli.Status(cli.Exceeded)
	case !some:
		return cmp.Or(status, errors.New("no intervals in the input"))
	}
	return status
}

// serve begins to answer requests.
func (r *command) serve(m *live.Merger) (stop func()) {
	if r.port == nil {
		return func() {}
	}
	r.metrics.Watch(m.Progress, r.senders...)
	r.page.Watch(m.Progress)
	stop = r.server.Start(r.port.Start)
	fmt.Fprintln(r.c.App.ErrWriter, r.port.URL())
	return stop
}

// open opens the outputs, each where its last run ended.
func (r *command) open(stdout *cli.Lines, file *sinks.File) error {
	c, o := r.c, &r.options
	own, err := r.state.Outputs()
	if err != nil {
		return err
	}
	has := func(key string) bool {
		return slices.ContainsFunc(r.outputs, func(out live.Output) bool { return out.Key == key })
	}
	if file != nil {
		key := "-of " + c.String("of")
		log, err := sinks.NewLog(o, file, own[key])
		if err != nil {
			return err
		}
		r.outputs = append(r.outputs, live.Output{Key: key, Sink: log})
	}
	if r.port != nil {
		most := time.Minute
		if c.Bool("abort") {
			most = endTime
		}
		if r.metrics, err = sinks.NewMetrics(o, r.state.Kept(), own["metrics"], most); err != nil {
			return err
		}
		title := strings.Join(slices.Concat(c.StringSlice("if"), c.Args().Slice()), " ")
		if r.page, err = sinks.NewPage(o, &r.server, cmp.Or(title, "hdrlive"), r.limits); err != nil {
			return err
		}
		r.server.Status = r.metrics.Handler()
		r.outputs = append(r.outputs, live.Output{Key: "metrics", Sink: r.metrics}, live.Output{Key: "page", Sink: r.page})
	}
	for _, u := range r.pushes {
		key := "-push " + u.Redacted()
		if has(key) {
			return cli.Usagef("%s is given twice", key)
		}
		p, err := sinks.NewPush(o, u, r.state.Kept(), own[key])
		if err != nil {
			return err
		}
		sender := p.Sender()
		for n := 2; slices.ContainsFunc(r.senders, func(s prom.Sender) bool { return s.Address == sender.Address }); n++ {
			sender.Address = fmt.Sprintf("%s %d", p.Sender().Address, n)
		}
		r.senders = append(r.senders, sender)
		r.outputs = append(r.outputs, live.Output{Key: key, Sink: p})
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		if !has(key) {
			o.Messages.Notice(fmt.Sprintf("%s is no output any more; the state forgets it", key))
		}
	}
	return r.openStdout(stdout)
}

// openStdout opens what goes to standard output, and the gate.
func (r *command) openStdout(stdout *cli.Lines) error {
	c, o := r.c, &r.options
	others := len(r.outputs) > 0
	add := func(s live.Sink) {
		// A reader that goes away, as head does, ends the command if it was the only one.
		r.outputs = append(r.outputs, live.Output{Key: "stdout", Sink: s, Drop: func(err error) bool { return others && errors.Is(err, syscall.EPIPE) }})
	}
	r.table = cli.Terminal(c.App.Writer) && r.format == ""
	if r.table || len(r.limits) > 0 {
		r.gate = sinks.NewGate(o, r.limits, c.Bool("abort"), r.length/o.Size)
	}
	switch {
	case r.format != "":
		add(sinks.NewRows(o, r.format, stdout))
	case r.table:
		add(sinks.NewTable(r.gate, c.App.Writer, func() int { return cli.Width(c.App.Writer) }, cli.Colour(c.App.Writer)))
		return nil
	case !others:
		log, err := sinks.NewLog(o, stdout, nil)
		if err != nil {
			return err
		}
		add(log)
	}
	if r.gate != nil { // last: the others have the window that ends the run
		r.outputs = append(r.outputs, live.Output{Key: "gate", Sink: r.gate})
	}
	return nil
}
