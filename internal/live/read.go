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

// A reading is how far a log was read. Another one may continue it.
type reading struct {
	reader *hdrlog.Reader
	heading
}

// read reads the logs of an input and posts what is in them.
func (m *Merger) read(in *input) {
	before := new(reading)
	for {
		log, err := in.source.Next()
		switch {
		case err == io.EOF, errors.Is(err, follow.ErrStopped):
			m.ended(in, nil)
			return
		case err != nil:
			m.ended(in, err)
			return
		}
		_, goesOn := log.ReaderState.(*reading)
		now, steps := m.begin(in, log, before)
		if !goesOn {
			before = now
		}
		if !m.readBatches(in, log, now, steps) {
			return
		}
	}
}

// begin begins to read a log, after the one before or where it was read to. If an earlier run has
// read it, steps are for the comments that it kept.
func (m *Merger) begin(in *input, log *follow.Log, before *reading) (now *reading, steps []func(time.Time) error) {
	from := before
	mark := log.Mark()
	lines := log.FirstLine() - 1
	if own, goesOn := log.ReaderState.(*reading); goesOn {
		from = own
	} else if mark != nil && (from.reader == nil || lines > 0) {
		from = new(reading)
		from.reader = from.resume(in.source.Name(), mark, func(r *hdrlog.Record) {
			steps = m.comment(steps, in, r)
		})
		steps = append(steps, func(time.Time) error {
			in.now.Lines += int64(lines)
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
	now.begin()
	log.ReaderState = now
	return now, steps
}

// readBatches posts the batches of a log, the first one with further steps. It reports whether
// another log may follow.
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
			first:      lines.Records[0].Line,
			line:       last.Line,
			header:     now.text,
			headerFrom: now.headerFrom,
		}
		steps = nil
		if errors.Is(last.Err, hdrlog.ErrCutShort) { // a later run reads that line, if it comes
			b.line--
		}
		again, _ := in.source.ReadEarlier(1)
		b.again = b.line < mark.Line || again
		select {
		case <-in.feed.accepted:
			in.feed.coming.Store(true)
			m.events.post(func() {
				in.feed.queue = b
				in.feed.coming.Store(false)
			})
		case <-m.events.done:
			return false
		}
	}
	if err := now.reader.Err(); err != nil && !errors.Is(err, follow.ErrStopped) {
		m.ended(in, errors.Unwrap(err)) // the input has a name
		return false
	}
	return true
}

// ended posts that nothing more can be read of an input.
func (m *Merger) ended(in *input, err error) {
	m.events.post(func() {
		in.feed.over, in.feed.err = true, err
		if in.feed.queue == nil {
			m.end(in)
		}
	})
}

// steps decodes a batch. Nothing in the result is a view of it. Lines up to the mark were taken in
// an earlier run.
func (m *Merger) steps(in *input, b *hdrlog.Batch, mark *follow.Mark, h *heading) []func(time.Time) error {
	steps := make([]func(time.Time) error, 0, len(b.Records)+1)
	lines := int64(0)
	for n := range b.Records {
		r := &b.Records[n]
		h.see(r)
		if r.Kind != hdrlog.Notice {
			lines++
		}
		err, line := r.Err, r.Line
		switch {
		case r.Kind == hdrlog.IntervalRecord:
			i, err := m.interval(in, r, mark)
			steps = append(steps, func(now time.Time) error {
				if err != nil {
					return err
				}
				return m.add(in, i, now)
			})
		case r.Kind == hdrlog.Comment || r.Kind == hdrlog.BaseTime:
			steps = m.comment(steps, in, r)
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
		in.now.Lines += lines
		return nil
	})
}

// comment adds a step for a comment that may state the unit.
func (m *Merger) comment(steps []func(time.Time) error, in *input, r *hdrlog.Record) []func(time.Time) error {
	if len(r.Text) > maxComment || r.Kind != hdrlog.Comment && r.Kind != hdrlog.BaseTime {
		return steps
	}
	text := bytes.Clone(r.Text)
	return append(steps, func(time.Time) error { return m.options.Units.Comment(in.now.Name, text) })
}

// interval returns an interval, and decodes it if its counts are needed. The error ends the
// merging.
func (m *Merger) interval(in *input, r *hdrlog.Record, mark *follow.Mark) (*interval, error) {
	x := &r.Interval
	x.Tag = in.tag(x.Tag)
	i := &interval{
		row:      bytes.Clone(m.options.By.Row(in.source.Name(), x.Tag)),
		logStart: x.LogStart,
		start:    x.StartMillis(),
		line:     r.Line,
	}
	i.end = max(i.start, x.EndMillis())
	i.window = merge.WindowOf(i.start, i.end, m.options.Size).End
	kept := m.options.Tags.Keeps(x.Tag) // the filter must see all tags
	i.wanted = kept && i.start >= m.options.From
	m.recall(i, mark)
	crosses := merge.Crosses(i.start, i.end, m.options.Size)
	if !i.wanted || i.past.dropped || i.past.readBack && !crosses {
		return i, nil
	}
	i.sum = sums.Get().(*merge.Sum)
	d := m.decoders.Get().(*scan.Decoder)
	defer m.decoders.Put(d)
	took, err := d.Visit(x, scan.Place{}).Decode(scan.Want{Max: crosses, Text: true}, i.sum)
	i.highest, i.count = took.Max, took.Count
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
