// Command genlog writes a log like those of cassandra-stress to standard output, for benchmarks.
package main

import (
	"flag"
	"fmt"
	"os"

	"hdrkit/internal/loggen"
)

func main() {
	var o loggen.Options
	flag.IntVar(&o.Seconds, "seconds", 3600, "length of the log")
	flag.IntVar(&o.Rate, "rate", 10000, "operations a second")
	flag.Uint64Var(&o.Seed, "seed", 1, "what makes one log different from another")
	flag.Int64Var(&o.Start, "start", 1468800000137, "start in milliseconds since the epoch")
	flag.IntVar(&o.Distinct, "distinct", 0, "how many seconds differ, 0 for all; the others repeat "+
		"them, which is quicker")
	flag.Parse()
	if err := loggen.Write(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "genlog:", err)
		os.Exit(1)
	}
}
