package finding

import (
	"math"
	"slices"

	"hdrkit/internal/detect"
	"hdrkit/internal/summary"
)

// LeastLogs is the least number of logs among which one can differ from the others. From so many
// on, [summary.Histories] need sums.
const LeastLogs = 3

// logCourses finds logs that are higher than the others, for a time or all the time: those of each
// tag.
func (r *Run) logCourses() (all []course) {
	byTag := make(map[string][]summary.Track)
	var order []string
	for _, t := range r.tracks() {
		key := string(t.Tag)
		if byTag[key] == nil {
			order = append(order, key)
		}
		byTag[key] = append(byTag[key], t)
	}
	for _, key := range order {
		if tracks := byTag[key]; len(tracks) >= LeastLogs {
			b := fleet{tracks: tracks, tries: len(tracks) * len(order)}
			b.start, b.end = r.Histories.Ran()
			all = append(all, b.find()...)
		}
	}
	return all
}

// A fleet compares the logs of a tag, which ran beside each other, by the maxima of parts of the
// time.
type fleet struct {
	tracks     []summary.Track
	tries      int
	start, end int64
	// above is by how much each log is above the mean of the others in parts of the time that begin
	// at some times, as logarithms.
	above [][]float64
	at    [][]int64
	size  int64 // of a part
}

// find returns the logs that are higher than the others for a time, or else all the time.
func (b *fleet) find() (all []course) {
	b.compare()
	for n, t := range b.tracks {
		detect.Find(b.above[n], b.tries, func(found detect.Change) bool {
			if found.Kind != detect.Phases && found.Kind != detect.Step || found.By < 0 {
				return false
			}
			c := course{Change: found, input: t.Input, tag: t.Tag}
			from, to := b.at[n][found.Spans[0].From], b.at[n][found.Spans[0].To]
			more := 0.0
			c.start, c.end, c.times, more = detect.Narrow(t.Intervals, from, to, b.size)
			if !alike(math.Log(c.times), found.By) || more < leastLevel {
				return false
			}
			all = append(all, c)
			return true
		})
	}
	if len(all) > 0 {
		return all
	}
	return b.slow()
}

// compare compares the logs.
func (b *fleet) compare() {
	b.size = max((b.end-b.start)/detect.Parts, 1)
	levels := make([][detect.Parts]float64, len(b.tracks))
	for n, t := range b.tracks {
		for part := range levels[n] {
			levels[n][part] = math.NaN()
		}
		for part, intervals := range t.Parts(b.start, b.size) {
			if v := detect.MedianMax(intervals); part < detect.Parts && v > 0 {
				levels[n][part] = math.Log(v)
			}
		}
	}
	b.above = make([][]float64, len(b.tracks))
	b.at = make([][]int64, len(b.tracks))
	for part := range detect.Parts {
		sum, count := 0.0, 0
		for n := range levels {
			if v := levels[n][part]; !math.IsNaN(v) {
				sum += v
				count++
			}
		}
		for n := range levels {
			if v := levels[n][part]; !math.IsNaN(v) && count >= LeastLogs {
				b.above[n] = append(b.above[n], v-(sum-v)/float64(count-1))
				b.at[n] = append(b.at[n], b.start+int64(part)*b.size)
			}
		}
	}
	for n := range b.at {
		b.at[n] = append(b.at[n], b.end)
	}
}

// slow returns the logs, at most a quarter of all, that are higher than the others all the time:
// beyond chance, and by more than the others are apart.
func (b *fleet) slow() (all []course) {
	order := make([]int, len(b.tracks))
	means := make([]float64, len(b.tracks))
	for n := range order {
		order[n] = n
		means[n] = detect.Mean(b.above[n])
	}
	slices.SortStableFunc(order, func(a, b int) int { return descending(means[a], means[b]) })
	for slow := max(len(order)/4, 1); slow > 0; slow-- {
		last := order[slow-1]
		next := order[slow]
		lowest := order[len(order)-1]
		if !(means[last]-means[next] > means[next]-means[lowest]) || !detect.Differs(b.above[last], b.tries) {
			continue
		}
		for _, n := range order[:slow] {
			t := b.tracks[n]
			all = append(all, course{
				input: t.Input,
				tag:   t.Tag,
				start: t.Intervals[0].Start,
				end:   t.Intervals[len(t.Intervals)-1].End,
			})
		}
		return all
	}
	return nil
}
