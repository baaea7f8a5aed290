package writers

import (
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/tags"
)

// A part of hdrsplit has a comment that names its log and its tag.
const splitBegin, splitTag, splitEnd = "[Split from ", ": tag ", "]"

// Split returns the comment of a part, without #.
func Split(log string, tag []byte) string {
	log = strings.ReplaceAll(tags.Printable(log), splitTag, ":%20tag ")
	return splitBegin + log + splitTag + tags.Text(tag) + splitEnd
}

// SplitTag returns the tag that a comment says that the intervals of a part have, nil for untagged
// intervals. It returns false if that is no comment of a part.
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
