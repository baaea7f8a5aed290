package summary

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// Parts keep what each tag of each input recorded over time, to find out which of them was bad, and
// when, in memory that does not grow with the log: intervals of long logs become windows. The zero
// value is ready.
type Parts struct {
	// MaximaOnly keeps no counts. [Parts.Who] and [output.Moment.Count] need them. [Parts.Worst]
	// can be asked once then, unless there is a limit of memory: Most is that in bytes, if it is
	// above 0.
	MaximaOnly bool
	Most       int

	names  map[int]string // of inputs
	pieces map[string][]*piece
	// length is that of the longest interval, and coarse the size of the windows that pieces were
	// merged to, 0 if they were not.
	length, coarse int64
	first, last    int64 // start and end of all
	bytes          int
	account        *ledger.Account
	charge         ledger.Charge
	err            error
}

// A piece is one interval, or what the intervals of a window add up to. Highest is the highest
// value in the unit of the log, and peak the start of the interval that has it.
type piece struct {
	Start, End int64
	highest    float64
	peak       int64
	counts     *merge.Sum // nil if only maxima are kept
}

func (own *piece) size() int {
	const alone = 64 // with its place in a list
	if own.counts == nil {
		return alone
	}
	return alone + own.counts.Size()
}

// leastPartWindows is the number of windows that a run has at least.
const leastPartWindows = 64

// A part is a tag of an input.
type part struct {
	input string
	tag   []byte
}

// partKey returns the key of a part.
func partKey(input int, tag []byte) string {
	key := binary.BigEndian.AppendUint32(nil, uint32(input))
	if tag != nil {
		key = append(append(key, '='), tag...)
	}
	return string(key)
}

// tagOf returns the key of the tag in the key of a part.
func tagOf(key string) string { return key[4:] }

// part returns the part that a key stands for.
func (p *Parts) part(key string) part {
	part := part{input: p.names[int(binary.BigEndian.Uint32([]byte(key)))]}
	if tag := tagOf(key); tag != "" {
		part.tag = []byte(tag[1:])
	}
	return part
}

// take keeps an interval, and a copy of its counts, if there are any.
func (p *Parts) take(v scan.Visit, counts *merge.Sum, highest float64) {
	if p.MaximaOnly {
		p.Add(v.Input, v.Name, v.Tag, v.StartMillis(), v.EndMillis(), highest)
		return
	}
	if p.err != nil || counts.Intervals() == 0 {
		return
	}
	own := &piece{Start: counts.Start, End: max(counts.Start, counts.End), highest: highest, peak: v.StartMillis(), counts: new(merge.Sum)}
	if p.err = own.counts.Merge(counts); p.err == nil {
		p.keep(own, v.Input, v.Name, v.Tag)
	}
}

// Add keeps the maximum of an interval of a tag, which an input has. Times are milliseconds since
// the epoch.
func (p *Parts) Add(input int, name string, tag []byte, start, end int64, highest float64) {
	if p.err != nil {
		return
	}
	p.keep(&piece{Start: start, End: max(start, end), highest: highest, peak: start}, input, name, tag)
}

func (p *Parts) keep(own *piece, input int, name string, tag []byte) {
	if p.pieces == nil {
		p.names, p.pieces = make(map[int]string), make(map[string][]*piece)
		p.first, p.last = own.Start, own.End
	}
	p.names[input] = name
	key := partKey(input, tag)
	p.pieces[key] = append(p.pieces[key], own)
	p.length = max(p.length, own.End-own.Start, 1)
	p.first, p.last = min(p.first, own.Start), max(p.last, own.End)
	p.bytes += own.size()
	p.charge.Set(p.account, len(p.pieces), p.bytes)
	crowded := p.account.Crowded()
	if p.Most > 0 && p.bytes > p.Most {
		crowded = fmt.Errorf("the maxima of %d tags of logs take more than %d MB", len(p.pieces), p.Most/1e6)
	}
	if crowded != nil {
		p.coarsen(crowded)
		p.charge.Set(p.account, len(p.pieces), p.bytes)
	}
}

