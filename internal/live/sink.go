package live

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
)

// A Sink receives the complete windows. One goroutine calls its methods.
type Sink interface {
	// Window receives a row of a complete window, or an interval that came after its window was
	// complete. Windows come in order of their ends, and the rows of a window in order of their
	// tags. The argument is valid until Window returns. A [merge.SumError] drops only this row of
	// the window. Other errors end the run.
	Window(w *Window) error
	// Flush is called several times a second, and whenever nothing more can be passed on at
	// present.
	Flush() error
	// End is called once, after the last window.
	End() error
}

// A Receiver is a sink that sends to another program, which may be away for long.
type Receiver interface {
	Sink
	// Resume is called before all windows. Windows that end at or before sentUntil need not be
	// sent. An earlier run may have sent windows that end at or before maybeSentUntil.
	Resume(sentUntil, maybeSentUntil int64)
	// SentUntil returns the end of the last window that need not be sent any more.
	SentUntil() int64
	// Totals reports whether the sink sends totals since the start.
	Totals() bool
}

// A File is the sink that writes the merged log to a file, which already contains the windows of
// earlier runs.
type File interface {
	Sink
	// Position flushes the file to the disk, and returns how much of it is complete.
	Position() (FilePosition, error)
}

// A FilePosition says how many bytes of a file a state covers.
type FilePosition struct {
	Path string
	Size int64
	Base int64  // of the times in the file, in milliseconds since the epoch
	Tail string // hash of the last bytes before Size
	// Since is the end of the last window that was handed out before the file became an output. The
	// file lacks the windows up to this time.
	Since int64
}

// A Window is a row of a window of time: the sum of its intervals. It can also be one late
// interval.
type Window struct {
	Merged *merge.Merged
	// Late says that the value is one interval, which came after its window was complete.
	Late bool
	// Factor converts values of the row into the unit of all rows, see [Units].
	Factor float64

	// Scratch is memory for Counts.
	Scratch *histogram.Histogram
	counted bool
}

// Counts returns the counts of the row. It decodes them once for all sinks.
func (w *Window) Counts() (*histogram.Histogram, error) {
	if w.counted {
		return w.Scratch, nil
	}
	h, err := w.Merged.Histogram(w.Scratch)
	if err == nil {
		w.Scratch, w.counted = h, true
	}
	return h, err
}

// keep returns a window that stays valid after [Sink.Window]. It takes over the sum of w. Counts
// will use scratch, since the scratch of w may share memory with the sum.
func (w *Window) keep(scratch *histogram.Histogram) *Window {
	w.Merged.Keep()
	return &Window{
		Late:    w.Late,
		Factor:  w.Factor,
		Scratch: scratch,
		Merged:  w.Merged,
	}
}

// bytes returns about how many bytes a kept window takes.
func (w *Window) bytes() int { return windowBytes + len(w.Merged.Tag) + w.Merged.Size() }

// windowBytes is the size of a kept window without its tag and [merge.Sum.Size].
const windowBytes = 90

// Units find out the units of values.
type Units interface {
	// Comment receives a comment of a log, before the intervals that follow it. Kept receives the
	// row of each interval that is selected.
	Comment(log string, text []byte) error
	Kept(log string, row []byte)
	// Admit is called for each interval of a log. It returns an error if the unit of the log's
	// values is unknown or does not fit.
	Admit(log string) error
	// Factor returns the factor that converts values of a row into the unit of all rows. It returns
	// an error if the values of the row have different units.
	Factor(row []byte) (float64, error)
}

// An Output is a sink, and which windows it gets.
type Output struct {
	// Key identifies the output in messages and in the state: its option and its address.
	Key  string
	Sink Sink
	// Drop, if set, reports whether an error of the sink means that nobody wants this output any
	// more. Then it is removed, and the others go on.
	Drop func(err error) bool
	// Full, if set, reports whether the sink waits for space on a disk.
	Full func() bool
	// When says when the sink gets windows.
	When When

	done     int64 // an earlier run has passed the windows up to this end to the output
	getsPast bool  // the sink first gets the windows of earlier runs, from the merged log
}

// When says when an output gets windows in a run with a state. Without a state, all outputs get
// each window as soon as it is complete, and all windows at the end.
//
// Live and AfterSave outputs first get the windows of earlier runs, if a merged log has them. A
// [File] gets none of these, and a [Receiver] gets those that it needs.
type When int

const (
	// Live outputs get each window as soon as it is complete, and at a stop the open windows.
	Live When = iota
	// CompleteOnly outputs get each window as soon as it is complete, but no open windows.
	CompleteOnly
	// AfterSave outputs get a window only after a state covers it, because they cannot take
	// anything back. They get no open windows.
	AfterSave
)

// isHeld reports whether windows for the output wait until a state covers them.
func (o *Output) isHeld() bool { return o.When == AfterSave }

