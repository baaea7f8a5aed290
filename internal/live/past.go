package live

import (
	"cmp"
	"io"
	"os"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
)

// mostPast is the size of the largest merged log that is read at the start. That takes some
// seconds.
const mostPast = 1 << 30

// LateComment is the comment that stands in the merged log before each interval that came after its
// window.
const LateComment = "[Late]"

// readPast passes on what the merged log has from earlier runs, in the order in which it was
// written.
func (m *Merger) readPast(p *FilePosition) error {
	file, err := os.Open(p.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := hdrlog.NewReader(io.LimitReader(file, p.Size), p.Path)
	late := false
	for r.Scan() {
		record := r.Record()
		switch record.Kind {
		case hdrlog.Comment:
			late = late || string(record.Text) == "#"+LateComment
			err = m.options.Units.Comment(p.Path, record.Text)
		case hdrlog.Malformed:
			err = record.Err
		case hdrlog.IntervalRecord:
			err = m.pastInterval(&record.Interval, p.Path, late)
			late = false
		}
		if err != nil {
			return err
		}
	}
	return cmp.Or(r.Err(), m.fan.flushPast())
}

// pastInterval passes on an interval.
func (m *Merger) pastInterval(i *hdrlog.Interval, path string, late bool) error {
	merged := merge.Merged{Tag: i.Tag, LogStart: i.LogStart}
	if err := merged.Sum.Add(i); err != nil {
		return err
	}
	start, last := i.StartMillis(), max(i.StartMillis(), i.EndMillis())
	merged.Window = merge.WindowOf(start, last, m.options.Size)
	merged.Recorded.Millis = m.options.Size
	if m.options.Whole != nil {
		m.options.Whole.Add(i.Tag, 0, start, last, 0, never, m.options.Size)
	}
	m.options.Units.Kept(path, i.Tag)
	w := Window{Merged: &merged, Late: late, Scratch: &m.scratch}
	var err error
	if w.Factor, err = m.options.Units.Factor(i.Tag); err != nil {
		return err
	}
	return m.fan.past(&w)
}
