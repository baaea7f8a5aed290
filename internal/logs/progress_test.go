package logs

import (
	"strings"
	"testing"
	"time"
)

// TestProgress reads at 50 MB a second by a clock of the test: no rate is ever shown that is far
// from that.
func TestProgress(t *testing.T) {
	now := time.Unix(0, 0)
	var out recorder
	p := &progress{w: &out, now: func() time.Time { return now }, begin: now, total: 200e6}
	for range 390 {
		now = now.Add(10 * time.Millisecond)
		p.add(500e3)
	}
	if len(out.writes) < 15 || len(out.writes) > 21 {
		t.Errorf("the line is shown %d times in the last two of four seconds", len(out.writes))
	}
	for _, line := range out.writes {
		if !strings.Contains(line, ", 50 MB/s, ") {
			t.Errorf("%q", line)
		}
	}
	if got, want := out.writes[0], "\r 50%  100 MB read, 50 MB/s, 2s left\x1b[K"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.stop()
	if last := out.writes[len(out.writes)-1]; last != "\r\x1b[K" {
		t.Errorf("the line stays: %q", last)
	}

	quiet := &progress{w: &out, now: func() time.Time { return now }, begin: now}
	shown := len(out.writes)
	quiet.add(1e9)
	if quiet.stop(); len(out.writes) != shown {
		t.Error("progress of less than two seconds is shown")
	}
	unknown := &progress{w: &out, now: func() time.Time { return now }, begin: now.Add(-time.Minute), read: 4e9}
	if unknown.add(2e9); out.writes[shown] != "\r6 GB read, 100 MB/s\x1b[K" {
		t.Errorf("%q", out.writes[shown])
	}
}
