// Package sinks has the outputs of merged logs: a log, rows for programs, a table, a page, metrics,
// receivers, and limits that must hold.
package sinks

import (
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/live"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/live/push"
	"hdrkit/tags"
)

// Options are what several outputs need.
type Options struct {
	Units Units
	// Messages receives messages for a person.
	Messages Messages
	// Size is the size of the windows in milliseconds.
	Size int64
	// Percentiles are the percentiles that outputs show of each window.
	Percentiles []float64
	// Metric is the name of metrics, empty for the default.
	Metric string
	By     *tags.By
	Memory *ledger.Ledger
	// EndTime is the time that receivers have at the end to take rows. ScrapeTime is the shortest
	// time for a last scrape.
	EndTime, ScrapeTime time.Duration

	waiting *push.Room // room for the rows of all receivers, nil before the first Push
}

// Rows that wait for receivers may take maxWaiting bytes, or 1/waitingPart of the memory if that
// is less.
const (
	maxWaiting  = 1 << 30
	waitingPart = 4
)

// room returns the room for rows that wait for receivers. All receivers share it.
func (o *Options) room() *push.Room {
	if o.waiting == nil {
		account := o.Memory.Open("rows that wait for receivers", "look why these do not take them")
		o.waiting = push.NewRoom(o.Memory.AtMost(maxWaiting, waitingPart), account)
	}
	return o.waiting
}

// Units know the units of values, and how to print values.
type Units interface {
	live.Units
	// Scale returns the scale of printed values, by the units known so far.
	Scale(mustKnow bool) (hdrlog.Scale, error)
	// Readable returns a scale that suits people, by typical values of rows, see
	// [unit.Options.Readable].
	Readable(s hdrlog.Scale, rows ...unit.Typical) hdrlog.Scale
	// Unit returns the unit that all logs have which state a unit. It returns an error if they have
	// several.
	Unit() (hdrlog.Unit, error)
}

// Messages receive messages for a person, and count what was left out.
type Messages interface {
	live.Messages
	// LeftOut counts intervals that were read and are in no output.
	LeftOut(intervals int)
	// Skipped returns the number of malformed lines. TooLate returns the number of intervals that
	// LeftOut has counted.
	Skipped() int
	TooLate() int
}

// metrics returns the options of metrics in a format, by the units known so far.
func (o *Options) metrics(format string) (prom.Options, error) {
	s, err := o.Units.Scale(false)
	if err != nil {
		return prom.Options{}, err
	}
	return prom.Options{
		Metric:      o.Metric,
		Percentiles: o.Percentiles,
		Service:     "hdrlive",
		Memory:      o.Memory,
	}.In(format, s)
}
