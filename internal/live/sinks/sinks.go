// Package sinks has the outputs of merged logs, each in a file: a log, rows for programs, a table,
// a page, metrics, receivers, and limits that must hold.
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

// Options are what the outputs have in common.
type Options struct {
	Units Units
	// Messages receives what a person should know.
	Messages Messages
	// Size is that of the windows in milliseconds.
	Size int64
	// Percentiles are shown of each window.
	Percentiles []float64
	// Metric is the name of metrics, empty for the usual one.
	Metric string
	By     *tags.By
	Memory *ledger.Ledger
	// EndTime is the time that receivers have at the end, and ScrapeTime what a scrape has at
	// least.
	EndTime, ScrapeTime time.Duration

	waiting *push.Room // for rows of all receivers
}

// mostWaiting is the number of bytes of rows that wait for receivers, and waitingPart the part of
// the memory that they may take.
const (
	mostWaiting = 1 << 30
	waitingPart = 4
)

// room returns the room for the rows that wait for receivers.
func (o *Options) room() *push.Room {
	if o.waiting == nil {
		account := o.Memory.Open("rows that wait for receivers", "look why these do not take them")
		o.waiting = push.NewRoom(o.Memory.AtMost(mostWaiting, waitingPart), account)
	}
	return o.waiting
}

// Units know how to print values.
type Units interface {
	live.Units
	// Scale returns how to print values, by what is known so far.
	Scale(mustKnow bool) (hdrlog.Scale, error)
	// Readable returns the scale for people, by what is typical of rows, see
	// [unit.Options.Readable].
	Readable(s hdrlog.Scale, rows ...unit.Typical) hdrlog.Scale
	// Unit returns the unit that all logs have which state one. An error says that they have
	// several.
	Unit() (hdrlog.Unit, error)
}

// Messages receive what a person should know.
type Messages interface {
	live.Messages
	// LeftOut counts intervals that were read but not shown.
	LeftOut(intervals int)
	// Skipped returns the number of malformed lines, and TooLate that of intervals that were read
	// but not shown.
	Skipped() int
	TooLate() int
}

// metrics returns the options of metrics in a format, by the unit that is known so far.
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
