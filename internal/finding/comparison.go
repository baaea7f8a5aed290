package finding

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/counts"
	"hdrkit/internal/base/message"
	"hdrkit/internal/base/people"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// A Comparison has the figures of two sides that the sentence about what changed needs.
type Comparison struct {
	Pairs []sides.Pair
	// Percentiles are those that are compared.
	Percentiles []float64
	// Tolerance says how much the figures of one version differ.
	Tolerance sides.Tolerance
	// Unknown is a log whose unit nothing states, empty if there is none.
	Unknown string
}

// A testedFigure is a figure whose change has an interval. Its methods return parts of sentences.
type testedFigure struct{ sides.Tested }

// Conclusion says whether the sides differ: what is proven, or else what looks changed and what
// would prove it, or else how far the sides are the same.
func (c *Comparison) Conclusion() output.Finding {
	if ratio := unitsApart(c.Pairs); c.Unknown != "" && ratio != 0 {
		return askForUnit(ratio, c.Unknown)
	}
	f := output.Finding{Kind: kindChange, Weight: output.Notes}
	if len(c.Pairs) > 0 {
		f.Unit = cmp.Or(c.Pairs[0].After, c.Pairs[0].Before).Scale.Unit
	}
	hasBoth := func(p sides.Pair) bool { return p.Before != nil && p.After != nil }
	if !slices.ContainsFunc(c.Pairs, hasBoth) {
		f.Sentence = notCompared + ": no tag has values before and after."
		f.Option = "hdrsum -lt"
		return f
	}
	var all, worse, better, beyond []testedFigure
	for _, tested := range sides.TestedFigures(c.Pairs, c.Percentiles) {
		figure := testedFigure{tested}
		all = append(all, figure)
		switch {
		case figure.Change.Significant && figure.Worse():
			worse = append(worse, figure)
		case figure.Change.Significant:
			better = append(better, figure)
		case figure.Change.Beyond() && figure.Rank <= 3: // not the mean, nor what few values decide
			beyond = append(beyond, figure)
		}
	}
	switch {
	case len(worse) > 0:
		f.Weight = output.Warns
		f.Sentence = c.sayProven(worse, better, &f)
	case len(better) > 0:
		f.Sentence = c.sayProven(better, nil, &f)
	case len(beyond) > 0:
		f.Sentence = c.sayUnproven(beyond, &f)
	case len(all) == 0 || all[0].Rank > 2: // no percentile
		f.Sentence = output.Undecided.Word() + ": too little data to judge. " + c.sayEnough()
	default:
		f.Sentence = c.sayAlike(all, &f)
		if names := c.untested(); names != nil {
			f.Sentence += fmt.Sprintf(" Too little data to compare %s.", strings.Join(names, ", "))
		}
	}
	return f
}

// notCompared begins a sentence about sides that have nothing to compare, or different units.
const notCompared = "NOT COMPARED"

// sayEnough says how much data a comparison needs.
func (c *Comparison) sayEnough() string {
	for _, p := range c.Pairs {
		switch {
		case p.Change == nil:
		case p.Change.HasRuns():
			return fmt.Sprintf("A percentile takes %d values above it in each of two runs a side.", counts.Few)
		case p.Change.Untimed():
			return fmt.Sprintf("A percentile takes %d values above it on each side.", counts.Few)
		}
	}
	return fmt.Sprintf("Give runs of two minutes or more, with %d values above a percentile, "+
		"or three runs a side.", counts.Few)
}

// untested returns the names of the percentiles that have too few values in a pair to compare.
func (c *Comparison) untested() (names []string) {
	for _, percentile := range c.Percentiles {
		if percentile == 100 { // a maximum is there or not
			continue
		}
		short := func(p sides.Pair) bool { return p.Change != nil && !p.Change.Percentiles[percentile].Known() }
		if slices.ContainsFunc(c.Pairs, short) {
			names = append(names, output.AtPercentile(percentile).String())
		}
	}
	return names
}

