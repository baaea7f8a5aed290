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

// A Recording writes what an application records to a log: for each tag with values, one interval
// per period, and a last one when it is closed. Intervals follow one another without gaps. All
// methods are safe for concurrent use.
type Recording struct {
	layout histogram.Layout
	now    func() time.Time
	begin  time.Time
	stop   chan struct{} // closed by Close
	done   chan struct{} // closed when the last interval is written
	close  func()

	mu        sync.Mutex
	writer    *Writer
	recorders map[string]*histogram.Recorder // by tag
	// End of the last interval, in milliseconds since begin.
	last  int64
	taken histogram.Histogram
}

// StartRecording writes the header of a log to w, and then an interval per period. The histograms
// have the given layout. The log starts now. Call [Recording.Close] at the end; it does not close
// w.
//
// The error is that of writing to w, or it wraps [histogram.ErrLayout] or [ErrPeriod].
func StartRecording(w io.Writer, period time.Duration, layout histogram.Layout) (*Recording, error) {
	if period < time.Millisecond {
		return nil, fmt.Errorf("%w: %v", ErrPeriod, period)
	}
	ticker := time.NewTicker(period)
	r, err := startRecording(w, layout, ticker.C, time.Now)
	if err != nil {
		ticker.Stop()
		return nil, err
	}
	go func() {
		<-r.done
		ticker.Stop()
	}()
	return r, nil
}

// ErrPeriod: a recording cannot write such short intervals.
var ErrPeriod = errors.New("the period is shorter than a millisecond")

// startRecording writes an interval at each tick.
func startRecording(w io.Writer, layout histogram.Layout, ticks <-chan time.Time, now func() time.Time) (*Recording, error) {
	if err := layout.Validate(); err != nil {
		return nil, err
	}
	r := &Recording{
		layout: layout, now: now, begin: now(),
		stop: make(chan struct{}), done: make(chan struct{}),
		writer: NewWriter(w), recorders: make(map[string]*histogram.Recorder),
	}
	r.close = sync.OnceFunc(func() { close(r.stop) })
	start := float64(r.begin.UnixMilli()) / 1000
	r.writer.Version()
	r.writer.BaseTime(start)
	r.writer.StartTime(start)
	r.writer.Legend()
	if err := r.writer.Flush(); err != nil {
		return nil, err
	}
	go r.run(ticks)
	return r, nil
}

// Recorder returns the recorder for a tag; an empty tag means none. Each call with the same tag
// returns the same recorder. What is recorded after [Recording.Close] is lost. The error is that of
// [CheckTag].
func (r *Recording) Recorder(tag string) (*histogram.Recorder, error) {
	if err := CheckTag([]byte(tag)); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if recorder := r.recorders[tag]; recorder != nil {
		return recorder, nil
	}
	recorder, err := histogram.NewRecorder(r.layout)
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

// write writes an interval for each tag that has values.
func (r *Recording) write(final bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	end := r.now().Sub(r.begin).Milliseconds()
	if end <= r.last {
		if !final {
			return // The next tick writes these values.
		}
		end = r.last + 1
	}
	start, length := float64(r.last)/1000, float64(end-r.last)/1000
	r.last = end
	for _, tag := range slices.Sorted(maps.Keys(r.recorders)) {
		if err := r.recorders[tag].Take(&r.taken); err != nil {
			r.writer.fail(err)
			return
		}
		if r.taken.TotalCount() == 0 {
			continue
		}
		var name []byte
		if tag != "" {
			name = []byte(tag)
		}
		r.writer.Interval(name, start, length, &r.taken)
	}
	r.writer.Flush()
}
