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

// SameRequests says which tags, the first ones by their text, count the same requests, and how to
// choose of them, for a shell. It returns nothing if there are no such tags.
func SameRequests(tags []string) (same, choice string) {
	if tag := beside(tags, Transaction); tag != "" {
		return tag + " and the requests in it", "with -excT, such as -excT '(.*/)?" + Transaction + "(/.*)?'"
	}
	if tag := beside(tags, SubResult); tag != "" {
		return tag + " and the request that contains it", "with -excT, such as -excT '(.*/)?" + SubResult + "(/.*)?'"
	}
	same, pattern := sameTimes(tags)
	if same == "" {
		return "", ""
	}
	return same + ", which count the same requests", "with -incT, such as -incT " + pattern
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

// sameTimes returns the first tags that are several times of the same requests, and a pattern that
// matches those of one time.
func sameTimes(tags []string) (same, pattern string) {
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
		if all := kinds[kind]; len(all) > 1 {
			same = strings.Join(all, " and ")
			if all[0] == endings[kind] {
				return same, all[0]
			}
			return same, "'.*" + regexp.QuoteMeta(endings[kind]) + "'"
		}
	}
	return "", ""
}