// showsPast reports whether the output always wants the windows of earlier runs. A [File] has them,
// and resumeOutputs decides for a [Receiver].
func (o *Output) showsPast() bool {
	switch o.Sink.(type) {
	case File, Receiver:
		return false
	}
	return o.When != CompleteOnly
}

// A Fan passes windows to all outputs.
type Fan struct {
	Outputs []Output

	keeps     bool      // there is a state, and the outputs' done is set
	heldEnded bool      // the held outputs have ended
	held      []*Window // windows that wait until a state covers them
	heldBytes ledger.Charge
	account   *ledger.Account // for held
	scratch   histogram.Histogram
}

// each calls a function for all outputs, and returns the first error. A [merge.SumError] is
// returned only if there is no other error. An output whose error means that nobody wants it is
// removed.
func (f *Fan) each(call func(o *Output) error) (err error) {
	var sumErr error
	for n := 0; n < len(f.Outputs); n++ {
		o := &f.Outputs[n]
		callErr := call(o)
		switch {
		case callErr == nil:
		case errors.As(callErr, new(*merge.SumError)):
			sumErr = callErr
		case o.Drop != nil && o.Drop(callErr):
			f.Outputs = slices.Delete(f.Outputs, n, n+1)
			n--
		default:
			err = cmp.Or(err, callErr)
		}
	}
	return cmp.Or(err, sumErr)
}

// window passes a window to the outputs. If there is a state, held outputs get it in giveHeld.
func (f *Fan) window(w *Window) error {
	held := false
	err := f.each(func(o *Output) error {
		if f.keeps && o.isHeld() {
			held = true
			return nil
		}
		return f.pass(o, w)
	})
	if !held {
		return err
	}
	kept := w.keep(&f.scratch)
	f.held = append(f.held, kept)
	return cmp.Or(f.heldBytes.Set(f.account, len(f.held), f.heldBytes.Bytes()+kept.bytes()), err)
}

// pass passes a window to one output, unless an earlier run has done so.
func (f *Fan) pass(o *Output, w *Window) error {
	if f.keeps && !w.Late && w.Merged.Window.End <= o.done {
		return nil
	}
	return o.Sink.Window(w)
}

// giveHeld passes the windows that a state covers now to the held outputs, and flushes these.
func (f *Fan) giveHeld() error {
	held := f.held
	f.held = nil
	var sumErr error
	for n, w := range held {
		held[n] = nil // frees its memory: there may be a million
		f.heldBytes.Set(f.account, len(held)-n-1, f.heldBytes.Bytes()-w.bytes())
		err := f.each(func(o *Output) error {
			if !o.isHeld() {
				return nil
			}
			return f.pass(o, w)
		})
		if errors.As(err, new(*merge.SumError)) {
			sumErr = err
		} else if err != nil {
			return err
		}
	}
	return cmp.Or(f.each(func(o *Output) error {
		if !o.isHeld() {
			return nil
		}
		return o.Sink.Flush()
	}), sumErr)
}

// past passes a window of an earlier run to the outputs that want it. Late intervals go only to
// sinks with totals, because the earlier run has already counted them as left out.
func (f *Fan) past(w *Window) error {
	return f.each(func(o *Output) error {
		r, isReceiver := o.Sink.(Receiver)
		if !o.getsPast || w.Late && isReceiver && !r.Totals() {
			return nil
		}
		return o.Sink.Window(w)
	})
}

// flushPast flushes the receivers that got windows of earlier runs.
func (f *Fan) flushPast() error {
	return f.each(func(o *Output) error {
		if _, ok := o.Sink.(Receiver); !ok || !o.getsPast {
			return nil
		}
		return o.Sink.Flush()
	})
}

// openWindow passes a window that is still open to the outputs that want it, at the end of a run
// with a state.
func (f *Fan) openWindow(w *Window) error {
	return f.each(func(o *Output) error {
		if o.When != Live {
			return nil
		}
		return f.pass(o, w)
	})
}

// full returns the keys of the outputs whose disks are full.
func (f *Fan) full() (keys []string) {
	for _, o := range f.Outputs {
		if o.Full != nil && o.Full() {
			keys = append(keys, o.Key)
		}
	}
	return keys
}

// flush flushes all outputs.
func (f *Fan) flush() error { return f.each(func(o *Output) error { return o.Sink.Flush() }) }

// end ends the held outputs, or the others. It ends them at the same time, since some wait for
// other programs.
func (f *Fan) end(held bool) error {
	if held && f.heldEnded {
		return nil
	}
	f.heldEnded = f.heldEnded || held
	var all sync.WaitGroup
	var mu sync.Mutex
	ends := make(map[Sink]error, len(f.Outputs))
	for _, o := range f.Outputs {
		if o.isHeld() == held {
			all.Go(func() {
				err := o.Sink.End()
				mu.Lock()
				defer mu.Unlock()
				ends[o.Sink] = err
			})
		}
	}
	all.Wait()
	return f.each(func(o *Output) error { return ends[o.Sink] })
}
