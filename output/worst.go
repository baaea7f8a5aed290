package output

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
	"hdrkit/tags"
)

// A Moment is a time that was bad.
type Moment struct {
	// Start and End are milliseconds since the epoch. Peak is the start of the interval that has
	// the maximum.
	Start int64 `json:"startMs"`
	End   int64 `json:"endMs"`
	Peak  int64 `json:"peakMs"`
	// Tag of the log Input was the worst then.
	Tag   Tag    `json:"tag"`
	Input string `json:"input"`
	// Max is the maximum in the unit of the log, and Scale says how to print it.
	Max   Number       `json:"max"`
	Scale hdrlog.Scale `json:"-"`
	// Times is the maximum divided by the typical one of the tag in its log.
	Times Number `json:"times"`
	// Bound is what the maximum of the tag in its log exceeds by chance in one of a hundred logs.
	Bound float64 `json:"-"`
	// Others is the number of others that were bad at the same time: a tag of a log counts as one.
	// It was bad if its maximum was at least twice the typical one.
	// OtherTags is the number of tags of the same log among them, and OtherInputs that of other
	// logs.
	Others      int `json:"others"`
	OtherTags   int `json:"-"`
	OtherInputs int `json:"-"`
}

// A Share is what a tag of a log has of the values above a percentile of all values, or what a log
// or a tag has.
type Share struct {
	Input string `json:"input"` // empty for a tag of all logs
	Tag   Tag    `json:"tag"`
	// Count is the number of its values above, and Share their part of all that are above.
	Count int64   `json:"count"`
	Share float64 `json:"share"`
	// Without is the percentile of all other values in the unit of the log, NaN if there are none.
	Without Number `json:"without"`
}

// Shares are who has the values above a percentile of all values, the largest first.
type Shares struct {
	Percentile float64
	// Value is the percentile in the unit of the logs, and Count the number of values above it.
	Value float64
	Count int64
	// Scale says how values are printed.
	Scale hdrlog.Scale
	// Tags and Inputs say whether each share has a tag, and a log.
	Tags, Inputs bool
	Of           []Share
}

// A Breach is a time at which a limit did not hold.
type Breach struct {
	Limit string `json:"limit"`
	Tag   string `json:"tag"`
	// Start and End are milliseconds since the epoch.
	Start int64 `json:"startMs"`
	End   int64 `json:"endMs"`
	// Worst is the worst figure of an interval or window in Unit, and Count the number of values
	// beyond the limit, 0 for a rate.
	Worst float64 `json:"worst"`
	Unit  string  `json:"unit,omitempty"`
	Count int64   `json:"count"`
}

// Broken adds breaches to the document.
func (d *Document) Broken(breaches []Breach) {
	all := append([]Breach{}, breaches...) // never null
	d.Breaches = &all
}

// WriteBreaches writes a line for each breach.
func WriteBreaches(w io.Writer, breaches []Breach, zone *time.Location) error {
	if len(breaches) == 0 {
		_, err := io.WriteString(w, "the limits hold all the time\n")
		return err
	}
	rows := [][]string{{"start", "length", "worst", "over", "limit", "tag"}}
	for _, b := range breaches {
		rows = append(rows, []string{
			people.RFC3339(b.Start, zone),
			people.Duration(b.End - b.Start),
			people.Digits(b.Worst, 4) + b.Unit,
			people.Whole(b.Count),
			b.Limit,
			b.Tag,
		})
	}
	return Columns(w, rows)
}

// Worst adds moments to the document.
func (d *Document) Worst(moments []Moment) {
	all := []Moment{}
	for _, m := range moments {
		m.Max = Number(m.Scale.Of(float64(m.Max)))
		all = append(all, m)
	}
	d.Moments = &all
}

// Who adds shares to the document.
func (d *Document) Who(s *Shares) {
	all := []Share{}
	for _, part := range s.Of {
		part.Without = Number(s.Scale.Of(float64(part.Without)))
		all = append(all, part)
	}
	d.Shares = &all
}

// A listing is rows whose last column names logs. More stands behind these names. It is no [Table],
// since it shortens all names alike where they are too long, and has no figures to leave out.
type listing struct {
	rows [][]string // the first one is the heading
	more []string
}

func (l *listing) add(more string, row ...string) {
	l.rows, l.more = append(l.rows, row), append(l.more, more)
}

// write writes the rows. If they are wider than width, which is not 0, it leaves out what the names
// begin with, and then their middle.
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
		if width > 0 && textWidth(row[last]+l.more[n+1]) > room {
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
			row[last] = cutMiddle("…"+strings.TrimPrefix(row[last], prefix), max(room-textWidth(l.more[n]), 12))
		}
		row[last] += l.more[n]
	}
	return Columns(w, l.rows)
}

// more says how many more there are, if any.
func more(n int, what string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " +1 " + what
	}
	return fmt.Sprintf(" +%d %ss", n, what)
}

// mostNarrow is the width of a terminal up to which there is no room for the peaks of moments.
const mostNarrow = 80

// WriteWorst writes a line for each moment. Width is that of the terminal, 0 for a file.
func WriteWorst(w io.Writer, moments []Moment, zone *time.Location, width int) error {
	if len(moments) == 0 {
		_, err := io.WriteString(w, "no interval has a value above 0\n")
		return err
	}
	fmt.Fprintf(w, "worst moments, %s\n\n", unit.About(moments[0].Scale))
	var l listing
	add := func(more, start, length, highest, times, peak string, rest ...string) {
		row := []string{start, length, highest, times}
		if width == 0 || width > mostNarrow {
			row = append(row, peak)
		}
		l.add(more, append(row, rest...)...)
	}
	add("", "start", "length", "max", "times", "peak", "tag", "input")
	for _, m := range moments {
		add(
			more(m.OtherInputs, "log"),
			people.RFC3339(m.Start, zone),
			people.Duration(m.End-m.Start),
			people.Digits(m.Scale.Of(float64(m.Max)), 4),
			people.Digits(float64(m.Times), 2)+"x",
			"+"+people.Duration(m.Peak-m.Start),
			tags.Text(m.Tag)+more(m.OtherTags, "tag"),
			tags.Printable(m.Input),
		)
	}
	return l.write(w, width)
}

// WriteWho writes a line for each share, but not for those that have nothing. Width is that of
// [WriteWorst].
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
