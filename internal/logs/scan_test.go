package logs

import "testing"

func TestTagPattern(t *testing.T) {
	for text, want := range map[string]string{"a.b": "a.b", "a.b*": `a\.b\*`, "default": "default", `a\`: `a\\`} {
		if got := tagPattern(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
