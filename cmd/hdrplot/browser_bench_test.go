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

// BenchmarkViewer opens logs of an hour in hdrkit.html, in a browser that has not read any, until
// it shows them. It reports processor times too, of the whole browser, of the page itself, and of
// what compiles code, and the memory of the worker.
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
				browser.until(b, "'warm' in document.documentElement.dataset") // before people have chosen
				before := processorTimes()
				start := time.Now()
				browser.do(b, chromedp.SetUploadFiles(chromedp.CSS("#files"), logs[:count]))
				browser.answered(b)
				wall += time.Since(start).Seconds()
				for thread, seconds := range processorTimes() {
					times[thread] += seconds - before[thread]
				}
				bytes, _ := strconv.ParseFloat(browser.eval(b, "document.documentElement.dataset.memory"), 64)
				memory = max(memory, bytes)
				stop()
			}
			runs := float64(b.N)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(wall/runs, "wall-s")
			b.ReportMetric(times[""]/runs, "cpu-s")
			b.ReportMetric(times["ThreadPoolForeg"]/runs, "compiler-s")
			b.ReportMetric(times["chromium"]/runs, "page-s")
			b.ReportMetric(memory/1e6, "MB")
		})
	}
}

// processorTimes returns the processor times in seconds of all processes that this one started,
// under "", and of the threads that they still have, by their names. It is empty without /proc.
func processorTimes() map[string]float64 {
	parents := map[string]string{}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		if stat := readStat(process); stat != nil {
			parents[filepath.Base(process)] = stat.parent
		}
	}
	times := map[string]float64{}
	for process := range parents {
		ancestor := parents[process]
		for ancestor != "" && ancestor != strconv.Itoa(os.Getpid()) {
			ancestor = parents[ancestor]
		}
		if ancestor == "" {
			continue
		}
		folder := filepath.Join("/proc", process)
		if stat := readStat(folder); stat != nil {
			times[""] += stat.seconds
		}
		threads, _ := filepath.Glob(folder + "/task/*")
		for _, thread := range threads {
			if stat := readStat(thread); stat != nil {
				times[stat.name] += stat.seconds
			}
		}
	}
	return times
}

// A stat is what the kernel says of a process or a thread.
type stat struct {
	name, parent string
	seconds      float64 // of processors
}

// readStat returns the stat of a process or a thread, nil if it has ended.
func readStat(folder string) *stat {
	const ticks = 100 // a second, on Linux
	data, err := os.ReadFile(filepath.Join(folder, "stat"))
	text := string(data)
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if err != nil || open < 0 {
		return nil
	}
	fields := strings.Fields(text[end+1:])
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return &stat{text[open+1 : end], fields[1], (user + system) / ticks}
}
