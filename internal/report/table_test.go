package report

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

var update = flag.Bool("update", false, "write the golden files")

// tableSummary returns a summary of latencies in nanoseconds, with maxima over time. Factor slows
// it down.
func tableSummary(tag string, n int, factor float64) *output.Summary {
	random := rand.New(rand.NewPCG(uint64(len(tag)), 7))
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	s := &output.Summary{Tag: []byte(tag), Histogram: h, Intervals: 60, Start: 1468800400000, End: 1468800520000, Period: 120000}
	s.Scale = hdrlog.Scale{Ratio: 1e6, Unit: "ms"}
	s.Maxima = output.Maxima{Start: s.Start, Step: 2000}
	for range 60 {
		highest := 0.0
		for range n / 60 {
			v := int64(factor * 1e6 * math.Exp(random.NormFloat64()))
			h.Record(v)
			highest = max(highest, float64(v))
		}
		s.Maxima.Values = append(s.Maxima.Values, highest)
	}
	return s
}

var defaultPercentiles = []float64{50, 90, 99, 99.9, 99.99, 99.999}

func tableSummaries() []*output.Summary {
	all := []*output.Summary{tableSummary("insert-rt", 60000, 1), tableSummary("insert-st", 60000, 0.8), tableSummary("größe", 600, 20)}
	empty, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	return append(all, &output.Summary{Tag: []byte("nothing"), Histogram: empty, Intervals: 1, Start: 1468800400000, End: 1468800520000, Period: 120000})
}

// golden compares text with a golden file.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs:\n%s\nwant\n%s", name, text, want)
	}
}

// checkWidth checks that all lines fit. Without colours, lines have no trailing space.
func checkWidth(t *testing.T, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if textWidth(line) > width || strings.TrimRight(line, " ") != line {
			t.Fatalf("width %d: %q has %d columns", width, line, textWidth(line))
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	for _, width := range []int{0, 40, 80, 100, 120, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			table := Table{Percentiles: defaultPercentiles, Width: width}
			var b bytes.Buffer
			if err := table.Write(&b, tableSummaries()); err != nil {
				t.Fatal(err)
			}
			golden(t, fmt.Sprintf("table.%d.txt", width), b.String())
			if width > 0 {
				checkWidth(t, b.String(), width)
			}
		})
	}
}

func TestEmptyTable(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := (&Table{Width: 80}).Write(&b, nil); err != nil || b.String() != "unit unknown: add -in ns, us, ms or s\n\ntag  count  /s  period  min  mean  max\n" {
		t.Errorf("%v, %q", err, &b)
	}
}

func TestTableChanges(t *testing.T) {
	t.Parallel()
	for _, width := range []int{40, 80, 120} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			table := Table{Percentiles: []float64{50, 99}, Width: width, Colour: true}
			pairs := []sides.Pair{
				{Tag: []byte("insert-rt"), Before: tableSummary("insert-rt", 60000, 1), After: tableSummary("insert-rt", 54000, 1.3)},
				{Tag: []byte("old"), Before: tableSummary("old", 600, 1)},
				{Tag: []byte("new"), After: tableSummary("new", 600, 1)},
			}
			var b bytes.Buffer
			if err := table.WriteChanges(&b, pairs); err != nil {
				t.Fatal(err)
			}
			golden(t, fmt.Sprintf("changes.%d.txt", width), b.String())
			checkWidth(t, strings.NewReplacer("\x1b[2m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[0m", "").Replace(b.String()), width)
		})
	}
}

// TestLongTable has 150 tags. Some are long and differ only in the middle, some have wide
// characters.
func TestLongTable(t *testing.T) {
	t.Parallel()
	var all []*output.Summary
	seen := make(map[string]bool)
	for n := range 150 {
		tag := fmt.Sprintf("op%d", n)
		switch n % 3 {
		case 1:
			tag = fmt.Sprintf("scenario.cycles.operation-%03d.with.a.long.name.servicetime", n)
		case 2:
			tag = fmt.Sprintf("操作%d", n)
		}
		s := tableSummary(tag, 60, 1)
		s.Scale = hdrlog.Scale{Ratio: 1000, Unit: "ms"}
		all = append(all, s)
	}
	for _, width := range []int{40, 80, 120, 200} {
		table := Table{Percentiles: []float64{50, 99}, Width: width}
		var b bytes.Buffer
		if err := table.Write(&b, all); err != nil {
			t.Fatal(err)
		}
		checkWidth(t, b.String(), width)
		lines := strings.Split(b.String(), "\n")
		lines = lines[2:] // after the unit
		if after := lines[151]; !strings.HasPrefix(after, "tag ") {
			t.Fatalf("width %d: %q follows the tags, not the header", width, after)
		}
		clear(seen)
		for n, line := range lines[1:151] {
			if whole := fmt.Sprintf("op%d", n); n%3 == 0 && strings.Fields(line)[0] != whole {
				t.Errorf("width %d: %s is short enough, and has become %s", width, whole, strings.Fields(line)[0])
			}
			if tag := strings.Fields(line)[0]; seen[tag] {
				t.Errorf("width %d: %s stands for two tags", width, tag)
			} else {
				seen[tag] = true
			}
		}
	}
}

