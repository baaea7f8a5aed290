package message

import (
	"strconv"
	"strings"
)

// DidYouMean returns a question for the name that is most like a misspelled one, or nothing if no
// name is.
func DidYouMean(misspelled string, names []string) string {
	if best := Nearest(misspelled, names); best != "" {
		return "; did you mean " + strconv.Quote(best) + "?"
	}
	return ""
}

// Nearest returns the name that is most like a misspelled one, at least half of it, or else the
// shortest one that begins with it, empty if none is.
func Nearest(misspelled string, names []string) string {
	best, least := "", 1+len(misspelled)/4 // more differences make another word
	if len(misspelled) < 3 {               // everything is like a short word
		least = -1
	}
	for _, name := range names {
		if d := distance(strings.ToLower(misspelled), strings.ToLower(name)); d <= least && 2*d <= len(name) {
			best, least = name, d-1
		}
	}
	if best != "" || misspelled == "" {
		return best
	}
	for _, name := range names {
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(misspelled)) && (best == "" || len(name) < len(best)) {
			best = name
		}
	}
	return best
}

// distance returns how many bytes must be added, removed or replaced to make b of a.
func distance(a, b string) int {
	above, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j]+cost, above[j+1]+1, row[j]+1)
		}
		above, row = row, above
	}
	return above[len(b)]
}
