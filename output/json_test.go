package output

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestJSONMarks: a name with marks of direction stands escaped in JSON, and means the same.
func TestJSONMarks(t *testing.T) {
	t.Parallel()
	const name = "a\u202eb\x7f\U000e0001 ü"
	var b strings.Builder
	if err := JSON(&b, []string{name}); err != nil {
		t.Fatal(err)
	}
	if want := "[\n  \"a\\u202eb\\u007f\\udb40\\udc01 ü\"\n]\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	var again []string
	if err := json.Unmarshal([]byte(b.String()), &again); err != nil || again[0] != name {
		t.Errorf("%q, %v", again, err)
	}
}
