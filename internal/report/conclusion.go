package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/counts"
	"hdrkit/internal/base/people"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// Conclusion says whether the sides of pairs differ: what is proven, or what looks so and what
// would prove it, or within what they are the same. The figures are those of a table.
func (t *Table) Conclusion(pairs []sides.Pair) output.Finding {
	f := output.Finding{Kind: "change", Weight: output.Notes}
	if len(pairs) > 0 {
		f.Unit = cmp.Or(pairs[0].After, pairs[0].Before).Scale.Unit
	}
	if !slices.ContainsFunc(pairs, func(p sides.Pair) bool { return p.Before != nil && p.After != nil }) {
		f.Sentence = "NOT COMPARED: no tag has values before and after."
		f.Option = "hdrsum -lt"
		return f
	}
	var all, worse, better, beyond []tested
	for _, c := range t.tested(pairs) {
		all = append(all, c)
		switch {
		case c.Change.Significant && c.Worse():
			worse = append(worse, c)
		case c.Change.Significant:
			better = append(better, c)
		case c.Change.Beyond() && c.Rank <= 3: // not the mean, nor what few values decide
			beyond = append(beyond, c)
		}
	}
	switch {
	case len(worse) > 0:
		f.Weight = output.Warns
		f.Sentence = t.sayProven(worse, better, &f)
	case len(better) > 0:
		f.Sentence = t.sayProven(better, nil, &f)
	case len(beyond) > 0:
		f.Sentence = t.sayUnproven(beyond, &f)
	case len(all) == 0 || all[0].Rank > 2: // no percentile
		f.Sentence = "NOT PROVEN: too little data to judge. " + enough(pairs)
	default:
		f.Sentence = t.sayAlike(all, &f)
		if short := t.untested(pairs); short != nil {
			f.Sentence += fmt.Sprintf(" Too little data to compare %s.", strings.Join(short, ", "))
		}
	}
	return f
}

// enough says how much data a comparison needs.
func enough(pairs []sides.Pair) string {
	for _, p := range pairs {
		switch {
		case p.Change == nil:
		case p.Change.Before != nil:
			return fmt.Sprintf("A percentile takes %d values above it in each of two runs a side.", counts.Few)
		case p.Change.Untimed():
			return fmt.Sprintf("A percentile takes %d values above it on each side.", counts.Few)
		}
	}
	return fmt.Sprintf("Give runs of two minutes or more, with %d values above a percentile, "+
		"or three runs a side.", counts.Few)
}

// boundDigits is the number of digits of a bound in a finding. The last of a float64 are not the
// same on all processors.
const boundDigits = 9

// fill gives a finding the figures of a change.
func (c *tested) fill(f *output.Finding) {
	f.Tag = c.Pair.Name()
	f.Figures = map[string]output.Number{
		"before": output.Number(c.Before),
		"after":  output.Number(c.After),
		"ratio":  output.Number(c.Change.Ratio),
		"low":    output.Number(people.Rounded(c.Change.Low, boundDigits)),
		"high":   output.Number(people.Rounded(c.Change.High, boundDigits)),
	}
	if c.Rate() {
		f.Unit = "/s"
	}
}

// sayProven says which figures changed: SLOWER: p99 of read by 11% (7..15): 17.1 to 19.0 ms; p50 by
// 10%. Others changed the other way.
func (t *Table) sayProven(changes, others []tested, f *output.Finding) string {
	lead := changes[0]
	lead.fill(f)
	f.Option = "hdrplot -compare -type report"
	name := lead.name(nil) + " "
	if lead.Rate() { // whose word names it
		name = strings.TrimPrefix(strings.TrimPrefix(name, "throughput "), "of ")
	}
	text := fmt.Sprintf("%s%s: %sby %s%s", lead.word(), lead.where(), name, lead.by(true), lead.values())
	if len(changes) > 1 {
		text += "; " + changes[1].also(lead.Pair)
	}
	if more := len(changes) - 2; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	if len(others) > 0 {
		other := others[0]
		text += "; but " + strings.ToLower(other.word()) + ": " + other.name(nil) + " by " + other.by(false)
	}
	text += "."
	switch {
	case lead.alone():
		text += " " + t.sayNoise(&lead)
	case lead.Change.Paired && lead.Change.Seconds > 0:
		text += " Both ran at once, so they are compared second by second."
	case lead.Change.Paired:
		text += " The sides took turns, so a drift of the machine cancels."
	case lead.Pair.Change.OneSideFirst() && !lead.exceedsDrift():
		text += " All runs of one side ran before those of the other, so a drift of the machine looks " +
			"like a change: alternate them."
	}
	return text
}

