package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"hdrkit/hdrlog"
)

func TestStatus(t *testing.T) {
	for _, test := range []struct {
		name   string
		err    error
		status int
		stderr string
	}{
		{"fine", nil, OK, ""},
		{"error", errors.New("no such log"), Failed, "test: no such log\n"},
		{"usage", Usagef("-x %d", 5), Usage, "test: -x 5\ntest: see test -h for the options\n"},
		{"wrapped usage", fmt.Errorf("-baseline: %w", Usagef("no")), Usage, "test: -baseline: no\ntest: see test -h for the options\n"},
		{"status", Status(Exceeded), Exceeded, ""},
		{"reader gone", fmt.Errorf("write: %w", syscall.EPIPE), Failed, ""},
		{"control characters", &os.PathError{Op: "open", Path: "a\x1b]0;b\a\n\u202ec\xff", Err: os.ErrNotExist}, Failed,
			`test: open a\x1b]0;b\a\n\u202ec\xff: file does not exist` + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, stderr := run(t, nil, func(*cli.Context) error { return test.err })
			if status != test.status || stderr != test.stderr {
				t.Errorf("status %d, want %d\n%q, want\n%q", status, test.status, stderr, test.stderr)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	for signal, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		if got := interrupted(signal); got != want {
			t.Errorf("%v: status %d, want %d", signal, got, want)
		}
	}
}

func TestArguments(t *testing.T) {
	flags := append(InputFlags(), RunFlags()...)
	for _, test := range []struct {
		args string
		want string
	}{
		{"", "--"},
		{"a b", "-- a b"},
		{"a -v b", "-v -- a b"},
		{"-v -- -q -if", "-v -- -q -if"},
		{"--input-file a --if b -inputFile=c", "-if=a -if=b -if=c --"},
		{"-if -q -", "-if=-q -- -"},
		{"-q=false --quiet=true", "-q=false -q=true --"},
		{"-h", "h"},
		{"-v --help -nosuch", "help"},
		{"-if -h", "-if=-h --"},
		{"--version", "version"},
		{"-if", "-if needs a value"},
		{"-x", "there is no option -x"},
		{"--iff=a", `there is no option --iff; did you mean -if?`},
		{"--inputfile=a", `there is no option --inputfile; did you mean -inputFile?`},
		{"-verbos", `there is no option -verbos; did you mean -verbose?`},
		{"---", "there is no option ---"},
	} {
		t.Run(test.args, func(t *testing.T) {
			got, err := arguments(flags, strings.Fields(test.args))
			text := strings.Join(got, " ")
			if err != nil {
				text = err.Error()
			}
			if text != test.want {
				t.Errorf("%q, want %q", text, test.want)
			}
		})
	}
}

// TestPages writes help and version to a writer that fails.
func TestPages(t *testing.T) {
	for _, option := range []string{"-h", "--help", "--version"} {
		var out, errs bytes.Buffer
		app := &cli.App{Name: "test", Flags: RunFlags(), Writer: &out, ErrWriter: &errs}
		if status := Run(t.Context(), app, []string{option}); status != OK || out.Len() == 0 {
			t.Errorf("%s: status %d", option, status)
		}
		app.Writer = &limited{io.Discard, 3}
		if status := Run(t.Context(), app, []string{option}); status != Failed || errs.String() != "test: no more\n" {
			t.Errorf("%s to a full device: status %d, %q", option, status, errs.String())
		}
	}
}

// FuzzPrintable checks that no text controls a terminal, that different texts stay different in the
// sense that plain text is not changed, and that a line stays a line.
func FuzzPrintable(f *testing.F) {
	for _, text := range []string{"plain", "größe 東京", "\x1b[2J", "a\nb\r", "\xff\xfe", "\u202e", "\u009b31m", `\x1b`, "\ufffd"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Printable(text)
		if !utf8.ValidString(got) {
			t.Errorf("%q is not UTF-8", got)
		}
		for _, r := range got {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\u202e' {
				t.Errorf("%q holds %q", got, r)
			}
		}
		if Printable(got) != got {
			t.Errorf("%q changes when it is printed again", got)
		}
	})
}