// coarsen merges pieces to windows until half of their memory is free. If windows would be too
// long, nothing is kept, and the error is crowded.
func (p *Parts) coarsen(crowded error) {
	most := p.bytes / 2
	for p.coarse = max(p.coarse, p.length); p.err == nil; p.coarse *= 2 {
		if p.pack(); p.bytes <= most {
			return
		}
		if (p.last-p.first)/p.coarse < leastPartWindows {
			p.err = crowded
		}
	}
	p.pieces, p.bytes = nil, 0
}

// pack makes the pieces of each part windows in the order of time. Without a size, each interval
// stays a piece.
func (p *Parts) pack() {
	at := func(own *piece) int64 { return own.Start }
	if p.coarse > 0 {
		at = func(own *piece) int64 { return merge.WindowOf(own.Start, own.End, p.coarse).Start }
	}
	p.bytes = 0
	for key, pieces := range p.pieces {
		order := func(a, b *piece) int { return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.Start, b.Start)) }
		if !slices.IsSortedFunc(pieces, order) {
			slices.SortStableFunc(pieces, order)
		}
		var m *piece
		p.pieces[key] = slices.DeleteFunc(pieces, func(own *piece) bool {
			if m == nil || p.coarse == 0 || at(m) != at(own) {
				m = own
				return false
			}
			if own.highest > m.highest {
				m.highest, m.peak = own.highest, own.peak
			}
			if m.End = max(m.End, own.End); m.counts != nil {
				p.err = cmp.Or(p.err, m.counts.Merge(own.counts))
			}
			return true
		})
		for _, own := range p.pieces[key] {
			if own.counts != nil {
				p.err = cmp.Or(p.err, own.counts.Compact())
			}
			p.bytes += own.size()
		}
	}
}

// sum adds all counts of a part.
func (p *Parts) sum(key string, into *histogram.Histogram) error {
	var scratch histogram.Histogram
	for _, own := range p.pieces[key] {
		h, err := own.counts.Histogram(&scratch)
		if err == nil {
			err = into.Add(h)
		}
		if err != nil {
			return fmt.Errorf("tag %s: %w", tags.Text(p.part(key).tag), err)
		}
	}
	return nil
}

// keys returns the keys of all parts in the order of inputs, then of tags. Their pieces are in the
// order of time afterwards.
func (p *Parts) keys() ([]string, error) {
	p.pack()
	return slices.Sorted(maps.Keys(p.pieces)), p.err
}

// A moment is a time that was bad, in a part.
type moment struct {
	output.Moment
	key string
	bad int // intervals
}

// Rules of what is bad.
const (
	// A bad maximum is so many times the typical one. A far one is bad alone. Between least and
	// most it depends on how maxima vary: it is so many steps above that, if a step is the ratio
	// of the lower quartile to the lower decile. In steady logs of any number of values, one
	// interval in 5,000 or fewer is far.
	badLeast, badSteps, farLeast, farSteps, mostTimes = 2, 7, 3, 17, 10
	// leastBad is the number of bad intervals that are a moment although none is far.
	leastBad = 5
	// gapPart is the part of a moment that may be good, so that chance does not divide it.
	gapPart = 0.2
	// badLevel is the percentile above which values are counted.
	badLevel = 99.9
)

// Worst returns the worst separate moments, the worst first. Factor is what a value of 1 of a tag
// of an input is in the unit that tags are compared in.
//
// An interval is bad if its maximum is more than twice as high as is typical of its tag, or higher
// if maxima vary much. Typical is the lower quartile of the maxima in one log: of several, the one
// whose lower quartile is in the middle, so that a slow machine is bad all the time. Bad intervals
// of a part that follow each other are one moment, if they are five or one is far higher. A short
// gap does not divide it. Parts that were bad during mostly the same time are one moment too, that
// of the part with the highest maximum.
func (p *Parts) Worst(most int, factor func(input string, tag []byte) float64) ([]output.Moment, error) {
	keys, err := p.keys()
	if err != nil {
		return nil, err
	}
	typical := p.limits(keys)
	var found []moment
	for _, key := range keys {
		part := p.part(key)
		for _, m := range moments(p.pieces[key], typical[tagOf(key)]) {
			m.Input, m.Tag, m.Factor, m.key = part.input, part.tag, factor(part.input, part.tag), key
			found = append(found, m)
		}
	}
	slices.SortStableFunc(found, func(a, b moment) int {
		return cmp.Or(cmp.Compare(b.Max*b.Factor, a.Max*a.Factor), cmp.Compare(a.Start, b.Start))
	})
	found = separate(found, most)
	if !p.MaximaOnly {
		err = p.count(found, keys)
	} else if p.Most == 0 { // nothing else can be asked
		p.pieces = nil
		p.charge.Set(p.account, 0, 0)
	}
	var all []output.Moment
	for _, m := range found {
		all = append(all, m.Moment)
	}
	return all, err
}

