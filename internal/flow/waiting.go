package flow

import (
	"math"

	"hdrkit/internal/scan"
)

// Waiting are windows of time that stay open however late an interval comes. They are complete at
// the end, but half of them earlier if all take more bytes than Room. A window may then be opened
// again.
type Waiting struct {
	Windows
	Room int
	// Relative counts times from the start of each log.
	Relative bool
}

type waitingState struct {
	*windowsState
	room int
}

func (k *Waiting) start(r *run) state {
	all := &waitingState{windowsState: k.state(r), room: k.Room}
	all.waits = true
	all.relative = k.Relative
	return all
}

// span returns when an interval starts and ends in the time of the windows.
func (k *waitingState) span(v scan.Visit) (start, end int64) {
	start, end = v.Span()
	_, origin := startIn(v, k.relative)
	return start - origin, end - origin
}

func (k *waitingState) ran(v scan.Visit, _ int64) {
	start, end := k.span(v)
	k.rates.Ran(v.Input, start, end)
}

func (k *waitingState) take(v scan.Visit, m *made) error {
	start, end := k.span(v)
	k.rates.Add(v.Row, v.Input, start, end, m.count, math.MinInt64, k.Size)
	if err := k.merge(m.window); err != nil || k.bytes <= k.room {
		return err
	}
	return k.complete(k.table.Window((k.table.Len() - 1) / 2).End)
}
