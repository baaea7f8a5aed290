// Package tags spells and chooses the tags of intervals.
//
// A tag is a byte string. Untagged intervals have the tag nil; the empty tag is a tag of its own.
// Each tag has one printed spelling, [Text], which all output formats, messages and filters use,
// and a file name, [FileName].
package tags

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Default is the printed spelling of untagged intervals.
const Default = "default"

// Text returns the printed spelling of a tag. It is the tag itself wherever that is safe: different
// tags have different texts, a text is valid UTF-8, and none of its characters controls a terminal.
//
// Control characters, characters that change the direction of text, noncharacters of Unicode,
// invisible characters and bytes that are not UTF-8 are percent-encoded, as in URLs. A percent sign
// is encoded only in a tag that needs encoding or that looks encoded. The text of untagged
// intervals is [Default], so a tag spelled "default" is "%64efault". The empty tag is "%".
func Text(tag []byte) string {
	switch {
	case tag == nil:
		return Default
	case isPlain(tag):
		return string(tag)
	case len(tag) == 0:
		return "%"
	case string(tag) == Default:
		return encodeFirst(Default)
	}
	return encode(string(tag), func(r rune) bool { return r == '%' })
}

// Parse returns the tag that [Text] spells, nil for untagged intervals.
func Parse(text string) []byte {
	switch text {
	case Default:
		return nil
	case "%":
		return []byte{}
	}
	if decoded, err := url.PathUnescape(text); err == nil {
		text = decoded
	}
	return []byte(text)
}

// Printable returns a text that is no tag, such as the name of a file, on one line. It encodes the
// same characters as [Text].
func Printable(text string) string {
	if isSafe(text) {
		return text
	}
	return encode(text, func(r rune) bool { return r == '%' })
}

// isPlain reports whether the tag is its own text.
func isPlain(tag []byte) bool {
	if len(tag) == 0 || string(tag) == Default || string(tag) == "%" {
		return false
	}
	ascii := true
	for i, c := range tag {
		if c == '%' && i+2 < len(tag) && isHex(tag[i+1]) && isHex(tag[i+2]) {
			return false
		}
		ascii = ascii && c >= ' ' && c < 0x7f
	}
	return ascii || isSafe(string(tag))
}

// isSafe reports whether a text is UTF-8 and none of its characters is unsafe or hidden.
func isSafe(text string) bool {
	before := rune(0)
	for i, r := range text {
		if r < utf8.RuneSelf && r >= ' ' && r != 0x7f {
			before = r
			continue
		}
		if isUnsafe(r) || isHidden(before, r) || r == utf8.RuneError && !strings.HasPrefix(text[i:],
			string(utf8.RuneError)) {
			return false
		}
		before = r
	}
	return true
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|' ' >= 'a' && c|' ' <= 'f' }

// isUnsafe reports whether a character can control a terminal or cannot be part of a text file or
// of XML.
func isUnsafe(r rune) bool {
	if r < 0x80 {
		return r < ' ' || r == 0x7f
	}
	return r < 0xa0 || r == 0x2028 || r == 0x2029 || r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef ||
		unicode.Is(unicode.Bidi_Control, r)
}

// isHidden reports whether a character is invisible, so that two tags would look alike. A joiner
// and a variation selector after a symbol are visible: they make an emoji.
func isHidden(before, r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0x200d && before == 0xfe0f:
		return false
	case r == 0x200d || r == 0xfe0f:
		return !unicode.In(before, unicode.So, unicode.Sk)
	}
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// encode percent-encodes the characters that are unsafe or hidden, the characters for which also
// returns true, and all bytes that are not UTF-8.
func encode(text string, also func(r rune) bool) string {
	var b strings.Builder
	for before := rune(0); len(text) > 0; {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 || isUnsafe(r) || isHidden(before, r) || also(r) {
			for _, c := range []byte(text[:size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(text[:size])
		}
		before, text = r, text[size:]
	}
	return b.String()
}

// encodeFirst percent-encodes the first byte of a text.
func encodeFirst(text string) string { return fmt.Sprintf("%%%02X", text[0]) + text[1:] }

// Compare orders tags: untagged intervals first, then by bytes.
func Compare(a, b []byte) int {
	switch {
	case a == nil && b != nil:
		return -1
	case a != nil && b == nil:
		return 1
	}
	return bytes.Compare(a, b)
}
