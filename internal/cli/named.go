package cli

import (
	"bytes"

	"hdrkit/hdrlog"
	"hdrkit/internal/scan"
)

// maxHeader is the number of lines in which a log can name its operation.
const maxHeader = 20

// tagUntagged gives the untagged intervals of several inputs tags, if the logs say that they hold
// different things. YCSB writes a log for each operation, without tags, and begins it with a
// comment such as #[Logging for: READ]. Adding up reads and updates would mislead. The comment has
// to come before the version line, so that the logs of hdrsplit and hdrunion, which keep comments
// after it, never count. A log that can be read only once has no such tag.
//
// With -follow, a log gets its tag whatever the others say, since not all are there yet.
func tagUntagged(inputs []scan.Input) {
	if len(inputs) < 2 {
		return
	}
	names := make([][]byte, len(inputs))
	different := false
	var first []byte
	for n := range inputs {
		if inputs[n].Once || inputs[n].Tag != "" {
			continue
		}
		names[n] = loggingFor(&inputs[n])
		switch {
		case names[n] == nil:
		case first == nil:
			first = names[n]
		case !bytes.Equal(first, names[n]):
			different = true
		}
	}
	if !different {
		return
	}
	for n := range inputs {
		inputs[n].Untagged = names[n]
	}
}

// loggingFor returns what a log says that it holds, nil if it does not. An error shows when the log
// is read.
func loggingFor(input *scan.Input) []byte {
	file, err := input.Open()
	if err != nil {
		return nil
	}
	defer file.Close()
	reader := hdrlog.NewReader(file, input.Name)
	reader.SetBatchSize(4 << 10)
	for n := 0; n < maxHeader && reader.Scan(); n++ {
		record := reader.Record()
		if record.Kind == hdrlog.IntervalRecord || record.Kind == hdrlog.Comment && hdrlog.IsVersion(record.Text) {
			return nil
		}
		if name, ok := bytes.CutPrefix(record.Text, []byte("#[Logging for: ")); ok && record.Kind == hdrlog.Comment {
			name = bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(name), []byte("]")))
			if len(name) > 0 && hdrlog.CheckTag(name) == nil {
				return bytes.Clone(name)
			}
		}
	}
	return nil
}
