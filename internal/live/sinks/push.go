package sinks

import (
	"fmt"
	"math"
	"net/url"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/live"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/live/push"
	"hdrkit/output"
)

// A Push sends rows to a receiver.
type Push struct {
	options        *Options
	rows           *Rows
	pusher         *push.Pusher
	name           string
	keeps          bool  // there is a state: a later run sends what the receiver has not taken
	sentUntil      int64 // see SentUntil
	maybeSentUntil int64 // an earlier run may have sent windows that end at or before this time
	lastEnd        int64 // end of the last window
	written        int64 // number of rows given to the pusher
	ends           []rowEnd
}

// A rowEnd is the number of rows up to the end of a window.
type rowEnd struct{ rows, end int64 }

// NewPush returns a push to an address. Keeps says that there is a state.
func NewPush(o *Options, u *url.URL, keeps bool) *Push {
	format := prom.ReceiverOf(u)
	p := &Push{
		options:        o,
		name:           prom.ReceiverName(u),
		keeps:          keeps,
		sentUntil:      math.MinInt64,
		maybeSentUntil: math.MinInt64,
		lastEnd:        math.MinInt64,
	}
	p.pusher = prom.NewPusher(format, u, "hdrlive", push.Options{
		Patient: true, Room: o.room(), Notice: func(text string) { o.Messages.Notice(p.name + ": " + text) },
	})
	p.rows = newRows(o, format, p.pusher.Flush, func() (rows output.RowWriter, scale hdrlog.Scale, err error) {
		metrics, err := o.metrics(format)
		if err == nil {
			rows, err = metrics.Rows(format, p, true)
		}
		return rows, metrics.Scale, err
	})
	return p
}

// Sender returns the pusher, for metrics of the command.
func (p *Push) Sender() prom.Sender { return prom.Sender{Address: p.name, State: p.pusher.State} }

// Resume is that of [live.Receiver].
func (p *Push) Resume(sentUntil, maybeSentUntil int64) {
	p.rows.sentUntil = sentUntil
	p.sentUntil = sentUntil
	p.lastEnd = sentUntil
	p.maybeSentUntil = maybeSentUntil
}

// Totals reports whether rows have totals since the start.
func (p *Push) Totals() bool { return p.rows.totals }

// Window writes a row.
func (p *Push) Window(w *live.Window) error {
	if end := w.Merged.Window.End; !w.Late && end > p.lastEnd {
		p.ends = append(p.ends, rowEnd{p.written, p.lastEnd})
		p.lastEnd = end
	}
	return p.rows.Window(w)
}

// Flush sends the rows written so far.
func (p *Push) Flush() error { return p.rows.Flush() }

// Write gives an encoded row to the pusher.
func (p *Push) Write(row []byte) (int, error) {
	p.written++
	if p.lastEnd <= p.maybeSentUntil {
		return p.pusher.Again(row)
	}
	return p.pusher.Write(row)
}

// SentUntil returns the end of the last window of which no row waits to be sent.
func (p *Push) SentUntil() int64 {
	gone := p.written - p.pusher.State().Waiting
	if gone == p.written {
		p.sentUntil = p.lastEnd
		p.ends = nil
	}
	for len(p.ends) > 0 && p.ends[0].rows <= gone {
		p.sentUntil = max(p.sentUntil, p.ends[0].end)
		p.ends = p.ends[1:]
	}
	return p.sentUntil
}

// End sends the last rows. The receiver has [Options.EndTime] to take them. With a state, late
// totals are left to the next run, because more late intervals may come before the next window.
func (p *Push) End() error {
	end := p.rows.End
	if p.keeps {
		end = p.rows.Flush
	}
	err := end()
	timer := time.AfterFunc(p.options.EndTime, p.pusher.GiveUp)
	defer timer.Stop()
	result := p.pusher.Close()
	p.options.Messages.LeftOut(int(result.Refused + result.Dropped))
	switch {
	case err != nil || result.Waiting == 0:
	case p.keeps:
		p.options.Messages.Notice(fmt.Sprintf("%s: %d rows wait for the next start", p.name, result.Waiting))
	default:
		err = fmt.Errorf("%s did not take the last rows: %d are lost", p.name, result.Waiting)
	}
	return err
}

var _ live.Receiver = (*Push)(nil)
