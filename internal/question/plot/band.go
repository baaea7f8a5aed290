package plot

import (
	"maps"
	"math"
	"slices"

	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/base/counts"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/axis"
	"hdrkit/internal/gate"
	"hdrkit/internal/question/asked"
	"hdrkit/output"
)

// confidenceLevel is the confidence of bands in percent.
const confidenceLevel = asked.UsualLevel

// mostBands is the number of curves that may have bands. More would hide one another and take time.
const mostBands = 24

// drawnPercentiles returns the percentiles of the points of a curve, but for the maximum.
func drawnPercentiles(sum *output.Summary) (all []float64) {
	for _, step := range chart.CurveOf(sum.Counts(), 1).Steps {
		if step.Percentile < 100 {
			all = append(all, step.Percentile)
		}
	}
	return all
}

// figurePercentiles returns the percentiles that are compared.
func figurePercentiles() []float64 { return figuresOf(asked.UsualFigures).Percentiles }

// figuresOf returns figures of a list that is right.
func figuresOf(list string) asked.Figures {
	figures, err := asked.ParseFigures(list)
	if err != nil {
		panic(err) // a test sees it
	}
	return figures
}

// believedBand returns the intervals of confidence of the points of a curve. It ends at the first
// point above the median that has no interval.
func believedBand(curve *chart.Curve, sum *output.Summary) (band []chart.Bound) {
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

// keepFigures drops the intervals of confidence that only the points of a curve need. Those of
// figures stay, since figures are compared.
func keepFigures(c *output.Confidence) {
	kept := figurePercentiles()
	maps.DeleteFunc(c.Percentiles, func(p float64, _ confidence.Estimate) bool { return !slices.Contains(kept, p) })
}

// bandOf returns the lowest and the highest value of the runs of a group at the points of their
// sum's curve, up to the last one that each run knows.
func (f *found) bandOf(group string, sum *output.Summary) (band []chart.Bound) {
	points := drawnPercentiles(sum)
	end := math.Inf(1)
	var runs [][]float64
	for _, run := range f.runs[group] {
		s := gate.Find(run.Summaries, sum.Tag)
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
