package logs

import (
	"bytes"
	"regexp"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/base/writers"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// maxHeader is the number of bytes in which a log can name what it holds. The parts of hdrsplit
// have up to 16 kB of comments before that.
const maxHeader = 256 << 10

// controlName matches the name of a log that jHiccup writes for its control process.
var controlName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.c(\.gz|\.zst)?$`) })

// A holding is what a log says that its untagged intervals hold.
type holding struct {
	stated  bool
	tag     []byte // nil if they are said to have no tag
	control bool   // the log is of the control process of a log that states nothing
}

// tagUntagged gives the untagged intervals of several inputs tags, if the logs say that they hold
// different things. Adding them up would mislead. A log that can be read only once has no such tag.
//
// With -follow, a log gets its tag whatever the others say, since not all are there yet.
func tagUntagged(inputs []scan.Input) {
	if len(inputs) < 2 {
		return
	}
	holdings := make([]holding, len(inputs))
	different, controls := false, 0
	var first *holding
	for n := range inputs {
		if inputs[n].Once || inputs[n].Tag != "" {
			continue
		}
		holdings[n] = holdingOf(&inputs[n])
		if holdings[n].control {
			controls++
		}
		h := &holdings[n]
		switch {
		case !h.stated:
		case first == nil:
			first = h
		case tags.Compare(first.tag, h.tag) != 0:
			different = true
		}
	}
	if !different && (controls == 0 || controls == len(inputs)) {
		return
	}
	for n := range inputs {
		inputs[n].Untagged = holdings[n].tag
	}
}

// HeaderTag returns the tag that the header of a log says that its untagged intervals have.
func HeaderTag(path string) []byte {
	log := scan.File(path, 0)
	return holdingOf(&log).tag
}

// holdingOf returns what a log says that it holds. An error shows when the log is read.
//
// YCSB writes a log for each operation, without tags, and begins it with a comment such as
// #[Logging for: READ]. That has to come before the version line, since hdrsplit keeps comments
// after it. A part of hdrsplit has the comment #[Split from fixed.hdr: tag insert-rt]. If several
// say that, since a part was split, the last one that names a tag counts, and if none does, the
// operation of the log that was split. With -c, jHiccup writes the pauses of another process, which
// does nothing, to a log whose name ends in .c.
func holdingOf(input *scan.Input) (h holding) {
	var operation []byte
	size := 0
	first, part := true, false // before the version line; a part
	input.Look(4<<10, func(record *hdrlog.Record) bool {
		size += len(record.Text)
		tooLong := record.Kind == hdrlog.Malformed && record.Text == nil
		if record.Kind == hdrlog.IntervalRecord || size > maxHeader || tooLong {
			return false
		}
		if record.Kind != hdrlog.Comment {
			return true
		}
		if logline.IsVersion(record.Text) {
			first = false
		} else if name := writers.Operation(record.Text); name != nil && operation == nil {
			operation = bytes.Clone(name)
			h.stated = first
		} else if writers.IsJHiccup(record.Text) {
			if h.control = controlName().MatchString(input.Name); h.control {
				h.stated, h.tag = true, []byte("control")
			}
		} else if tag, ok := writers.SplitTag(record.Text); ok {
			part = true
			if tag != nil {
				h.tag = tag
			}
		}
		return true
	})
	if part {
		h.stated = true
	}
	if h.stated && h.tag == nil {
		h.tag = operation
	}
	return h
}
