package confidence_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
)

// Two runs of five minutes, in windows of a second. In a few seconds everything is slow. The second
// run is 20% slower.
func Example() {
	random := rand.New(rand.NewPCG(1, 2))
	record := func(factor float64) *confidence.Run {
		layout := histogram.Layout{Lowest: 1, Digits: 3}
		sum := new(histogram.Histogram)
		var windows []confidence.Window
		for range 300 {
			second, err := histogram.New(layout)
			if err != nil {
				log.Fatal(err)
			}
			level := factor * (1 + 0.1*random.ExpFloat64())
			for range 100 {
				microseconds := 1000 * level * math.Exp(0.4*random.NormFloat64())
				if err := second.Record(int64(microseconds)); err != nil {
					log.Fatal(err)
				}
			}
			if err := sum.Add(second); err != nil {
				log.Fatal(err)
			}
			windows = append(windows, confidence.HistogramWindow{Histogram: second, Length: 1})
		}
		return confidence.NewRun(sum, windows)
	}
	before, after := record(1), record(1.2)
	for _, p := range []float64{50, 99, 99.99} {
		e := before.Percentile(p, 95)
		if e.TooShort {
			fmt.Printf("p%v is %.0f: too short for an interval\n", p, e.Value)
			continue
		}
		c := confidence.Compare(e, after.Percentile(p, 95), 95)
		fmt.Printf("p%v is %.0f [%.0f, %.0f], after it %+.1f%% (%+.1f..%+.1f)\n",
			p, e.Value, e.Low, e.High, 100*(c.Ratio-1), 100*(c.Low-1), 100*(c.High-1))
	}
	// Output:
	// p50 is 1097 [1076, 1118], after it +19.0% (+17.0..+21.2)
	// p99 is 2871 [2813, 2951], after it +17.3% (+13.1..+21.2)
	// p99.99 is 5407: too short for an interval
}
