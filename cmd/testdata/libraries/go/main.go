// Readlogs prints logs with hdrhistogram-go, as ../README.md describes.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"log"
	"os"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, path := range os.Args[1:] {
		file, err := os.Open(path)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintln(out, "=", path)
		reader := hdrhistogram.NewHistogramLogReader(file)
		for {
			h, err := reader.NextIntervalHistogram()
			if err != nil {
				log.Fatalf("%s: %v", path, err)
			}
			if h == nil {
				break
			}
			start, length := h.StartTimeMs(), h.EndTimeMs()-h.StartTimeMs()
			fmt.Fprintf(out, "%s\t%d\t%d\t%d", cmp.Or(h.Tag(), "-"), start, length, h.TotalCount())
			for _, bar := range h.Distribution() {
				if bar.Count != 0 {
					fmt.Fprintf(out, "\t%d:%d", bar.From, bar.Count)
				}
			}
			fmt.Fprintln(out)
		}
		file.Close()
	}
}
