package main

import (
	"fmt"
	"io"

	"hdrkit/internal/base/message"
	"hdrkit/internal/measure"
	"hdrkit/internal/scan"
)

// guess prints the command line that reads each input as hdrrec takes it now. It tries whether that
// works.
func (r *command) guess(w io.Writer, s *scan.Scan) error {
	for n := range s.Inputs {
		readers, closer, err := r.openAll(s, s.Inputs[n:n+1])
		if err != nil {
			return err
		}
		err = readers[0].CheckRows()
		closer.Close()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, r.commandLine(s.Inputs[n].Name, readers[0])); err != nil {
			return err
		}
	}
	return nil
}

// commandLine returns the command line of a file, for a shell.
func (r *command) commandLine(name string, reader *measure.Reader) string {
	line := "hdrrec"
	arguments := reader.Arguments()
	if r.options.at != "" {
		arguments = append(arguments, "-at", r.options.at)
	}
	for _, argument := range append(arguments, name) {
		line += " " + message.Quoted(argument)
	}
	return line
}
