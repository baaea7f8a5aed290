package cli

import (
	"fmt"
	"io"

	"hdrkit/hdrlog"
)

// maxDiagnostics is how many lines of diagnostics are printed before the rest are only counted.
const maxDiagnostics = 1000

// Diagnostics tells people what is wrong with their logs, a line each, and counts it.
type Diagnostics struct {
	w       io.Writer
	command string
	strict  bool
	printed int
	silent  int // how many were not printed
	skipped int // how many lines of the logs were
	left    int // how many intervals were read but not shown
}

// NewDiagnostics returns the diagnostics of a command, which go to w. If strict is set the first malformed line is an
// error.
func NewDiagnostics(w io.Writer, command string, strict bool) *Diagnostics {
	return &Diagnostics{w: w, command: command, strict: strict}
}

// Report tells of a line of a log, which is skipped if it is malformed.
func (d *Diagnostics) Report(err *hdrlog.SyntaxError, malformed bool) error {
	if malformed {
		d.skipped++
	}
	d.print(err.Error())
	if malformed && d.strict {
		return Status(Skipped)
	}
	return nil
}

// LeaveOut tells of an interval that was read but cannot be shown.
func (d *Diagnostics) LeaveOut(name string, line int, err error) {
	d.left++
	d.print(fmt.Sprintf("%s:%d: %v", name, line, err))
}

// Warnf tells of something else.
func (d *Diagnostics) Warnf(format string, args ...any) { d.print(fmt.Sprintf(format, args...)) }

func (d *Diagnostics) print(message string) {
	if d.printed == maxDiagnostics {
		d.silent++
		return
	}
	d.printed++
	fmt.Fprintf(d.w, "%s: %s\n", d.command, message)
}

// Skipped returns how many malformed lines there were.
func (d *Diagnostics) Skipped() int { return d.skipped }

// Close tells how much was skipped, and what was left out, and returns the status for it, nil if nothing was.
func (d *Diagnostics) Close() error {
	if d.silent > 0 {
		fmt.Fprintf(d.w, "%s: %d more messages like these\n", d.command, d.silent)
	}
	if d.skipped > 0 {
		fmt.Fprintf(d.w, "%s: skipped %s\n", d.command, number(d.skipped, "malformed line"))
	}
	if d.left > 0 {
		fmt.Fprintf(d.w, "%s: left out %s\n", d.command, number(d.left, "interval"))
	}
	if d.skipped+d.left > 0 {
		return Status(Skipped)
	}
	return nil
}

func number(n int, things string) string {
	if n != 1 {
		things += "s"
	}
	return fmt.Sprintf("%d %s", n, things)
}
