package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hdrkit/internal/base/message"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/clitest"
	"hdrkit/internal/logs"
)

func TestStatus(t *testing.T) {
	for _, test := range []struct {
		name   string
		err    error
		status int
		stderr string
	}{
		{"fine", nil, message.OK, ""},
		{"error", errors.New("no such log"), message.Failed, "test: no such log\n"},
		{"usage", message.Usagef("-x %d", 5), message.Usage, "test: -x 5\ntest: see test -h for the options\n"},
		{"wrapped usage", fmt.Errorf("-baseline: %w", message.Usagef("no")), message.Usage, "test: -baseline: no\ntest: see test -h for the options\n"},
		{"status", message.Status(message.Exceeded), message.Exceeded, ""},
		{"reader gone", fmt.Errorf("write: %w", syscall.EPIPE), message.Unread, ""},
		{"control characters", &os.PathError{Op: "open", Path: "a\x1b]0;b\a\n\u202ec\xff", Err: os.ErrNotExist}, message.Failed,
			`test: open a\x1b]0;b\a\n\u202ec\xff: file does not exist` + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, stderr := run(nil, func() error { return test.err })
			if status != test.status || stderr != test.stderr {
				t.Errorf("status %d, want %d\n%q, want\n%q", status, test.status, stderr, test.stderr)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	for signal, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		if got := interruptedStatus(signal); got != want {
			t.Errorf("%v: status %d, want %d", signal, got, want)
		}
	}
}

func TestArguments(t *testing.T) {
	c := Command{Options: append(InputOptions(new(logs.Inputs)), RunOptions(new(message.Streams), new(logs.Run))...)}
	for _, test := range []struct {
		args string
		want string
	}{
		{"", "--"},
		{"a b", "-- a b"},
		{"a -v b", "-v=true -- a b"},
		{"-v -- -x -q.hdr", "-v=true -- -x -q.hdr"},
		{"-v -- -q", "-q after -- is the name of a log: options stand before --"},
		{"-- a -if=b", "-if after -- is the name of a log: options stand before --"},
		{"a -- b -v -- -q", "-v=true -q=true -- a b --"},
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
			c.Separates = strings.HasPrefix(test.args, "a -- b")
			got, err := c.arguments(strings.Fields(test.args))
			text := strings.Join(append(append(got.options, "--"), got.args...), " ")
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
		app := &Command{Streams: message.Streams{Name: "test", Out: &out, Err: &errs}}
		if status := Run(app, []string{option}); status != message.OK || out.Len() == 0 {
			t.Errorf("%s: status %d", option, status)
		}
		app.Streams.Out = full{}
		if status := Run(app, []string{option}); status != message.Failed || errs.String() != "test: full\n" {
			t.Errorf("%s to a full device: status %d, %q", option, status, errs.String())
		}
	}
}

// full is a writer that fails.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

// TestHelp checks that each option is in a group and that help names it, unless it is hidden.
func TestHelp(t *testing.T) {
	o, c := new(logs.Options), &Command{Streams: message.Streams{Name: "test"}}
	c.Options = slices.Concat(InputOptions(&o.Inputs), TagOptions(&o.Tags, &o.Inputs, "take"), TimeOptions(&o.Times, Rules{}), RunOptions(&c.Streams, &o.Run),
		[]Option{OmissionOption(&o.Omission), IgnoreTagsOption(&o.Tags, "take"), RatioOption(new(unit.Options)), PercentilesOption(Text(new(string), "50"), "show"), AggregateOption(new(int64), Option{}), OutputOption(new(string), "write")})
	page := c.help()
	for _, o := range c.Options {
		if o.Group == "" {
			t.Errorf("-%s is in no group", o.Name)
		}
		if o.Hidden == strings.Contains(page, "  -"+o.Name) {
			t.Errorf("-%s is hidden: %v, but not in help", o.Name, o.Hidden)
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
		os.Exit(Main(&Command{Streams: message.Streams{Name: "test"}, Action: func() error {
			os.Args[len(os.Args)] = "" // out of range
			return nil
		}}))
	}
	command := exec.Command(os.Args[0], "-test.run=^TestCrash$")
	command.Env = append(os.Environ(), "CLI_CRASH=1")
	command.Dir = t.TempDir() // for a core dump
	out, err := command.CombinedOutput()
	if code := command.ProcessState.ExitCode(); err == nil || code == message.Usage || !strings.Contains(string(out), "index out of range") {
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
		if got := (&Option{Usage: usage}).shortDescription(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestPutOffCollection checks that garbage is collected as usual after the first time.
func TestPutOffCollection(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	runtime.GC() // so that none comes soon
	putOffCollection()
	percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	if metrics.Read(percent); percent[0].Value.Uint64() != 400 {
		t.Errorf("at first, garbage is collected at %d%%", percent[0].Value.Uint64())
	}
	runtime.GC()
	clitest.Await(t, "the usual percentage", nil, func() bool {
		metrics.Read(percent)
		return percent[0].Value.Uint64() == 100
	})
}
