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

// SameRequests returns the first tags, by their text, that count the same requests, and a pattern
// of -incT, for a shell, that chooses one time only. It returns nil if there are no such tags.
func SameRequests(tags []string) (same []string, pattern string) {
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
			if all[0] == endings[kind] {
				return all, all[0]
			}
			return all, "'.*" + regexp.QuoteMeta(endings[kind]) + "'"
		}
	}
	return nil, ""
}