// limits are the maxima above which an interval is bad, and far.
type limits struct{ bad, far float64 }

// limits returns the limits by the key of a tag.
func (p *Parts) limits(keys []string) map[string]limits {
	type low struct{ decile, quartile float64 }
	inputs := make(map[string][]low)
	for _, key := range keys {
		var maxima []float64
		for _, own := range p.pieces[key] {
			if own.highest > 0 {
				maxima = append(maxima, own.highest)
			}
		}
		if n := len(maxima); n > 0 {
			slices.Sort(maxima)
			inputs[tagOf(key)] = append(inputs[tagOf(key)], low{maxima[n/10], maxima[n/4]})
		}
	}
	byTag := make(map[string]limits)
	for tag, all := range inputs {
		slices.SortFunc(all, func(a, b low) int { return cmp.Compare(a.quartile, b.quartile) })
		q := all[(len(all)-1)/2]
		times := func(least, steps float64) float64 {
			return q.quartile * min(max(least, math.Pow(q.quartile/q.decile, steps)), mostTimes)
		}
		byTag[tag] = limits{times(badLeast, badSteps), times(farLeast, farSteps)}
	}
	return byTag
}

// moments returns the moments of a part, in the order of time.
func moments(pieces []*piece, limit limits) (all []moment) {
	for _, w := range pieces {
		if !(w.highest > limit.bad) {
			continue
		}
		last := len(all) - 1
		if last < 0 || w.Start-all[last].End > int64(gapPart*float64(all[last].End-all[last].Start)) {
			all = append(all, moment{Moment: output.Moment{Start: w.Start, End: w.End, Peak: w.peak, Max: w.highest}, bad: 1})
			continue
		}
		m := &all[last]
		m.bad++
		if m.End = max(m.End, w.End); w.highest > m.Max {
			m.Max, m.Peak = w.highest, w.peak
		}
	}
	return slices.DeleteFunc(all, func(m moment) bool { return m.bad < leastBad && !(m.Max > limit.far) })
}

// separate returns the first moments of those that are in order, without those at the same time.
func separate(sorted []moment, most int) (all []moment) {
	for _, m := range sorted {
		at := slices.IndexFunc(all, func(o moment) bool {
			both := min(m.End, o.End) - max(m.Start, o.Start)
			return o.key != m.key && 2*both > max(m.End, o.End)-min(m.Start, o.Start)
		})
		if at >= 0 {
			all[at].Others++
		} else if len(all) < most {
			all = append(all, m)
		}
	}
	return all
}

// count counts the values of moments above the percentile of their tags.
func (p *Parts) count(all []moment, keys []string) error {
	limits := make(map[string]float64)
	var scratch histogram.Histogram
	for n := range all {
		m := &all[n]
		tag := tagOf(m.key)
		if _, known := limits[tag]; !known {
			var sum histogram.Histogram
			for _, key := range keys {
				if tagOf(key) == tag {
					if err := p.sum(key, &sum); err != nil {
						return err
					}
				}
			}
			limits[tag] = sum.Float(sum.ValueAtPercentile(badLevel))
		}
		for _, w := range p.pieces[m.key] {
			if w.Start >= m.Start && w.End <= m.End && w.highest > limits[tag] {
				h, err := w.counts.Histogram(&scratch)
				if err != nil {
					return err
				}
				m.Count += above(h, limits[tag])
			}
		}
	}
	return nil
}

// above returns the number of values of h in slots that end above a value in the unit of the log.
func above(h *histogram.Histogram, value float64) int64 {
	return h.TotalCount() - h.CountBetween(0, int64(value/h.Ratio()))
}
