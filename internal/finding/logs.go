package finding

import (
	"cmp"
	"math"
	"slices"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/detect"
	"hdrkit/internal/summary"
)

// MinLogs is the least number of logs that are compared with each other. With this number of logs
// or more, [summary.Histories] need sums.
const MinLogs = 3

// A logPhase is a time in which the maxima of a tag of one log are higher than otherwise, while the
// maxima of other logs are not.
type logPhase struct {
	input      string
	tag        []byte
	start, end int64   // in milliseconds since the epoch
	times      float64 // ratio of the maxima to those otherwise
}

// A slowLog is a log whose maxima of a tag are higher than those of other logs all the time.
type slowLog struct {
	input      string
	tag        []byte
	start, end int64 // in milliseconds since the epoch
}

// logChanges compares the logs of each tag. It returns logs whose maxima are higher for a time, and
// logs whose maxima are higher all the time.
func (a *analysis) logChanges() (phases []logPhase, slow []slowLog) {
	byTag := make(map[string][]summary.Track)
	var order []string
	for _, t := range a.tracks {
		key := string(merge.AppendKey(nil, t.Tag))
		if byTag[key] == nil {
			order = append(order, key)
		}
		byTag[key] = append(byTag[key], t)
	}
	for _, key := range order {
		tracks := byTag[key]
		if len(tracks) < MinLogs {
			continue
		}
		start, end := a.run.Histories.Ran()
		logs := compareLogs(tracks, start, end)
		tries := len(tracks) * len(order)
		var steady []besideOthers
		for _, log := range logs {
			if phase := log.phase(tries); phase != nil {
				phases = append(phases, *phase)
			} else {
				steady = append(steady, log)
			}
		}
		slow = append(slow, slowOf(steady, tries)...)
	}
	return phases, slow
}

// A besideOthers compares a tag of one log with the same tag of logs that ran at the same time.
type besideOthers struct {
	summary.Track
	// above has for each part of the time by how much the maxima are above the mean of other logs,
	// as a difference of logarithms.
	above []float64
	at    []int64 // when the parts begin, and when the last part ends
	size  int64   // length of a part in milliseconds
	mean  float64 // mean of above
}

// compareLogs compares the logs of a tag by their maxima in parts of the time from start to end.
func compareLogs(tracks []summary.Track, start, end int64) []besideOthers {
	size := max((end-start)/detect.Parts, 1)
	logs := make([]besideOthers, len(tracks))
	levels := make([][detect.Parts]float64, len(tracks))
	for n, t := range tracks {
		logs[n] = besideOthers{Track: t, size: size}
		for part := range levels[n] {
			levels[n][part] = math.NaN()
		}
		for part, intervals := range t.Parts(start, size) {
			if v := detect.MedianMax(intervals); part < detect.Parts && v > 0 {
				levels[n][part] = math.Log(v)
			}
		}
	}
	for part := range detect.Parts {
		sum, count := 0.0, 0
		for n := range levels {
			if v := levels[n][part]; !math.IsNaN(v) {
				sum += v
				count++
			}
		}
		for n := range levels {
			if v := levels[n][part]; !math.IsNaN(v) && count >= MinLogs {
				logs[n].above = append(logs[n].above, v-(sum-v)/float64(count-1))
				logs[n].at = append(logs[n].at, start+int64(part)*size)
			}
		}
	}
	for n := range logs {
		logs[n].at = append(logs[n].at, end)
		logs[n].mean = detect.Mean(logs[n].above)
	}
	return logs
}

// phase returns a time in which the maxima of the log are higher than those of other logs, nil if
// there is none. Tries is the number of logs that are looked at.
func (b *besideOthers) phase(tries int) (phase *logPhase) {
	detect.FindChange(b.above, tries, func(found detect.Change) bool {
		if found.Kind != detect.Phases && found.Kind != detect.Step || found.By < 0 {
			return false
		}
		from, to := b.at[found.Spans[0].From], b.at[found.Spans[0].To]
		higher := detect.Narrow(b.Intervals, from, to, b.size)
		if !alike(math.Log(higher.Times), found.By) || higher.More < minLevel {
			return false
		}
		phase = &logPhase{
			input: b.Input,
			tag:   b.Tag,
			start: higher.Start,
			end:   higher.End,
			times: higher.Times,
		}
		return true
	})
	return phase
}

// slowOf returns the logs, at most a quarter of all, whose maxima are higher all the time. The
// difference is beyond chance, and larger than the differences between the other logs.
func slowOf(logs []besideOthers, tries int) (all []slowLog) {
	if len(logs) < MinLogs {
		return nil
	}
	slices.SortStableFunc(logs, func(a, b besideOthers) int { return cmp.Compare(b.mean, a.mean) })
	lowest := logs[len(logs)-1].mean
	for count := max(len(logs)/4, 1); count > 0; count-- {
		last, next := &logs[count-1], &logs[count]
		apart := last.mean-next.mean > next.mean-lowest
		if !apart || !detect.Differs(last.above, tries) {
			continue
		}
		for _, log := range logs[:count] {
			all = append(all, slowLog{
				input: log.Input,
				tag:   log.Tag,
				start: log.Intervals[0].Start,
				end:   log.Intervals[len(log.Intervals)-1].End,
			})
		}
		return all
	}
	return nil
}
