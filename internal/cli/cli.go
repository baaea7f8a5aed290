// Package cli is what the commands share: options, inputs, messages, progress, output files and
// exit status.
//
// These are the manners of all commands:
//
//   - Standard output has the result and nothing else. All other text goes to standard error.
//   - A message is one line, NAME: message, in lower case without a full stop. A message about a
//     line of a log reads NAME: FILE:LINE: FIELD: cause. Where a hint helps, it follows a
//     semicolon.
//   - No byte of a log, of a file name or of an argument controls the terminal: messages escape
//     such bytes ([Printable]).
//   - An option has one name, one meaning and one grammar in all commands. A length of time is a
//     number of seconds or has a unit ([Length]). A file is read by -if, written by -of. An option
//     that would change nothing is refused.
//   - A misspelled option, type or tag gets a suggestion.
//   - Where no log is named, a command reads standard input, unless that is a terminal.
//   - A file appears whole or not at all, and several files appear together ([WriteFiles]). No
//     output replaces an input.
//   - Standard output gets whole lines: a command that is interrupted does not end in the middle of
//     a line.
//   - Progress is shown on a terminal only, and only if a command takes longer than two seconds.
//   - A malformed line costs that line only. -strict makes it an error.
//   - The exit status is 0 ([OK]), 1 ([Failed]), 2 ([Usage]), 3 ([Skipped]), 4 ([Exceeded]) or 5
//     ([Undecided]). A command that a signal ends exits with 128 and the number of the signal: 130
//     after Ctrl-C. A command that follows logs, or that reads a pipe, writes what it has first
//     ([OnInterrupt]).
//   - A reader that goes away, as head does, ends a command without a message.
//
// The library urfave/cli declares options with their aliases, values and categories, and sets them.
// These parts of it are replaced:
//
//   - Arguments ([arguments]): it takes options only before the first log, and not two names of
//     one option. Suggestions for misspelled names come from there.
//   - Help ([help], [shortHelp]): it has one page, not a short one as well, does not fill lines to
//     a width, and has no examples. Its -v prints the version; here that is -verbose.
//   - Manual pages and completion ([man], [complete]): its manual page is Markdown, and its
//     completion knows the names of options only, neither their values nor the tags of the logs at
//     hand.
//   - The list of options whose actions it runs is emptied before a command begins, and [Given]
//     replaces IsSet: both look options up by regular expressions, which takes longer than to read
//     a short log.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"hdrkit/internal/base/tempfile"
)

// Exit statuses.
const (
	OK        = 0
	Failed    = 1 // an error; nothing is written
	Usage     = 2 // the command line is wrong
	Skipped   = 3 // something in the input could not be read or shown; the rest is written
	Exceeded  = 4 // a limit does not hold
	Undecided = 5 // a limit is undecided
)

// A UsageError is an error in the command line.
type UsageError struct{ error }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// A Status is an error that ends a command with an exit status and without a message.
type Status int

func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Main runs a command on the process's standard streams and returns its exit status.
func Main(app *cli.App) int {
	debug.SetTraceback("crash") // the exit status of a crash would be that of a wrong command line
	// A write to a pipe that nobody reads is an error like any other: temporary files must go
	// first.
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		s := waitInterrupt(signals)
		endStdout()
		tempfile.Abandon()
		message(os.Stderr, app.Name, "interrupted")
		os.Exit(interrupted(s))
	}()
	app.Reader, app.Writer, app.ErrWriter = os.Stdin, os.Stdout, os.Stderr
	return Run(context.Background(), app, os.Args[1:])
}

// An ending is what a command does when a signal interrupts it.
type ending struct {
	begin func()
	limit time.Duration
}

var endings atomic.Pointer[ending]

// OnInterrupt has the first signal call begin instead of ending the process. The process has limit
// to end by itself then, 0 for as long as it takes. A second signal ends it at once.
func OnInterrupt(limit time.Duration, begin func()) { endings.Store(&ending{begin, limit}) }

