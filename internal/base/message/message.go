// Package message prints the messages of commands, and has their exit statuses.
//
// A message is one line, NAME: message, in lower case without a full stop. Where a hint helps, the
// hint follows a semicolon. No byte of a log, of a file name or of an argument controls the
// terminal.
package message

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Exit statuses.
const (
	OK        = 0
	Failed    = 1        // an error; nothing is written
	Usage     = 2        // the command line is wrong
	Skipped   = 3        // something in the input could not be read or shown; the rest is written
	Exceeded  = 4        // a limit does not hold
	Undecided = 5        // a limit is undecided
	Unread    = 128 + 13 // the reader of the output has gone: a shell has this status for SIGPIPE
)

// A UsageError is an error in the command line.
type UsageError struct{ error }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// A Status is an error that ends a command with an exit status and without a message.
type Status int

func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Streams are the standard streams of a command.
type Streams struct {
	Name     string // name of the command; messages begin with it
	In       io.Reader
	Out, Err io.Writer
	Quiet    bool // Notef prints nothing
	// Next completes a command that a finding suggests with the logs and options of the command
	// line. It is nil if there is no command line.
	Next func(command string) string
}

// Say prints a message.
func (s *Streams) Say(format string, args ...any) { Print(s.Err, s.Name, fmt.Sprintf(format, args...)) }

// Notef prints a message, unless the command is quiet.
func (s *Streams) Notef(format string, args ...any) {
	if !s.Quiet {
		s.Say(format, args...)
	}
}

// Verbosef prints a line for the option -v.
func (s *Streams) Verbosef(format string, args ...any) {
	fmt.Fprintln(s.Err, Printable(fmt.Sprintf(format, args...)))
}

// Quoted returns an argument in the quotes that a shell needs.
func Quoted(argument string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-./,:+@%=", c)
	}
	if argument != "" && strings.IndexFunc(argument, func(c rune) bool { return !plain(c) }) < 0 {
		return argument
	}
	return "'" + strings.ReplaceAll(Printable(argument), "'", `'\''`) + "'"
}

// Print prints one line. It leaves out the middle of a very long text, such as a list of names.
func Print(w io.Writer, command, text string) {
	fmt.Fprintf(w, "%s: %s\n", command, Printable(shortened(text)))
}

// maxText is the most bytes of a message. A longer message keeps its last maxEnd bytes, since hints
// are there.
const maxText, maxEnd = 4000, 1000

// shortened returns a text without its middle if it is very long.
func shortened(text string) string {
	if len(text) <= maxText {
		return text
	}
	begin := strings.ToValidUTF8(text[:maxText-maxEnd], "")
	end := strings.ToValidUTF8(text[len(text)-maxEnd:], "")
	return fmt.Sprintf("%s ... (%d bytes are left out) ... %s", begin, len(text)-len(begin)-len(end), end)
}

// Printable returns text on one line, in which no byte controls a terminal: it escapes characters
// that cannot be printed and bytes that are not UTF-8, as Go does.
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

// Terminal reports whether a stream is a terminal.
func Terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// List returns names with commas between them. Of more than 12 names it has the first 10 and the
// number of the others.
func List(names []string) string { return ListFirst(names, 12, 10) }

// ListFirst returns names with commas between them. Of more than limit names it has the first ones,
// shown of them, and the number of the others.
func ListFirst(names []string, limit, shown int) string {
	if len(names) > limit {
		return fmt.Sprintf("%s, ... and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, ", ")
}

// Number returns a number and the name of things, in the plural unless n is 1.
func Number(n int, things string) string {
	if n != 1 {
		things += "s"
	}
	return fmt.Sprintf("%d %s", n, things)
}