// sameUnit is the largest difference between the ratio of two medians and that of two units, as a
// part.
const sameUnit = 0.02

// unitRatios are the ratios of units of time that programs write.
var unitRatios = []float64{1e-6, 1e-3, 1e3, 1e6}

// unitsApart returns the ratio of two units if the medians of all pairs have this ratio, after to
// before. Otherwise it returns 0.
func unitsApart(pairs []sides.Pair) (apart float64) {
	for _, p := range pairs {
		if p.Before == nil || p.After == nil {
			continue
		}
		before, after := commonMedian(p.Before), commonMedian(p.After)
		near := func(ratio float64) bool { return math.Abs(after/before/ratio-1) <= sameUnit }
		n := slices.IndexFunc(unitRatios, near)
		if n < 0 || apart != 0 && unitRatios[n] != apart {
			return 0
		}
		apart = unitRatios[n]
	}
	return apart
}

// commonMedian returns the median of a row in the unit in which all rows are compared.
func commonMedian(s *output.Summary) float64 {
	h := s.Counts()
	return h.Float(h.ValueAtPercentile(50)) * s.Scale.Factor()
}

// askForUnit asks whether the sides have different units, given the ratio of their values and a log
// whose unit nothing states.
func askForUnit(ratio float64, unknown string) output.Finding {
	high := "high"
	if ratio < 1 {
		ratio, high = 1/ratio, "low"
	}
	return output.Finding{
		Kind:   kindChange,
		Weight: output.Warns,
		Option: "-in",
		Sentence: fmt.Sprintf("%s: values are %s times as %s as before, and nothing states the unit of %s: "+
			"-in %s gives it.", notCompared, people.Whole(int64(math.Round(ratio))), high, unknown,
			message.Quoted(filepath.Base(unknown)+"=UNIT")),
	}
}

// boundDigits is the number of digits of the ends of an interval in a finding. The last digits of a
// float64 differ between processors.
const boundDigits = 9

// fill gives a finding the tag and the numbers of a figure.
func (t *testedFigure) fill(f *output.Finding) {
	f.Tag = t.Pair.Name()
	f.Figures = map[string]output.Number{
		"before": output.Number(t.Before),
		"after":  output.Number(t.After),
		"ratio":  output.Number(t.Change.Ratio),
		"low":    output.Number(people.Rounded(t.Change.Low, boundDigits)),
		"high":   output.Number(people.Rounded(t.Change.High, boundDigits)),
	}
	if t.Rate() {
		f.Unit = "/s"
	}
}

// sayProven says which figures changed, such as SLOWER: p99 of read by 11% (7..15): 17.1 to 19.0
// ms; p50 by 10%. Opposite has proven changes in the other direction.
func (c *Comparison) sayProven(changes, opposite []testedFigure, f *output.Finding) string {
	lead := changes[0]
	lead.fill(f)
	f.Option = "hdrplot -compare -type report"
	name := lead.name(nil) + " "
	if lead.Rate() { // its word names the throughput
		name = strings.TrimPrefix(strings.TrimPrefix(name, "throughput "), "of ")
	}
	size, interval := lead.Change.Size()
	text := fmt.Sprintf("%s%s: %sby %s %s%s", lead.word(), lead.scope(), name, size, interval, lead.values())
	if len(changes) > 1 {
		text += "; " + changes[1].afterLead(lead.Pair)
	}
	if more := len(changes) - 2; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	if len(opposite) > 0 {
		first := opposite[0]
		size, _ := first.Change.Size()
		text += "; but " + strings.ToLower(first.word()) + ": " + first.name(nil) + " by " + size
	}
	text += "."
	switch {
	case lead.isOfTwoRuns():
		text += " " + c.sayNoise(&lead)
	case lead.Change.Paired && lead.Change.Seconds > 0:
		text += " Both ran at once, so they are compared second by second."
	case lead.Change.Paired:
		text += " The sides took turns, so a drift of the machine cancels."
	case lead.Pair.Change.OneSideFirst() && !lead.ExceedsDrift():
		text += " All runs of one side ran before those of the other, so a drift of the machine looks " +
			"like a change: alternate them."
	}
	return text
}

