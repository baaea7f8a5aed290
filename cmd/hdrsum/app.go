package main

import (
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/scan"
)

const examples = `examples:
   hdrsum run.hdr -unit ms                 # a table
   hdrsum run.hdr -unit ms -p 99 -agg 1m   # p99 per minute
   hdrsum run.hdr -in ns -sla 'p99<=250ms' # status 4 if it does not hold
   hdrsum run.hdr -unit ms -s 60 -e 5m     # from 1 to 5 minutes
   hdrsum run.hdr -unit ms -incT '.*-rt' -it # all response times together
   hdrsum 'node.*\.hdr' -unit ms -incT '.*-rt' -by input # which is slow?
   hdrsum -worst 10 'node.*\.hdr' -unit ms # when, which tag, which log
   hdrsum -who 99.9 'node.*\.hdr' -incT '.*-rt' # who has the slowest
   hdrsum run.hdr -in ns -sla 'over(20ms)<=10%,p99<=300ms in 99% of 10s'
   hdrsum run.hdr -unit ms -st table -ci 95 # how far to believe figures
   hdrsum run.hdr -unit ms -st json        # for other programs
   hdrsum run.hdr -st hgrm -of run         # run.TAG.hgrm for each tag
   zstdcat run.hdr.zst | hdrsum -unit ms   # from a pipe

exit status: 0, or 1 if nothing could be summarized, 2 for a wrong command
line, 3 if malformed lines were skipped or intervals came too late for a row,
4 if a limit of -sla does not hold, 5 if one is undecided under -undecided fail`

func app() *cli.Command {
	c := &cli.Command{
		Streams:     message.Streams{Name: "hdrsum"},
		Usage:       "summarize HdrHistogram logs",
		UsageText:   "hdrsum [options] [log ...]",
		Description: examples,
		Common:      []string{"incT", "by", "s", "e", "st", "of", "in", "unit", "p", "agg", "worst", "sla"},
	}
	f, options := newFlags(&c.Streams)
	c.Options = options
	c.Args = cli.Arguments(&f.logs.Inputs)
	c.Outputs = f.outputs
	c.Implied = f.implied
	c.Action = func() error {
		q, err := f.question()
		if err != nil {
			return err
		}
		return q.run()
	}
	return c
}

// run answers the question, and prints the answer.
func (q *question) run() error {
	once := func(input scan.Input) bool { return input.Once }
	if slices.ContainsFunc(q.source.scan.Inputs, once) {
		// The program that writes to the pipe gets the signal, too, and may write more.
		cli.OnInterrupt(scan.Grace, func(bool) {})
	}
	if q.format.rows != nil {
		return writeStream(q)
	}
	return writeSummaries(q)
}
