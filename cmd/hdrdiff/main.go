// Command hdrdiff compares HdrHistogram logs of two versions: before and after a change.
package main

import (
	"os"

	"hdrkit/internal/cli"
)

func main() { os.Exit(cli.Main(app())) }
