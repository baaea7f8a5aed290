package report

import (
	"errors"
	"io"
	"strings"
	"testing"

	"hdrkit/output"
)

// full fails after some bytes.
type full struct{ room int }

var errNoSpace = errors.New("full")

func (w *full) Write(p []byte) (int, error) {
	if len(p) > w.room {
		return 0, errNoSpace
	}
	w.room -= len(p)
	return len(p), nil
}

// TestWrite: the verdict and what changed stand above the figures, all verdicts below them, and in
// Markdown everything above.
func TestWrite(t *testing.T) {
	found := []output.Finding{
		{Weight: output.Fails, Sentence: "FAILS: p99 is 4 ms, limit 2 ms."},
		{Weight: output.Warns, Sentence: "SLOWER: p99 by 10%.", Option: "-p 99"},
		{Weight: output.Holds, Sentence: "HOLDS: p50 is 1 of 2 ms."},
	}
	figures := func(w io.Writer) error {
		_, err := io.WriteString(w, "figures\n")
		return err
	}
	const text = "\x1b[31mFAILS\x1b[0m: p99 is 4 ms, limit 2 ms.\nSLOWER: p99 by 10%.\n\nfigures\n\n" +
		"\x1b[31mFAILS\x1b[0m: p99 is 4 ms, limit 2 ms.\n\x1b[32mHOLDS\x1b[0m: p50 is 1 of 2 ms.\n"
	top := []string{found[0].Sentence, found[1].Sentence}
	for _, test := range []struct {
		table Table
		want  string
	}{
		{Table{Colour: true}, text},
		{Table{Markdown: true}, "**FAILS: p99 is 4 ms, limit 2 ms.**\n\n- SLOWER: p99 by 10%.\n" +
			"- HOLDS: p50 is 1 of 2 ms.\n\nfigures\n"},
	} {
		var b strings.Builder
		if err := Write(&b, &test.table, top, found, figures); err != nil || b.String() != test.want {
			t.Errorf("%v\n%s\nwant\n%s", err, &b, test.want)
		}
	}
	for room := range len("SLOWER: p99 by 10%.  -p 99\n") {
		if err := new(Table).WriteList(&full{room}, found[1:2]); err != errNoSpace {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
}

// TestNarrowList proves that a terminal gets lines that end at words, and commands in one piece.
func TestNarrowList(t *testing.T) {
	t.Parallel()
	found := []output.Finding{
		{Weight: output.Fails, Sentence: "FAILS: p99 is 4 ms, limit 2 ms.", Option: "hdrsum -st breaches"},
		{Weight: output.Warns, Sentence: "p99 is 4 ms.", Option: "-worst 5"},
	}
	const want = "FAILS: p99 is 4 ms,\nlimit 2 ms.\n  hdrsum -st breaches\np99 is 4 ms.  -worst 5\n"
	var b strings.Builder
	if err := (&Table{Width: 24}).WriteList(&b, found); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, &b, want)
	}
}
