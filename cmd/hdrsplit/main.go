// Command hdrsplit takes HdrHistogram logs apart: one log for each tag.
package main

import (
	"os"

	"hdrkit/internal/cli"
)

func main() { os.Exit(cli.Main(app())) }
