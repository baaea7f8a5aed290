package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
)

// TestJobs checks that the output does not depend on the number of cores, for every log and format.
func TestJobs(t *testing.T) {
	t.Parallel()
	logs, err := filepath.Glob("../../testdata/*/*.h*")
	if err != nil || len(logs) < 60 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	long := filepath.Join(t.TempDir(), "long.hdr")
	f, err := os.Create(long)
	if err != nil {
		t.Fatal(err)
	}
	// 1.4 MB are six batches, which workers may add up in any order; its stalls make sums that
	// grow.
	if err := loggen.Write(f, loggen.Options{Seconds: 120, Rate: 10000, Seed: 1, Distinct: 40}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var inputs [][]string
	for _, log := range logs {
		inputs = append(inputs, []string{log})
	}
	inputs = append(inputs, []string{long}, []string{"-v", long}, []string{"-it", long}, []string{long, "../../testdata/dialects/malformed.hlog", "../../testdata/logs/digits2.hdr"})
	const bins = "1e15" // wide, since a small one makes gigabytes of a value over 2^60
	for _, f := range formats {
		format := f.kind.Name
		t.Run(format, func(t *testing.T) {
			inputs := inputs
			if few := clitest.Rounds(len(inputs)); format != "percentiles" && format != "ndjson" { // all others are summaries or rows, too
				inputs = inputs[len(inputs)-few:]
			}
			for _, input := range inputs {
				with := func(jobs string) []string { return append([]string{"-st", format, "-obs", bins, "-j", jobs}, input...) }
				stdout, stderr, status := hdrsum(t, with("1")...)
				for _, jobs := range []string{"5", "2"}[:max(1, clitest.Rounds(2))] {
					gotOut, gotErr, gotStatus := hdrsum(t, with(jobs)...)
					if gotOut != stdout || gotErr != stderr || gotStatus != status {
						t.Errorf("%s of %q with -j %s differs from -j 1:\nexit status %d, not %d\n%s\nnot\n%s\n%s\nnot\n%s", format, input, jobs, gotStatus, status, gotErr, stderr, gotOut, stdout)
					}
				}
			}
		})
	}
}

// TestMemory checks that memory does not grow with the length of the log, but for the times of
// intervals that findings need, which have a limit.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it reads 12 MB twice, or 60")
	}
	for _, test := range []struct {
		format string
		growth uint64
	}{{"percentiles", 2 << 20}, {"table", maxTimesBytes}} {
		t.Run(test.format, func(t *testing.T) {
			seconds := clitest.Rounds(5000)
			pipe, log := io.Pipe()
			go func() {
				log.CloseWithError(loggen.Write(log, loggen.Options{Seconds: seconds, Rate: 10000, Seed: 1, Distinct: 60}))
			}()
			watched := &watchedReader{Reader: pipe}
			app := app()
			app.Streams.In, app.Streams.Out, app.Streams.Err = watched, io.Discard, os.Stderr
			if status := cli.Run(app, []string{"-st", test.format, "-j", "2", "-"}); status != message.OK {
				t.Fatalf("exit status %d", status)
			}
			n := len(watched.kept)
			if n < seconds/100 {
				t.Fatalf("read %d MB only", n)
			}
			// An early MB has seen all tags and most values, the last ones many times as much. What
			// is being read differs from one to the next.
			early, late := slices.Max(watched.kept[1:4]), slices.Min(watched.kept[n-3:])
			if late > early+test.growth {
				t.Errorf("%d bytes in use after %d MB, %d after %d", early, 3, late, n)
			}
			if most := uint64(32 << 20); late > most {
				t.Errorf("%d bytes in use, more than %d", late, most)
			}
		})
	}
}

// A watchedReader notes, at each MB, how many bytes of the heap are in use.
type watchedReader struct {
	io.Reader
	read int
	kept []uint64
}

func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.read += n
	if r.read > (len(r.kept)+1)<<20 {
		r.kept = append(r.kept, clitest.InUse())
	}
	return n, err
}
