package live

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hdrkit/hdrlog/merge"
)

// TestStopOfStart: a start that is stopped reads no further what the merged log has.
func TestStopOfStart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "merged.hdr")
	const log = "#[StartTime: 1 (seconds since epoch)]\n0.0,1.0,0.0,HISTFAAAAAx42pNpmSzMwMAAAAC4AIk=\n"
	if err := os.WriteFile(path, []byte(log), 0o666); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	close(stop)
	m := New(Options{Size: 1000, Stop: stop}, new(Fan))
	if err := m.readPast(&FilePosition{Path: path, Size: int64(len(log))}); !errors.Is(err, ErrStopped) {
		t.Errorf("%v", err)
	}
}

// TestNote checks that a later run knows of a window in the merged log when values were recorded,
// however long the intervals are that have them.
func TestNote(t *testing.T) {
	t.Parallel()
	const size = 10_000
	m := &Merger{options: Options{Size: size}}
	for _, recorded := range []merge.WindowCount{
		{Millis: size, Any: size},
		{Millis: 4000, Any: 4000},
		{Millis: 4000, Any: size, Moved: -1.5},
		{Millis: size, Any: size, Moved: 7, Every: true},
	} {
		for _, length := range []int64{4000, size, 11_000} {
			w := &Window{Merged: &merge.Merged{
				Window:   merge.Span{Start: 0, End: size},
				Sum:      merge.Sum{Start: 0, End: length},
				Recorded: recorded,
			}}
			again := m.pastWindow()
			note := w.Note()
			if whole := recorded == again.Merged.Recorded; whole != (note == "") {
				t.Errorf("%+v, intervals of %d ms: the note is %q", recorded, length, note)
			}
			if note != "" && !again.readNote([]byte("#"+note)) {
				t.Errorf("%q is no note", note)
			}
			if again.Merged.Recorded != recorded {
				t.Errorf("%+v, intervals of %d ms: %q gives %+v", recorded, length, note, again.Merged.Recorded)
			}
		}
	}
}
