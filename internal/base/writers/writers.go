// Package writers knows what the comments and the tags of programs that write logs say about the
// values. Package hdrlog knows how their lines differ, and their units.
package writers

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"

	"hdrkit/hdrlog"
)

// timeEndings are the endings of tags for different times of the same requests, a line for each
// writer.
var timeEndings = [][]string{
	{"-rt", "-st", "-wt"},                          // cassandra-stress
	{"raw", "co-fixed"},                            // scylla-bench
	{".responsetime", ".servicetime", ".waittime"}, // nosqlbench
}

// Operation returns the operation that a comment names, nil if it names none. YCSB writes a log
// without tags for each operation.
func Operation(comment []byte) []byte {
	text := bytes.TrimSpace(bytes.TrimPrefix(comment, []byte("#")))
	name, ok := bytes.CutPrefix(text, []byte("[Logging for: "))
	name = bytes.TrimSpace(bytes.TrimSuffix(name, []byte("]")))
	if !ok || len(name) == 0 || hdrlog.CheckTag(name) != nil {
		return nil
	}
	return name
}

// IsJHiccup reports whether a comment is by jHiccup, which may write a second log, of an idle
// control process.
func IsJHiccup(comment []byte) bool {
	return bytes.HasPrefix(comment, []byte("#[Logged with jHiccup "))
}

// Transaction is the last part of the tag of a JMeter transaction controller, which contains
// requests with tags of their own.
const Transaction = "transaction"

// SubResult is the last part of the tag of JMeter sub-results, which are requests inside other
// requests.
const SubResult = "sub-result"

// A Same has tags that count the same requests.
type Same struct {
	// Tags are several times of the same requests. Or it is one tag, and Other names what counts
	// the same requests.
	Tags  []string
	Other string
	// Option is the option that chooses among these tags, quoted for a shell.
	Option string
}

// SameAmong returns the first tags, by their text, that count the same requests. It returns false
// if there are none.
func SameAmong(tags []string) (Same, bool) {
	for _, part := range []struct{ last, other string }{
		{Transaction, "the requests in it"},
		{SubResult, "the request that contains it"},
	} {
		if tag := tagWithPart(tags, part.last); tag != "" {
			return Same{[]string{tag}, part.other, "-excT '(.*/)?" + part.last + "(/.*)?'"}, true
		}
	}
	return sameTimes(tags)
}

// tagWithPart returns the first tag that ends with a part, if there are tags without the part, and
// otherwise an empty text. A part for failed requests may follow in the tag.
func tagWithPart(tags []string, last string) string {
	has := func(tag string) bool {
		parts := strings.Split(tag, "/")
		return slices.Contains(parts[max(0, len(parts)-2):], last)
	}
	n := slices.IndexFunc(tags, has)
	if n < 0 || !slices.ContainsFunc(tags, func(tag string) bool { return !has(tag) }) {
		return ""
	}
	return tags[n]
}

// SameRequests returns a text that names the first tags, by their text, that count the same
// requests, and a text with the option that chooses among them. Both are empty if there are no such
// tags.
func SameRequests(tags []string) (same, choice string) {
	found, ok := SameAmong(tags)
	if !ok {
		return "", ""
	}
	option, _, _ := strings.Cut(found.Option, " ")
	choice = "with " + option + ", such as " + found.Option
	if found.Other != "" {
		return found.Tags[0] + " and " + found.Other, choice
	}
	return strings.Join(found.Tags, " and ") + ", which count the same requests", choice
}

// sameTimes returns the first tags that are several times of the same requests, with the option for
// tags of one time.
func sameTimes(tags []string) (Same, bool) {
	kinds := make(map[string][]string) // by writer and the text before the ending
	endings := make(map[string]string) // the ending of the first tag of a kind
	for _, tag := range tags {
		for _, ofWriter := range timeEndings {
			for _, ending := range ofWriter {
				before, ok := strings.CutSuffix(tag, ending)
				if !ok || ending[0] >= 'a' && before != "" && !strings.ContainsAny(before[len(before)-1:], ":.-_") {
					continue
				}
				kind := ofWriter[0] + before
				kinds[kind] = append(kinds[kind], tag)
				if len(kinds[kind]) == 1 {
					endings[kind] = ending
				}
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		all := kinds[kind]
		switch {
		case len(all) == 1:
		case all[0] == endings[kind]:
			return Same{all, "", "-incT " + all[0]}, true
		default:
			return Same{all, "", "-incT '.*" + regexp.QuoteMeta(endings[kind]) + "'"}, true
		}
	}
	return Same{}, false
}
