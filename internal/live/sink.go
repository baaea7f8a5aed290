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

// A Sink is an output. One goroutine calls it.
type Sink interface {
	// Window receives what a tag has in a window that is complete, in order of windows and tags, or
	// an interval that came after its window. It is valid until Window returns. A
	// [merge.SumError] costs only this window of the tag.
	Window(w *Window) error
	// Flush is called when there is nothing more to receive at present, and several times a second.
	Flush() error
	// End is called after the last window.
	End() error
}

// A Receiver is a sink that sends to others, who may be away for long.
type Receiver interface {
	Sink
	// Resume says, before all windows, where the sink goes on: windows that end at or before has
	// need no sending, and those that end at or before again may have been sent.
	Resume(has, again int64)
	// Has returns the end of the last window that needs no sending any more.
	Has() int64
	// Totals reports whether the sink sends totals since the start.
	Totals() bool
}

// A File is the sink that writes the merged log to a file, which has the windows of earlier runs.
type File interface {
	Sink
	// Position puts what was received on the disk.
	Position() (FilePosition, error)
}

// A FilePosition says how much of a file counts.
type FilePosition struct {
	Path string
	Size int64
	Base int64  // of times, in milliseconds since the epoch
	Tail string // a hash of its last bytes
	// Since is the end of the last window that the file lacks since it was another output's.
	Since int64
}

// A Window is what the intervals of a tag in a window add up to.
type Window struct {
	*merge.Merged
	// Late says that it is one interval, which came after its window.
	Late bool
	// Factor is what one unit of the values is in the unit that all values are brought to, see
	// [Units].
	Factor float64

	// Scratch is where Counts makes them.
	Scratch *histogram.Histogram
	counted bool
}

// Counts returns the counts. All sinks share them.
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

// keep returns a window that stays valid, with the sum of w, whose counts alone it keeps. Counts
// needs memory of its own: that of w may be that of its sum.
func (w *Window) keep(scratch *histogram.Histogram) *Window {
	w.Merged.Keep()
	return &Window{
		Late:    w.Late,
		Factor:  w.Factor,
		Scratch: scratch,
		Merged:  w.Merged,
	}
}

// bytes is about what a window that is kept takes.
func (w *Window) bytes() int { return windowBytes + len(w.Tag) + w.Size() }

// windowBytes is what it takes beside its tag and [merge.Sum.Size].
const windowBytes = 90

// Units find out what unit values have.
type Units interface {
	// Comment receives a comment of a log, before the intervals that follow it, and Kept the row of
	// an interval that is wanted.
	Comment(log string, text []byte) error
	Kept(log string, row []byte)
	// Admit returns an error if a log that has an interval now cannot be taken.
	Admit(log string) error
	// Factor returns what one unit of a row's values is in the unit of all. An error says that the
	// values of the row have different units.
	Factor(row []byte) (float64, error)
}

// An Output is a sink of a fan-out.
type Output struct {
	// Key tells it from others, also in the state: what it is, and its address.
	Key  string
	Sink Sink
	// Drop, if set, reports whether an error of the sink means that nobody wants its output any
	// more. The others go on.
	Drop func(err error) bool
	// Full, if set, reports whether the output waits for room on a disk.
	Full func() bool
	// Held says that it gets what a state has: it must never have to take anything back. Such a
	// sink gets no part of a window.
	Held bool
	// Whole says that it gets no part of a window although it is not held.
	Whole bool
	// Past says that it gets first what the merged log has from earlier runs.
	Past bool

	done int64 // windows that end at or before this were for an earlier run
}

// A Fan passes everything on to all outputs.
type Fan struct {
	Outputs []Output

	keeps     bool      // there is a state, and done of outputs is set
	heldEnded bool      // the held outputs have ended
	held      []*Window // for held outputs, until a state has them
	heldBytes ledger.Charge
	account   *ledger.Account // of held
	scratch   histogram.Histogram
}

// each calls all outputs, and returns their first error. An error of a sum
// does not hide that an output has failed.
func (f *Fan) each(call func(o *Output) error) (err error) {
	var sumErr error
	for n := 0; n < len(f.Outputs); n++ {
		o := &f.Outputs[n]
		one := call(o)
		switch {
		case one == nil:
		case errors.As(one, new(*merge.SumError)):
			sumErr = one
		case o.Drop != nil && o.Drop(one):
			f.Outputs = slices.Delete(f.Outputs, n, n+1)
			n--
		default:
			err = cmp.Or(err, one)
		}
	}
	return cmp.Or(err, sumErr)
}

// window passes a window on. Held outputs get it later.
func (f *Fan) window(w *Window) error {
	held := false
	err := f.each(func(o *Output) error {
		if f.keeps && o.Held {
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

// pass gives a window to an output, unless an earlier run did.
func (f *Fan) pass(o *Output, w *Window) error {
	if f.keeps && !w.Late && w.Window.End <= o.done {
		return nil
	}
	return o.Sink.Window(w)
}

// giveHeld gives the held outputs what a state has now.
func (f *Fan) giveHeld() error {
	held := f.held
	f.held = nil
	var sumErr error
	for n, w := range held {
		held[n] = nil // it may be one of a million
		f.heldBytes.Set(f.account, len(held)-n-1, f.heldBytes.Bytes()-w.bytes())
		err := f.each(func(o *Output) error {
			if !o.Held {
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
		if !o.Held {
			return nil
		}
		return o.Sink.Flush()
	}), sumErr)
}

// past gives a window of an earlier run to the outputs that want it. What came late is only for
// totals: the earlier run has said that others left it out.
func (f *Fan) past(w *Window) error {
	return f.each(func(o *Output) error {
		r, isReceiver := o.Sink.(Receiver)
		if !o.Past || w.Late && isReceiver && !r.Totals() {
			return nil
		}
		return o.Sink.Window(w)
	})
}

// flushPast flushes the outputs that got windows of earlier runs.
func (f *Fan) flushPast() error {
	return f.each(func(o *Output) error {
		if _, ok := o.Sink.(Receiver); !ok || !o.Past {
			return nil
		}
		return o.Sink.Flush()
	})
}

// part gives a part of a window, at the end of a run that has a state, to the outputs that want it.
func (f *Fan) part(w *Window) error {
	return f.each(func(o *Output) error {
		if o.Held || o.Whole {
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

// flush flushes the outputs.
func (f *Fan) flush() error { return f.each(func(o *Output) error { return o.Sink.Flush() }) }

// end ends the outputs at the same time, since some wait for receivers: those that are held, or the
// others.
func (f *Fan) end(held bool) error {
	if held && f.heldEnded {
		return nil
	}
	f.heldEnded = f.heldEnded || held
	var all sync.WaitGroup
	var mu sync.Mutex
	ends := make(map[Sink]error, len(f.Outputs))
	for _, o := range f.Outputs {
		if o.Held == held {
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
