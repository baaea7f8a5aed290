// Command hdrplot draws HdrHistogram logs: values over time, percentile curves, heat maps and
// throughput.
package main

import (
	"os"

	"hdrkit/internal/cli"
)

func main() { os.Exit(cli.Main(app())) }
