package tags

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Label returns a tag as the value of a label in a monitoring system, the empty string for untagged intervals: the tag
// itself, but bytes that are not UTF-8 and control characters, which such systems refuse, are percent-encoded. Then % is too,
// and where a tag looks as if it were encoded. The empty tag is %, so that each tag has a label of its own.
func Label(tag []byte) string {
	text := string(tag)
	switch {
	case tag != nil && text == "":
		return "%"
	case utf8.ValidString(text) && strings.IndexFunc(text, isControl) < 0 && !looksEncoded(text):
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, "%%%02X", text[i])
		case isControl(r), r == '%':
			fmt.Fprintf(&b, "%%%02X", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// looksEncoded reports whether Label could have made text of another tag.
func looksEncoded(text string) bool {
	for i := 0; i+2 < len(text); i++ {
		if _, err := hex.DecodeString(text[i+1 : i+3]); text[i] == '%' && err == nil {
			return true
		}
	}
	return text == "%"
}

// Shown returns a tag for a list on a terminal, whose lines and colours must stay as they are: spelled as [Label] does it,
// [Default] for untagged intervals.
func Shown(tag []byte) string {
	if tag == nil {
		return Default
	}
	return Label(tag)
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