// waitInterrupt returns the signal that must end the process.
func waitInterrupt(signals <-chan os.Signal) os.Signal {
	s := <-signals
	e := endings.Load()
	if e == nil {
		return s
	}
	e.begin()
	var late <-chan time.Time
	if e.limit > 0 {
		late = time.After(e.limit)
	}
	select {
	case s = <-signals:
	case <-late:
	}
	return s
}

// interrupted returns the exit status of a command that a signal ends.
func interrupted(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return Failed
}

// Run runs a command, whose streams are set, and returns its exit status. It prints an error of the
// command's action.
func Run(ctx context.Context, app *cli.App, args []string) int {
	app.HideHelp, app.HideVersion, app.HideHelpCommand = true, true, true
	app.DisableSliceFlagSeparator = true // a regular expression may hold a comma
	unwrap(app)
	for _, f := range app.Flags {
		if list, ok := f.(*cli.StringSliceFlag); ok {
			list.KeepSpace = true // names and tags may begin or end with spaces
		}
	}
	app.ExitErrHandler = func(*cli.Context, error) {}
	app.Before = func(c *cli.Context) error {
		// The library looks for the actions of these flags, and no flag has one. The app keeps its
		// own list.
		c.Command.Flags = nil
		return checkOptions(c)
	}
	app.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return UsageError{err} }

	options, err := arguments(app.Flags, args)
	if len(args) == 1 && (args[0] == "help" || args[0] == "version") {
		if _, missing := os.Stat(args[0]); missing != nil { // no log has this name
			err = map[string]error{"help": errShortHelp, "version": errVersion}[args[0]]
		}
	}
	switch {
	case len(args) == 2 && args[0] == "--generate":
		var page string
		if page, err = generate(app, args[1]); err == nil {
			err = printPage(app.Writer, page)
		}
	case len(args) > 2 && args[0] == "--complete":
		err = printPage(app.Writer, complete(app, args[1], args[2:]))
	case err == errShortHelp:
		err = printPage(app.Writer, shortHelp(app))
	case err == errHelp:
		err = printPage(app.Writer, help(app))
	case err == errVersion:
		err = printPage(app.Writer, app.Name+" version "+version()+"\n")
	case err == nil:
		err = app.RunContext(ctx, append([]string{app.Name}, options...))
	}
	var usage UsageError
	var status Status
	switch {
	case err == nil:
		return OK
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, syscall.EPIPE):
		return Failed // the reader has gone, and wants no message
	case errors.As(err, &usage):
		message(app.ErrWriter, app.Name, err.Error())
		message(app.ErrWriter, app.Name, "see "+app.Name+" -h for the options")
		return Usage
	}
	message(app.ErrWriter, app.Name, err.Error()+Hint(err))
	return Failed
}

func printPage(w io.Writer, page string) error {
	_, err := io.WriteString(w, page)
	return err
}

// message prints one line.
func message(w io.Writer, command, text string) { fmt.Fprintf(w, "%s: %s\n", command, Printable(text)) }

