package main

import (
	"bytes"
	"slices"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/cli"
	"hdrkit/internal/live/prom"
)

// A followState is what a state file has of the output.
type followState struct {
	Size           int64 // of the file of -of
	Listen, Remote []prom.Total
	Waiting        []waitingSum
}

// A waitingSum is what scrapes do not show before a state has it: a counter never falls.
type waitingSum struct {
	Tag    []byte
	Tagged bool
	End    int64
	Late   bool
	Ratio  float64
	Sum    []byte // see [merge.Sum.AppendBinary]
}

// wait keeps a sum for the collector until a state has it.
func (f *follower) wait(m *merge.Merged, late bool) error {
	sum, err := m.AppendBinary(nil)
	if err == nil {
		ratio := f.options.promOptions().Ratio(m.Tag)
		f.waiting = append(f.waiting, waitingSum{bytes.Clone(m.Tag), m.Tag != nil, m.Window.End, late, ratio, sum})
	}
	return err
}

// showWaiting shows what has waited to scrapes.
func (f *follower) showWaiting(all []waitingSum) error {
	for _, w := range all {
		if w.Tagged && w.Tag == nil {
			w.Tag = []byte{}
		}
		var sum merge.Sum
		if err := sum.UnmarshalBinary(w.Sum); err != nil {
			return err
		}
		h, err := sum.Histogram(&f.scratch)
		if err != nil {
			return err
		}
		if w.Late {
			err = f.collector.Late(w.Tag, h)
		} else {
			err = f.collector.Window(w.Tag, w.End, h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Save returns the totals. What they have arrives when the file is on the disk, or the receiver has
// the rows.
func (f *follower) Save() (own []byte, arrived func() bool, err error) {
	s := followState{Waiting: f.waiting, Remote: f.options.live.totals}
	f.saved = len(f.waiting)
	if f.collector != nil {
		if s.Listen, err = f.collector.Save(); err != nil {
			return nil, nil, err
		}
	}
	if f.options.live.remote != nil {
		if s.Remote, err = f.options.live.remote.Save(); err != nil {
			return nil, nil, err
		}
	}
	if err := cli.Flush(f.w); err != nil {
		return nil, nil, err
	}
	if arrived = func() bool { return true }; f.pusher != nil {
		arrived = f.pusher.Settled()
	}
	own, err = cli.SaveOutput(f.w, &s.Size, &s)
	return own, arrived, err
}

// Saved shows to scrapes what the state has.
func (f *follower) Saved() error {
	shown := f.waiting[:f.saved]
	f.waiting = f.waiting[f.saved:]
	return f.showWaiting(shown)
}

// Load goes on where Save was.
func (f *follower) Load(own []byte) error {
	var s followState
	if err := cli.LoadOutput(f.w, own, &s.Size, &s); err != nil {
		return err
	}
	f.options.live.totals = s.Remote
	if f.collector == nil {
		return nil
	}
	// The comments with the unit of these tags are not read yet.
	for _, w := range s.Waiting {
		if !slices.ContainsFunc(s.Listen, func(t prom.Total) bool { return t.Tagged == w.Tagged && bytes.Equal(t.Tag, w.Tag) }) {
			s.Listen = append(s.Listen, prom.Total{Tag: w.Tag, Tagged: w.Tagged, Ratio: w.Ratio})
		}
	}
	if err := f.collector.Load(s.Listen); err != nil {
		return err
	}
	return f.showWaiting(s.Waiting)
}
