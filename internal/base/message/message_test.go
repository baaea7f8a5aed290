package message

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzPrintable checks that no text controls a terminal, that different texts stay different in the
// sense that plain text is not changed, and that a line stays a line.
func FuzzPrintable(f *testing.F) {
	for _, text := range []string{"plain", "größe 東京", "\x1b[2J", "a\nb\r", "\xff\xfe", "\u202e", "\u009b31m", `\x1b`, "\ufffd"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Printable(text)
		if !utf8.ValidString(got) {
			t.Errorf("%q is not UTF-8", got)
		}
		for _, r := range got {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\u202e' {
				t.Errorf("%q holds %q", got, r)
			}
		}
		if Printable(got) != got {
			t.Errorf("%q changes when it is printed again", got)
		}
	})
}

// TestBounded: a message of any length keeps its beginning and its end, where hints stand.
func TestBounded(t *testing.T) {
	for _, size := range []int{0, 100, maxText, maxText + 1, 1 << 20} {
		text := strings.Repeat("é", size/2) + strings.Repeat("x", size%2)
		var out strings.Builder
		Print(&out, "hdrsum", "-sla "+text+"; see there")
		got := out.String()
		if !strings.HasPrefix(got, "hdrsum: -sla ") || !strings.HasSuffix(got, "; see there\n") || len(got) > maxText+100 {
			t.Errorf("%d bytes become %d: %.40s", size, len(got), got)
		}
		if whole := strings.Contains(got, text); whole != (size <= 100) {
			t.Errorf("%d bytes become %d", size, len(got))
		}
	}
}

func TestDidYouMean(t *testing.T) {
	types := []string{"percentiles", "hgrm", "csv", "csve", "csvr", "json", "timeline", "ndjson", "influx", "openmetrics", "if"}
	for text, want := range map[string]string{
		"percentile":  "percentiles",
		"precentiles": "percentiles",
		"JSN":         "json",
		"hgmr":        "hgrm",
		"openmetric":  "openmetrics",
		"time-line":   "timeline",
		"xml":         "",
		"":            "",
		"csvv":        "csv",
		"diff":        "", // it has two letters of if
		"prometheus":  "",
	} {
		if want != "" {
			want = fmt.Sprintf("; did you mean %q?", want)
		}
		if got := DidYouMean(text, types); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestGroup: a message about many names has the first three.
func TestGroup(t *testing.T) {
	t.Parallel()
	var all Group
	for n := range 25 {
		all.Add(fmt.Sprint("node", n), "is gone")
	}
	all.Add("node0", "is empty")
	var said []string
	all.Say(func(names, text string) { said = append(said, names+" "+text) })
	if want := []string{"node0, node1, node2 is gone (and 22 more)", "node0 is empty"}; !slices.Equal(said, want) {
		t.Errorf("%q, not %q", said, want)
	}
}
