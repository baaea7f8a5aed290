package follow

import (
	"path/filepath"
	"testing"
)

// TestIsBelow knows the folder of a log, also where its name has none.
func TestIsBelow(t *testing.T) {
	for _, test := range []struct {
		path, of string
		want     bool
	}{
		{"node.hdr.1", "node.hdr", true},
		{"old/node.hdr.1", "node.hdr", true},
		{"./node.hdr.1", "node.hdr", true},
		{"/node.hdr.1", "/node.hdr", true},
		{"/log/old/node.hdr.1", "/log/node.hdr", true},
		{"../node.hdr.1", "node.hdr", false},
		{"/logs/node.hdr.1", "/log/node.hdr", false},
		{"logs/node.hdr.1", "log/node.hdr", false},
	} {
		if got := isBelow(filepath.FromSlash(test.path), filepath.FromSlash(test.of)); got != test.want {
			t.Errorf("%s is below the folder of %s: %t", test.path, test.of, got)
		}
	}
}
