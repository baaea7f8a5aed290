package hdrlog

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"hdrkit/hdrlog/histogram"
)

// A Recording writes the values that an application records to a log: for each tag with values, one
// interval per period, and a last one at Close. Intervals follow one another without gaps. All
// methods are safe for concurrent use.
type Recording struct {
	options RecordingOptions
	now     func() time.Time
	begin   time.Time
	stop    chan struct{} // Close closes it
	done    chan struct{} // run closes it when the last interval is written
	close   func()        // closes stop, once

	mu        sync.Mutex
	writer    *Writer
	recorders map[string]*histogram.Recorder // by tag
	// lastEnd is the end of the last interval, in milliseconds since begin.
	lastEnd int64
	counts  histogram.Histogram // of the interval that is written
}

// RecordingOptions say what a [Recording] writes.
type RecordingOptions struct {
	// Period is the length of an interval, at least a millisecond.
	Period time.Duration
	// Layout is that of the histograms.
	Layout histogram.Layout
	// Unit is the unit of the values. The log states it in a comment, unless it is unknown.
	Unit Unit
	// Each, if set, is called with each interval that was written: its tag, which may be empty,
	// its start and end, and its histogram, which is valid until Each returns. Each must not call
	// methods of the recording.
	Each func(tag string, start, end time.Time, h *histogram.Histogram)
}

// StartRecording writes the header of a log to w, and then an interval per period. The log starts
// at the time of the call. Call [Recording.Close] at the end, which does not close w.
//
// The error is an error of writing to w, or wraps [histogram.ErrLayout], [ErrPeriod] or [ErrUnit].
func StartRecording(w io.Writer, o RecordingOptions) (*Recording, error) {
	if o.Period < time.Millisecond {
		return nil, fmt.Errorf("%w: %v", ErrPeriod, o.Period)
	}
	return startRecording(w, o, time.NewTicker(o.Period).C, time.Now)
}

var (
	// ErrPeriod: the intervals of a recording would be too short.
	ErrPeriod = errors.New("the period is shorter than a millisecond")
	// ErrUnit: no comment can state this unit.
	ErrUnit = errors.New("a unit of time without a name")
)

// startRecording is StartRecording with the ticks and the clock of the caller. Tests use it.
func startRecording(w io.Writer, o RecordingOptions, ticks <-chan time.Time, now func() time.Time) (*Recording, error) {
	if err := o.Layout.Validate(); err != nil {
		return nil, err
	}
	if o.Unit != 0 && o.Unit.Comment() == "" {
		return nil, fmt.Errorf("%w: %v ns", ErrUnit, float64(o.Unit))
	}
	r := &Recording{
		options:   o,
		now:       now,
		begin:     now(),
		stop:      make(chan struct{}),
		done:      make(chan struct{}),
		writer:    NewWriter(w),
		recorders: make(map[string]*histogram.Recorder),
	}
	r.close = sync.OnceFunc(func() { close(r.stop) })
	start := float64(r.begin.UnixMilli()) / 1000
	r.writer.Version()
	if o.Unit != 0 {
		r.writer.Comment(o.Unit.Comment())
	}
	r.writer.BaseTime(start)
	r.writer.StartTime(start)
	r.writer.Legend()
	if err := r.writer.Flush(); err != nil {
		return nil, err
	}
	go r.run(ticks)
	return r, nil
}

// Recorder returns the recorder for a tag. The empty tag stands for untagged intervals. Calls with
// the same tag return the same recorder. Values recorded after [Recording.Close] are lost. The
// error is that of [CheckTag].
func (r *Recording) Recorder(tag string) (*histogram.Recorder, error) {
	if err := CheckTag([]byte(tag)); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if recorder := r.recorders[tag]; recorder != nil {
		return recorder, nil
	}
	recorder, err := histogram.NewRecorder(r.options.Layout)
	if err == nil {
		r.recorders[tag] = recorder
	}
	return recorder, err
}

// Err returns the first error of writing. The recording writes nothing more after it.
func (r *Recording) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writer.Flush()
}

// Close writes the last interval and returns the first error of writing.
func (r *Recording) Close() error {
	r.close()
	<-r.done
	return r.Err()
}

func (r *Recording) run(ticks <-chan time.Time) {
	defer close(r.done)
	for {
		select {
		case <-ticks:
			r.write(false)
		case <-r.stop:
			r.write(true)
			return
		}
	}
}

// write writes an interval for each tag that has values. If less than a millisecond has passed
// since the last interval, it leaves the values to the next tick, or writes a last interval of one
// millisecond if final is set.
func (r *Recording) write(final bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	end := r.now().Sub(r.begin).Milliseconds()
	if end <= r.lastEnd {
		if !final {
			return
		}
		end = r.lastEnd + 1
	}
	begin := time.Duration(r.lastEnd) * time.Millisecond
	start, length := begin.Seconds(), float64(end-r.lastEnd)/1000
	r.lastEnd = end
	for _, tag := range slices.Sorted(maps.Keys(r.recorders)) {
		if err := r.recorders[tag].Take(&r.counts); err != nil {
			r.writer.fail(err)
			return
		}
		if r.counts.TotalCount() == 0 {
			continue
		}
		var name []byte
		if tag != "" {
			name = []byte(tag)
		}
		if err := r.writer.Interval(name, start, length, &r.counts); err != nil {
			r.writer.fail(err)
		} else if r.options.Each != nil {
			r.options.Each(tag, r.begin.Add(begin), r.begin.Add(time.Duration(end)*time.Millisecond), &r.counts)
		}
	}
	r.writer.Flush()
}
