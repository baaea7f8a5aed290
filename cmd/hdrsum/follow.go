package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/cli"
	"hdrkit/internal/live"
	"hdrkit/internal/live/port"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/live/push"
	"hdrkit/internal/table/series"
	"hdrkit/output"
)

// credentials is the environment variable with the Authorization field of pushes. A command line
// would show it to others.
const credentials = "HDRKIT_PUSH_AUTHORIZATION"

// lastPush is the time that an interrupted command takes to send the last rows.
const lastPush = 5 * time.Second

// usualWindow is -agg of a table that is drawn again and again, in milliseconds.
const usualWindow = 1000

// liveFlags are the options that show logs to other programs, or while they are written.
func liveFlags() []urfave.Flag {
	return slices.Concat(cli.FollowFlags(), []urfave.Flag{
		cli.StateFlag(),
		&urfave.StringFlag{Name: "grace", Category: cli.GroupLive, DefaultText: "twice the time between scrapes",
			Usage: "at the end, answer at -listen until one more scrape, for at most `TIME`"},
		&urfave.StringFlag{Name: "push", Category: cli.GroupLive,
			Usage: "send the rows of -st influx to an InfluxDB, those of -st openmetrics to a receiver of Prometheus remote write, or those of -st otlp to one of OpenTelemetry (otlp+http://...), at `URL`; credentials are read from " + credentials},
		&urfave.IntFlag{Name: "schema", Value: prom.DefaultSchema, Category: cli.GroupLive,
			Usage: fmt.Sprintf("the `SCHEMA` of native histograms, from %d to %d: 2^SCHEMA buckets in each power of two; of otlp the highest, up to %d, which the digits of the log decide otherwise", prom.MinSchema, prom.MaxSchema, prom.MaxScale)},
	}, cli.ListenFlags())
}

// liveOptions are the options of [liveFlags].
type liveOptions struct {
	follow bool
	listen string
	push   *url.URL
	prom   prom.Options
	grace  time.Duration // negative if it is not given
	totals []prom.Total  // of the run before
	remote *prom.Remote  // nil before the first row
}

// parsePush checks the address of -push, which decides what -st is if that is not given.
func parsePush(c *urfave.Context, o *options) (err error) {
	if !cli.Given(c, "push") {
		return nil
	}
	if o.live.push, err = push.ParseURL(c.String("push")); err != nil {
		return cli.Usagef("-push: %w", err)
	}
	if !cli.Given(c, "st") {
		for _, f := range formats {
			if f.receiver != nil && f.receiver.at(o.live.push) {
				o.format = f
			}
		}
	}
	if otlp := o.format == &otlpFormat; o.format.receiver != nil && otlp != otlpFormat.receiver.at(o.live.push) {
		return cli.Usagef("-push %shttp://... sends the rows of -st otlp, and only those", push.OTLP)
	}
	if o.format.receiver == nil {
		able := names(func(f *format) bool { return f.receiver != nil })
		return cli.Usagef("-push sends the rows of -st %s, not those of -st %s", strings.Join(able, " or -st "), o.format.name)
	}
	return nil
}

// parseLive checks the options of [liveFlags].
func parseLive(c *urfave.Context, o *options) error {
	l := &o.live
	l.follow, l.listen = c.Bool("follow"), c.String("listen")
	if err := cli.CheckFollow(c, "lt", "baseline"); err != nil {
		return err
	}
	if o.drawsTable(c) && o.series.Window == 0 {
		o.series.Window = usualWindow
	}
	if cli.Given(c, "state") {
		if err := checkState(c, o); err != nil {
			return err
		}
	}
	if cli.Given(c, "grace") && l.listen == "" {
		return cli.Usagef("-grace needs -listen")
	}
	grace, err := cli.Millis(c, "grace")
	if err != nil {
		return err
	}
	if l.grace = time.Duration(grace) * time.Millisecond; !cli.Given(c, "grace") {
		l.grace = -1
	}
	schema := o.format.maxSchema
	if l.listen != "" || l.push != nil && o.format.receiver.native {
		schema = prom.MaxSchema
	}
	if l.push != nil {
		if err := o.format.receiver.check(o); err != nil {
			return err
		}
	}
	if err := cli.CheckPort(c, "listen"); err != nil {
		return err
	}
	rows := o.format.rows != nil
	o.series.Counts = o.series.Counts || l.push != nil && o.format.receiver.native
	switch {
	case cli.Given(c, "abort") && !(l.follow && cli.Given(c, "sla")):
		return cli.Usagef("-abort needs -follow and -sla: it ends a run whose limit fails")
	case cli.Given(c, "push") && cli.Given(c, "of"):
		return cli.Usagef("-push and -of do not go together: the rows go to one place")
	case cli.Given(c, "schema") && schema == 0:
		return cli.Usagef("-schema needs -listen, -st otlp, or -push with -st openmetrics")
	case cli.Given(c, "schema") && (c.Int("schema") < prom.MinSchema || c.Int("schema") > schema):
		return cli.Usagef("-schema %d: schemas are from %d to %d", c.Int("schema"), prom.MinSchema, schema)
	case !l.follow:
	case l.listen != "" && !rows && cli.Given(c, "st"):
		return cli.Usagef("-listen does not go with -st %s, which is a summary; it goes with %s", o.format.name, strings.Join(streams(), ", "))
	case l.listen != "" && o.series.Window == 0:
		return cli.Usagef("-listen needs -agg, such as -agg 1: the length of the window whose percentiles it shows")
	case cli.Given(c, "sla") && o.series.Window == 0:
		return cli.Usagef("-sla needs -agg with -follow, such as -agg 1: limits are checked at the end of each window")
	case l.listen == "" && !rows && !o.drawsTable(c) && (!cli.Given(c, "sla") || cli.Given(c, "st")):
		return cli.Usagef("-follow needs rows (-st %s), -sla, -listen or -push; on a terminal it shows a table, with -agg above 0", strings.Join(streams(), ", "))
	}
	l.prom = prom.Options{Metric: o.metric, Schema: c.Int("schema"), Percentiles: o.percentiles}
	if l.listen != "" {
		return checkMetric(o)
	}
	return nil
}

