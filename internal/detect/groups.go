package detect

import (
	"iter"
	"math"
	"slices"
)

// A Group is a cluster of the values of a row. Few values lie between two groups, as between hits
// and misses of a cache.
type Group struct {
	// Share is the number of values in the group divided by the number of all values above 0.
	Share float64
	// Middle is the mean of the values near the median of the group.
	Middle float64
	// From is the lower bound of the group.
	From float64
}

const (
	// groupBins is the number of bins in an octave, which goes from a value to its double. Octaves
	// begin at each bin. Whole octaves are compared, because a coarse clock can leave single bins
	// empty.
	groupBins = 4
	// groupDeep is the smallest ratio of the values in an octave of a group to the values in the
	// octave between two groups.
	groupDeep = 4
	// groupChance is the logarithm of the largest probability with which the octave between two
	// groups has so few values by chance. With -9, 98% of the test logs with several groups are
	// found, and 73% with -14. Neither finds several groups where there is one
	// (bench/confidence.md).
	groupChance = -9
	// minGroup is the smallest share of a group. It is below 5%, so that nearly all groups of 5%
	// are found.
	minGroup = 0.04
)

// Groups returns the groups of values in ascending order: one group, or several if values between
// them are rare. Values are ascending, each with its count. Groups ignores values of 0 and below,
// and returns nil if there are no others.
//
// An octave with few values separates two groups if octaves on both sides have many. So groups that
// are closer than about two octaves count as one, and so does a long tail.
func Groups(values iter.Seq2[float64, int64]) []Group {
	var g grouping
	for v, count := range values {
		if v > 0 && count > 0 {
			g.add(v, float64(count))
		}
	}
	if len(g.bins) == 0 {
		return nil
	}
	g.divide(0, len(g.bins))
	return g.groups
}

// A grouping has the counts of values in bins, and the groups that divide found.
type grouping struct {
	first  int       // number of the first bin: groupBins times the binary logarithm of its values
	bins   []float64 // count of each bin
	sums   []float64 // sum of the values of each bin
	count  float64   // of all bins
	below  float64   // upper bound of the last bin
	groups []Group
}

// add adds count times the value v, which is at least the value before. A row has ten thousand
// different values in a hundred bins, so add computes a logarithm only for a new bin.
func (g *grouping) add(v, count float64) {
	if v >= g.below {
		bin := int(math.Floor(groupBins * math.Log2(v)))
		if len(g.bins) == 0 {
			g.first = bin
		}
		for len(g.bins) <= bin-g.first {
			g.bins, g.sums = append(g.bins, 0), append(g.sums, 0)
		}
		g.below = math.Exp2(float64(bin+1)/groupBins) * (1 - 1e-9) // the end may be rounded
	}
	g.bins[len(g.bins)-1] += count
	g.sums[len(g.sums)-1] += v * count
	g.count += count
}

// octave returns the number of values in the octave that begins at a bin. Only bins from from to
// to-1 count.
func (g *grouping) octave(bin, from, to int) float64 {
	return sum(g.bins[max(bin, from):min(bin+groupBins, to)])
}

// divide appends the groups of the bins from from to to-1. It cuts the bins at the deepest valley,
// and divides both sides.
func (g *grouping) divide(from, to int) {
	var octaves []float64
	for bin := from - groupBins + 1; bin < to; bin++ {
		octaves = append(octaves, g.octave(bin, from, to))
	}
	higher := slices.Clone(octaves) // the largest octave from each octave on
	for n := len(octaves) - 2; n >= 0; n-- {
		higher[n] = max(higher[n], higher[n+1])
	}
	middle := func(n int) int { return from + n - groupBins/2 + 1 } // the middle bin of an octave
	lower := 0.0
	deepest := 1.0 / groupDeep
	first, last := -1, -1
	for n := groupBins; n+groupBins < len(octaves); n++ {
		lower = max(lower, octaves[n-groupBins])
		peak := min(lower, higher[n+groupBins])
		depth := octaves[n] / peak
		switch {
		case !(depth <= deepest) || chance(octaves[n], peak) > groupChance || !g.isLargeEnough(from, middle(n), to):
		case depth < deepest || first < 0:
			deepest = depth
			first, last = n, n
		case n == last+1: // an empty valley has several octaves
			last = n
		}
	}
	if first < 0 {
		g.groups = append(g.groups, g.group(from, to))
		return
	}
	cut := middle((first + last) / 2)
	g.divide(from, cut)
	g.divide(cut, to)
}

// isLargeEnough reports whether both sides of a cut have at least the share minGroup of all
// values.
func (g *grouping) isLargeEnough(from, cut, to int) bool {
	return min(sum(g.bins[from:cut]), sum(g.bins[cut:to])) >= minGroup*g.count
}

// group returns the bins from from to to-1 as a group.
func (g *grouping) group(from, to int) Group {
	count := sum(g.bins[from:to])
	half := count / 2
	for bin := from; ; bin++ {
		if half <= g.bins[bin] && g.bins[bin] > 0 {
			return Group{
				Share:  count / g.count,
				Middle: g.sums[bin] / g.bins[bin],
				From:   math.Exp2(float64(g.first+from) / groupBins),
			}
		}
		half -= g.bins[bin]
	}
}

// chance returns the logarithm of an upper bound of the probability that at most few of few+many
// values fall into one of two octaves, if each is equally likely (Chernoff).
func chance(few, many float64) float64 {
	n := few + many
	entropy := 0.0
	for _, k := range []float64{few, many} {
		if k > 0 {
			entropy -= k * math.Log(k/n)
		}
	}
	return entropy - n*math.Ln2
}

func sum(x []float64) (all float64) {
	for _, v := range x {
		all += v
	}
	return all
}

// Spread returns the effective number of counts (Kish): how many equal counts have a sum with the
// same relative variance. It is small if a few counts have most of the sum.
func Spread(counts []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, c := range counts {
		sum += c
		squares += c * c
	}
	return sum * sum / max(squares, 1)
}
