// Command hdrbeam merges HdrHistogram logs with Apache Beam, on this machine or on a cluster, as
// hdrunion -grid does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	"hdrkit/beam/pipeline"
)

const usage = `hdrbeam - merge HdrHistogram logs with Apache Beam

usage: hdrbeam -glob PATTERN -of FILE [options] [PATTERN ...]

examples:
   hdrbeam -glob 'logs/node*.hdr' -grid 10 -of all.hdr
   hdrbeam -glob 'a/*.hdr' -glob 'b/*.hdr.zst' -grid 60 -of all.hdr -summary sum.json
   hdrbeam -glob 'node*.hdr' -grid 10 -incT insert-rt -s 60 -e 5m -of minutes.hdr
   hdrbeam -glob 'node*.hdr' -grid 10 -errors errors.json -summary sum.json
   hdrbeam -glob 's3://bucket/day/*.hdr' -grid 60 -shard 3600 -of s3://bucket/merged/day --runner=universal --endpoint=HOST:8099

input:
   -glob PATTERN     read the logs that match: local files, gs:// or s3://, plain or compressed by gzip or zstd; repeatable
   -incT TAG         merge this tag only; default means the untagged intervals; repeatable
   -excT TAG         leave this tag out; repeatable
   -s TIME, -e TIME  merge the intervals that start in this range: seconds or a duration from the start of each log, or RFC 3339
   -co EXPECTED      correct for coordinated omission: a value was to be recorded every EXPECTED units

output:
   -grid TIME        merge the intervals whose middle lies in the same window of TIME, such as 10 or 10s (default 10s)
   -of FILE          write the union to FILE
   -shard TIME       write one log for each TIME, a multiple of -grid, named after -of and its start
   -summary FILE     write the summaries of all tags to FILE, as hdrsum -st json does
   -errors FILE      write each malformed line to FILE, as a line of JSON

runner:
   --runner=NAME     prism (the default: this process), or universal for the job server at --endpoint
   --endpoint=HOST:PORT, --environment_type=TYPE, --worker_binary=FILE, ...  are those of the Beam Go SDK
   -group N          read N logs side by side and merge them before anything is sent (default 8); less for more workers
   -v                print what the runner logs

Outputs appear when all of them are complete. FILE can be local, gs:// or s3://.

exit status: 0, or 1 if nothing could be merged, 2 for a wrong command line, 3 if malformed lines were skipped
`

// Exit statuses: those of hdrunion.
const (
	ok      = 0
	failed  = 1
	misused = 2
	skipped = 3
)

func main() {
	flag.CommandLine.Init("hdrbeam", flag.ContinueOnError)
	flag.CommandLine.SetOutput(io.Discard)
	o := define(flag.CommandLine)
	err := flag.CommandLine.Parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		if _, err := os.Stdout.WriteString(usage); err != nil {
			os.Exit(failed)
		}
		os.Exit(ok)
	}
	if err == nil {
		o.globs = append(o.globs, flag.Args()...)
		if !isWorker() {
			err = o.check()
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "hdrbeam: %v\nhdrbeam: see hdrbeam -h for the options\n", err)
		os.Exit(misused)
	}
	beam.Init() // does not return in a worker
	if err := o.prepareRunner(); err != nil {
		fmt.Fprintf(os.Stderr, "hdrbeam: %v\n", err)
		os.Exit(failed)
	}
	if !o.verbose {
		slog.SetDefault(slog.New(slog.DiscardHandler))
	}
	os.Exit(run(context.Background(), o))
}

// isWorker reports whether a runner started this process to work on a pipeline.
func isWorker() bool {
	worker := flag.Lookup("worker")
	return worker != nil && worker.Value.String() == "true"
}

// run builds and runs the pipeline. It returns the exit status.
func run(ctx context.Context, o *options) int {
	p, s := beam.NewPipelineWithRoot()
	o.pipeline.Local = o.runner == "prism"
	read := pipeline.Read(s, pipeline.Match(s, o.group, o.globs...), o.pipeline)
	union := pipeline.Union(s, read)
	var outputs []beam.PCollection
	if o.of != "" {
		outputs = append(outputs, pipeline.Write(s, read, union, o.of, int64(o.shard)))
	}
	if o.summary != "" {
		outputs = append(outputs, pipeline.WriteSummaries(s, read, pipeline.Summaries(s, union), o.summary))
	}
	if o.errors != "" {
		outputs = append(outputs, pipeline.WriteProblems(s, read, o.errors))
	}
	pipeline.Commit(s, outputs...)

	result, err := beam.Run(ctx, o.runner, p)
	if err != nil {
		fmt.Fprintf(os.Stderr, "hdrbeam: %s\n", cause(err))
		return failed
	}
	if *jobopts.Async {
		fmt.Fprintln(os.Stderr, "hdrbeam: the job was submitted; its malformed lines are in its counter hdrkit:malformed")
		return ok
	}
	for _, text := range pipeline.Notices(result) {
		fmt.Fprintf(os.Stderr, "hdrbeam: %s\n", text)
	}
	if n := pipeline.Malformed(result); n > 0 {
		fmt.Fprintf(os.Stderr, "hdrbeam: skipped %d malformed line%s%s\n", n, plural(n), o.hint())
		return skipped
	}
	return ok
}

// cause returns the last part of a runner's error: the message of the function that failed.
func cause(err error) string {
	text := err.Error()
	if n := strings.LastIndex(text, "failed:\n"); n >= 0 {
		text = text[n+len("failed:\n"):]
	}
	return strings.TrimSpace(text)
}

func plural(n int64) string {
	if n == 1 {
		return ""
	}
	return "s"
}
