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

// maxHeader is the number of bytes at the beginning of a log in which comments say what the log
// contains. The parts that hdrsplit writes have up to 16 kB of other comments before.
const maxHeader = 256 << 10

// controlName matches the names of logs that jHiccup writes about its control process.
var controlName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.c(\.gz|\.zst)?$`) })

// A content is what the comments of a log say about its untagged intervals.
type content struct {
	stated  bool   // there is such a comment
	tag     []byte // nil if the comment says that the intervals have no tag
	control bool   // the log is about the control process of another log
}

// tagUntagged gives tags to the untagged intervals of several inputs, if the logs say that they
// contain different things, since the sum of these would mislead. A pipe gets no such tag.
//
// A command that follows logs uses [HeaderTag] instead: a log gets its tag whatever the other logs
// say, since not all of them exist yet.
func tagUntagged(inputs []scan.Input) {
	if len(inputs) < 2 {
		return
	}
	contents := make([]content, len(inputs))
	different, controls := false, 0
	var first *content
	for n := range inputs {
		if inputs[n].Once || inputs[n].Tag != "" {
			continue
		}
		contents[n] = contentOf(&inputs[n])
		if contents[n].control {
			controls++
		}
		c := &contents[n]
		switch {
		case !c.stated:
		case first == nil:
			first = c
		case tags.Compare(first.tag, c.tag) != 0:
			different = true
		}
	}
	if !different && (controls == 0 || controls == len(inputs)) {
		return
	}
	for n := range inputs {
		inputs[n].Untagged = contents[n].tag
	}
}

// HeaderTag returns the tag that the comments of a log give its untagged intervals, or nil.
func HeaderTag(path string) []byte {
	log := scan.File(path, 0)
	return contentOf(&log).tag
}

// contentOf reads the comments at the beginning of a log. It ignores errors, which occur again when
// the log is read for good.
//
// YCSB writes a log for each operation, without tags, that begins with a comment such as
// #[Logging for: READ]. The comment counts only before the version line, since hdrsplit keeps
// comments of the log that it splits after this line. A part that hdrsplit writes has the comment
// #[Split from fixed.hdr: tag insert-rt]. A part that was split again has several of them: the last
// one that names a tag counts, or else the operation of the log that was split. With -c, jHiccup
// writes the pauses of an idle control process to a log whose name ends in .c.
func contentOf(input *scan.Input) (c content) {
	var operation []byte
	size := 0
	beforeVersion := true
	isPart := false // of hdrsplit
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
			beforeVersion = false
		} else if name := writers.Operation(record.Text); name != nil && operation == nil {
			operation = bytes.Clone(name)
			c.stated = beforeVersion
		} else if writers.IsJHiccup(record.Text) {
			if c.control = controlName().MatchString(input.Name); c.control {
				c.stated, c.tag = true, []byte("control")
			}
		} else if tag, ok := writers.SplitTag(record.Text); ok {
			isPart = true
			if tag != nil {
				c.tag = tag
			}
		}
		return true
	})
	if isPart {
		c.stated = true
	}
	if c.stated && c.tag == nil {
		c.tag = operation
	}
	return c
}
