package message

import (
	"strconv"
	"strings"
)

// DidYouMean returns a hint with the name that is most similar to a misspelled name, or an empty
// text if no name is similar.
func DidYouMean(misspelled string, names []string) string {
	if best := Nearest(misspelled, names); best != "" {
		return "; did you mean " + strconv.Quote(best) + "?"
	}
	return ""
}

// Nearest returns the name that is most similar to a misspelled name, if at least half of its bytes
// are right. Otherwise it returns the shortest name that begins with the misspelled one, or an
// empty text.
func Nearest(misspelled string, names []string) string {
	best, maxDistance := "", 1+len(misspelled)/4 // more differences make another word
	if len(misspelled) < 3 {                     // every name is similar to a short word
		maxDistance = -1
	}
	for _, name := range names {
		if d := distance(strings.ToLower(misspelled), strings.ToLower(name)); d <= maxDistance && 2*d <= len(name) {
			best, maxDistance = name, d-1
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

// distance returns how many bytes must be added, removed or replaced to turn a into b.
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
