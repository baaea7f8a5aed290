package sinks

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/url"
	"time"

	"hdrkit/internal/live"
	"hdrkit/internal/live/prom"
	"hdrkit/internal/live/push"
	"hdrkit/internal/metric"
	"hdrkit/output"
)

// mostWaiting is the number of bytes of rows that wait for a receiver that is away.
const mostWaiting = 64 << 20

// A Push sends the rows of windows to a receiver.
type Push struct {
	*Rows
	pusher *push.Pusher
	name   string
	keeps  bool // a state keeps what the receiver has not taken
	state  pushState
	remote *prom.Remote // nil for other receivers, and before the first row
	held   held
}

// Held are rows that wait until a state has them. What comes late makes a total depend on when it
// was read: a later run would send other values for the same times.
type held [][]byte

func (h *held) Write(row []byte) (int, error) {
	*h = append(*h, bytes.Clone(row))
	return len(row), nil
}

// A pushState is what a state has of a push.
type pushState struct {
	End     int64 // of the last point
	Totals  []prom.Total
	Waiting [][]byte // rows
}

// NewPush returns a push to an address, which goes on where the one was that saved state. Keeps
// says that there is a state.
func NewPush(o *Options, u *url.URL, keeps bool, state []byte) (*Push, error) {
	format := prom.ReceiverOf(u)
	p := &Push{name: prom.ReceiverName(u), keeps: keeps}
	if err := decode(state, &p.state); err != nil {
		return nil, err
	}
	p.pusher = prom.NewPusher(format, u, "hdrlive", push.Options{
		Patient: true, Most: mostWaiting, Notice: func(text string) { o.Messages.Notice(p.name + ": " + text) },
	})
	p.Rows = newRows(o, format, p.pusher.Flush, func() (output.RowWriter, error) {
		metrics, err := o.metrics(format)
		if err != nil {
			return nil, err
		}
		var w io.Writer = p.pusher
		if keeps && format == metric.OpenMetrics {
			w = &p.held
		}
		rows, err := metrics.Rows(format, w, true)
		if p.remote, _ = rows.(*prom.Remote); p.remote == nil {
			return rows, err
		}
		for _, t := range p.state.Totals {
			p.isLate(p.tag(t.Tag)) // its last point may lack some
		}
		return rows, p.remote.Load(p.state.Totals)
	})
	p.Rows.end = p.state.End
	return p, p.pusher.Restore(p.state.Waiting)
}

// Sender returns how the push does.
func (p *Push) Sender() prom.Sender { return prom.Sender{Address: p.name, State: p.pusher.State} }

// send sends held rows.
func (p *Push) send() error {
	defer p.pusher.Flush()
	rows := p.held
	p.held = nil
	for _, row := range rows {
		if _, err := p.pusher.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// Save returns the totals, and the rows that the receiver has not taken.
func (p *Push) Save() (state any, saved func() error, err error) {
	s := pushState{End: p.Rows.end, Totals: p.state.Totals, Waiting: append(p.pusher.Pending(), p.held...)}
	if p.remote != nil {
		s.Totals, err = p.remote.Save()
	}
	return s, p.send, err
}

// End sends the last rows. The receiver has some time for that.
func (p *Push) End() error {
	err := cmp.Or(p.Rows.End(), p.send())
	timer := time.AfterFunc(p.options.EndTime, p.pusher.GiveUp)
	defer timer.Stop()
	result := p.pusher.Close()
	p.options.Messages.LeftOut(int(result.Refused + result.Dropped))
	switch {
	case err != nil || result.Waiting == 0:
	case p.keeps:
		p.options.Messages.Notice(fmt.Sprintf("%s: %d rows wait in the state for the next start", p.name, result.Waiting))
	default:
		err = fmt.Errorf("%s did not take the last rows: %d are lost", p.name, result.Waiting)
	}
	return err
}

var _ live.Sink = (*Push)(nil)
