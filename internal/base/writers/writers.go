// Package writers knows programs that write logs: what their comments and the names of their tags
// say about the values. How the lines of a log may differ is not here, but in package hdrlog.
package writers

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"

	"hdrkit/hdrlog"
)

// A Writer is a program that writes logs.
type Writer struct {
	// Comment begins a comment by which its logs are known, after the #. It is empty if there is
	// none.
	Comment string
	// Unit is the unit of the values of such a log, empty if it is unknown.
	Unit string
	// Operation is set if the rest of the comment, up to a bracket, is the operation that the log
	// holds.
	Operation bool
	// Times are the endings of tags for different times of the same requests.
	Times []string
}

// writers are all known writers. Each is described in a file of its own.
var writers = []*Writer{&cassandraStress, &jHiccup, &ycsb, &scyllaBench, &nosqlbench}

// of returns the writer that a comment names, and the rest of the comment. It returns nil if the
// comment names none.
func of(comment []byte) (w *Writer, rest []byte) {
	comment = bytes.TrimSpace(bytes.TrimPrefix(comment, []byte("#")))
	for _, w := range writers {
		if rest, ok := bytes.CutPrefix(comment, []byte(w.Comment)); ok && w.Comment != "" {
			return w, rest
		}
	}
	return nil, nil
}

// Unit returns the unit of the values of a log with a comment, empty if the comment does not say.
func Unit(comment []byte) string {
	if w, _ := of(comment); w != nil {
		return w.Unit
	}
	return ""
}

// Operation returns the operation that a comment says the log holds, nil if it says nothing.
func Operation(comment []byte) []byte {
	w, name := of(comment)
	name = bytes.TrimSpace(bytes.TrimSuffix(name, []byte("]")))
	if w == nil || !w.Operation || len(name) == 0 || hdrlog.CheckTag(name) != nil {
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
		for _, w := range writers {
			for _, ending := range w.Times {
				before, ok := strings.CutSuffix(tag, ending)
				if !ok || ending[0] >= 'a' && before != "" && !strings.ContainsAny(before[len(before)-1:], ":.-_") {
					continue
				}
				kind := w.Times[0] + before
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
