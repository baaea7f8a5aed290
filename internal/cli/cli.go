// Package cli is the grammar of the command lines: options, their values and rules, help, manual
// pages, completion, hints and exit status. Options fill structs of their commands and of package
// logs, which do the work and know no options.
//
// These are the manners of all commands:
//
//   - Standard output has the result and nothing else. All other text goes to standard error.
//   - A message is one line, see package message. One about a line of a log reads NAME: FILE:LINE:
//     FIELD: cause.
//   - An option has one name, one meaning and one grammar in all commands. A length of time is a
//     number of seconds or has a unit ([Length]). A file is read by -if, written by -of. An option
//     that would change nothing is refused.
//   - A misspelled option, type or tag gets a suggestion.
//   - Where no log is named, a command reads standard input, unless that is a terminal.
//   - A file appears whole or not at all, and several files appear together ([logs.WriteFiles]).
//     No output replaces an input.
//   - Standard output gets whole lines: a command that is interrupted does not end in the middle of
//     a line.
//   - Progress is shown on a terminal only, and only if a command takes longer than two seconds.
//   - A malformed line costs that line only. -strict makes it an error.
//   - The exit status is one of those of package message. A command that a signal ends exits
//     with 128 and the number of the signal: 130 after Ctrl-C. A command that follows logs, or
//     that reads a pipe, writes what it has first ([OnInterrupt]).
//   - A reader that goes away, as head does, ends a command with status 141 and without a message.
//
// The library urfave/cli sets the options. This package has its own arguments, values, help, manual
// pages and completion: options may follow logs, and completion knows the values of options and the
// tags of the logs at hand.
package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"hdrkit/internal/base/message"
	"hdrkit/internal/base/tempfile"
	"hdrkit/internal/logs"
	"hdrkit/internal/scan"
)

// A Command describes a command: its help, its options and arguments, and the action to call when
// they are set.
type Command struct {
	Streams     message.Streams
	Usage       string // what the command does, in a few words
	UsageText   string
	Description string // examples, an empty line, and the rest of the text of help
	// Common are the first names of the options that -h prints.
	Common  []string
	Options []Option
	// Args gets the arguments, and the number of arguments before --.
	Args func(args []string, before int) error
	// Separates reports that -- between arguments separates two lists of arguments, and that
	// options may follow it.
	Separates bool
	// Outputs returns what a command line prints, as [Rules.Only] names it. It may be nil if no
	// option has Only.
	Outputs func() []string
	// Implied returns the option that chooses the outputs if none names them, and otherwise an
	// empty text. It may be nil.
	Implied func() string
	Action  func() error
}

// Main runs a command on the process's standard streams and returns its exit status.
func Main(c *Command) int {
	debug.SetTraceback("crash") // otherwise a crash would exit with the status of a wrong command line
	putOffCollection()
	// Writing to a pipe without a reader is an error like any other, so that temporary files are
	// removed.
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		s := waitInterrupt(signals)
		logs.EndStdout()
		tempfile.Abandon()
		message.Print(os.Stderr, c.Streams.Name, "interrupted")
		os.Exit(interruptedStatus(s))
	}()
	c.Streams.In = os.Stdin
	c.Streams.Out = os.Stdout
	c.Streams.Err = os.Stderr
	return Run(c, os.Args[1:])
}

// putOffCollection lets the first collection of garbage happen at 16 MB instead of 4 MB. A command
// that reads a short log then takes 0.8 of the time.
func putOffCollection() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(400)
	garbage := new([64]byte)
	runtime.AddCleanup(garbage, func(percent int) { debug.SetGCPercent(percent) }, usual)
}

// An ending is what a command does after the first signal to end. limit is how long the command may
// take, 0 for no limit.
type ending struct {
	begin func(hangup bool)
	limit time.Duration
}

var endings atomic.Pointer[ending]

// OnInterrupt lets the first signal call begin instead of ending the process. hangup reports that
// the signal is SIGHUP. The command must then end within limit, or may take any time if limit is 0.
// A second signal ends the process at once.
func OnInterrupt(limit time.Duration, begin func(hangup bool)) { endings.Store(&ending{begin, limit}) }

// waitInterrupt waits for the signal that ends the process, and returns the signal. The first
// signal only starts the ending, if there is one.
func waitInterrupt(signals <-chan os.Signal) os.Signal {
	s := <-signals
	e := endings.Load()
	if e == nil {
		return s
	}
	e.begin(s == syscall.SIGHUP)
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

// interruptedStatus returns the exit status of a command that a signal ended.
func interruptedStatus(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return message.Failed
}

// Run runs a command, whose streams are set, and returns its exit status. It prints the error of
// the action.
func Run(c *Command, args []string) int {
	line, err := c.arguments(args)
	if len(args) == 1 && (args[0] == "help" || args[0] == "version") {
		if _, missing := os.Stat(args[0]); missing != nil { // no log has this name
			err = map[string]error{"help": errShortHelp, "version": errVersion}[args[0]]
		}
	}
	switch {
	case len(args) == 2 && args[0] == "--generate":
		var page string
		if page, err = c.generate(args[1]); err == nil {
			err = printPage(c.Streams.Out, page)
		}
	case len(args) > 2 && args[0] == "--complete":
		err = printPage(c.Streams.Out, c.complete(args[1], args[2:]))
	case err == errShortHelp:
		err = printPage(c.Streams.Out, c.shortHelp())
	case err == errHelp:
		err = printPage(c.Streams.Out, c.help())
	case err == errVersion:
		err = printPage(c.Streams.Out, c.Streams.Name+" version "+version()+"\n")
	case err == nil:
		if err = c.apply(line); err == nil {
			err = c.Action()
		}
	}
	var usage message.UsageError
	var status message.Status
	switch {
	case err == nil:
		return message.OK
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, syscall.EPIPE):
		return message.Unread // the reader has gone, and wants no message
	case errors.As(err, &usage), errors.As(err, new(scan.OptionError)):
		c.Streams.Say("%v", err)
		c.Streams.Say("see %s -h for the options", c.Streams.Name)
		return message.Usage
	}
	c.Streams.Say("%s", err.Error()+logs.Hint(err))
	return message.Failed
}

// apply stores a command line in the options and arguments, by way of the library.
func (c *Command) apply(line line) error {
	app := &cli.App{
		Name:            c.Streams.Name,
		Writer:          c.Streams.Out,
		ErrWriter:       c.Streams.Err,
		HideHelp:        true,
		HideVersion:     true,
		HideHelpCommand: true,
		ExitErrHandler:  func(*cli.Context, error) {},
		OnUsageError:    func(_ *cli.Context, err error, _ bool) error { return message.Usagef("%w", err) },
		Action:          func(*cli.Context) error { return nil },
	}
	for n := range c.Options { // under one name each, see [Command.arguments]
		o := &c.Options[n]
		app.Flags = append(app.Flags, &cli.GenericFlag{Name: o.Name, Value: setter{o}})
	}
	if err := app.RunContext(context.Background(), append([]string{c.Streams.Name}, line.options...)); err != nil {
		return err
	}
	c.Streams.Next = c.next(line)
	if err := c.setOptions(); err != nil || c.Args == nil {
		return err
	}
	return c.Args(line.args, line.beforeDashes)
}

func printPage(w io.Writer, page string) error {
	_, err := io.WriteString(w, page)
	return err
}
