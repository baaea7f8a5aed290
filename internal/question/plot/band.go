package plot

import (
	"maps"
	"math"
	"slices"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/counts"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/question/asked"
	"hdrkit/internal/summary"
	"hdrkit/output"
)

// confidenceLevel is the confidence of bands in percent.
const confidenceLevel = asked.UsualLevel

// maxBands is the largest number of curves that have bands. More bands would hide one another.
const maxBands = 24

// drawnPercentiles returns the percentiles of the points of a curve, without the maximum.
func drawnPercentiles(sum *output.Summary) (all []float64) {
	for _, step := range chart.CurveOf(sum.Counts(), 1).Steps {
		if step.Percentile < 100 {
			all = append(all, step.Percentile)
		}
	}
	return all
}

// figurePercentiles returns the percentiles that are compared by default.
func figurePercentiles() []float64 { return figuresOf(asked.UsualFigures).Percentiles }

// figuresOf parses one of the lists of figures in package asked.
func figuresOf(list string) asked.Figures {
	figures, err := asked.ParseFigures(list)
	if err != nil {
		panic(err) // the lists are constants
	}
	return figures
}

// confidenceBand returns the intervals of confidence of the points of a curve. The band ends at the
// first point from the median on that has no interval.
func confidenceBand(curve *chart.Curve, sum *output.Summary) (band []chart.Bound) {
	ratio := sum.Scale.Divisor()
	for _, step := range curve.Steps {
		e, ok := sum.Confidence.Percentiles[step.Percentile]
		known := ok && !math.IsNaN(e.Low) && !math.IsNaN(e.High)
		if !known && step.Percentile >= 50 {
			break
		}
		if !known {
			continue
		}
		band = append(band, chart.Bound{
			Percentile: step.Percentile,
			Low:        e.Low / ratio,
			High:       e.High / ratio,
			Above:      float64(counts.Above(sum.Counts(), step.Percentile)),
		})
	}
	return band
}

// dropCurveIntervals drops the intervals of confidence that only the band of a curve needs. It
// keeps the intervals of [figurePercentiles], which are compared.
func dropCurveIntervals(c *output.Confidence) {
	kept := figurePercentiles()
	maps.DeleteFunc(c.Percentiles, func(p float64, _ confidence.Estimate) bool { return !slices.Contains(kept, p) })
}

// runsBand returns the range of the runs of a group at the points of the curve of their sum. The
// band ends at the last point at which each run has values. With fewer than two runs it is empty.
func (f *found) runsBand(group string, sum *output.Summary) (band []chart.Bound) {
	points := drawnPercentiles(sum)
	end := math.Inf(1)
	var runs [][]float64
	for _, run := range f.runs[group] {
		s := summary.Find(run.Summaries, sum.Tag)
		if s == nil || s.Counts().TotalCount() == 0 {
			continue
		}
		end = min(end, axis.Nines(100*(1-1/float64(s.Counts().TotalCount()))))
		var values []float64
		for _, p := range output.RanksOf(s.Counts(), points, output.Stats{}).Percentiles {
			values = append(values, sum.Scale.Of(p.Value.Float()))
		}
		runs = append(runs, values)
	}
	for n, p := range points {
		if len(runs) < 2 || axis.Nines(p) > end {
			break
		}
		b := chart.Bound{
			Percentile: p,
			Low:        math.Inf(1),
			Above:      float64(counts.Above(sum.Counts(), p)),
		}
		for _, values := range runs {
			b.Low = min(b.Low, values[n])
			b.High = max(b.High, values[n])
		}
		band = append(band, b)
	}
	return band
}
