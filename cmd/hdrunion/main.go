// Command hdrunion puts HdrHistogram logs together: intervals of one tag that were recorded at the
// same time become one.
package main

import (
	"os"

	"hdrkit/internal/cli"
)

func main() { os.Exit(cli.Main(app())) }
