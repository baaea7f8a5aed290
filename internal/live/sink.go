package live

import (
	"cmp"
	"errors"
	"sync"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
)

// A Sink is an output. One goroutine calls it.
type Sink interface {
	// Window receives what a tag has in a window that is complete, in order of windows and tags, or
	// an interval that came after its window. It is valid until Window returns. A
	// [merge.SumError] costs only this window of the tag.
	Window(w *Window) error
	// Flush is called when there is nothing more to receive at present, and several times a second.
	Flush() error
	// Save returns what a later run needs to go on after all that the sink has received, which is
	// kept as JSON, or nil. Saved, if it is not nil, is called when that is on the disk. Save is
	// called before End, too, and can be called once after it.
	Save() (state any, saved func() error, err error)
	// End is called after the last window.
	End() error
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

// Units find out what unit values have.
type Units interface {
	// Comment receives a comment of a log, before the intervals that follow it, and Kept the row of
	// an interval that is wanted.
	Comment(log string, text []byte) error
	Kept(log string, row []byte)
	// Factor returns what one unit of a row's values is in the unit of all. An error says that the
	// values of the row have different units.
	Factor(row []byte) (float64, error)
}

// An Output is a sink of a fan-out.
type Output struct {
	// Key tells it from others, in the state too: what it is, and its address.
	Key  string
	Sink Sink
	// Drop, if set, reports whether an error of the sink means that nobody wants its output any
	// more. The others go on.
	Drop func(err error) bool
}

// A Fan is a sink that passes everything on to all outputs.
type Fan struct{ Outputs []Output }

// each calls all outputs, and returns their first error. An error of a sum
// does not hide that an output has failed.
func (f *Fan) each(call func(o *Output) error) (err error) {
	var impossible error
	for n := 0; n < len(f.Outputs); n++ {
		o := &f.Outputs[n]
		one := call(o)
		switch {
		case one == nil:
		case errors.As(one, new(*merge.SumError)):
			impossible = one
		case o.Drop != nil && o.Drop(one):
			f.Outputs = append(f.Outputs[:n:n], f.Outputs[n+1:]...)
			n--
		default:
			err = cmp.Or(err, one)
		}
	}
	return cmp.Or(err, impossible)
}

// Window passes a window on.
func (f *Fan) Window(w *Window) error {
	return f.each(func(o *Output) error { return o.Sink.Window(w) })
}

// Flush flushes all outputs.
func (f *Fan) Flush() error { return f.each(func(o *Output) error { return o.Sink.Flush() }) }

// End ends all outputs at the same time, since some wait for receivers.
func (f *Fan) End() error {
	var all sync.WaitGroup
	ends := make([]error, len(f.Outputs))
	for n := range f.Outputs {
		all.Go(func() { ends[n] = f.Outputs[n].Sink.End() })
	}
	all.Wait()
	return f.each(func(*Output) error {
		err := ends[0]
		ends = ends[1:]
		return err
	})
}

// Save returns what [State.Outputs] reads.
func (f *Fan) Save() (state any, saved func() error, err error) {
	states := make(map[string]any, len(f.Outputs))
	var after []func() error
	err = f.each(func(o *Output) error {
		state, saved, err := o.Sink.Save()
		if state != nil {
			states[o.Key] = state
		}
		if saved != nil {
			after = append(after, saved)
		}
		return err
	})
	return states, func() (err error) {
		for _, saved := range after {
			err = cmp.Or(err, saved())
		}
		return err
	}, err
}