func TestDiagnostics(t *testing.T) {
	report := func(d *Diagnostics, line int, malformed bool) error {
		return d.Report(&hdrlog.SyntaxError{File: "a\nb", Line: line, Field: "start", Err: errors.New("bad")}, malformed)
	}
	t.Run("nothing", func(t *testing.T) {
		var out bytes.Buffer
		d := NewDiagnostics(&out, "test", false)
		if err := errors.Join(report(d, 1, false), d.Close()); err != nil || out.String() != "test: a\\nb:1: start: bad\n" {
			t.Errorf("%v, %q", err, out.String())
		}
	})
	t.Run("many", func(t *testing.T) {
		var out bytes.Buffer
		d := NewDiagnostics(&out, "test", false)
		for n := range maxDiagnostics + 5 {
			if err := report(d, n+1, true); err != nil {
				t.Fatal(err)
			}
		}
		d.LeaveOut("c", 7, errors.New("late"))
		err := d.Close()
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		want := []string{"test: 6 more messages like these", "test: skipped 1005 malformed lines", "test: left out 1 interval"}
		if err != Status(Skipped) || len(lines) != maxDiagnostics+3 || !slices.Equal(lines[maxDiagnostics:], want) {
			t.Errorf("%v, %d lines, at the end %q", err, len(lines), lines[maxDiagnostics:])
		}
	})
	t.Run("far too many", func(t *testing.T) {
		var out bytes.Buffer
		d := NewDiagnostics(&out, "test", false)
		d.skipped = mostMalformed - 1
		if err := report(d, 1, true); err != nil {
			t.Error(err)
		}
		if err := report(d, 2, true); err == nil || err.Error() != "a\nb: more than 50 million malformed lines so far; is it a log?" {
			t.Error(err)
		}
	})
	t.Run("strict", func(t *testing.T) {
		d := NewDiagnostics(io.Discard, "test", true)
		if err := report(d, 1, false); err != nil {
			t.Errorf("a notice: %v", err)
		}
		if err := report(d, 2, true); err != Status(Skipped) {
			t.Errorf("a malformed line: %v", err)
		}
	})
}

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

// TestHelp checks that each option is in a group and that help names it.
func TestHelp(t *testing.T) {
	flags := slices.Concat(InputFlags(), TagFlags("take"), RangeFlags(Option{}), MovingFlags(), RunFlags(),
		[]cli.Flag{OmissionFlag(), IgnoreTagsFlag("take"), RatioFlag(), PercentilesFlag("50", "show"), AggregateFlag("", Option{}), OutputFlag("write")})
	app := &cli.App{Name: "test", Flags: flags}
	unwrap(app)
	page := help(app)
	for _, flag := range flags {
		if group := flag.(cli.CategorizableFlag).GetCategory(); group == "" {
			t.Errorf("-%s is in no group", flag.Names()[0])
		}
		if name := flag.Names()[0]; name != "ifp" && !strings.Contains(page, "  -"+name) {
			t.Errorf("help does not name -%s", name)
		}
	}
	for line := range strings.SplitSeq(page, "\n") {
		if len(line) > helpWidth {
			t.Errorf("%q is longer than %d", line, helpWidth)
		}
	}
}

// TestCrash: a command that crashes does not end as one with a wrong command line.
func TestCrash(t *testing.T) {
	if os.Getenv("CLI_CRASH") != "" {
		os.Args = os.Args[:1]
		os.Exit(Main(&cli.App{Name: "test", Action: func(*cli.Context) error {
			os.Args[len(os.Args)] = "" // out of range
			return nil
		}}))
	}
	command := exec.Command(os.Args[0], "-test.run=^TestCrash$")
	command.Env = append(os.Environ(), "CLI_CRASH=1")
	command.Dir = t.TempDir() // for a core dump
	out, err := command.CombinedOutput()
	if code := command.ProcessState.ExitCode(); err == nil || code == Usage || !strings.Contains(string(out), "index out of range") {
		t.Errorf("exit status %d: %s", code, out)
	}
}

// TestShortText cuts descriptions at the end of a clause.
func TestShortText(t *testing.T) {
	for usage, want := range map[string]string{
		"print values in this UNIT: ns, us, ms or s; with -ovr, any name of the unit of the results": "print values in this UNIT: ns, us, ms or s",
		"draw this TYPE: timeline, percentiles, heatmap, throughput, report":                         "draw this TYPE: timeline, percentiles, heatmap, ...",
		"leave out intervals that start before TIME: from the start of the log (60, 90s, 1h5m)":      "leave out intervals that start before TIME",
		"draw these TAGS only, a list of tags and regular expressions that match whole tags":         "draw these TAGS only",
	} {
		if got := (&option{usage: usage}).shortText(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