// checkState returns an error if the output needs more of the past than a state file has.
func checkState(c *urfave.Context, o *options) error {
	switch {
	case o.series.Window == 0:
		return cli.Usagef("-state needs -agg, such as -agg 1")
	case o.series.Moving > 0:
		return cli.Usagef("-state does not go with moving windows (-mwp, -mwpl)")
	case cli.Given(c, "sla"):
		return cli.Usagef("-state does not go with -sla")
	case o.live.push == nil && (o.live.listen == "" || o.format.rows != nil) && !o.format.resumes:
		able := names(func(f *format) bool { return f.resumes })
		return cli.Usagef("-state goes with -push, -listen, or rows that have no beginning, no end and no totals: -st %s", strings.Join(able, " or -st "))
	}
	return nil
}

// drawsTable reports whether -follow shows a table that is drawn again and again.
func (o *options) drawsTable(c *urfave.Context) bool {
	return o.live.follow && o.live.push == nil && o.live.listen == "" && !cli.Given(c, "st") && cli.Terminal(c.App.Writer) && (o.series.Window > 0 || !cli.Given(c, "agg"))
}

// newPusher returns what sends rows, and the writer of rows that it sends.
func (o *options) newPusher(notice func(text string)) (*push.Pusher, output.RowWriter) {
	receiver := o.format.receiver
	address := *o.live.push
	address.Scheme = strings.TrimPrefix(address.Scheme, push.OTLP)
	options := push.Options{URL: &address, Notice: notice, Header: receiver.header(), Encode: receiver.encode, Rejected: receiver.rejected, Patient: o.live.follow}
	options.Header.Set("User-Agent", "hdrsum")
	if secret := os.Getenv(credentials); secret != "" {
		options.Header.Set("Authorization", secret)
	}
	p := push.New(options)
	return p, o.rowWriter(func() (output.RowWriter, error) {
		if receiver.rows != nil {
			return receiver.rows(p, o)
		}
		return o.format.rows(p, o)
	})
}

// promOptions returns the options of what Prometheus gets.
func (o *options) promOptions() prom.Options {
	options := o.live.prom
	options.Memory = o.memory
	options.Ratio = func(tag []byte) float64 {
		scale, err := o.scaleOf(tag)
		if err != nil {
			return math.NaN() // whoever brings the values has seen the error
		}
		return scale.Ratio
	}
	return options
}

// closePusher sends the last rows, and says what did not arrive.
func closePusher(p *push.Pusher, d *cli.Diagnostics) error {
	result := p.Close()
	d.LeftOut(result.Refused)
	if result.Unsent > 0 {
		return fmt.Errorf("the receiver did not take the last rows: %d are lost", result.Unsent)
	}
	return nil
}

// runFollow shows logs while they are written.
func runFollow(c *urfave.Context, d *cli.Diagnostics, o *options, g *gates) error {
	d.Follow()
	o.logs = o.units.Logs()
	f := &follower{Diagnostics: d, Logs: o.logs, c: c, options: o, gates: g}
	var err error
	if f.port, err = cli.Listen(c, "listen"); err != nil {
		return err
	}
	if f.port != nil {
		defer f.port.Close()
	}
	return cli.WriteFollowed(c, f.run, f.run)
}

// A follower shows what is merged: as rows, as a table, and to Prometheus. It is a [live.Sink].
type follower struct {
	*cli.Diagnostics
	*cli.Logs
	c       *urfave.Context
	options *options
	gates   *gates
	port    *port.Port // nil without -listen

	w         io.Writer
	rows      *series.Live
	pusher    *push.Pusher // nil without -push
	collector *prom.Collector
	waiting   []waitingSum // with -state
	saved     int          // of these, how many the last state has
	table     *liveTable
	scratch   histogram.Histogram
}

