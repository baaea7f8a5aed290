package main

import (
	"errors"
	"slices"

	"hdrkit/internal/cli"
	"hdrkit/internal/live/prom"
)

// openMetricsFormat is the text format of Prometheus. To a receiver go native histograms by remote
// write.
var openMetricsFormat = format{
	name: prom.OpenMetrics, what: "for Prometheus", others: "prometheus prom", uses: slices.Concat([]string{"metric"}, rowOptions),
	check: func(o *options) error {
		if o.series.Moving > 0 && cli.Given(o.c, "p") {
			return cli.Usagef("-p and -mwp do not go together: the percentile of the moving window replaces those of -p")
		}
		return checkMetric(o)
	},
	rows: metricRows,
	// Prometheus drops points that are no later than the last one.
	clash: func(last, now int64) error {
		if now > last {
			return nil
		}
		return errors.New("does not end after the last interval of its tag; only the counters include it, a millisecond later; hdrunion puts logs in order")
	},
	totals: true,
	receiver: func(o *options) error { // it takes native histograms
		o.series.Counts = true
		if o.series.Moving > 0 {
			return cli.Usagef("-push and -mwp do not go together with -st openmetrics: Prometheus computes percentiles of any span")
		}
		return nil
	},
}