// isOfTwoRuns reports whether the change is one between two single runs that did not run at the
// same time. Such a change does not show how runs of one version vary.
func (t *testedFigure) isOfTwoRuns() bool {
	return (t.Change.Seconds > 0 || t.Change.Untimed) && !t.Change.Paired
}

// scope returns " in these two runs" for a change that holds for two single runs only.
func (t *testedFigure) scope() string {
	switch {
	case t.Change.Untimed:
		return " in these two runs, " + sides.Independence
	case t.isOfTwoRuns():
		return " in these two runs"
	}
	return ""
}

// sayNoise says whether noise between runs of one version can explain a change between two runs.
func (c *Comparison) sayNoise(t *testedFigure) string {
	const next = "Several runs, or -noise, tell whether it is the version."
	if t.Rate() { // a load generator often holds its rate, so it does not vary
		return next
	}
	text := c.sayVaries()
	wide := t.Change.Versions(c.Tolerance.Noise)
	if wide.Low > 1 || wide.High < 1 {
		text += ", which does not explain it"
	}
	return text + ". " + next
}

// sayVaries says by how much percentiles of two runs of one version differ.
func (c *Comparison) sayVaries() string {
	by := strconv.FormatFloat(100*confidence.ShownBetween(c.Tolerance.Noise), 'g', 2, 64)
	return fmt.Sprintf("Another run of the same version may differ by up to %s%%", by)
}

// sayUnproven says which figure looks changed, and what would prove the change, such as NOT PROVEN:
// p50 of read looks 10% higher (3..18). 3 + 3 runs like these prove 24%; 6 + 6 would prove 12%.
func (c *Comparison) sayUnproven(changes []testedFigure, f *output.Finding) string {
	lead := changes[0]
	lead.fill(f)
	size, interval := lead.Change.Size()
	text := fmt.Sprintf("%s: %s looks %s %s %s", output.Undecided.Word(), lead.name(nil), size, lead.direction(), interval)
	if more := len(changes) - 1; more > 0 {
		text += fmt.Sprintf(", and %s", people.Counted(int64(more), "more figure"))
	}
	return text + ". " + c.sayProof(&lead)
}

// sayAlike says within what p99 and the median are the same, or the first figure if neither is
// there. It takes the widest interval of all rows. If an interval is wider than
// [sides.Tolerance.Same], it says what would show a change.
func (c *Comparison) sayAlike(all []testedFigure, f *output.Finding) string {
	var within []string
	var hidden []testedFigure
	least := 1.0
	for n := range all {
		if n > 0 && (all[n].Rank > 1 || all[n].Rank == all[n-1].Rank) {
			continue
		}
		widest := all[n]
		for _, other := range all {
			if other.Figure == widest.Figure && other.largest() > widest.largest() {
				widest = other
			}
		}
		if widest.largest() > 1+c.Tolerance.Same {
			hidden = append(hidden, widest)
			continue
		}
		within = append(within, people.Increase(widest.largest())+" ("+widest.Figure.String()+")")
		least = max(least, widest.Change.Least)
	}
	if hidden != nil {
		return c.sayHidden(hidden, within, f)
	}
	figures := strings.Join(within, " and ")
	if all[0].isOfTwoRuns() {
		return fmt.Sprintf("%s%s: within %s. %s. Several runs tell whether the versions are the same.",
			same, all[0].scope(), figures, c.sayVaries())
	}
	return fmt.Sprintf("%s within %s. A change of %s would mostly have been seen.", same, figures, people.Increase(least))
}

// same begins a sentence about sides that do not differ.
const same = "SAME"

