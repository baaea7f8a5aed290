package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/cli"
	"hdrkit/internal/gate"
	"hdrkit/internal/table/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

// redraw is the shortest time between two drawings of a table.
const redraw = 500 * time.Millisecond

// A liveTable has all that was recorded so far. On a terminal it is drawn again where it stands. It
// checks limits: at the end, or all the time.
type liveTable struct {
	options *options
	limits  []gate.Limit
	watch   *gate.Watch // of limits of windows, nil if there are none
	stop    *gate.Stop  // ends the command when a limit fails, nil if none does
	draws   bool
	colour  bool
	account *ledger.Account
	tags    map[string]*liveTag
	drawn   time.Time
	buffer  bytes.Buffer
}

// A liveTag is what a table has of a tag.
type liveTag struct {
	tag    []byte
	sum    merge.Sum
	maxima summary.Maxima
	charge ledger.Charge
}

func newLiveTable(o *options, g *gates) (*liveTable, error) {
	length, err := cli.Millis(o.c, "for")
	if err != nil {
		return nil, err
	}
	t := &liveTable{
		options: o, limits: g.limits, draws: o.drawsTable(o.c), colour: cli.Colour(os.Stdout), tags: make(map[string]*liveTag),
		account: o.memory.Open("tags", "choose some with -incT, or add them up with -it"),
	}
	t.watch = o.newWatch(g.limits, false)
	if o.c.Bool("abort") {
		t.stop = gate.NewStop(g.limits, length/o.series.Window)
	}
	return t, nil
}

// add adds what a tag has in a window, or what came late.
func (t *liveTable) add(m *merge.Merged, h *histogram.Histogram, late bool) error {
	key := tags.Text(m.Tag)
	own := t.tags[key]
	if own == nil {
		own = &liveTag{tag: bytes.Clone(m.Tag)}
		t.tags[key] = own
	}
	if err := own.sum.Merge(&m.Sum); err != nil {
		return err
	}
	if t.watch != nil && !late {
		row := output.Row{Tag: m.Tag, Start: m.Window.Start, End: m.Window.End, Covered: float64(m.Recorded()) / 1000, Counts: h}
		if err := t.watch.Window(&row); err != nil {
			return err
		}
	}
	if t.stop != nil && !late {
		scale, err := t.options.units.Scale(gate.HasUnit(t.limits))
		if err != nil {
			return err
		}
		window := output.Summary{Tag: m.Tag, AllTags: t.options.by.All(), Histogram: h, Period: m.Recorded()}
		if window.Factor, err = t.options.logs.Factor(m.Tag); err != nil {
			return err
		}
		t.stop.Window(&window, scale)
	}
	if h.TotalCount() > 0 {
		own.maxima.Add(m.Start, m.End, h.Float(h.Max()))
	}
	return own.charge.Set(t.account, 1, 1024+own.sum.Size())
}

// summaries returns what the table shows.
func (t *liveTable) summaries() (all []*output.Summary, err error) {
	var loader summary.Loader
	for _, key := range slices.Sorted(maps.Keys(t.tags)) {
		own := t.tags[key]
		s, err := loader.Summary(own.tag, &own.sum)
		if err != nil {
			return nil, err
		}
		s.Period, s.Maxima, s.AllTags = s.End-s.Start, own.maxima.Output(), t.options.by.All()
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b *output.Summary) int { return tags.Compare(a.Tag, b.Tag) })
	return all, nil
}

// look draws the table, unless it has just been drawn. If -abort is given and a limit fails, the
// error ends the command.
func (t *liveTable) look(w io.Writer) error {
	draw := t.draws && time.Since(t.drawn) >= redraw
	if !draw && t.stop == nil {
		return nil
	}
	all, shown, verdicts, err := t.judge()
	if err == nil && draw {
		err = t.draw(w, shown, len(all), verdicts)
	}
	if err == nil && t.stop != nil && slices.ContainsFunc(verdicts, t.stop.Failed) {
		err = errExceeded
	}
	return err
}

// judge returns the summaries of all rows, those that the table shows, and whether the limits hold.
func (t *liveTable) judge() (all, shown []*output.Summary, verdicts []gate.Verdict, err error) {
	if all, err = t.summaries(); err != nil {
		return nil, nil, nil, err
	}
	scale, err := t.options.fitScale(t.limits, summed{t.options.logs, all})
	if err != nil {
		return nil, nil, nil, err
	}
	verdicts = gate.Judge(t.limits, gate.Figures{Summaries: all, Scale: scale, Watch: t.watch})
	return all, t.options.arrange(all, scale), verdicts, nil
}

// draw draws the table with the rows that it shows, of so many.
func (t *liveTable) draw(w io.Writer, shown []*output.Summary, all int, verdicts []gate.Verdict) error {
	t.drawn = time.Now()
	t.buffer.Reset()
	t.buffer.WriteString("\x1b[H\x1b[2J") // to the top of an empty screen
	table := output.Table{Scale: t.options.scale, Percentiles: t.options.columns(), Width: cli.Width(os.Stdout), Colour: t.colour, LogScale: t.options.c.Bool("log")}
	if err := table.Write(&t.buffer, shown); err != nil {
		return err
	}
	if len(shown) < all {
		fmt.Fprintf(&t.buffer, topShows+"\n", len(shown), all)
	}
	verdicts = t.options.shown(verdicts)
	if len(verdicts) > 0 {
		t.buffer.WriteByte('\n')
	}
	if err := gate.Write(&t.buffer, verdicts, t.colour); err != nil {
		return err
	}
	_, err := w.Write(t.buffer.Bytes())
	return err
}

// end draws the table for the last time, or else writes what the limits came to. It returns a
// status if one does not hold.
func (t *liveTable) end(w io.Writer) error {
	all, shown, verdicts, err := t.judge()
	switch {
	case err != nil:
		return err
	case t.draws:
		err = t.draw(w, shown, len(all), verdicts)
	default:
		err = gate.Write(w, t.options.shown(verdicts), false)
	}
	if err != nil {
		return err
	}
	return exceeded(t.options.c, verdicts)
}
