package writers

import (
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/tags"
)

// hdrsplit writes a comment into each log: these parts, with the name of the input and the tag
// between them.
const splitBegin, splitTag, splitEnd = "[Split from ", ": tag ", "]"

// Split returns the comment, without #, of a log that hdrsplit writes for a tag of an input.
func Split(log string, tag []byte) string {
	log = strings.ReplaceAll(tags.Printable(log), splitTag, ":%20tag ")
	return splitBegin + log + splitTag + tags.Text(tag) + splitEnd
}

// SplitTag returns the tag in a comment of [Split], nil for untagged intervals. It returns false
// for any other comment.
func SplitTag(comment []byte) (tag []byte, ok bool) {
	rest, begins := strings.CutPrefix(string(comment), "#"+splitBegin)
	_, spelled, found := strings.Cut(rest, splitTag)
	spelled, ends := strings.CutSuffix(strings.TrimRight(spelled, " \r\t"), splitEnd)
	tag = tags.Parse(spelled)
	if !begins || !found || !ends || tag != nil && hdrlog.CheckTag(hdrlog.StandardTag(tag)) != nil {
		return nil, false
	}
	return tag, true
}
