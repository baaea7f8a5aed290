package live

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
)

// maxPast is the size in bytes of the largest merged log that is read at a start. Reading it takes
// some seconds.
const maxPast = 1 << 30

// lateNote is the [Window.Note] of a late interval. recordedNote is the format of all other notes.
const (
	lateNote     = "[Late]"
	recordedNote = "[Recorded: %d %d %v %t]"
)

// Note returns a comment that stands in the merged log before the line of the window. A later run
// needs it if the line does not say that the interval was late, or when its values were recorded.
// Otherwise Note returns an empty string.
func (w *Window) Note() string {
	length := w.Merged.Window.End - w.Merged.Window.Start // the line has the length of the sum, not of the window
	r := w.Merged.Recorded
	switch {
	case w.Late:
		return lateNote
	case r == merge.WindowCount{Millis: length, Any: length}:
		return ""
	}
	return fmt.Sprintf(recordedNote, r.Millis, r.Any, r.Moved, r.Every)
}

// readNote sets the fields that a comment before the line of a window states. It returns false if
// the comment is no note.
func (w *Window) readNote(comment []byte) bool {
	text := strings.TrimPrefix(string(comment), "#")
	if text == lateNote {
		w.Late = true
		return true
	}
	var r merge.WindowCount
	if _, err := fmt.Sscanf(text, recordedNote, &r.Millis, &r.Any, &r.Moved, &r.Every); err != nil {
		return false
	}
	w.Merged.Recorded = r
	return true
}

// ErrStopped is the error of a start that was interrupted. The state is unchanged.
var ErrStopped = errors.New("the start was stopped")

// readPast reads the windows of earlier runs from the merged log, and passes them to the outputs
// that want them.
func (m *Merger) readPast(p *FilePosition) error {
	file, err := os.Open(p.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := hdrlog.NewReader(io.LimitReader(file, p.Size), p.Path)
	w := m.pastWindow()
	for r.Scan() {
		select {
		case <-m.options.Stop:
			return ErrStopped
		default:
		}
		record := r.Record()
		switch record.Kind {
		case hdrlog.Comment:
			if !w.readNote(record.Text) {
				err = m.options.Units.Comment(p.Path, record.Text)
			}
		case hdrlog.Malformed:
			err = record.Err
		case hdrlog.IntervalRecord:
			err = m.passPastInterval(&record.Interval, p.Path, w)
			w = m.pastWindow()
		}
		if err != nil {
			return err
		}
	}
	return cmp.Or(r.Err(), m.fan.flushPast())
}

// pastWindow returns an empty window of an earlier run. If no note says otherwise, its inputs ran
// all the time.
func (m *Merger) pastWindow() *Window {
	recorded := merge.WindowCount{Millis: m.options.Size, Any: m.options.Size}
	return &Window{Merged: &merge.Merged{Recorded: recorded}, Scratch: &m.delivery.scratch}
}

// passPastInterval passes a line of the merged log to the outputs. It fills the window w for that.
func (m *Merger) passPastInterval(i *hdrlog.Interval, path string, w *Window) error {
	w.Merged.Tag = i.Tag
	w.Merged.LogStart = i.LogStart
	if err := w.Merged.Sum.Add(i); err != nil {
		return err
	}
	start, last := i.StartMillis(), max(i.StartMillis(), i.EndMillis())
	w.Merged.Window = merge.WindowOf(start, last, m.options.Size)
	if m.options.Whole != nil {
		m.options.Whole.Add(i.Tag, 0, start, last, 0, never, m.options.Size)
	}
	m.options.Units.Kept(path, i.Tag)
	var err error
	if w.Factor, err = m.options.Units.Factor(i.Tag); err != nil {
		return err
	}
	return m.fan.past(w)
}
