package live

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/live/follow"
	"hdrkit/internal/scan"
)

// A reading is the reader of a log, with the comments that hold for it. It continues the reading of
// the log before.
type reading struct {
	reader *hdrlog.Reader
	heading
}

// readInput reads the logs of an input and posts their batches, until the input ends.
func (m *Merger) readInput(in *input) {
	before := new(reading)
	for {
		log, err := in.source.Next()
		switch {
		case err == io.EOF, errors.Is(err, follow.ErrStopped):
			m.postEnd(in, nil)
			return
		case err != nil:
			m.postEnd(in, err)
			return
		}
		_, isContinued := log.ReaderState.(*reading)
		now, steps := m.beginLog(in, log, before)
		if !isContinued {
			before = now
		}
		if !m.readBatches(in, log, now, steps) {
			return
		}
	}
}

// beginLog returns the reading for a log. It continues the reading of the log before or, if an
// earlier run or another input has read a part of this log, starts after this part. Steps handle
// the comments that the mark of the log has kept.
func (m *Merger) beginLog(in *input, log *follow.Log, before *reading) (now *reading, steps []func(time.Time) error) {
	from := before
	mark := log.Mark()
	lines := log.FirstLine() - 1
	if own, isContinued := log.ReaderState.(*reading); isContinued {
		from = own
	} else if mark != nil && (from.reader == nil || lines > 0) {
		from = new(reading)
		from.reader = from.resumeFrom(in.source.Name(), mark, func(r *hdrlog.Record) {
			steps = m.appendComment(steps, in, r)
		})
		steps = append(steps, func(time.Time) error {
			in.progress.Lines += int64(lines)
			return nil
		})
	}
	now = &reading{heading: from.heading}
	now.reader = hdrlog.ReaderOptions{
		Second:      m.options.Second,
		LinesBefore: lines,
		BatchSize:   16 << 10,
		Continues:   from.reader,
	}.NewReader(log, in.source.Name())
	now.beginLog()
	log.ReaderState = now
	return now, steps
}

// readBatches posts the batches of a log. The first batch begins with the given steps. It returns
// false if no further log can follow.
func (m *Merger) readBatches(in *input, log *follow.Log, now *reading, steps []func(time.Time) error) bool {
	mark := log.Mark()
	if mark == nil {
		mark = new(follow.Mark)
	}
	var lines hdrlog.Batch
	for now.reader.ReadBatch(&lines) {
		last := &lines.Records[len(lines.Records)-1]
		b := &batch{
			steps:      append(steps, m.steps(in, &lines, mark, &now.heading)...),
			log:        log,
			firstLine:  lines.Records[0].Line,
			lastLine:   last.Line,
			header:     now.text,
			headerFrom: now.headerFrom,
		}
		steps = nil
		if errors.Is(last.Err, hdrlog.ErrCutShort) { // a later run reads the line when it is complete
			b.lastLine--
		}
		again, _ := in.source.ReadEarlier(1)
		b.moreEarlier = b.lastLine < mark.Line || again
		select {
		case <-in.feed.accepted:
			in.feed.posted.Store(true)
			m.events.post(func() {
				in.feed.next = b
				in.feed.posted.Store(false)
			})
		case <-m.events.done:
			return false
		}
	}
	if err := now.reader.Err(); err != nil && !errors.Is(err, follow.ErrStopped) {
		m.postEnd(in, errors.Unwrap(err)) // the message names the input itself
		return false
	}
	return true
}

// postEnd posts that nothing more is read of an input. The error is nil if the input was read to
// its end or stopped.
func (m *Merger) postEnd(in *input, err error) {
	m.events.post(func() {
		in.feed.isOver, in.feed.err = true, err
		if in.feed.next == nil {
			m.endInput(in)
		}
	})
}

// steps decodes a batch, and returns functions that merge it. They keep no references to the memory
// of the batch. An earlier run has taken the lines up to the mark.
func (m *Merger) steps(in *input, b *hdrlog.Batch, mark *follow.Mark, h *heading) []func(time.Time) error {
	steps := make([]func(time.Time) error, 0, len(b.Records)+1)
	lines := int64(0)
	for n := range b.Records {
		r := &b.Records[n]
		h.addRecord(r)
		if r.Kind != hdrlog.Notice {
			lines++
		}
		err, line := r.Err, r.Line
		switch {
		case r.Kind == hdrlog.IntervalRecord:
			i, err := m.newInterval(in, r, mark)
			steps = append(steps, func(now time.Time) error {
				if err != nil {
					return err
				}
				return m.addInterval(in, i, now)
			})
		case r.Kind == hdrlog.Comment || r.Kind == hdrlog.BaseTime:
			steps = m.appendComment(steps, in, r)
		case line <= mark.Line:
		case r.Kind == hdrlog.Malformed:
			steps = append(steps, func(now time.Time) error { return m.skip(in, err, now) })
		case r.Kind == hdrlog.Notice && (mark.Begin.Line == 0 || !errors.Is(err, hdrlog.ErrTimesKept)):
			steps = append(steps, func(time.Time) error {
				m.options.Messages.Notice(err.Error() + m.options.Hint(err))
				return nil
			})
		}
	}
	return append(steps, func(time.Time) error {
		in.progress.Lines += lines
		return nil
	})
}

// appendComment appends a step for a comment, which may state the unit of the values.
func (m *Merger) appendComment(steps []func(time.Time) error, in *input, r *hdrlog.Record) []func(time.Time) error {
	if len(r.Text) > maxComment || r.Kind != hdrlog.Comment && r.Kind != hdrlog.BaseTime {
		return steps
	}
	text := bytes.Clone(r.Text)
	return append(steps, func(time.Time) error { return m.options.Units.Comment(in.progress.Name, text) })
}

// newInterval returns an interval, and decodes its counts if they are needed. An error ends the
// merging.
func (m *Merger) newInterval(in *input, r *hdrlog.Record, mark *follow.Mark) (*interval, error) {
	x := &r.Interval
	x.Tag = in.tag(x.Tag)
	i := &interval{
		row:      bytes.Clone(m.options.By.Row(in.source.Name(), x.Tag)),
		logStart: x.LogStart,
		start:    x.StartMillis(),
		line:     r.Line,
	}
	i.end = max(i.start, x.EndMillis())
	i.windowEnd = merge.WindowOf(i.start, i.end, m.options.Size).End
	kept := m.options.Tags.Keeps(x.Tag) // called for all intervals, because the filter reports tags without match
	i.wanted = kept && i.start >= m.options.From
	m.recall(i, mark)
	crosses := merge.Crosses(i.start, i.end, m.options.Size)
	if !i.wanted || i.past.dropped || i.past.readBack && !crosses {
		return i, nil
	}
	i.sum = sums.Get().(*merge.Sum)
	d := m.decoders.Get().(*scan.Decoder)
	defer m.decoders.Put(d)
	err := d.Open(x)
	if err == nil {
		err = d.AddText(i.sum)
	}
	if err == nil && (crosses || d.Double()) { // kinds need the highest of doubles
		i.highest, i.count, err = d.MaxAndCount()
	}
	var fatal scan.Fatal
	if errors.As(err, &fatal) {
		return nil, fmt.Errorf("%s:%d: %w", in.source.Name(), i.line, fatal.Err)
	}
	if err != nil {
		i.err = &hdrlog.SyntaxError{
			File:  in.source.Name(),
			Line:  i.line,
			Field: "payload",
			Err:   err,
		}
	}
	return i, nil
}
