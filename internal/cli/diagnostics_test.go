package cli

import (
	"bytes"
	"regexp"
	"testing"
)

// TestFollowMessages: a command that runs for long says when, and does not become silent.
func TestFollowMessages(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := NewDiagnostics(&out, "hdrsum", false)
	d.follows = true
	for n := range 2 * maxDiagnostics {
		d.Warnf("message %d", n)
	}
	if n := len(regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d hdrsum: message \d+$`).FindAll(out.Bytes(), -1)); n != 2*maxDiagnostics {
		t.Errorf("%d messages", n)
	}
}
