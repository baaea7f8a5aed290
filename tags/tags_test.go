package tags

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"insert-rt":    "insert-rt",
		"größe":        "größe",
		"":             "%",
		"%":            "%25",
		"default":      "%64efault",
		"%64efault":    "%2564efault",
		"a%09b":        "a%2509b",
		"a\tb":         "a%09b",
		"100%25":       "100%2525",
		"5%-10%":       "5%-10%",
		"99%":          "99%",
		"\ufffd":       "\ufffd",
		"\xff":         "%FF",
		"50%\xff":      "50%25%FF",
		"a\x01b\x7f":   "a%01b%7F",
		"a\u009b31m":   "a%C2%9B31m",
		"a\u202eb":     "a%E2%80%AEb",
		"a\ufffeb":     "a%EF%BF%BEb",
		"\u2028":       "%E2%80%A8",
		"family 👨‍👩‍👧": "family 👨‍👩‍👧",
	} {
		if got := Text([]byte(tag)); got != want {
			t.Errorf("%q: %q, want %q", tag, got, want)
		}
	}
	if got := Text(nil); got != Default {
		t.Errorf("untagged: %q", got)
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
		decoded := text
		if text == "%" {
			decoded = ""
		} else if plain, err := url.PathUnescape(text); err == nil {
			decoded = plain
		} else if text != string(tag) { // a percent sign that encodes nothing
			t.Errorf("the text of %q is %q, which cannot be decoded", tag, text)
		}
		if decoded != string(tag) {
			t.Errorf("the text of %q is %q, which decodes to %q", tag, text, decoded)
		}
	})
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
