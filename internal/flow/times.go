package flow

import (
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
)

// Times is the flow that hands out the maximum and the number of values of each interval, in the
// order of the scan.
type Times struct {
	// Emit takes an interval. Highest is its maximum in the unit of the log.
	Emit func(v scan.Visit, highest float64, count int64)
}

// The methods of a Times are those of a flow, of its state and of the share of each worker, since
// nothing changes while it runs.
func (k *Times) start(*run) state       { return k }
func (k *Times) newShare(*worker) share { return k }
func (k *Times) beginBatch()            {}
func (k *Times) close() error           { return nil }

func (k *Times) target(scan.Visit, *partial) (sum *merge.Sum, needsCounts bool) { return nil, false }

func (k *Times) add(_ scan.Visit, d *scan.Decoder, _ error, p *partial) (err error) {
	p.highest, p.count, err = d.MaxAndCount()
	return err
}

func (k *Times) consume(v scan.Visit, p *partial) error {
	k.Emit(v, p.highest, p.count)
	return nil
}