// sayHidden says which figure may have changed within the noise, and what would show it. Within has
// the figures that are the same.
func (c *Comparison) sayHidden(hidden []testedFigure, within []string, f *output.Finding) string {
	calmest := slices.MinFunc(hidden, byProof)
	calmest.fill(f)
	next := c.sayProof(&calmest)
	if calmest.hasOpenEnd() { // the change can be larger than what such runs prove, which reads as a contradiction
		next = "Give longer runs, or three or more a side."
	}
	text := fmt.Sprintf("%s: %s %s is within the noise. %s", output.Undecided.Word(), calmest.name(nil),
		calmest.Change.SignedText(), next)
	if within != nil {
		text += " The same within " + strings.Join(within, " and ") + "."
	}
	return text
}

// largest returns the largest change within the interval, as a ratio above 1.
func (t *testedFigure) largest() float64 { return max(t.Change.High, 1/t.Change.Low) }

// hasOpenEnd reports whether the interval has no lower or no upper end, since values are too few.
func (t *testedFigure) hasOpenEnd() bool { return t.Change.Unbounded() || t.Change.Low == 0 }

// byProof orders figures by the change that such runs prove, the smallest first. Figures whose
// interval has an open end are last.
func byProof(a, b testedFigure) int {
	switch {
	case a.hasOpenEnd() == b.hasOpenEnd():
		return cmp.Compare(a.Change.Least, b.Change.Least)
	case a.hasOpenEnd():
		return 1
	}
	return -1
}

// name returns the name of a figure with its tag, such as p99 of read. It leaves out the tag of
// untagged values, and of the pair that the sentence has named.
func (t *testedFigure) name(named *sides.Pair) string {
	if t.Pair == named || t.Pair.Tag == nil && !t.Pair.After.AllTags {
		return t.Figure.String()
	}
	return t.Figure.String() + " of " + t.Pair.Name()
}

// word returns the word of a proven change.
func (t *testedFigure) word() string {
	switch {
	case t.Rate() && t.Worse():
		return "LESS THROUGHPUT"
	case t.Rate():
		return "MORE THROUGHPUT"
	case t.Worse():
		return "SLOWER"
	}
	return "FASTER"
}

// direction returns higher or lower.
func (t *testedFigure) direction() string {
	if t.Change.Ratio < 1 {
		return "lower"
	}
	return "higher"
}

// afterLead returns the words for a change behind the one that leads, whose pair is named.
func (t *testedFigure) afterLead(named *sides.Pair) string {
	size, _ := t.Change.Size()
	if !t.Rate() {
		return t.name(named) + " by " + size
	}
	return t.name(named) + " " + size + " " + t.direction()
}

// values returns the figure before and after, behind a colon: 17.1 to 19.0 ms. If both runs
// overlapped only partly, these values can contradict the change, so the text says what the change
// is about.
func (t *testedFigure) values() string {
	unit := people.Spaced(t.Pair.After.Scale.Unit)
	if t.Rate() {
		unit = "/s"
	}
	text := people.Digits(t.Before, 3) + " to " + people.Digits(t.After, 3) + unit
	change := t.Change
	if whole := t.After / t.Before; change.Paired && (whole < change.Low || whole > change.High) {
		return " while both ran (" + text + " in all)"
	}
	return ": " + text
}

// provable returns the change that so many times as many runs prove, or runs so many times as long.
// It is a fall if the figure fell. A change that is too large to need a test is [sides.NoChange].
func (t *testedFigure) provable(times float64) string {
	least := t.Change.LeastOf(times)
	switch {
	case !(least < 11):
		return sides.NoChange
	case t.Change.Ratio < 1:
		return "-" + people.Increase(2-1/least)
	}
	return people.Increase(least)
}

// sayProof says which change such runs prove, and which one more or longer runs would prove. Longer
// runs do not help if two runs of one version differ by more than the values within them.
func (c *Comparison) sayProof(t *testedFigure) string {
	if t.isOfTwoRuns() && !t.Rate() && t.Change.Calm(c.Tolerance.Noise) {
		return c.sayNoise(t)
	}
	return t.Pair.Change.Prove(t.provable) + "."
}
