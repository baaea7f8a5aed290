package measure

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// cockroach is what the [workload of CockroachDB] writes with --histograms: a line of JSON for each
// operation and tick. A line has the counts of a histogram of hdrhistogram-go since the tick
// before. Values are nanoseconds.
//
// [workload of CockroachDB]: https://github.com/cockroachdb/cockroach/blob/master/pkg/workload/histogram/histogram.go
var cockroach = Format{
	Name:    "cockroach",
	detects: hasPaths(".Name", ".Hist.", ".Elapsed", ".Now"),
	payloads: func(*setup) payloadFinder {
		return &snapshots{walker: walker{separator: '.'}}
	},
}

// snapshots makes a payload of the histogram in each line.
type snapshots struct {
	walker  walker
	counts  histogram.Histogram
	encoder histogram.Encoder
	ready   []foundHistogram
}

// A snapshot has the fields of a line.
type snapshot struct {
	name, now               string
	elapsed, lowest, digits []byte
	counts                  []slot
	err                     error
}

// A slot is a slot of a histogram whose count is above 0.
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
	f.row, f.err = s.parseLine(text)
	s.ready = append(s.ready, f)
	return nil
}

// parseLine returns the row of a line, with the histogram as its payload.
func (s *snapshots) parseLine(text []byte) (row Row, err error) {
	var line snapshot
	s.walker.reset()
	if err := s.walker.walk(text, line.setField); err != nil || !s.walker.done() {
		return row, fmt.Errorf("%w: %s", errJSON, quoted(text))
	}
	if line.err != nil {
		return row, line.err
	}
	now, err := time.Parse(time.RFC3339Nano, line.now)
	if err != nil {
		return row, fmt.Errorf("field Now: %w: %s", errTime, quoted([]byte(line.now)))
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
	if err := s.setCounts(layout, line.counts); err != nil {
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

// setCounts sets counts to a histogram with these slots.
func (s *snapshots) setCounts(layout histogram.Layout, counts []slot) error {
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

// slotValue returns the lowest value of a slot. index is the slot's index in the counts of
// hdrhistogram-go. Slots are in buckets: the slots of each bucket are twice as wide as the slots of
// the bucket before. Only the first bucket has slots for its lower half, since the bucket before
// covers the lower halves of others.
func slotValue(layout histogram.Layout, index int) (int64, error) {
	size := 2 // number of slots in the first bucket
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

// setField sets the field that a scalar of the line is.
func (l *snapshot) setField(path, value []byte) {
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
		l.err = fmt.Errorf("Counts: %w: %s", hdrlog.ErrNumber, quoted(number))
		return
	}
	count, err := parseDecimal(value, 0)
	if err != nil {
		l.err = fmt.Errorf("Counts: %w", err)
		return
	}
	l.counts = append(l.counts, slot{index, count})
}
