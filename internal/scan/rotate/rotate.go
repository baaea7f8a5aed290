// Package rotate finds out which logs are parts of one log: a program that rotates its log goes on
// in a new file where the one before ends.
//
// Runs that merely come one after another look much like that. So two logs are parts of one only if
// all of these hold:
//
//   - the second one begins at most two of its intervals before or after the end of the first one;
//   - they overlap by at most a quarter of each, so they did not run side by side;
//   - they have a tag in common, and intervals of about the same length;
//   - the first one does not end like a run: with an interval that is cut short, and a pause after
//     it.
//
// If several logs can follow one, as with several machines, the one with the most similar name
// does. If that does not decide, none does.
package rotate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hdrkit/hdrlog"
	"hdrkit/internal/scan"
)

// A Log is what is known of the times of a log. Times are milliseconds since the epoch.
type Log struct {
	Name string
	// Start is the start of the log, in seconds since the epoch.
	Start float64
	// First is the start of the first interval, End the end of the last one, and Length the usual
	// length of an interval. Length is 0 if the log has none.
	First, End, Length int64

	short bool // the last interval is shorter than the others
	part  bool // End is only that of a part, since the rest was not read
	all   bool // there are more tags
	tags  map[string]bool
}

const (
	// sample is the number of intervals that tell their usual length, and by which the first start
	// is found if lines are out of order.
	sample = 99
	// mostTags is the number of tags that are kept.
	mostTags = 200
)

// Look reads the times of a log. It stops once an interval ends after limit, but not in the first
// intervals.
func Look(in *scan.Input, limit int64) (*Log, error) {
	file, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader := in.NewReader(file)
	l := &Log{Name: in.Name, First: math.MaxInt64, End: math.MinInt64, tags: make(map[string]bool)}
	var lengths []int64
	last := int64(0) // the length of the interval that ends last
	for reader.Scan() {
		r := reader.Record()
		if r.Kind != hdrlog.IntervalRecord {
			continue
		}
		i := &r.Interval
		start, end := int64(math.Round(i.Absolute()*1000)), scan.EndMillis(i)
		if len(lengths) == 0 {
			l.Start = i.LogStart
		}
		if len(lengths) < sample {
			lengths = append(lengths, end-start)
			l.First = min(l.First, start)
		}
		if end >= l.End {
			l.End, last = end, end-start
		}
		l.addTag(in, i.Tag)
		if l.part = end > limit && len(lengths) == sample; l.part {
			break
		}
	}
	if err := reader.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	if len(lengths) > 0 {
		slices.Sort(lengths)
		l.Length = lengths[len(lengths)/2]
		unusual := 0
		for _, length := range lengths {
			if length*10 < l.Length*9 || length*9 > l.Length*10 {
				unusual++
			}
		}
		// If lengths differ anyway, a short one means nothing. Each tag has a last one.
		l.short = last*10 < l.Length*9 && unusual <= len(l.tags) && len(lengths) > 2*unusual
	}
	return l, nil
}

func (l *Log) addTag(in *scan.Input, tag []byte) {
	key := in.Tag + "::" + string(tag)
	if tag == nil && in.Untagged != nil {
		key = in.Tag + "::" + string(in.Untagged)
	}
	if l.all = l.all || len(l.tags) == mostTags && !l.tags[key]; !l.all {
		l.tags[key] = true
	}
}

// Any reports whether the log has intervals.
func (l *Log) Any() bool { return l.First <= l.End }

// sameTags reports whether two logs may have a tag in common.
func (l *Log) sameTags(other *Log) bool {
	if l.all || other.all {
		return true
	}
	for tag := range other.tags {
		if l.tags[tag] {
			return true
		}
	}
	return false
}

// precedes reports whether next may be the part after l.
func (l *Log) precedes(next *Log) bool {
	gap := next.First - l.End
	overlap := max(-gap, 0)
	switch {
	case l.part || l.Length <= 0 || next.Length <= 0 || next.First <= l.First || next.End <= l.End:
		return false
	case max(gap, -gap) > 2*next.Length:
		return false
	case 4*overlap > l.End-l.First || 4*overlap > next.End-next.First:
		return false
	case l.Length > 2*next.Length || next.Length > 2*l.Length:
		return false
	case l.short && gap > next.Length/10:
		return false
	}
	return l.sameTags(next)
}

// Find returns the chains of logs that are parts of one, as indexes of inputs in the order of time.
// A pipe is never part of one, since it can be read only once.
func Find(inputs []scan.Input) (chains [][]int, logs []*Log, err error) {
	logs = make([]*Log, len(inputs))
	var latest int64 = math.MinInt64
	for n := range inputs {
		if inputs[n].Once {
			continue
		}
		// What comes first tells where the logs begin.
		if logs[n], err = Look(&inputs[n], math.MinInt64); err != nil {
			return nil, nil, err
		}
		if logs[n].Length > 0 {
			latest = max(latest, logs[n].First+2*logs[n].Length)
		}
	}
	for n := range inputs {
		// A log that goes on after the last one has begun precedes none.
		if logs[n] != nil && logs[n].part && logs[n].End <= latest {
			if logs[n], err = Look(&inputs[n], latest); err != nil {
				return nil, nil, err
			}
		}
	}
	return chainsOf(logs), logs, nil
}

// chainsOf returns chains of logs, nil ones left out.
func chainsOf(logs []*Log) (chains [][]int) {
	order := make([]int, 0, len(logs))
	for n, l := range logs {
		if l != nil {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(logs[a].First, logs[b].First) })
	next, previous := make(map[int]int), make(map[int]int)
	for _, a := range order {
		if b, ok := best(logs, order, a, func(b int) bool { return logs[a].precedes(logs[b]) }); ok {
			next[a] = b
		}
		if b, ok := best(logs, order, a, func(b int) bool { return logs[b].precedes(logs[a]) }); ok {
			previous[a] = b
		}
	}
	follows := func(a int) (b int, ok bool) {
		b, ok = next[a]
		before, both := previous[b]
		return b, ok && both && before == a
	}
	for _, a := range order {
		if before, ok := previous[a]; ok {
			if b, ok := follows(before); ok && b == a {
				continue // not the first one
			}
		}
		chain := []int{a}
		for b, ok := follows(a); ok; b, ok = follows(b) {
			chain = append(chain, b)
		}
		if len(chain) > 1 {
			chains = append(chains, chain)
		}
	}
	return chains
}

// best returns the log with the name most like that of a, of those that fit. It returns false if
// there is none, or not one only.
func best(logs []*Log, order []int, a int, fits func(b int) bool) (found int, ok bool) {
	most := -1
	for _, b := range order {
		if b == a || !fits(b) {
			continue
		}
		switch alike := alike(logs[a].Name, logs[b].Name); {
		case alike > most:
			found, most, ok = b, alike, true
		case alike == most:
			ok = false
		}
	}
	return found, ok
}

// alike returns how many bytes two names have in common at their ends.
func alike(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	a, b = a[n:], b[n:]
	m := 0
	for m < len(a) && m < len(b) && a[len(a)-1-m] == b[len(b)-1-m] {
		m++
	}
	return n + m
}
