package sinks

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// A screen is a terminal: its lines, and where the cursor is.
type screen struct {
	lines []string
	at    int
}

func (s *screen) Write(text []byte) (int, error) {
	for line := range strings.SplitAfterSeq(strings.NewReplacer("\x1b[?7l", "", "\x1b[?7h", "").Replace(string(text)), "\n") {
		var up int
		if n, _ := fmt.Sscanf(line, "\x1b[%dA\x1b[J", &up); n == 1 {
			s.at -= up
			s.lines = s.lines[:s.at]
			_, line, _ = strings.Cut(line, "\x1b[J")
		}
		if line != "" {
			s.lines = append(s.lines, line)
			s.at++
		}
	}
	return len(text), nil
}

// TestTerminal draws tables that are higher than the terminal, and writes messages between.
func TestTerminal(t *testing.T) {
	var s screen
	terminal := &Terminal{W: &s, Width: func() int { return 80 }, Height: func() int { return 10 }}
	messages := terminal.Messages(&s)
	table := func(rows int) (text string) {
		for n := range rows {
			text += fmt.Sprintf("row %d\n", n)
		}
		return text
	}
	want := func(lines ...string) {
		t.Helper()
		if got := strings.Join(s.lines, ""); got != strings.Join(lines, "") {
			t.Errorf("the terminal has\n%s\nwant\n%s", got, strings.Join(lines, ""))
		}
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	io.WriteString(messages, "first\n")
	check(terminal.draw(table(3), "ok\n", true))
	want("first\n", table(3), "ok\n")
	io.WriteString(messages, "second\n")
	want("first\n", "second\n", table(3), "ok\n")
	check(terminal.draw(table(500), "\nok\n", true))
	want("first\n", "second\n", table(6), "... and 494 more lines; -incT chooses tags\n", "\nok\n")
	check(terminal.draw(table(500), "\nok\n", false))
	want("first\n", "second\n", table(500), "\nok\n")
	io.WriteString(messages, "third\n")
	want("first\n", "second\n", table(500), "\nok\n", "third\n")
}
