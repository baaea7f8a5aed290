// Command hdrlive merges HdrHistogram logs while they are written, and shows what it merges: as a
// table, a page, metrics, a log, or rows.
package main

import (
	"os"

	"hdrkit/internal/cli"
)

func main() { os.Exit(cli.Main(app())) }
