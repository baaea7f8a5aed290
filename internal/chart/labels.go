package chart

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// Distinct shortens labels until fits holds for each of them. Different labels stay different. If
// all labels fit, they stay as they are.
func Distinct(labels []string, fits func(string) bool) []string {
	unique := slices.Compact(slices.Sorted(slices.Values(labels)))
	short, out := distinct(unique, fits), make([]string, len(labels))
	for i, label := range labels {
		n, _ := slices.BinarySearch(unique, label)
		out[i] = short[n]
	}
	return out
}

// distinct shortens different labels: it tries to leave out common words, the end, the beginning,
// and the middle. If labels would then be equal, they get numbers.
func distinct(labels []string, fits func(string) bool) []string {
	bare := withoutAffixes(labels)
	for _, shorten := range []func(n int) string{
		func(n int) string { return labels[n] },
		func(n int) string { return bare[n] },
		func(n int) string { return cut(bare[n], 1, fits) },
		func(n int) string { return cut(bare[n], 0, fits) },
		func(n int) string { return cut(bare[n], 0.5, fits) },
	} {
		all := make([]string, len(labels))
		allFit := true
		for n := range labels {
			all[n] = shorten(n)
			allFit = allFit && fits(all[n])
		}
		if allFit && areDifferent(all) {
			return all
		}
	}
	all := make([]string, len(labels))
	for n, label := range bare {
		number := fmt.Sprint(" #", n+1)
		all[n] = cut(label, 1, func(str string) bool { return fits(str + number) }) + number
	}
	return all
}

// areDifferent reports whether no two labels are equal.
func areDifferent(labels []string) bool {
	sorted := slices.Sorted(slices.Values(labels))
	return len(slices.Compact(sorted)) == len(labels)
}

// Cut returns str, or if str does not fit, its beginning with an ellipsis.
func Cut(str string, fits func(string) bool) string { return cut(str, 1, fits) }

// maxLetters is an upper bound for the number of letters in a line of a picture.
const maxLetters = 4096

// cut returns str. If str does not fit, cut replaces as few letters as possible by an ellipsis.
// Front is the share of the remaining letters that stand before the ellipsis.
func cut(str string, front float64, fits func(string) bool) string {
	if len(str) <= maxLetters && fits(str) {
		return str
	}
	runes := []rune(str)
	shortened := func(n int) string {
		before := int(front*float64(n) + 0.5)
		return string(runes[:before]) + "…" + string(runes[len(runes)-(n-before):])
	}
	n := sort.Search(min(len(runes), maxLetters), func(n int) bool { return !fits(shortened(n)) })
	return shortened(max(n-1, 0))
}

// withoutAffixes returns labels without the words with which all of them begin or end.
func withoutAffixes(labels []string) []string {
	const least = 4 // fewer letters are not worth an ellipsis
	out := slices.Clone(labels)
	if len(labels) < 2 {
		return out
	}
	if n := sharedWords(labels); n >= least {
		for i := range out {
			out[i] = "…" + out[i][n:]
		}
	}
	backwards := make([]string, len(out))
	for i := range out {
		backwards[i] = reversed(out[i])
	}
	if n := sharedWords(backwards); n >= least {
		for i := range out {
			out[i] = out[i][:len(out[i])-n] + "…"
		}
	}
	return out
}

// sharedWords returns the length in bytes of the whole words with which all labels begin.
func sharedWords(labels []string) (length int) {
	for n, r := range labels[0] {
		for _, label := range labels {
			if n+utf8.RuneLen(r) >= len(label) || !strings.HasPrefix(label[n:], string(r)) {
				return length
			}
		}
		if strings.ContainsRune(" ./:_-,·", r) {
			length = n + utf8.RuneLen(r)
		}
	}
	return length
}

func reversed(str string) string {
	runes := []rune(str)
	slices.Reverse(runes)
	return string(runes)
}
