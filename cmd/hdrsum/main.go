// Command hdrsum summarizes HdrHistogram logs: percentiles, percentile distributions, CSV and JSON,
// by tag.
package main

import (
	"os"

	"hdrkit/internal/cli"
)

func main() { os.Exit(cli.Main(app())) }
