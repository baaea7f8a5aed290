package flow

import (
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
)

// Times are the maximum and the number of values of each interval, in the order of the scan.
type Times struct {
	// Emit takes them. Highest is in the unit of the log.
	Emit func(v scan.Visit, highest float64, count int64)
}

// Times have no state.
func (k *Times) start(*run) state  { return k }
func (k *Times) part(*worker) part { return k }
func (k *Times) begin()            {}
func (k *Times) close() error      { return nil }

func (k *Times) want(scan.Visit, *made) (scan.Want, *merge.Sum) { return scan.Want{Max: true}, nil }

func (k *Times) decoded(_ scan.Visit, t *scan.Taken, _ error, m *made) error {
	m.highest = t.Max
	m.count = t.Count
	return nil
}

func (k *Times) take(v scan.Visit, m *made) error {
	k.Emit(v, m.highest, m.count)
	return nil
}
