package detect

import (
	"iter"
	"math"
	"slices"
)

// A Group is values that lie together, with few values between them and others.
type Group struct {
	// Share is the part of all values above 0 that it has, Middle is the mean of those near its
	// median, and From is where it begins.
	Share, Middle, From float64
}

const (
	// groupBins is the number of bins of an octave, the values from one to its double. Octaves
	// that begin at each bin are compared: a clock with long ticks leaves none of them empty.
	groupBins = 4
	// groupDeep is the least ratio of the values in the octave of a group to those in the octave
	// between two groups.
	groupDeep = 4
	// groupChance is the logarithm of a bound of the probability that the octave between has so few
	// if all have equally many. At -14, 73% of the logs are found of which -9 finds 98%, and
	// neither finds groups where there is one (bench/confidence.md).
	groupChance = -9
	// leastGroup is the least share of a group, so that nearly all of 5% are found.
	leastGroup = 0.04
)

// Groups returns the groups in which values fall, in their order: more than one if values between
// two are rare. Values are in order, each with its count. It looks at values above 0.
//
// Two groups have an octave with few values between two with many. So it neither finds groups that
// lie closer together than about two octaves, nor any in a long tail.
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

// A grouping has the counts of values by bins, and the groups so far.
type grouping struct {
	first  int // the bin of the lowest value
	bins   []float64
	sums   []float64 // sum of the values of each bin
	count  float64
	below  float64 // values below it belong to the last bin
	groups []Group
}

// add adds values that are not below those before. A row has ten thousand different values in a
// hundred bins, so it takes few logarithms.
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

// octave returns the number of values in the octave from a bin on, of those from one bin to before
// another.
func (g *grouping) octave(bin, from, to int) float64 {
	return sum(g.bins[max(bin, from):min(bin+groupBins, to)])
}

// divide finds the groups of the bins from one to before another.
func (g *grouping) divide(from, to int) {
	var octaves []float64
	for bin := from - groupBins + 1; bin < to; bin++ {
		octaves = append(octaves, g.octave(bin, from, to))
	}
	higher := slices.Clone(octaves) // the highest one from each on
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
		case !(depth <= deepest) || chance(octaves[n], peak) > groupChance || !g.both(from, middle(n), to):
		case depth < deepest || first < 0:
			deepest = depth
			first, last = n, n
		case n == last+1: // an empty valley is wide
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

// both reports whether both sides of a cut have enough values.
func (g *grouping) both(from, cut, to int) bool {
	return min(sum(g.bins[from:cut]), sum(g.bins[cut:to])) >= leastGroup*g.count
}

// group returns the group of the bins from one to before another.
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

// chance returns the logarithm of a bound of the probability that few or fewer of values are in one
// of two equal halves, if many are in the other (Chernoff).
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

// sum returns the sum of numbers.
func sum(x []float64) (all float64) {
	for _, v := range x {
		all += v
	}
	return all
}

// Spread returns the number of equal counts whose sum would vary as much as that of some counts
// (Kish): few if most of them is in a few.
func Spread(counts []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, c := range counts {
		sum += c
		squares += c * c
	}
	return sum * sum / max(squares, 1)
}
