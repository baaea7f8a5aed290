// Package sinks has the outputs of merged logs, each in a file: a log, rows for programs, a table,
// a page, metrics, receivers, and limits that must hold.
package sinks

import (
	"encoding/json"
	"time"

	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/live"
	"hdrkit/output"
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
	Zone   *time.Location
	Memory *ledger.Ledger
}

// Units know how to print values.
type Units interface {
	live.Units
	// Scale returns how to print values, by what is known so far.
	Scale(mustKnow bool) (unit.Scale, error)
	// Readable returns the scale for people of values such as a typical one.
	Readable(s unit.Scale, typical float64) unit.Scale
	// Unit returns the unit that all logs have which state one. An error says that they have
	// several.
	Unit() (unit.Unit, error)
}

// Messages receive what a person should know.
type Messages interface {
	live.Messages
	// LeftOut counts intervals that were read but not shown.
	LeftOut(intervals int)
}

// scale returns how to print values.
func (o *Options) scale() (output.Scale, error) {
	s, err := o.Units.Scale(false)
	return output.Scale{Ratio: s.Ratio, Unit: s.Name}, err
}

// Names of metrics that nobody chose: the unit is seconds if it is known.
const metricSeconds, metricPlain = "latency_seconds", "latency"

// metric returns the name of metrics, and how to print their values: in seconds if their unit is
// known, as monitoring systems want.
func (o *Options) metric() (name string, scale output.Scale, err error) {
	s, err := o.Units.Scale(false)
	name, scale = metricPlain, output.Scale{Ratio: s.Ratio}
	if s.In != (unit.Unit{}) {
		name, scale = metricSeconds, output.Scale{Ratio: s.In.Per(unit.Second), Unit: unit.Second.String()}
	}
	if o.Metric != "" {
		name = o.Metric
	}
	return name, scale, err
}

// endTime is the time that receivers have at the end.
const endTime = 5 * time.Second

// decode reads what a sink saved, if it did.
func decode(own []byte, into any) error {
	if own == nil {
		return nil
	}
	return json.Unmarshal(own, into)
}