// Printable returns text on one line, in which no byte controls a terminal: characters that cannot
// be printed are escaped as in Go, and so are bytes that are not UTF-8.
func Printable(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case strconv.IsGraphic(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// Errors of arguments that ask for a page instead.
var (
	errShortHelp = errors.New("h")
	errHelp      = errors.New("help")
	errVersion   = errors.New("version")
)

// arguments makes a command line fit the flag package: options first, since that package stops at
// the first argument that is none, and each by its first name, since the library does not take two
// names of one option together. After -- there are no options. What -compare compares is a
// -baseline and a log, where there is such an option: two arguments, or those before -- and those
// after it.
func arguments(flags []cli.Flag, args []string) ([]string, error) {
	var options, others []string
	before := 0 // of the others, those before --
	for n := 0; n < len(args); n++ {
		arg := args[n]
		if arg == "--" {
			before = len(others)
			others = append(others, args[n+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			others = append(others, arg)
			continue
		}
		option, value, hasValue := strings.Cut(arg, "=")
		name := strings.TrimPrefix(option[1:], "-")
		flag := flagNamed(flags, name)
		_, isBool := flag.(*cli.BoolFlag)
		switch {
		case flag != nil:
		case name == "h":
			return nil, errShortHelp
		case name == "help":
			return nil, errHelp
		case name == "version":
			return nil, errVersion
		default:
			return nil, Usagef("there is no option %s%s", option, hintFor(flags, name))
		}
		option = "-" + flag.Names()[0]
		switch {
		case hasValue:
			option += "=" + value
		case isBool:
		case n+1 == len(args):
			return nil, Usagef("-%s needs a value", name)
		default:
			n++
			option += "=" + args[n]
		}
		options = append(options, option)
	}
	if n := slices.IndexFunc(options, func(o string) bool { return o == "-compare" || o == "-compare=true" }); n >= 0 && flagNamed(flags, "baseline") != nil {
		if before == 0 && len(others) == 2 {
			before = 1
		}
		if before == 0 || before == len(others) {
			return nil, Usagef("-compare takes two arguments, before and after: a log each, or a folder or pattern of runs each; there are %d. OLD... -- NEW... takes several", len(others))
		}
		options[n] = "-runs"
		for _, log := range others[:before] {
			options = append(options, "-baseline="+log)
		}
		others = others[before:]
	}
	return append(append(options, "--"), others...), nil
}

// typed are names that people type although no option has them, with the option that the hint
// names: the hint is for commands that have it, or for all if it is empty.
var typed = []struct{ names, option, hint string }{
	{"tag tags t include", "incT", "-incT chooses tags"},
	{"exclude", "excT", "-excT leaves tags out"},
	{"warmup warm-up skip", "ci", "-s steady leaves the warm-up out, -s 60 the first minute"},
	{"warmup warm-up skip", "type", "-s steady leaves the warm-up out, -s 60 the first minute"},
	{"warmup warm-up skip", "s", "-s 60 leaves the first minute out"},
	{"o out output", "of", "-of names the output"},
	{"o out output", "od", "-od names the folder of the output"},
	{"i in input file", "if", "a log is an argument, or -if"},
	{"format json csv md markdown", "st", "-st chooses what to print"},
	{"format chart kind", "type", "-type chooses what to draw"},
	{"window interval every step", "agg", "-agg merges the intervals of each window"},
	{"percentile quantile quantiles p50 p90 p95 p99 p99.9 p999", "p", "-p 50,99,99.9 chooses percentiles"},
	{"units", "unit", "-unit chooses the unit to print"},
	{"web port http listen address", "serve", "-serve 127.0.0.1:8080 shows a page"},
	{"follow f watch live serve listen state abort idle for grace schema auth tls-cert tls-key open web port http address", "", "hdrlive shows logs while they are written"},
}

// hintFor returns a hint for the name of an option that does not exist.
func hintFor(flags []cli.Flag, name string) string {
	for _, t := range typed {
		if slices.Contains(strings.Fields(t.names), name) && (t.option == "" || flagNamed(flags, t.option) != nil) {
			return "; " + t.hint
		}
	}
	if best := nearest(name, optionNames(flags)); best != "" {
		return "; did you mean -" + best + "?"
	}
	return ""
}

func flagNamed(flags []cli.Flag, name string) cli.Flag {
	for _, flag := range flags {
		if slices.Contains(flag.Names(), name) {
			return flag
		}
	}
	return nil
}

// optionNames returns all names of options.
func optionNames(flags []cli.Flag) []string {
	names := []string{"help", "version"}
	for _, flag := range flags {
		names = append(names, flag.Names()...)
	}
	return names
}

// Terminal reports whether a stream is a terminal.
func Terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