// alone reports whether the change is that between one run each, which did not run at the same
// time: it does not say how runs of one version vary.
func (c *tested) alone() bool { return (c.Change.Seconds > 0 || c.Change.Untimed) && !c.Change.Paired }

// assumption says what must hold for values without times.
const assumption = "if the values do not depend on each other"

// where says that a change is one between two runs, if nobody knows more.
func (c *tested) where() string {
	switch {
	case c.Change.Untimed:
		return " in these two runs, " + assumption
	case c.alone():
		return " in these two runs"
	}
	return ""
}

// timesDrift is how many times the range of the runs of a side a change must have, so that nobody
// takes a drift for it.
const timesDrift = 3

// exceedsDrift reports whether a change is far larger than what the runs of a side differ by.
func (c *tested) exceedsDrift() bool {
	widest := 0.0
	for _, runs := range [][]*output.Summary{c.Pair.Change.Before, c.Pair.Change.After} {
		lowest, highest := math.Inf(1), 0.0
		for _, s := range runs {
			value := sides.RunFigureOf(s, c.Figure).Value
			lowest = min(lowest, value)
			highest = max(highest, value)
		}
		widest = max(widest, math.Log(highest/lowest))
	}
	return math.Abs(math.Log(c.Change.Ratio)) > timesDrift*widest
}

// sayNoise says whether a change between two runs can be noise between runs of one version.
func (t *Table) sayNoise(c *tested) string {
	const next = "Several runs, or -noise, tell whether it is the version."
	if c.Rate() { // which often does not vary at all
		return next
	}
	text := t.sayVaries()
	wide := c.Change.Versions(t.noise())
	if wide.Low > 1 || wide.High < 1 {
		text += ", which does not explain it"
	}
	return text + ". " + next
}

// sayVaries says by how much percentiles of two runs of one version differ.
func (t *Table) sayVaries() string {
	by := strconv.FormatFloat(100*confidence.ShownBetween(t.noise()), 'g', 2, 64)
	return fmt.Sprintf("Another run of the same version may differ by up to %s%%", by)
}

// noise returns how much a percentile varies from run to run of one version.
func (t *Table) noise() float64 { return cmp.Or(t.Noise, sides.UsualNoise) }

// sayUnproven says which figure looks changed, and what would prove it: NOT PROVEN: p50 of read
// looks 10% higher (3..18). 3 + 3 runs like these prove 24%; 6 + 6 would prove 12%.
func (t *Table) sayUnproven(changes []tested, f *output.Finding) string {
	lead := changes[0]
	lead.fill(f)
	side := "higher"
	if lead.Change.Ratio < 1 {
		side = "lower"
	}
	percent, interval, _ := strings.Cut(lead.by(true), " ")
	text := fmt.Sprintf("NOT PROVEN: %s looks %s %s %s", lead.name(nil), percent, side, interval)
	if more := len(changes) - 1; more > 0 {
		text += fmt.Sprintf(", and %s", people.Counted(int64(more), "more figure"))
	}
	return text + ". " + t.next(&lead)
}

// sayAlike says within what the median and p99 are the same, or the figure that leads if neither is
// there: within the widest interval of all rows. If one of them is wider than what is the same, it
// says what would tell.
func (t *Table) sayAlike(all []tested, f *output.Finding) string {
	var within []string
	var hidden []tested
	least := 1.0
	for n := range all {
		if n > 0 && (all[n].Rank > 1 || all[n].Rank == all[n-1].Rank) {
			continue
		}
		widest := all[n]
		for _, c := range all {
			if c.Figure == widest.Figure && c.widest() > widest.widest() {
				widest = c
			}
		}
		if widest.widest() > 1+cmp.Or(t.Same, sides.UsualSame) {
			hidden = append(hidden, widest)
			continue
		}
		within = append(within, people.Increase(widest.widest())+" ("+widest.Figure.String()+")")
		least = max(least, widest.Change.Least)
	}
	if hidden != nil {
		return t.sayHidden(hidden, within, f)
	}
	figures := strings.Join(within, " and ")
	if all[0].alone() {
		return fmt.Sprintf("SAME%s: within %s. %s. Several runs tell whether the versions are the same.",
			all[0].where(), figures, t.sayVaries())
	}
	return fmt.Sprintf("SAME within %s. A change of %s would mostly have been seen.", figures, people.Increase(least))
}

