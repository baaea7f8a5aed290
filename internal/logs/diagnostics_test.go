package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/scan"
)

// TestFollowMessages: a command that runs for long says when, and does not become silent.
func TestFollowMessages(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := NewDiagnostics(&message.Streams{Name: "hdrsum", Err: &out}, false)
	d.following = true
	for n := range 2 * maxDiagnostics {
		d.Warnf("message %d", n)
	}
	if n := len(regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d hdrsum: message \d+$`).FindAll(out.Bytes(), -1)); n != 2*maxDiagnostics {
		t.Errorf("%d messages", n)
	}
}

func TestDiagnostics(t *testing.T) {
	report := func(d *Diagnostics, line int, malformed bool, more ...any) error {
		return d.Report(&hdrlog.SyntaxError{File: "a\nb", Line: line, Field: "start", Err: fmt.Errorf("bad%s: %q", fmt.Sprint(more...), fmt.Sprint(line))}, malformed)
	}
	t.Run("alike", func(t *testing.T) {
		var out bytes.Buffer
		d := NewDiagnostics(&message.Streams{Name: "test", Err: &out}, false)
		for n := range 20 {
			report(d, n+1, true)
		}
		report(d, 21, true, " too")
		d.Close()
		want := "test: a\\nb:1: start: bad: \"1\"\ntest: a\\nb:2: start: bad: \"2\"\ntest: a\\nb:3: start: bad: \"3\"\ntest: a\\nb:21: start: bad too: \"21\"\n" +
			"test: a\\nb: 17 more lines: start: bad\ntest: skipped 21 malformed lines\n"
		if out.String() != want {
			t.Errorf("%s", out.String())
		}
	})
	t.Run("nothing", func(t *testing.T) {
		var out bytes.Buffer
		d := NewDiagnostics(&message.Streams{Name: "test", Err: &out}, false)
		if err := errors.Join(report(d, 1, false), d.Close()); err != nil || out.String() != "test: a\\nb:1: start: bad: \"1\"\n" {
			t.Errorf("%v, %q", err, out.String())
		}
	})
	t.Run("many", func(t *testing.T) {
		var out bytes.Buffer
		d := NewDiagnostics(&message.Streams{Name: "test", Err: &out}, false)
		for n := range maxDiagnostics + 5 {
			if err := report(d, n+1, true, n); err != nil {
				t.Fatal(err)
			}
		}
		d.LeaveOut(scan.Visit{Place: scan.Place{Name: "c", Line: 7}}, errors.New("late"))
		err := d.Close()
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		want := []string{"test: 6 more messages like these", "test: skipped 1005 malformed lines", "test: left out 1 interval"}
		if err != message.Status(message.Skipped) || len(lines) != maxDiagnostics+3 || !slices.Equal(lines[maxDiagnostics:], want) {
			t.Errorf("%v, %d lines, at the end %q", err, len(lines), lines[maxDiagnostics:])
		}
	})
	t.Run("far too many", func(t *testing.T) {
		var out bytes.Buffer
		d := NewDiagnostics(&message.Streams{Name: "test", Err: &out}, false)
		d.count.skipped = maxMalformed - 1
		if err := report(d, 1, true); err != nil {
			t.Error(err)
		}
		if err := report(d, 2, true); err == nil || err.Error() != "a\nb: more than 50 million malformed lines so far; is it a log?" {
			t.Error(err)
		}
	})
	t.Run("strict", func(t *testing.T) {
		d := NewDiagnostics(&message.Streams{Name: "test", Err: io.Discard}, true)
		if err := report(d, 1, false); err != nil {
			t.Errorf("a notice: %v", err)
		}
		if err := report(d, 2, true); err != message.Status(message.Skipped) {
			t.Errorf("a malformed line: %v", err)
		}
	})
}
