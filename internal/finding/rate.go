package finding

import (
	"math"

	"hdrkit/internal/detect"
)

// minCount is the least number of values, on average, in a part of the time whose rate is
// computed.
const minCount = 10

// rates are the values per second in the parts of a run that have values.
type rates struct {
	levels []float64 // logarithms of the values per second of one log
	at     []int64   // when the parts begin, and when the last part ends
	logs   float64   // the number of logs that run together in most parts
}

// rates returns the rates of the parts of a run. The rate of a part is the mean of the logs that
// ran in it.
func (a *analysis) rates() (all rates) {
	start, end := a.run.Histories.Ran()
	parts := int(min(detect.Parts, a.figures.count/minCount))
	size := max((end-start)/int64(max(parts, 1)), 1)
	sums := make([]float64, parts)
	logs := make([]map[string]bool, parts)
	for _, t := range a.tracks {
		for part, intervals := range t.Parts(start, size) {
			if part >= parts {
				break
			}
			rate, _ := detect.Rates(intervals, math.MinInt64, math.MaxInt64)
			sums[part] += rate
			if logs[part] == nil {
				logs[part] = make(map[string]bool)
			}
			logs[part][t.Input] = true
		}
	}
	var running []float64
	for part, sum := range sums {
		if sum > 0 {
			running = append(running, float64(len(logs[part])))
			all.levels = append(all.levels, math.Log(sum/float64(len(logs[part]))))
			all.at = append(all.at, start+int64(part)*size)
		}
	}
	all.at = append(all.at, end)
	all.logs = detect.Median(running)
	return all
}

// rateChange returns how the rate of all logs together changes, nil if it does not.
func (a *analysis) rateChange() (c *levelChange) {
	if len(a.tracks) == 0 {
		return nil
	}
	rates := a.rates()
	detect.FindChange(rates.levels, 1, func(found detect.Change) bool {
		from := found.Spans[0].From
		before, after := rates.levels[:from], rates.levels[from:]
		switch found.Kind {
		case detect.Step:
		case detect.Drift:
			tenth := len(rates.levels) / 10
			before, after = rates.levels[:tenth], rates.levels[len(rates.levels)-tenth:]
		default:
			return false
		}
		c = &levelChange{
			Change: found,
			start:  rates.at[from],
			end:    rates.at[len(rates.at)-1],
			before: rates.logs * math.Exp(detect.Median(before)),
			after:  rates.logs * math.Exp(detect.Median(after)),
		}
		if !worthwhile(c.after / c.before) {
			c = nil
		}
		return c != nil
	})
	return c
}
