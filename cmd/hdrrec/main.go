// Command hdrrec makes HdrHistogram logs of single measurements, such as the requests that load
// generators and servers log.
package main

import (
	"os"

	"hdrkit/internal/cli"
)

func main() { os.Exit(cli.Main(app())) }
