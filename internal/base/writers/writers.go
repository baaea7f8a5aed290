// Package writers knows programs that write logs: what their comments and the names of their tags
// say about the values. Package hdrlog has how their lines differ, and their units.
package writers

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"

	"hdrkit/hdrlog"
)

// Times are the endings of tags for different times of the same requests, by writer.
var times = [][]string{
	{"-rt", "-st", "-wt"},                          // cassandra-stress
	{"raw", "co-fixed"},                            // scylla-bench
	{".responsetime", ".servicetime", ".waittime"}, // nosqlbench
}

// Operation returns the operation that a comment says the log holds, nil if it says nothing. YCSB
// writes a log without tags for each operation.
func Operation(comment []byte) []byte {
	text := bytes.TrimSpace(bytes.TrimPrefix(comment, []byte("#")))
	name, ok := bytes.CutPrefix(text, []byte("[Logging for: "))
	name = bytes.TrimSpace(bytes.TrimSuffix(name, []byte("]")))
	if !ok || len(name) == 0 || hdrlog.CheckTag(name) != nil {
		return nil
	}
	return name
}

// HasControl reports whether a comment is of jHiccup, which may write a second log.
func HasControl(comment []byte) bool {
	return bytes.HasPrefix(comment, []byte("#[Logged with jHiccup "))
}

// Transaction is the last part of the tag of what contains requests that have tags of their own:
// the transaction controllers of JMeter.
const Transaction = "transaction"

// SubResult is the last part of the tag of requests that are parts of others: the sub-results of
// JMeter.
const SubResult = "sub-result"

// A Same is tags that count the same requests.
type Same struct {
	// Tags are several times of the same requests, or one tag and Other, which says what counts the
	// same requests.
	Tags  []string
	Other string
	// Option chooses of them, for a shell.
	Option string
}

// SameAmong returns the first tags, by their text, that count the same requests, and false if there
// are none.
func SameAmong(tags []string) (Same, bool) {
	for _, part := range []struct{ last, other string }{
		{Transaction, "the requests in it"},
		{SubResult, "the request that contains it"},
	} {
		if tag := beside(tags, part.last); tag != "" {
			return Same{[]string{tag}, part.other, "-excT '(.*/)?" + part.last + "(/.*)?'"}, true
		}
	}
	return sameTimes(tags)
}

// beside returns the first tag with a last part that stands beside tags without it, nothing if
// there is none. A part for failed requests may follow.
func beside(tags []string, last string) string {
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

// SameRequests says which tags, the first ones by their text, count the same requests, and how to
// choose of them, for a shell. It returns nothing if there are no such tags.
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

// sameTimes returns the first tags that are several times of the same requests, with a pattern that
// matches those of one time.
func sameTimes(tags []string) (Same, bool) {
	kinds := make(map[string][]string) // by writer and what stands before the ending
	endings := make(map[string]string) // of the first tag of a kind
	for _, tag := range tags {
		for _, of := range times {
			for _, ending := range of {
				before, ok := strings.CutSuffix(tag, ending)
				if !ok || ending[0] >= 'a' && before != "" && !strings.ContainsAny(before[len(before)-1:], ":.-_") {
					continue
				}
				kind := of[0] + before
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
