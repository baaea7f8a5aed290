// Package cli is what the commands share: options, inputs, diagnostics, progress, output files and exit status.
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
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"hdrkit/internal/tempfile"
)

// Exit statuses.
const (
	OK       = 0
	Failed   = 1 // an error, nothing written
	Usage    = 2 // the command line makes no sense
	Skipped  = 3 // something in the input could not be read, or shown; the rest is written
	Exceeded = 4 // a limit that was asked about does not hold
)

// A UsageError is what is wrong with a command line.
type UsageError struct{ error }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// A Status ends a command with that exit status, without a message.
type Status int

func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Main runs a command on the process's standard streams and returns its exit status.
func Main(app *cli.App) int {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as it is under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	// Whatever the command waits for, a read of a pipe perhaps: it ends here, and what it has begun to write goes.
	finished := context.AfterFunc(ctx, func() {
		tempfile.Abandon()
		fmt.Fprintf(os.Stderr, "%s: interrupted\n", app.Name)
		os.Exit(Failed)
	})
	defer finished()
	app.Reader, app.Writer, app.ErrWriter = os.Stdin, os.Stdout, os.Stderr
	return Run(ctx, app, os.Args[1:])
}

// Run runs a command, whose streams are set, and returns its exit status. An error of the command's action is told on its
// standard error as NAME: error.
func Run(ctx context.Context, app *cli.App, args []string) int {
	app.Version = version()
	app.HideHelpCommand = true
	app.DisableSliceFlagSeparator = true // a regular expression may hold a comma
	for _, f := range app.Flags {
		if list, ok := f.(*cli.StringSliceFlag); ok {
			list.KeepSpace = true // so may names and tags
		}
	}
	if slices.ContainsFunc(args, asksForHelp) {
		// Making it takes longer than a small log does.
		app.CustomAppHelpTemplate = strings.ReplaceAll(help(app), "{{", "{{`{{`}}")
	}
	app.ExitErrHandler = func(*cli.Context, error) {}
	// To find the options that have an action of their own, which none has, takes the library longer than to start up.
	app.Before = func(c *cli.Context) error {
		c.Command.Flags = nil // those of the app remain
		return nil
	}
	app.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return UsageError{err} }
	cli.HelpFlag = &cli.BoolFlag{Name: "h", Aliases: []string{"help"}, Usage: "print this help", DisableDefaultText: true}
	cli.VersionFlag = &cli.BoolFlag{Name: "version", Usage: "print the version", DisableDefaultText: true}

	err := app.RunContext(ctx, append([]string{app.Name}, optionsFirst(app.Flags, args)...))
	var usage UsageError
	var status Status
	switch {
	case err == nil:
		return OK
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, syscall.EPIPE):
		return Failed // whoever was reading has gone, and does not want to hear of it
	case errors.As(err, &usage):
		fmt.Fprintf(app.ErrWriter, "%s: %v\n%s: see %s -h for the options\n", app.Name, err, app.Name, app.Name)
		return Usage
	}
	fmt.Fprintf(app.ErrWriter, "%s: %v\n", app.Name, err)
	return Failed
}

// asksForHelp reports whether an argument may be -h or --help.
func asksForHelp(arg string) bool { return strings.HasPrefix(strings.TrimLeft(arg, "-"), "h") }

// version returns the module's version, if it was built with one.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// optionsFirst moves the options before the other arguments, since the flag package stops at the first that is none, and
// gives each its first name, since the library does not take two names of one option together. After -- all are others.
func optionsFirst(flags []cli.Flag, args []string) []string {
	var options, others []string
	for n := 0; n < len(args); n++ {
		arg := args[n]
		if arg == "--" {
			others = append(others, args[n+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			others = append(others, arg)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		flag := flagNamed(flags, name)
		if flag == nil {
			options = append(options, arg) // for the library to complain of
			continue
		}
		option := "-" + flag.Names()[0]
		if hasValue {
			option += "=" + value
		}
		options = append(options, option)
		if _, isBool := flag.(*cli.BoolFlag); isBool || hasValue {
			continue
		}
		if n++; n == len(args) {
			return options // the last one lacks its value, which the library complains of
		}
		options = append(options, args[n])
	}
	return append(append(options, "--"), others...)
}

func flagNamed(flags []cli.Flag, name string) cli.Flag {
	for _, flag := range flags {
		if slices.Contains(flag.Names(), name) {
			return flag
		}
	}
	return nil
}

// Terminal reports whether w is one.
func Terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(int(f.Fd()))
}
