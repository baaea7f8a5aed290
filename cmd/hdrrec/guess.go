package main

import (
	"fmt"
	"io"

	"hdrkit/internal/base/message"
	"hdrkit/internal/measure"
	"hdrkit/internal/scan"
)

// printGuesses prints, for each input, the command line that names all columns and units as hdrrec
// reads them now. It first reads rows with the input's options, and returns an error if none can be
// recorded.
func (r *command) printGuesses(w io.Writer, s *scan.Scan) error {
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

// commandLine returns the command line for a file, with quotes for a shell.
func (r *command) commandLine(name string, reader *measure.Reader) string {
	line := "hdrrec"
	arguments := reader.Arguments()
	if r.options.moment != "" {
		arguments = append(arguments, "-at", r.options.moment)
	}
	for _, argument := range append(arguments, name) {
		line += " " + message.Quoted(argument)
	}
	return line
}
