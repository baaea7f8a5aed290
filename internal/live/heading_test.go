package live

import (
	"math"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/clitest"
)

// TestHeading reads logs one after another. A later run that begins in the middle of one needs the
// comments that hold there.
func TestHeading(t *testing.T) {
	t.Parallel()
	line := string(clitest.Line(t, 5, 1000, 1, "x"))
	line = line[strings.Index(line, "Tag="):]
	const start, base = "#[StartTime: 5]\n", "#[BaseTime: 5]\n"
	var h heading
	for _, test := range []struct {
		log, text  string
		headerFrom int
	}{
		{"#a\n" + line, "", math.MaxInt},
		{"#a\n" + base + line, "#a\n" + base, math.MaxInt}, // the first interval gives the start
		{"#a\n" + start + line + "#b\n" + line, "#a\n" + start, 3},
		{"#a\n" + line + line, "#a\n" + start, 1},                                      // as after a truncation
		{start + line + line + "#b\n" + start + base + line, "#b\n" + start + base, 7}, // a program started again
	} {
		r := hdrlog.NewReader(strings.NewReader(test.log), "log")
		h.beginLog()
		for r.Scan() {
			h.addRecord(r.Record())
		}
		if h.text != test.text || h.headerFrom != test.headerFrom {
			t.Errorf("%q: %q, %d", test.log, h.text, h.headerFrom)
		}
	}
}
