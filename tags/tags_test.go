package tags

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"insert-rt":     "insert-rt",
		"größe":         "größe",
		"":              "%",
		"%":             "%25",
		"default":       "%64efault",
		"%64efault":     "%2564efault",
		"a%09b":         "a%2509b",
		"a\tb":          "a%09b",
		"100%25":        "100%2525",
		"5%-10%":        "5%-10%",
		"99%":           "99%",
		"\ufffd":        "\ufffd",
		"\xff":          "%FF",
		"50%\xff":       "50%25%FF",
		"a\x01b\x7f":    "a%01b%7F",
		"a\u009b31m":    "a%C2%9B31m",
		"a\u202eb":      "a%E2%80%AEb",
		"a\ufffeb":      "a%EF%BF%BEb",
		"\u2028":        "%E2%80%A8",
		"family 👨‍👩‍👧":  "family 👨‍👩‍👧",
		"love ❤️":       "love ❤️",
		"wave 👋🏽‍♂️":    "wave 👋🏽‍♂️",
		"get\u200bput":  "get%E2%80%8Bput",
		"get\u200dput":  "get%E2%80%8Dput",
		"get\ufe0fput":  "get%EF%B8%8Fput",
		"get\u00adput":  "get%C2%ADput",
		"get\ufeffput":  "get%EF%BB%BFput",
		"get\u3164put":  "get%E3%85%A4put",
		"get\U000e0041": "get%F3%A0%81%81",
		"e\u0301":       "e\u0301",
	} {
		if got := Text([]byte(tag)); got != want {
			t.Errorf("%q: %q, want %q", tag, got, want)
		}
	}
	if got := Text(nil); got != Default {
		t.Errorf("untagged: %q", got)
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "default": "default", "50%41.hdr": "50%41.hdr", "größe\n[StartTime: 5": "größe%0A[StartTime: 5", "a\x1b%\xff": "a%1B%25%FF",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzText checks that the tag can be decoded from its text, and that a text is safe to print.
func FuzzText(f *testing.F) {
	for _, tag := range []string{"", "%", "%25", "default", "%64efault", "a\x1b[31m", "\xff", "\ufffe", "\u202e", "größe", "99%\n"} {
		f.Add([]byte(tag))
	}
	f.Fuzz(func(t *testing.T, tag []byte) {
		text := Text(tag)
		if !utf8.ValidString(text) || text == Default || text == "" || strings.ContainsFunc(text, unicode.IsControl) {
			t.Errorf("the text of %q is %q", tag, text)
		}
		if decoded := Parse(text); decoded == nil || string(decoded) != string(tag) {
			t.Errorf("the text of %q is %q, which decodes to %q", tag, text, decoded)
		}
	})
}

func TestParse(t *testing.T) {
	t.Parallel()
	if tag := Parse(Text(nil)); tag != nil {
		t.Errorf("untagged intervals are %q", tag)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	sorted := [][]byte{nil, {}, []byte("="), []byte("a"), []byte("default")}
	got := slices.SortedFunc(slices.Values([][]byte{sorted[4], sorted[1], sorted[3], sorted[0], sorted[2]}), Compare)
	for n := range sorted {
		if !bytes.Equal(got[n], sorted[n]) || (got[n] == nil) != (sorted[n] == nil) {
			t.Errorf("%q", got)
			break
		}
	}
}
