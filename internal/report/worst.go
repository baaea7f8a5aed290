package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/people"
	"hdrkit/internal/base/unit"
	"hdrkit/output"
	"hdrkit/tags"
)

// Shares says which tags and logs have the values above a percentile of all values.
type Shares struct {
	Percentile float64
	// Value is the value at the percentile in the unit of the logs, and Count the number of values
	// above it.
	Value float64
	Count int64
	// Scale says how values are printed.
	Scale hdrlog.Scale
	// Tags is set if shares have tags, and Inputs if they have logs.
	Tags, Inputs bool
	Of           []output.Share
}

// WriteBreaches writes a table with a line for each time in which a limit was broken.
func WriteBreaches(w io.Writer, breaches []output.Breach, zone *time.Location) error {
	if len(breaches) == 0 {
		_, err := io.WriteString(w, "the limits hold all the time\n")
		return err
	}
	rows := [][]string{{"start", "length", "worst", "beyond", "limit", "tag"}}
	for _, b := range breaches {
		beyond := "-" // a number, such as a rate, is not of values
		if b.Count > 0 {
			beyond = people.Whole(b.Count)
		}
		rows = append(rows, []string{
			people.RFC3339(b.Start, zone),
			people.Duration(b.End - b.Start),
			people.Digits(b.Worst, 4) + b.Unit,
			beyond,
			b.Limit,
			b.Tag,
		})
	}
	return Columns(w, rows)
}

// A listing is a table whose last column has names of logs. Suffixes has a text behind each name.
// It is no [grid], since it has no figures to leave out, and shortens names by the folder that all
// of them share.
type listing struct {
	rows     [][]string // the first one is the heading
	suffixes []string
}

func (l *listing) add(suffix string, row ...string) {
	l.rows, l.suffixes = append(l.rows, row), append(l.suffixes, suffix)
}

// write writes the rows. If names are too long for a terminal of width characters, it cuts off the
// folder that they share, and then their middle. A width of 0 is no limit.
func (l *listing) write(w io.Writer, width int) error {
	last := len(l.rows[0]) - 1
	room := width
	for column := range last {
		widest := 0
		for _, row := range l.rows {
			widest = max(widest, textWidth(row[column]))
		}
		room -= widest + 2
	}
	var long []string
	for n, row := range l.rows[1:] {
		if width > 0 && textWidth(row[last]+l.suffixes[n+1]) > room {
			long = append(long, row[last])
		}
	}
	prefix := ""
	if len(long) > 0 {
		prefix = long[0][:strings.LastIndexAny(long[0], `/\`)+1]
	}
	for _, name := range long {
		for !strings.HasPrefix(name, prefix) {
			prefix = prefix[:strings.LastIndexAny(strings.TrimRight(prefix, `/\`), `/\`)+1]
		}
	}
	for n, row := range l.rows {
		if slices.Contains(long, row[last]) {
			row[last] = cutMiddle("…"+strings.TrimPrefix(row[last], prefix), max(room-textWidth(l.suffixes[n]), 12))
		}
		row[last] += l.suffixes[n]
	}
	return Columns(w, l.rows)
}

// moreText returns a text for n more things, which what names in the singular. It is empty for
// none.
func moreText(n int, what string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " +1 " + what
	}
	return fmt.Sprintf(" +%d %ss", n, what)
}

// maxNarrow is the largest width of a terminal at which [WriteWorst] leaves out the column of
// peaks.
const maxNarrow = 80

// WriteWorst writes a table with a line for each of the worst moments. Width is the width of the
// terminal, or 0 for a file.
func WriteWorst(w io.Writer, moments []output.Moment, zone *time.Location, width int) error {
	if len(moments) == 0 {
		_, err := io.WriteString(w, "no interval has a value above 0\n")
		return err
	}
	fmt.Fprintf(w, "worst moments, %s\n\n", unit.About(moments[0].Scale))
	var l listing
	add := func(suffix, start, length, highest, times, peak string, rest ...string) {
		row := []string{start, length, highest, times}
		if width == 0 || width > maxNarrow {
			row = append(row, peak)
		}
		l.add(suffix, append(row, rest...)...)
	}
	add("", "start", "length", "max", "times", "peak", "tag", "input")
	for _, m := range moments {
		add(
			moreText(m.OtherInputs, "log"),
			people.RFC3339(m.Start, zone),
			people.Duration(m.End-m.Start),
			people.Digits(m.Scale.Of(float64(m.Max)), 4),
			people.Digits(float64(m.Times), 2)+"x",
			"+"+people.Duration(m.Peak-m.Start),
			tags.Text(m.Tag)+moreText(m.OtherTags, "tag"),
			tags.Printable(m.Input),
		)
	}
	return l.write(w, width)
}

// WriteWho writes a table with a line for each share that has values. Width is the width of the
// terminal, or 0 for a file.
func WriteWho(w io.Writer, s *Shares, width int) error {
	if s.Count == 0 {
		_, err := fmt.Fprintf(w, "no values are above p%s of all\n", people.Shortest(s.Percentile))
		return err
	}
	fmt.Fprintf(w, "p%s of all is %s, and %s values are above it, %s\n\n",
		people.Shortest(s.Percentile), people.Digits(s.Scale.Of(s.Value), 4), people.Whole(s.Count), unit.About(s.Scale))
	var l listing
	row := func(share, without, tag, input string) {
		columns := []string{share, without}
		if s.Tags {
			columns = append(columns, tag)
		}
		if s.Inputs {
			columns = append(columns, input)
		}
		l.add("", columns...)
	}
	row("share", fmt.Sprintf("p%s without", people.Shortest(s.Percentile)), "tag", "input")
	nothing := 0
	for _, part := range s.Of {
		if part.Count == 0 {
			nothing++
			continue
		}
		without := "-"
		if value := float64(part.Without); !math.IsNaN(value) {
			without = people.Digits(s.Scale.Of(value), 4)
		}
		row(fmt.Sprintf("%.1f%%", 100*part.Share), without, tags.Text(part.Tag), tags.Printable(part.Input))
	}
	err := l.write(w, width)
	if nothing > 0 {
		_, err2 := fmt.Fprintf(w, "\n%d more have none of them\n", nothing)
		err = cmp.Or(err, err2)
	}
	return err
}

// WriteRanges writes a line with the start and the end of each moment, in milliseconds since the
// epoch and in RFC 3339, with tabs between them. Other tools take these times to show their data. A
// request may begin before the interval in which it ends, so a range begins earlier by the maximum
// of the interval, if the unit of values is known.
func WriteRanges(w io.Writer, moments []output.Moment, zone *time.Location) error {
	var text []byte
	for _, m := range moments {
		if !people.Dated(m.Start) {
			return fmt.Errorf("the times of %s count from its start, so no other tool knows them", tags.Printable(m.Input))
		}
		start := m.Start - int64(math.Ceil(float64(m.Max)*m.Scale.Factor()*float64(m.Scale.In)/float64(time.Millisecond)))
		text = fmt.Appendf(text, "%d\t%d\t%s\t%s\n", start, m.End, people.RFC3339(start, zone), people.RFC3339(m.End, zone))
	}
	_, err := w.Write(text)
	return err
}