// sayHidden says which figure may have changed, and what would tell. Others are the same within
// what is there.
func (t *Table) sayHidden(hidden []tested, within []string, f *output.Finding) string {
	calmest := slices.MinFunc(hidden, calmer)
	calmest.fill(f)
	change, _ := changeText(calmest.Change)
	change = strings.TrimLeft(change, "!~")
	next := t.next(&calmest)
	if calmest.open() { // the change can be larger than what such runs prove, which reads as a contradiction
		next = "Give longer runs, or three or more a side."
	}
	text := fmt.Sprintf("NOT PROVEN: %s %s is within the noise. %s", calmest.name(nil), change, next)
	if within != nil {
		text += " The same within " + strings.Join(within, " and ") + "."
	}
	return text
}

// widest returns the largest change that the interval has, as a ratio above 1.
func (c *tested) widest() float64 { return max(c.Change.High, 1/c.Change.Low) }

// open reports whether the interval has one end only, since there are too few values.
func (c *tested) open() bool { return c.Change.Unbounded() || c.Change.Low == 0 }

// calmer orders changes by what such runs prove. Those whose interval is open are last.
func calmer(a, b tested) int {
	switch {
	case a.open() == b.open():
		return cmp.Compare(a.Change.Least, b.Change.Least)
	case a.open():
		return 1
	}
	return -1
}

// name returns the name of a figure with its tag, which untagged values have not, nor those of a
// pair that was named before.
func (c *tested) name(before *sides.Pair) string {
	if c.Pair == before || c.Pair.Tag == nil && !c.Pair.After.AllTags {
		return c.Figure.String()
	}
	return c.Figure.String() + " of " + c.Pair.Name()
}

// word returns the word for the change.
func (c *tested) word() string {
	switch {
	case c.Rate() && c.Worse():
		return "LESS THROUGHPUT"
	case c.Rate():
		return "MORE THROUGHPUT"
	case c.Worse():
		return "SLOWER"
	}
	return "FASTER"
}

// also says how a figure changed behind another one of a pair.
func (c *tested) also(before *sides.Pair) string {
	if !c.Rate() {
		return c.name(before) + " by " + c.by(false)
	}
	side := "higher"
	if c.Change.Ratio < 1 {
		side = "lower"
	}
	return c.name(before) + " " + c.by(false) + " " + side
}

// by returns the size of a change in percent, with its interval if that is wanted: 11% (7..15).
func (c *tested) by(interval bool) string {
	low := c.Change.Low - 1
	high := c.Change.High - 1
	if c.Change.Ratio < 1 {
		low = 1 - c.Change.High
		high = 1 - c.Change.Low
	}
	digits := changeDecimals(c.Change)
	percent := func(v float64) string { return fmt.Sprintf("%.*f", digits, 100*v) }
	size := percent(math.Abs(c.Change.Ratio-1)) + "%"
	switch {
	case !interval:
		return size
	case c.Change.Ratio >= 1 && c.Change.Unbounded():
		return size + " (" + percent(low) + ".." + noEnd + ")"
	}
	return size + " (" + percent(low) + ".." + percent(high) + ")"
}

// values returns the figure before and after, behind a colon: 17.1 to 19.0 ms. Those of runs that
// ran together only partly can contradict the change.
func (c *tested) values() string {
	unit := people.Spaced(c.Pair.After.Scale.Unit)
	if c.Rate() {
		unit = "/s"
	}
	text := people.Digits(c.Before, 3) + " to " + people.Digits(c.After, 3) + unit
	change := c.Change
	if whole := c.After / c.Before; change.Paired && (whole < change.Low || whole > change.High) {
		return " while both ran (" + text + " in all)"
	}
	return ": " + text
}

// proves returns which change is proven by runs so many times as many, or as long: a fall if the
// figure fell, and none that is so large that nobody needs a test.
func (c *tested) proves(times float64) string {
	least := c.Change.LeastOf(times)
	switch {
	case !(least < 11):
		return sides.NoChange
	case c.Change.Ratio < 1:
		return "-" + people.Increase(2-1/least)
	}
	return people.Increase(least)
}

// next says which change such runs prove, and more or longer ones would. Longer runs do not help if
// runs of one version differ by more than what varies within them.
func (t *Table) next(c *tested) string {
	if c.alone() && !c.Rate() && c.Change.Calm(t.noise()) {
		return t.sayNoise(c)
	}
	return c.Pair.Change.Prove(c.proves) + "."
}
