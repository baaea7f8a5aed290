package output

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"hdrkit/internal/base/people"
)

// A tested figure is one of a pair that has an interval of its change.
type tested struct {
	pair   *Pair
	figure figure
	*FigureChange
}

// tested returns the figures of pairs that have an interval of their change, in the order in which
// they lead a headline: p99, the median, other percentiles, the rate, and last what few values
// decide. Of equal ones the surest comes first.
func (t *Table) tested(pairs []Pair) (all []tested) {
	for n := range pairs {
		p := &pairs[n]
		if p.Change == nil {
			continue
		}
		for _, f := range t.figures() {
			if f.change != nil && f.change(p.Change).known() {
				all = append(all, tested{p, f, f.change(p.Change)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b tested) int {
		if byRank := a.rank() - b.rank(); byRank != 0 || a.sure() == b.sure() {
			return byRank
		}
		if a.sure() > b.sure() {
			return -1
		}
		return 1
	})
	return all
}

// rank returns the place of a figure in a headline.
func (c *tested) rank() int {
	switch {
	case c.figure.percentile == 99:
		return 0
	case c.figure.percentile == 50:
		return 1
	case c.figure.percentile >= 0 && c.figure.percentile <= 99.9:
		return 2
	case c.rate():
		return 3
	case c.figure.head == Mean:
		return 4
	}
	return 5
}

// sure returns how far the interval is from no change.
func (c *tested) sure() float64 { return min(math.Abs(math.Log(c.Low)), math.Abs(math.Log(c.High))) }

// rate reports whether the figure is the throughput.
func (c *tested) rate() bool { return c.figure.head == "/s" }

// worse reports whether the change is one for the worse.
func (c *tested) worse() bool { return (c.Ratio > 1) != c.rate() }

// unitOf returns the unit of printed values.
func unitOf(pairs []Pair) string {
	for _, p := range pairs {
		return cmp.Or(p.After, p.Before).Scale.Unit
	}
	return ""
}

// Headline says whether the sides of pairs differ: what is proven, or what looks so and what would
// prove it, or within what they are the same.
func (t *Table) Headline(pairs []Pair) Finding {
	f := Finding{Kind: "change", Weight: Notes, Unit: unitOf(pairs)}
	if !slices.ContainsFunc(pairs, func(p Pair) bool { return p.Before != nil && p.After != nil }) {
		f.Sentence = "NOT COMPARED: no tag has values before and after."
		return f
	}
	all := t.tested(pairs)
	var worse, better, beyond []tested
	for _, c := range all {
		switch {
		case c.Significant && c.worse():
			worse = append(worse, c)
		case c.Significant:
			better = append(better, c)
		case c.beyond() && c.rank() <= 3: // not the mean, nor what few values decide
			beyond = append(beyond, c)
		}
	}
	switch {
	case len(worse) > 0:
		f.Weight = Warns
		f.Sentence = t.proven(worse, better, &f)
	case len(better) > 0:
		f.Sentence = t.proven(better, nil, &f)
	case len(beyond) > 0:
		f.Sentence = t.unproven(beyond, &f)
	case len(all) == 0 || all[0].rank() > 2: // no percentile
		f.Sentence = "NOT PROVEN: too little data to judge. " + enough(pairs)
	default:
		f.Sentence = t.same(all, &f) + t.untested(pairs)
	}
	return f
}

// enough says what a comparison takes.
func enough(pairs []Pair) string {
	for _, p := range pairs {
		if p.Change != nil && p.Change.Before != nil {
			return fmt.Sprintf("A percentile takes %d values above it in each of two runs a side.", Few)
		}
	}
	return fmt.Sprintf("Give runs of two minutes or more, with %d values above a percentile, "+
		"or three runs a side.", Few)
}

// boundDigits is the number of digits of a bound in a finding. The last of a float64 are not the
// same on all processors.
const boundDigits = 9

// fill gives a finding the figures of a change.
func (t *Table) fill(f *Finding, c *tested) {
	f.Tag = c.pair.name()
	f.Figures = map[string]Number{
		"before": Number(t.side(c.pair, c.pair.Before, &c.figure)),
		"after":  Number(t.side(c.pair, c.pair.After, &c.figure)),
		"ratio":  Number(c.Ratio),
		"low":    Number(people.Rounded(c.Low, boundDigits)),
		"high":   Number(people.Rounded(c.High, boundDigits)),
	}
	if c.rate() {
		f.Unit = "/s"
	}
}

// proven says which figures changed: SLOWER: p99 of read by 11% (7..15): 17.1 to 19.0 ms; p50 by
// 10%. Others changed the other way.
func (t *Table) proven(changes, others []tested, f *Finding) string {
	lead := changes[0]
	t.fill(f, &lead)
	name := lead.name(nil) + " "
	if lead.rate() { // whose word names it
		name = strings.TrimPrefix(strings.TrimPrefix(name, "throughput "), "of ")
	}
	text := fmt.Sprintf("%s: %sby %s: %s", lead.word(), name, lead.by(true), t.values(&lead))
	if len(changes) > 1 {
		text += "; " + changes[1].also(lead.pair)
	}
	if more := len(changes) - 2; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	if len(others) > 0 {
		other := others[0]
		text += "; but " + strings.ToLower(other.word()) + ": " + other.name(nil) + " by " + other.by(false)
	}
	text += "."
	if lead.Seconds > 0 {
		text += " One run a side: three or more say whether it is the version."
	}
	return text
}

// unproven says which figure looks changed, and what would prove it: NOT PROVEN: p50 of read looks
// 10% higher (3..18). 3 + 3 runs like these prove 24%; 6 + 6 would prove 12%.
func (t *Table) unproven(changes []tested, f *Finding) string {
	lead := changes[0]
	t.fill(f, &lead)
	side := "higher"
	if lead.Ratio < 1 {
		side = "lower"
	}
	percent, interval, _ := strings.Cut(lead.by(true), " ")
	text := fmt.Sprintf("NOT PROVEN: %s looks %s %s %s", lead.name(nil), percent, side, interval)
	if more := len(changes) - 1; more > 0 {
		text += fmt.Sprintf(", and %s", people.Counted(int64(more), "more figure"))
	}
	return text + ". " + lead.next()
}

// mostNoise is the change, as a ratio above 1, from which on noise hides too much to call sides the
// same.
const mostNoise = 1.2

// same says within what the median and p99 are the same, or the figure that leads if neither is
// there: within the widest interval of all rows. If that is too wide, it says what would tell.
func (t *Table) same(all []tested, f *Finding) string {
	var within []string
	var hidden []tested
	least := 1.0
	for n := range all {
		if n > 0 && (all[n].rank() > 1 || all[n].rank() == all[n-1].rank()) {
			continue
		}
		widest := all[n]
		for _, c := range all {
			if c.figure.head == widest.figure.head && c.widest() > widest.widest() {
				widest = c
			}
		}
		if widest.widest() > mostNoise {
			hidden = append(hidden, widest)
			continue
		}
		within = append(within, upTo(widest.widest())+" ("+widest.title()+")")
		least = max(least, widest.Least)
	}
	if within == nil {
		calmest := slices.MinFunc(hidden, calmer)
		t.fill(f, &calmest)
		change, _ := calmest.Text()
		change = strings.TrimLeft(change, "!~")
		next := calmest.next()
		if calmest.open() { // the change can be larger than what such runs prove, which reads as a contradiction
			next = "Give longer runs, or three or more a side."
		}
		return fmt.Sprintf("NOT PROVEN: %s %s is within the noise. %s", calmest.name(nil), change, next)
	}
	text := "SAME within " + strings.Join(within, " and ")
	if hidden != nil {
		text += ", but " + hidden[0].title() + " is too noisy to tell"
	}
	return fmt.Sprintf("%s. A change of %s would have been seen.", text, upTo(least))
}

// untested names the percentiles of which a pair has too little data to judge.
func (t *Table) untested(pairs []Pair) string {
	var names []string
	for _, percentile := range t.columns() {
		short := func(p Pair) bool { return p.Change != nil && !p.Change.Percentiles[percentile].known() }
		if slices.ContainsFunc(pairs, short) {
			names = append(names, percentileName(percentile))
		}
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf(" Too little data to compare %s.", strings.Join(names, ", "))
}

// widest returns the largest change that the interval has, as a ratio above 1.
func (c *tested) widest() float64 { return max(c.High, 1/c.Low) }

// upTo spells a ratio above 1 as percent, rounded up.
func upTo(ratio float64) string {
	digits := 0
	if ratio < 1.05 {
		digits = 1
	}
	scale := math.Pow10(digits)
	return strconv.FormatFloat(math.Ceil(100*(ratio-1)*scale)/scale, 'f', digits, 64) + "%"
}

// open reports whether the interval has one end only, since there are too few values.
func (c *tested) open() bool { return c.endless() || c.Low == 0 }

// calmer orders changes by what such runs prove. Those whose interval is open are last.
func calmer(a, b tested) int {
	switch {
	case a.open() == b.open():
		return cmp.Compare(a.Least, b.Least)
	case a.open():
		return 1
	}
	return -1
}

// title returns the name of the figure without a tag.
func (c *tested) title() string {
	if c.rate() {
		return Throughput
	}
	return c.figure.head
}

// name returns the name of a figure with its tag, which untagged values have not, nor those of a
// pair that was named before.
func (c *tested) name(before *Pair) string {
	if c.pair == before || c.pair.Tag == nil && !c.pair.After.AllTags {
		return c.title()
	}
	return c.title() + " of " + c.pair.name()
}

// word returns the word for the change.
func (c *tested) word() string {
	switch {
	case c.rate() && c.worse():
		return "LESS THROUGHPUT"
	case c.rate():
		return "MORE THROUGHPUT"
	case c.worse():
		return "SLOWER"
	}
	return "FASTER"
}

// also says how a figure changed behind another one of a pair.
func (c *tested) also(before *Pair) string {
	if !c.rate() {
		return c.name(before) + " by " + c.by(false)
	}
	side := "higher"
	if c.Ratio < 1 {
		side = "lower"
	}
	return c.name(before) + " " + c.by(false) + " " + side
}

// by returns the size of a change in percent, with its interval if that is wanted: 11% (7..15).
func (c *tested) by(interval bool) string {
	low := c.Low - 1
	high := c.High - 1
	if c.Ratio < 1 {
		low = 1 - c.High
		high = 1 - c.Low
	}
	digits := c.decimals()
	percent := func(v float64) string { return fmt.Sprintf("%.*f", digits, 100*v) }
	size := percent(math.Abs(c.Ratio-1)) + "%"
	switch {
	case !interval:
		return size
	case c.Ratio >= 1 && c.endless():
		return size + " (" + percent(low) + ".." + noEnd + ")"
	}
	return size + " (" + percent(low) + ".." + percent(high) + ")"
}

// values returns the figure before and after: 17.1 to 19.0 ms.
func (t *Table) values(c *tested) string {
	unit := spaced(c.pair.After.Scale.Unit)
	if c.rate() {
		unit = "/s"
	}
	text := func(s *Summary) string { return people.Digits(t.side(c.pair, s, &c.figure), 3) }
	return text(c.pair.Before) + " to " + text(c.pair.After) + unit
}

// proves returns which change is proven by runs so many times as many, or as long: a fall if the
// figure fell, and none that is so large that nobody needs a test.
func (c *tested) proves(times float64) string {
	least := c.leastOf(times)
	switch {
	case !(least < 11):
		return "no change"
	case c.Ratio < 1:
		return "-" + upTo(2-1/least)
	}
	return upTo(least)
}

// next says which change such runs prove, and more or longer ones would.
func (c *tested) next() string { return c.pair.Change.next(c.proves) + "." }
