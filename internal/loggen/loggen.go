// Package loggen makes logs of any size for benchmarks and tests. They are like the logs of
// cassandra-stress: two operations, each with response, service and wait times in nanoseconds, and
// one interval per second for each of these six tags.
package loggen

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/logline"
)

// Options are the parameters of [Write].
type Options struct {
	// Seconds is the length of the log, and Rate the number of operations per second.
	Seconds, Rate int
	// Seed is the seed of the random values. The same options make the same log.
	Seed uint64
	// Start is the start of the log, in milliseconds since the epoch.
	Start int64
	// Distinct is the number of seconds with histograms of their own. Later seconds repeat these
	// histograms, which is much faster. 0 means all seconds.
	Distinct int
	// Factor multiplies all times. 0 means 1.
	Factor float64
}

// operation is a kind of request, such as an insert.
type operation struct {
	name   string
	median float64 // of the service time, in nanoseconds
	every  int     // the rate is Options.Rate divided by every
}

var operations = []operation{{"insert", 1.1e6, 10}, {"simple1", 0.7e6, 1}}

// encoded is an interval without its times.
type encoded struct {
	tag    []byte
	fields []byte // MAX,PAYLOAD
}

// Write writes a log.
func Write(w io.Writer, o Options) error {
	log := hdrlog.NewWriter(w)
	log.Comment("Logging op latencies for Cassandra Stress")
	log.Version()
	start := float64(o.Start) / 1000
	log.BaseTime(start)
	log.StartTime(start)
	log.Legend()
	random := rand.New(rand.NewPCG(o.Seed, 0))
	var encoder histogram.Encoder
	var scratch [3]histogram.Histogram
	var seconds [][]encoded
	var line []byte
	for s := range o.Seconds {
		if o.Distinct == 0 || s < o.Distinct {
			intervals, err := second(random, &encoder, &scratch, o)
			if err != nil {
				return err
			}
			seconds = append(seconds, intervals)
		}
		for _, i := range seconds[s%len(seconds)] {
			line = append(line[:0], fmt.Sprintf("%.3f,%.3f,", float64(s)+float64(random.IntN(3))/1000, 1.0)...)
			if err := log.WriteEncoded(i.tag, append(line, i.fields...)); err != nil {
				return err
			}
		}
		if o.Distinct == 0 {
			seconds = seconds[:0]
		}
	}
	return log.Flush()
}

// second returns the six intervals of one second, with random values.
func second(random *rand.Rand, encoder *histogram.Encoder, scratch *[3]histogram.Histogram, o Options) ([]encoded, error) {
	var intervals []encoded
	for _, op := range operations {
		stall := random.IntN(60) == 0
		service := &scratch[0]
		wait := &scratch[1]
		response := &scratch[2]
		for n := range scratch {
			scratch[n].Reset(histogram.Layout{Digits: 3, Lowest: 1})
		}
		for range o.Rate / op.every {
			served, waited := op.sample(random, stall)
			if o.Factor > 0 {
				served, waited = int64(float64(served)*o.Factor), int64(float64(waited)*o.Factor)
			}
			service.Record(served)
			wait.Record(waited)
			response.Record(served + waited)
		}
		for _, i := range []struct {
			suffix string
			h      *histogram.Histogram
		}{{"-rt", response}, {"-st", service}, {"-wt", wait}} {
			fields, err := encoder.AppendBase64(append(logline.AppendMaxOf(nil, i.h), ','), i.h)
			if err != nil {
				return nil, err
			}
			intervals = append(intervals, encoded{[]byte(op.name + i.suffix), fields})
		}
	}
	return intervals, nil
}

// sample returns random service and wait times of an operation in nanoseconds. In a second with a
// stall, wait times are 300 times as long, and some service times take up to 250 ms more.
func (op operation) sample(random *rand.Rand, stall bool) (served, waited int64) {
	service := op.median * math.Exp(random.NormFloat64()*0.55)
	wait := random.ExpFloat64() * 40e3
	if stall {
		wait *= 300
		if random.IntN(20) == 0 {
			service += random.Float64() * 250e6
		}
	}
	return int64(service), int64(wait)
}