// TestRowsOf80 checks that each tag is one row at 80 columns, whatever its values, and that the
// table says what is left out.
func TestRowsOf80(t *testing.T) {
	t.Parallel()
	var all []*output.Summary
	for n := range 40 {
		h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		for v := range int64(1000) {
			h.RecordN(v*v*int64(n+1)/7, int64(n*n+1))
		}
		all = append(all, &output.Summary{Tag: fmt.Appendf(nil, "a.tag.with.a.long.name.%d.that.ends", n), Histogram: h, End: 1000, Period: 1000})
	}
	var b strings.Builder
	table := Table{Percentiles: []float64{50, 90, 99, 99.9, 99.99, 99.999}, Width: 80}
	if err := table.Write(&b, all); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(b.String(), "\n"); lines != 40+6 || !strings.Contains(b.String(), "80 columns have no room for min and mean and p99.999") {
		t.Errorf("%d lines\n%s", lines, &b)
	}
}

// TestShortened: long tags that differ at an end lose their middle, and need no number.
func TestShortened(t *testing.T) {
	t.Parallel()
	var all []*output.Summary
	for _, tag := range []string{"one.of.the.tags.with.a.long.name", "two.of.the.tags.with.a.long.name", "short"} {
		all = append(all, tableSummary(tag, 60, 1))
	}
	var b strings.Builder
	if err := (&Table{Percentiles: []float64{50}, Width: 70}).Write(&b, all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\none.of.the.…a.long.name ", "\ntwo.of.the.…a.long.name ", "\nshort "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

func TestSparkline(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	m := maxima{Start: 1000, Step: 10, Values: []float64{8, 4, nan, 1, 0}}
	for _, test := range []struct {
		start, end int64
		width      int
		want       string
	}{
		{1000, 1050, 5, "█▄ ▁ "},   // zero is empty
		{1000, 1040, 2, "█▁"},      // the highest of two spans
		{980, 1060, 8, "  █▄ ▁  "}, // the table begins before and ends after the row
		{1000, 1010, 3, " █ "},     // more characters than spans
		{1000, 1050, 10, " █ ▄   ▁  "},
	} {
		if got := m.sparkline(test.start, test.end, test.width, m.highest()); got != test.want {
			t.Errorf("%d to %d, %d wide: %q, want %q", test.start, test.end, test.width, got, test.want)
		}
	}
	if got := (&maxima{}).sparkline(0, 10, 3, 1); got != "   " {
		t.Errorf("no maxima: %q", got)
	}
}

// TestMarkdownEscapes: no tag becomes a link, an image, a mention, an issue, an emoji, a formula or
// HTML.
func TestMarkdownEscapes(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"[a](b)":         `\[a\](b)`,
		"![a](b)":        `\!\[a\](b)`,
		"a\\|b":          `a\\\|b`,
		"@someone #12":   "@<!-- -->someone #<!-- -->12",
		":rocket: $x$":   ":<!-- -->rocket: <span>$</span>x<span>$</span>",
		"http://a.b":     "http:<!-- -->//a.b",
		"www.a.b":        "www<!-- -->.a.b",
		"<b>&amp; *a_b*": `&lt;b&gt;&amp;amp; \*a\_b\*`,
		"a: 5 `~~x~~`":   "a: 5 \\`\\~\\~x\\~\\~\\`",
	} {
		var b strings.Builder
		table := Table{Markdown: true}
		if err := table.Write(&b, []*output.Summary{tableSummary(tag, 6, 1)}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "\n| "+want+" | 0 |") {
			t.Errorf("%q: no %s in\n%s", tag, want, &b)
		}
	}
}

// TestIntervalText checks intervals that have one limit.
func TestIntervalText(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, test := range []struct {
		low, high float64
		want      string
	}{{1, 2, " [1, 2]"}, {1, nan, " [>= 1]"}, {nan, 2, " [<= 2]"}, {nan, nan, ""}} {
		if got := IntervalText(test.low, test.high, func(v float64) string { return fmt.Sprint(v) }); got != test.want {
			t.Errorf("%v, %v: %q, want %q", test.low, test.high, got, test.want)
		}
	}
}

// TestFewer: notes about very many tags, and lists in them, are bounded.
func TestFewer(t *testing.T) {
	for _, n := range []int{0, 1, maxNotes, maxNotes + 1, 10_000} {
		notes := make([]string, n)
		for i := range notes {
			notes[i] = fmt.Sprint("tag", i)
		}
		got := limitNotes(notes)
		list := joinNames(notes)
		if len(got) != min(n, maxNotes) || strings.Count(list, ",") >= max(maxNotes, 1) {
			t.Errorf("%d notes become %d, and the list %s", n, len(got), list)
		}
		if n > maxNotes && (got[maxNotes-1] != fmt.Sprintf("... and %d more notes like these", n-maxNotes+1) || !strings.HasSuffix(list, fmt.Sprintf(", ... and %d more", n-maxNotes+1))) {
			t.Errorf("%d notes end with %s, and the list is %s", n, got[maxNotes-1], list)
		}
	}
}

// TestPeriods proves that the periods of many tags are a range.
func TestPeriods(t *testing.T) {
	var all []*output.Summary
	for _, test := range []struct {
		add  int64 // milliseconds
		want string
	}{
		{60_000, "60s"},
		{60_000, "60s"},
		{2_000, "60s and 2s"},
		{3_000, "60s and 2s and 3s"},
		{4_000, "60s and 2s and 3s and 4s"},
		{3_600_000, "2s to 1h"},
		{1_000, "1s to 1h"},
	} {
		all = append(all, &output.Summary{Period: test.add})
		if got := periodsText(all); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

// tables are the tables of a summary, by name.
var tables = map[string]func(w io.Writer, s *output.Summary) error{
	"summaries": func(w io.Writer, s *output.Summary) error {
		return (&Table{Percentiles: []float64{50}}).Write(w, []*output.Summary{s})
	},
	"changes": func(w io.Writer, s *output.Summary) error {
		pairs := []sides.Pair{{Tag: s.Tag, Before: s, After: s}}
		return (&Table{Percentiles: []float64{50}, Width: 40, Colour: true}).WriteChanges(w, pairs)
	},
}

var errNoRoom = errors.New("no room")

// A noRoom is a writer that fails.
type noRoom struct{}

func (noRoom) Write([]byte) (int, error) { return 0, errNoRoom }

// TestTables: a table returns the error of its writer, stands summaries whose fields are not set,
// and prints microseconds with a factor of 1000 in milliseconds as it prints them without a factor.
func TestTables(t *testing.T) {
	in, of := hdrlog.Scale{Ratio: 1e6, Unit: "ms"}, hdrlog.Scale{Ratio: 1e3, Unit: "ms"}
	for name, write := range tables {
		s := tableSummary("read", 600, 1)
		if err := write(noRoom{}, s); err != errNoRoom {
			t.Errorf("%s: error %v", name, err)
		}
		var b bytes.Buffer
		if err := write(&b, &output.Summary{}); err != nil {
			t.Errorf("%s of an empty summary: %v", name, err)
		}
		b.Reset()
		h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		h.Record(5)
		if err := write(&b, &output.Summary{Histogram: h, Period: 1}); err != nil || strings.Contains(b.String(), "Inf") {
			t.Errorf("%s with a zero scale: %v, %s", name, err, &b)
		}
		var got, want bytes.Buffer
		s.Scale = of
		if err := write(&want, s); err != nil {
			t.Fatal(err)
		}
		s.Scale = in.Times(1000)
		if err := write(&got, s); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%s:\n%s\nwant\n%s", name, &got, &want)
		}
	}
}

// TestPairScale: the sparklines of a pair have one scale, although the units differ.
func TestPairScale(t *testing.T) {
	before, after := tableSummary("", 60, 1), tableSummary("", 60, 1)
	before.Scale = hdrlog.Scale{}
	after.Scale = hdrlog.Scale{}.Times(1000)
	before.Maxima = output.Maxima{Start: before.Start, Step: 10_000, Values: []float64{50_000}}
	after.Maxima = output.Maxima{Start: before.Start, Step: 10_000, Values: []float64{100}}
	var table bytes.Buffer
	if err := (&Table{}).WriteChanges(&table, []sides.Pair{{Before: before, After: after}}); err != nil {
		t.Fatal(err)
	}
	if text := table.String(); strings.Count(text, "▄") != 1 || strings.Count(text, "█") != 1 || strings.Index(text, "▄") > strings.Index(text, "█") {
		t.Error(text)
	}
}

// TestShiftZone: a note has the time of a shift in the zone of the table.
func TestShiftZone(t *testing.T) {
	s := tableSummary("read", 600, 1)
	s.Confidence = &output.Confidence{Shift: &output.Shift{
		Percentile: 99,
		Start:      1468800460000,
		Before:     1e6,
		After:      2e6,
	}}
	for zone, want := range map[*time.Location]string{
		nil:                           " at 2016-07-18T00:07:40Z, 60s after",
		time.FixedZone("UTC+2", 7200): " at 2016-07-18T02:07:40+02:00, 60s after",
	} {
		var b strings.Builder
		table := Table{Percentiles: []float64{99}, Zone: zone}
		if err := table.Write(&b, []*output.Summary{s}); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%v, no %q in\n%s", err, want, &b)
		}
	}
	// Changes are about two runs, and not about what is in one of them.
	var b strings.Builder
	err := (&Table{Percentiles: []float64{99}}).WriteChanges(&b, []sides.Pair{{Before: s, After: s}})
	if err != nil || strings.Contains(b.String(), "shifts") {
		t.Errorf("%v\n%s", err, &b)
	}
}
