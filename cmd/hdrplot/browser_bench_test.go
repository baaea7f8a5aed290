//go:build browser

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"hdrkit/internal/loggen"
)

// BenchmarkViewer opens logs of an hour in hdrkit.html, in a browser that has not read any, until it
// shows them. It reports processor times too, of all threads of the browser and of some kinds, and
// the memory of all workers.
func BenchmarkViewer(b *testing.B) {
	file := buildViewer(b)
	dir := b.TempDir()
	var logs []string
	for n := range 10 {
		logs = append(logs, filepath.Join(dir, fmt.Sprintf("node%d.hdr", n+1)))
		generate(b, logs[n], loggen.Options{Seconds: 3600, Rate: 10000, Seed: uint64(n + 1), Start: loggen.ScenarioStart, Distinct: 60})
	}
	for _, count := range []int{1, 10} {
		b.Run(fmt.Sprintf("logs=%d", count), func(b *testing.B) {
			var wall, memory float64
			times := map[string]float64{}
			for b.Loop() {
				browser, stop := startBrowser(b)
				browser.viewer(b, file, "#unit=ms")
				before := processorTimes()
				start := time.Now()
				browser.do(b, chromedp.SetUploadFiles(chromedp.CSS("#files"), logs[:count]))
				browser.answered(b)
				wall += time.Since(start).Seconds()
				for thread, seconds := range processorTimes() {
					times[thread] += seconds - before[thread]
				}
				megabytes, _ := strconv.ParseFloat(browser.eval(b, "document.documentElement.dataset.memory"), 64)
				memory = max(memory, megabytes)
				stop()
			}
			all := 0.0
			for _, seconds := range times {
				all += seconds
			}
			runs := float64(b.N)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(wall/runs, "wall-s")
			b.ReportMetric(all/runs, "cpu-s")
			b.ReportMetric(times["DedicatedWorker"]/runs, "workers-s")
			b.ReportMetric(times["ThreadPoolForeg"]/runs, "compiler-s")
			b.ReportMetric(times["chromium"]/runs, "page-s")
			b.ReportMetric(memory, "MB")
		})
	}
}

// processorTimes returns the processor times in seconds of the threads of all processes that this one
// started, by their names. It is empty without /proc.
func processorTimes() map[string]float64 {
	const ticks = 100 // a second, on Linux
	parents := map[string]string{}
	times := map[string]map[string]float64{} // of threads of processes
	stats, _ := filepath.Glob("/proc/[0-9]*/task/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		open, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
		process, name := strings.Split(path, "/")[2], string(text[open+1:end])
		fields := strings.Fields(string(text[end+1:]))
		parents[process] = fields[1]
		user, _ := strconv.ParseFloat(fields[11], 64)
		system, _ := strconv.ParseFloat(fields[12], 64)
		if times[process] == nil {
			times[process] = map[string]float64{}
		}
		times[process][name] += (user + system) / ticks
	}
	sums := map[string]float64{}
	for process, threads := range times {
		ancestor := parents[process]
		for ancestor != "" && ancestor != strconv.Itoa(os.Getpid()) {
			ancestor = parents[ancestor]
		}
		if ancestor == "" {
			continue
		}
		for name, seconds := range threads {
			sums[name] += seconds
		}
	}
	return sums
}
