package hdrlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// The 99th percentile of each tag, on one goroutine. It reads histograms of doubles, too.
func ExampleOpen() {
	reader, err := hdrlog.Open("../testdata/logs/node1.hdr") // or a .gz or .zst file
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()

	sums := make(map[string]*histogram.Histogram) // by tag; of integers or doubles, as the log
	var decoder histogram.Decoder
	for interval, err := range reader.Intervals() {
		if err == nil {
			tag := string(interval.Tag) // empty if the interval has none
			if sums[tag] == nil {
				sums[tag] = new(histogram.Histogram)
			}
			err = decoder.AddTo(sums[tag], interval.Payload)
		}
		if err != nil {
			log.Print(err) // a malformed line, for example; the next one is read
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(sums)) {
		fmt.Printf("%s p99 %v\n", tag, sums[tag].Float(sums[tag].ValueAtPercentile(99)))
	}
	// Output:
	// insert-rt p99 3.3030143e+07
	// insert-st p99 5.574655e+06
	// insert-wt p99 2.1200895e+07
	// simple1-rt p99 1.40902399e+08
	// simple1-st p99 1.34873087e+08
	// simple1-wt p99 3.2997375e+07
}

func ExampleWriter() {
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, nanoseconds := range []int64{1_200_000, 1_300_000, 25_000_000} {
		if err := h.Record(nanoseconds); err != nil {
			log.Fatal(err)
		}
	}

	var text strings.Builder
	// Errors are kept, and Flush returns the first.
	writer := hdrlog.NewWriter(&text)
	writer.Version()
	writer.BaseTime(1441812279.474)
	writer.StartTime(1441812279.474)
	writer.Legend()
	writer.Interval([]byte("insert"), 0.127, 1.007, h)
	if err := writer.Flush(); err != nil {
		log.Fatal(err)
	}

	head, _, _ := strings.Cut(text.String(), "HIST")
	fmt.Println(head + "...")
	// Output:
	// #[Histogram log format version 1.3]
	// #[Written by hdrkit: START and LENGTH are seconds]
	// #[BaseTime: 1441812279.474 (seconds since epoch)]
	// #[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 15:24:39 UTC 2015]
	// "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
	// Tag=insert,0.127,1.007,25.002,...
}

// A log of measurements that a program has already: one interval for each second, in a loop. To
// record while a program runs, use StartRecording.
func ExampleWriter_measurements() {
	measurements := []struct {
		at      time.Time
		latency time.Duration
	}{
		{time.UnixMilli(1441812279474), 1200 * time.Microsecond},
		{time.UnixMilli(1441812279902), 25 * time.Millisecond},
		{time.UnixMilli(1441812280133), 1300 * time.Microsecond},
		{time.UnixMilli(1441812282001), 900 * time.Microsecond},
	}

	var text strings.Builder // or a file
	writer := hdrlog.NewWriter(&text)
	start := measurements[0].at.Truncate(time.Second)
	writer.Version()
	writer.Comment("UNITS:NANOSECONDS")
	writer.BaseTime(float64(start.Unix()))
	writer.StartTime(float64(start.Unix()))
	writer.Legend()
	h, err := histogram.New(histogram.Layout{Digits: 3})
	if err != nil {
		log.Fatal(err)
	}
	second := start
	write := func() {
		if h.TotalCount() > 0 {
			writer.Interval([]byte("insert"), second.Sub(start).Seconds(), 1, h)
			h.Reset(h.Layout())
		}
	}
	for _, m := range measurements {
		if of := m.at.Truncate(time.Second); of != second {
			write()
			second = of
		}
		if err := h.Record(m.latency.Nanoseconds()); err != nil {
			log.Fatal(err)
		}
	}
	write()
	if err := writer.Flush(); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		interval, _, _ := strings.Cut(strings.TrimSpace(line), "HIST")
		fmt.Println(interval)
	}
	// Output:
	// #[Histogram log format version 1.3]
	// #[Written by hdrkit: START and LENGTH are seconds]
	// #UNITS:NANOSECONDS
	// #[BaseTime: 1441812279.000 (seconds since epoch)]
	// #[StartTime: 1441812279.000 (seconds since epoch), Wed Sep 09 15:24:39 UTC 2015]
	// "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
	// Tag=insert,0.000,1.000,25.002,
	// Tag=insert,1.000,1.000,1.300,
	// Tag=insert,3.000,1.000,0.900,
}

// The times of an interval are the same whichever way the log writes them.
func ExampleInterval() {
	const text = `#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]
Tag=A,0.127,1.007,2.769,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvsPEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekILGZkKmcCAEf2CsI=
`
	reader := hdrlog.NewReader(strings.NewReader(text), "times.hlog")
	for reader.Scan() {
		if record := reader.Record(); record.Kind == hdrlog.IntervalRecord {
			i := &record.Interval
			fmt.Printf("%.3f s after the start, from %.3f to %d ms since the epoch\n", i.Relative(), i.Absolute(), i.EndMillis())
		}
	}
	// Output: 0.127 s after the start, from 1441812279.601 to 1441812280608 ms since the epoch
}

