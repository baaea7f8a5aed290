package hdrlog

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"hdrkit/hdrlog/histogram"
)

// clock is a clock for tests, which moves only by advance.
type clock struct {
	mu    sync.Mutex
	at    time.Time
	ticks chan time.Time
}

func newClock() *clock {
	return &clock{at: time.UnixMilli(1468800000137), ticks: make(chan time.Time)}
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// lines returns the intervals of a log as TAG START LENGTH COUNT.
func lines(t *testing.T, log string) (lines []string) {
	t.Helper()
	var decoder histogram.Decoder
	var h histogram.Histogram
	reader := NewReader(strings.NewReader(log), "log")
	for reader.Scan() {
		record := reader.Record()
		switch record.Kind {
		case Malformed, Notice:
			t.Fatal(record.Err)
		case IntervalRecord:
			if err := decoder.Decode(&h, record.Interval.Payload); err != nil {
				t.Fatal(err)
			}
			i := &record.Interval
			if got := i.StartMillis(); got != 1468800000137+int64(i.Start*1000+0.5) {
				t.Errorf("%v starts at %d", i.Start, got)
			}
			lines = append(lines, fmt.Sprintf("%s %.3f %.3f %d", i.Tag, i.Start, i.Length, h.TotalCount()))
		}
	}
	if err := reader.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestRecording writes intervals with two tags and without. Intervals without values are left out.
// The others follow one another without gaps, whenever ticks come.
func TestRecording(t *testing.T) {
	c := newClock()
	var log bytes.Buffer
	var each []string
	r, err := startRecording(&log, RecordingOptions{
		Layout: histogram.Layout{Digits: 3}, Unit: Microsecond,
		Each: func(tag string, start, end time.Time, h *histogram.Histogram) {
			each = append(each, fmt.Sprintf("%s %.3f %.3f %d", tag,
				start.Sub(time.UnixMilli(1468800000137)).Seconds(), end.Sub(start).Seconds(), h.TotalCount()))
		},
	}, c.ticks, c.now)
	if err != nil {
		t.Fatal(err)
	}
	record := func(tag string, times int64) {
		t.Helper()
		recorder, err := r.Recorder(tag)
		if err != nil {
			t.Fatal(err)
		}
		if err := recorder.RecordN(12345, times); err != nil {
			t.Fatal(err)
		}
	}
	tick := func(after time.Duration) {
		c.advance(after)
		c.ticks <- time.Time{}
		r.write(false) // This or the tick writes; the other one finds nothing.
	}
	record("GET", 3)
	record("PUT", 1)
	tick(1000 * time.Millisecond)
	record("GET", 2)
	tick(1017*time.Millisecond + 900*time.Microsecond)
	tick(0)
	tick(1 * time.Second)
	record("", 7)
	c.advance(500 * time.Millisecond)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{"GET 0.000 1.000 3", "PUT 0.000 1.000 1", "GET 1.000 1.017 2", " 3.017 0.500 7"}
	if got := lines(t, log.String()); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if fmt.Sprint(each) != fmt.Sprint(want) {
		t.Errorf("Each got %q, want %q", each, want)
	}
	reader := NewReader(bytes.NewReader(log.Bytes()), "log")
	for range reader.All() {
	}
	if reader.Unit() != Microsecond {
		t.Errorf("the unit is %q", reader.Unit())
	}
	size := log.Len()
	if err := r.Close(); err != nil || log.Len() != size {
		t.Errorf("a second Close: %v, %d bytes more", err, log.Len()-size)
	}
}

// Values of the millisecond in which the last interval ended are in the one that Close writes.
func TestRecordingEndsAtOnce(t *testing.T) {
	c := newClock()
	var log bytes.Buffer
	r, err := startRecording(&log, RecordingOptions{Layout: histogram.Layout{Digits: 3}}, c.ticks, c.now)
	if err != nil {
		t.Fatal(err)
	}
	recorder, err := r.Recorder("")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(recorder.Record(1), r.Close()); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(lines(t, log.String())); got != "[ 0.000 0.001 1]" {
		t.Error(got)
	}
}

// Goroutines record while ticks of the real clock write intervals. The log has all values.
func TestRecordingLosesNothing(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	r, err := StartRecording(&log, RecordingOptions{Period: time.Millisecond, Layout: histogram.Layout{Digits: 3}})
	if err != nil {
		t.Fatal(err)
	}
	const goroutines, each = 4, 20000
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for n := range int64(each) {
				recorder, err := r.Recorder([]string{"a", "b", ""}[n%3])
				if err == nil {
					err = recorder.Record(n)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	var sum histogram.Histogram
	var decoder histogram.Decoder
	reader := NewReader(&log, "log")
	for reader.Scan() {
		if record := reader.Record(); record.Kind == IntervalRecord {
			if err := decoder.AddTo(&sum, record.Interval.Payload); err != nil {
				t.Fatal(err)
			}
		}
	}
	if sum.TotalCount() != goroutines*each {
		t.Errorf("%d values of %d", sum.TotalCount(), goroutines*each)
	}
}

// failing fails after some bytes.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestRecordingErrors(t *testing.T) {
	layout := histogram.Layout{Digits: 3}
	for _, test := range []struct {
		name    string
		options RecordingOptions
		room    int
		want    error
	}{
		{"period", RecordingOptions{Period: time.Microsecond, Layout: layout}, 1000, ErrPeriod},
		{"layout", RecordingOptions{Period: time.Second, Layout: histogram.Layout{Digits: 6}}, 1000, histogram.ErrLayout},
		{"unit", RecordingOptions{Period: time.Second, Layout: layout, Unit: 60e9}, 1000, ErrUnit},
		{"header", RecordingOptions{Period: time.Second, Layout: layout}, 10, errFull},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := StartRecording(&failing{test.room}, test.options); !errors.Is(err, test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("interval", func(t *testing.T) {
		r, err := StartRecording(&failing{500}, RecordingOptions{Period: time.Hour, Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		recorder, err := r.Recorder(strings.Repeat("long", 200))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Recorder("a b"); !errors.Is(err, ErrTag) {
			t.Errorf("a tag with a space: %v", err)
		}
		if err := errors.Join(recorder.Record(1), r.Err()); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); !errors.Is(err, errFull) {
			t.Errorf("Close: %v", err)
		}
	})
}

// TestNoGaps: the intervals of a recording follow one another to the millisecond, whatever the
// clock is and for a reader that truncates, too.
func TestNoGaps(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	c := newClock()
	c.at = time.UnixMilli(1468800000000 + random.Int64N(1e9))
	var log bytes.Buffer
	r, err := startRecording(&log, RecordingOptions{Layout: histogram.Layout{Digits: 1}}, c.ticks, c.now)
	if err != nil {
		t.Fatal(err)
	}
	recorder, err := r.Recorder("")
	if err != nil {
		t.Fatal(err)
	}
	ends := []int64{c.at.UnixMilli()}
	for range 500 {
		recorder.Record(1)
		c.advance(time.Duration(1+random.IntN(3000)) * time.Millisecond)
		ends = append(ends, c.now().UnixMilli())
		r.write(false)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	reader := NewReader(&log, "log")
	for n := range ends[1:] {
		if i := nextInterval(reader); i == nil || i.StartMillis() != ends[n] || i.EndMillis() != ends[n+1] {
			t.Errorf("%d: %+v, want %d to %d", n, i, ends[n], ends[n+1])
		}
	}
}
