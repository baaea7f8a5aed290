package logs

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"hdrkit/internal/base/message"
)

// Width returns the number of columns of the terminal w, 0 if w is not a terminal. The environment
// variable COLUMNS overrides it. The width is 80 if the terminal does not know it.
func Width(w io.Writer) int {
	if !message.Terminal(w) {
		return 0
	}
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}

// Height returns the number of lines of the terminal w. The environment variable LINES overrides
// it. The height is 24 if the terminal does not know it.
func Height(w io.Writer) int {
	if lines, err := strconv.Atoi(os.Getenv("LINES")); err == nil && lines > 0 {
		return lines
	}
	if f, ok := w.(*os.File); ok {
		if _, lines, err := term.GetSize(int(f.Fd())); err == nil && lines > 0 {
			return lines
		}
	}
	return 24
}

// Colour reports whether output to w may have colours: w is a terminal with colours, and NO_COLOR
// is not set (https://no-color.org).
func Colour(w io.Writer) bool {
	return message.Terminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Flush writes the buffered output of w, if w has a method Flush.
func Flush(w io.Writer) error {
	if buffered, ok := w.(interface{ Flush() error }); ok {
		return buffered.Flush()
	}
	return nil
}