// The histogram of each interval.
func ExampleInterval_Histogram() {
	const text = `#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]
Tag=A,0.127,1.007,2.769,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvsPEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekILGZkKmcCAEf2CsI=
`
	reader := hdrlog.NewReader(strings.NewReader(text), "one.hlog")
	for record := range reader.All() {
		if record.Kind != hdrlog.IntervalRecord {
			continue
		}
		h, err := record.Interval.Histogram()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(reader.Name(), h.TotalCount(), "values, median", h.ValueAtPercentile(50))
	}
	// Output: one.hlog 741 values, median 344063
}

// Lines that cannot be read are records too.
func ExampleSyntaxError() {
	reader := hdrlog.NewReader(strings.NewReader("0.1,1.0,x,HIST\n0.1,1.0\n"), "bad.hlog")
	for reader.Scan() {
		fmt.Println(reader.Record().Err)
	}
	// Output:
	// bad.hlog:1: max: not a number: "x"
	// bad.hlog:2: max: field is missing
}

// A service writes a log of its latencies: one interval a second for each tag.
func ExampleStartRecording() {
	file := new(bytes.Buffer) // or a file
	recording, err := hdrlog.StartRecording(file, hdrlog.RecordingOptions{
		Period: time.Second, Layout: histogram.Layout{Digits: 3}, Unit: hdrlog.Nanosecond,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer recording.Close() // writes the last interval
	gets, err := recording.Recorder("GET")
	if err != nil {
		log.Fatal(err)
	}

	var requests sync.WaitGroup
	for n := range 100 {
		requests.Go(func() {
			begin := time.Now().Add(-time.Duration(n) * time.Hour)               // a slow service
			if err := gets.Record(time.Since(begin).Nanoseconds()); err != nil { // on any goroutine
				log.Print(err)
			}
		})
	}
	requests.Wait()
	if err := recording.Close(); err != nil {
		log.Fatal(err)
	}

	var sum histogram.Histogram
	var decoder histogram.Decoder
	reader := hdrlog.NewReader(file, "service.hdr")
	for reader.Scan() {
		if record := reader.Record(); record.Kind == hdrlog.IntervalRecord {
			if err := decoder.AddTo(&sum, record.Interval.Payload); err != nil {
				log.Fatal(err)
			}
		}
	}
	fmt.Println(sum.TotalCount(), "requests, median", time.Duration(sum.ValueAtPercentile(50)).Round(time.Hour))
	// Output: 100 requests, median 49h0m0s
}

// TestLibraryPage checks that the code of docs/library.md stands in an example, line by line.
func TestLibraryPage(t *testing.T) {
	page, err := os.ReadFile("../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	var examples strings.Builder
	for _, name := range []string{"example_test.go", "merge/example_test.go"} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("../../testdata/logs/", "", "../testdata/logs/", "").Replace(string(source))
		examples.WriteString(strings.Join(strings.Fields(text), " "))
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("no code")
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		for line := range strings.Lines(code) {
			line = strings.Join(strings.Fields(line), " ")
			if line != "..." && !strings.Contains(examples.String(), line) {
				t.Errorf("%q is not in an example", line)
			}
		}
	}
}

// The second numbers of this log are ends, but one interval does not prove it.
func ExampleReaderOptions() {
	const text = "5.000,6.250,0.000,HISTFAAAABx42pNpmSzMwMDAyAABzFAaxmey/wBlAQIl\n"
	for _, second := range []hdrlog.SecondField{hdrlog.SecondUnknown, hdrlog.SecondEnd} {
		options := hdrlog.ReaderOptions{Second: second}
		reader := options.NewReader(strings.NewReader(text), "ends.hlog")
		for record := range reader.All() {
			if record.Kind == hdrlog.Notice {
				fmt.Println(errors.Is(record.Err, hdrlog.ErrSecondDoubt))
			} else {
				fmt.Println(record.Interval.Duration())
			}
		}
	}
	// Output:
	// 6.25s
	// true
	// 1.25s
}

// An interval of a log in milliseconds, as it goes into another log.
func ExampleInterval_AppendFields() {
	const text = "1441812279474,1441812280481,2769,HISTFAAAABx42pNpmSzMwMDAyAABzFAaxmey/wBlAQIl\n"
	reader := hdrlog.NewReader(strings.NewReader(text), "milliseconds.hlog")
	for record := range reader.All() {
		if record.Kind == hdrlog.IntervalRecord {
			fields := record.Interval.AppendFields(nil)
			fields = append(fields, record.Interval.Payload...)
			fmt.Printf("%.45s...\n", fields)
		}
	}
	// Output: 1441812279.474,1.007,2769.000,HISTFAAAABx42pN...
}