// run follows the logs, and writes rows to w.
func (f *follower) run(w io.Writer) error {
	f.w = w
	var out output.RowWriter
	if f.options.live.push != nil {
		f.pusher, out = f.options.newPusher(f.Notice)
		defer f.pusher.GiveUp()
	} else if f.options.format.rows != nil {
		out = f.options.rowWriter(func() (output.RowWriter, error) { return f.options.format.rows(w, f.options) })
	}
	if f.options.drawsTable(f.c) || len(f.gates.limits) > 0 {
		table, err := newLiveTable(f.options, f.gates)
		if err != nil {
			return err
		}
		f.table = table
	}
	if out != nil {
		f.rows = series.NewLive(&f.options.series, newRowSink(f.c, f.Diagnostics, f.options, out).row)
	}
	if f.port != nil {
		f.collector = prom.NewCollector(f.options.promOptions())
	}
	some, err := cli.Follow(f.c, f.options.series.Window, f, cli.FollowHooks{Start: f.serve, Stopped: func() {
		if f.pusher != nil {
			time.AfterFunc(lastPush, f.pusher.GiveUp)
		}
	}})
	if f.pusher != nil && errors.Is(err, push.ErrGivenUp) {
		return closePusher(f.pusher, f.Diagnostics)
	}
	if err == errExceeded && f.pusher != nil { // what is recorded is sent all the same
		time.AfterFunc(lastPush, f.pusher.GiveUp)
	} else if err != nil && err != errExceeded {
		return err
	}
	if out != nil {
		if err := out.Close(); err != nil {
			return err
		}
	}
	var exceeded error
	if f.table != nil && some {
		if exceeded = f.endTable(out != nil); exceeded != nil && exceeded != errExceeded {
			return exceeded
		}
	}
	if f.pusher != nil {
		if err := closePusher(f.pusher, f.Diagnostics); err != nil {
			return err
		}
	}
	if !some {
		f.Diagnostics.Close()
		return errors.New("no intervals in the input")
	}
	return cmp.Or(exceeded, f.Diagnostics.Close())
}

// endTable shows the last state of the table. Verdicts go to standard error if there are rows.
func (f *follower) endTable(rows bool) error {
	w := f.w
	if rows {
		w = f.c.App.ErrWriter
	}
	exceeded := f.table.end(w)
	return cmp.Or(cli.Flush(f.w), exceeded) // an error would drop what is in a buffer
}

// serve begins to answer scrapes.
func (f *follower) serve(m *live.Merger) (end func()) {
	if f.port == nil {
		return func() {}
	}
	var sender func() push.State
	if f.pusher != nil {
		sender = f.pusher.State
	}
	f.collector.Watch(m.States, sender)
	stop := f.port.Start(f.collector.Handler())
	return func() {
		f.collector.LastScrape(f.options.live.grace)
		stop()
	}
}

// Window shows what a tag has in a window.
func (f *follower) Window(m *merge.Merged) error { return f.show(m, false) }

// Interval shows an interval, where -agg merges nothing.
func (f *follower) Interval(m *merge.Merged, relative, length float64) error {
	return f.rows.Interval(m, relative, length)
}

// Late shows an interval that came after its window.
func (f *follower) Late(m *merge.Merged) error {
	if f.rows == nil {
		f.LeftOut(1)
	}
	return f.show(m, true)
}

// show shows a sum. One that is impossible costs itself only.
func (f *follower) show(m *merge.Merged, late bool) error {
	err := f.collect(m, late)
	if err == nil && f.rows != nil && late {
		err = f.rows.Late(m)
	} else if err == nil && f.rows != nil {
		err = f.rows.Window(m)
	}
	var impossible *merge.SumError
	if errors.As(err, &impossible) {
		return f.SkipWindow(m.Tag, err)
	}
	return err
}

// scale finds the scale of a tag, which the comments of its logs say.
func (f *follower) scale(tag []byte) error {
	if f.options.scale.Ratio == 0 {
		if err := f.options.setScale(); err != nil {
			return err
		}
	}
	_, err := f.options.scaleOf(tag)
	return err
}

// collect adds a sum to what scrapes and the table show.
func (f *follower) collect(m *merge.Merged, late bool) error {
	if f.collector == nil && f.table == nil {
		return nil
	}
	if err := f.scale(m.Tag); err != nil {
		return err
	}
	h, err := m.Histogram(&f.scratch)
	if err != nil {
		return err
	}
	if f.table != nil {
		err = f.table.add(m, h, late)
	}
	switch {
	case err != nil || f.collector == nil:
	case f.c.String("state") != "":
		err = f.wait(m, late)
	case late:
		err = f.collector.Late(m.Tag, h)
	default:
		err = f.collector.Window(m.Tag, m.Window.End, h)
	}
	if err != nil {
		return &merge.SumError{Err: err}
	}
	return nil
}

// Flush writes the rows so far, or draws the table.
func (f *follower) Flush() error {
	var exceeded error
	if f.table != nil {
		exceeded = f.table.look(f.w)
	}
	return cmp.Or(cli.Flush(f.w), exceeded)
}
