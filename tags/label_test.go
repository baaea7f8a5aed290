package tags

import "testing"

func TestLabel(t *testing.T) {
	for tag, want := range map[string]string{
		"insert-rt":  "insert-rt",
		"":           "%",
		"%":          "%25",
		"a%09b":      "a%2509b",
		"a\tb":       "a%09b",
		"100%25":     "100%2525",
		"5%-10%":     "5%-10%",
		"größe":      "größe",
		"99%":        "99%",
		"\ufffd":     "\ufffd",
		"\xff":       "%FF",
		"50%\xff":    "50%25%FF",
		"a\x01b\x7f": "a%01b%7F",
	} {
		if got := Label([]byte(tag)); got != want {
			t.Errorf("%q: %q, want %q", tag, got, want)
		}
	}
	if got := Label(nil); got != "" {
		t.Errorf("untagged: %q", got)
	}
}

// TestKey has no two tags share a key, and none share that of untagged intervals.
func TestKey(t *testing.T) {
	seen := make(map[string]bool)
	for _, tag := range [][]byte{nil, {}, []byte("="), []byte("default"), []byte("a")} {
		if key := Key(tag); seen[key] {
			t.Errorf("%q is the key of several tags, %q among them", key, tag)
		} else {
			seen[key] = true
		}
	}
}
