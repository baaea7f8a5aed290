package chart

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// Distinct returns labels that fit and differ where labels do. If all fit, they stay as they are.
// Otherwise they keep what tells them apart.
func Distinct(labels []string, fits func(string) bool) []string {
	unique := slices.Compact(slices.Sorted(slices.Values(labels)))
	short, out := distinct(unique, fits), make([]string, len(labels))
	for i, label := range labels {
		n, _ := slices.BinarySearch(unique, label)
		out[i] = short[n]
	}
	return out
}

func distinct(labels []string, fits func(string) bool) []string {
	bare := withoutAffixes(labels)
	for _, try := range []func(n int) string{
		func(n int) string { return labels[n] },
		func(n int) string { return bare[n] },
		func(n int) string { return cut(bare[n], 1, fits) },
		func(n int) string { return cut(bare[n], 0, fits) },
		func(n int) string { return cut(bare[n], 0.5, fits) },
	} {
		all := make([]string, len(labels))
		good := true
		for n := range labels {
			all[n] = try(n)
			good = good && fits(all[n])
		}
		if good && differ(all) {
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

// differ reports whether no two labels are equal.
func differ(labels []string) bool {
	sorted := slices.Sorted(slices.Values(labels))
	return len(slices.Compact(sorted)) == len(labels)
}

// Cut returns str, without its end if it does not fit.
func Cut(str string, fits func(string) bool) string { return cut(str, 1, fits) }

// mostLetters is more than any picture has room for in a line.
const mostLetters = 4096

// cut returns str. If it does not fit, it loses letters: front says which share of those that are
// left stand before them.
func cut(str string, front float64, fits func(string) bool) string {
	if len(str) <= mostLetters && fits(str) {
		return str
	}
	runes := []rune(str)
	left := func(n int) string {
		before := int(front*float64(n) + 0.5)
		return string(runes[:before]) + "…" + string(runes[len(runes)-(n-before):])
	}
	n := sort.Search(min(len(runes), mostLetters), func(n int) bool { return !fits(left(n)) })
	return left(max(n-1, 0))
}

// withoutAffixes returns labels without the words at the beginning and the end that all of them
// share, which say least.
func withoutAffixes(labels []string) []string {
	const least = 4 // letters that are worth an ellipsis
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

// sharedWords returns the length of the words that all labels begin with, at the end of a word.
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
