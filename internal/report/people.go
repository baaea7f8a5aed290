package report

import (
	"unicode"

	"golang.org/x/text/width"
)

// coloured returns a text with a colour for a terminal. The code is an SGR code. If it is empty,
// the text stays as it is.
func coloured(text, code string) string {
	if code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// textWidth returns the number of columns that a terminal needs for a text.
func textWidth(text string) int {
	columns := 0
	for _, r := range text {
		columns += runeWidth(r)
	}
	return columns
}

func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cutMiddle shortens a text to at most limit columns of a terminal, with an ellipsis instead of its
// middle.
func cutMiddle(text string, limit int) string {
	if textWidth(text) <= limit {
		return text
	}
	runes := []rune(text)
	from := 0
	to := len(runes)
	columns := 1
	for front := true; from < to; front = !front {
		r := runes[from]
		if !front {
			r = runes[to-1]
		}
		if columns += runeWidth(r); columns > limit {
			break
		}
		if front {
			from++
		} else {
			to--
		}
	}
	return string(runes[:from]) + "…" + string(runes[to:])
}
