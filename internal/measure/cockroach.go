package measure

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// cockroach is what the workload of CockroachDB writes with --histograms: a line of JSON for each
// operation and tick, with the counts of a histogram of hdrhistogram-go since the tick before:
// https://github.com/cockroachdb/cockroach/blob/master/pkg/workload/histogram/histogram.go. Values
// are nanoseconds.
var cockroach = Format{
	Name:    "cockroach",
	detects: hasPaths(".Name", ".Hist.", ".Elapsed", ".Now"),
	payloads: func(*setup) payloadFinder {
		return &snapshots{walker: walker{separator: '.'}}
	},
}

// snapshots find the histogram of each line.
type snapshots struct {
	walker  walker
	counts  histogram.Histogram
	encoder histogram.Encoder
	ready   []foundHistogram
}

// A snapshot is a line.
type snapshot struct {
	name, now               string
	elapsed, lowest, digits []byte
	counts                  []slot
	err                     error
}

// A slot is a count above 0.
type slot struct {
	index int
	count int64
}

func (s *snapshots) unit() hdrlog.Unit { return hdrlog.Nanosecond }

func (s *snapshots) end() error { return nil }

func (s *snapshots) next() (f foundHistogram, ok bool) {
	if len(s.ready) == 0 {
		return f, false
	}
	f, s.ready = s.ready[0], s.ready[1:]
	return f, true
}

func (s *snapshots) line(text []byte) error {
	s.ready = s.ready[:0]
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	f := foundHistogram{}
	f.row, f.err = s.row(text)
	s.ready = append(s.ready, f)
	return nil
}

// row makes a row of a line.
func (s *snapshots) row(text []byte) (row Row, err error) {
	var line snapshot
	s.walker.reset()
	if err := s.walker.walk(text, line.field); err != nil || !s.walker.done() {
		return row, fmt.Errorf("%w: %s", errJSON, quote(text))
	}
	if line.err != nil {
		return row, line.err
	}
	now, err := time.Parse(time.RFC3339Nano, line.now)
	if err != nil {
		return row, fmt.Errorf("field Now: %w: %s", errTime, quote([]byte(line.now)))
	}
	numbers := make([]int64, 3)
	for n, field := range []struct {
		name string
		text []byte
	}{{"Elapsed", line.elapsed}, {"LowestTrackableValue", line.lowest}, {"SignificantFigures", line.digits}} {
		if field.text == nil {
			return row, fmt.Errorf("%s: %w", field.name, hdrlog.ErrMissing)
		}
		if numbers[n], err = parseDecimal(field.text, 0); err != nil {
			return row, fmt.Errorf("%s: %w", field.name, err)
		}
	}
	layout := histogram.Layout{Digits: int(min(numbers[2], 100)), Lowest: numbers[1]}
	if err := s.fill(layout, line.counts); err != nil {
		return row, err
	}
	payload, err := s.encoder.AppendBase64(nil, &s.counts)
	if err != nil {
		return row, err
	}
	end := now.UnixNano()
	if end < numbers[0] {
		return row, errEarly
	}
	return Row{
		Time:    end - numbers[0],
		Length:  numbers[0],
		Tag:     []byte(line.name),
		Payload: payload,
	}, nil
}

// fill counts the values of slots.
func (s *snapshots) fill(layout histogram.Layout, counts []slot) error {
	if err := s.counts.Reset(layout); err != nil {
		return err
	}
	for _, c := range counts {
		value, err := slotValue(layout, c.index)
		if err == nil {
			err = s.counts.RecordN(value, c.count)
		}
		if err != nil {
			return fmt.Errorf("Counts: slot %d: %w", c.index, err)
		}
	}
	return nil
}

// slotValue returns the lowest value of a slot, by its index in the counts of hdrhistogram-go. A
// bucket has as many slots as the precision takes, of which those of the lower half are in the
// bucket before; each bucket is twice as wide as that.
func slotValue(layout histogram.Layout, index int) (int64, error) {
	size := 2 // slots of a bucket
	for size < 2*int(powers[layout.Digits]) {
		size *= 2
	}
	unitBits := 0
	for layout.Lowest>>(unitBits+1) > 0 {
		unitBits++
	}
	bucket, sub := 0, index
	if index >= size {
		bucket = index/(size/2) - 1
		sub = index%(size/2) + size/2
	}
	if bucket+unitBits > 62 || int64(sub) > int64(1)<<62>>(bucket+unitBits) {
		return 0, errLarge
	}
	return int64(sub) << (bucket + unitBits), nil
}

// field takes a scalar of a line.
func (l *snapshot) field(path, value []byte) {
	switch string(path) {
	case ".Name":
		l.name = string(value)
	case ".Now":
		l.now = string(value)
	case ".Elapsed":
		l.elapsed = bytes.Clone(value)
	case ".Hist.LowestTrackableValue":
		l.lowest = bytes.Clone(value)
	case ".Hist.SignificantFigures":
		l.digits = bytes.Clone(value)
	}
	number, ok := bytes.CutPrefix(path, []byte(".Hist.Counts."))
	if !ok || len(value) == 1 && value[0] == '0' || l.err != nil {
		return
	}
	index, err := strconv.Atoi(string(number))
	if err != nil {
		l.err = fmt.Errorf("Counts: %w: %s", hdrlog.ErrNumber, quote(number))
		return
	}
	count, err := parseDecimal(value, 0)
	if err != nil {
		l.err = fmt.Errorf("Counts: %w", err)
		return
	}
	l.counts = append(l.counts, slot{index, count})
}
