package main

import (
	"fmt"
	"image/png"
	"os"
	"strings"
	"testing"
)

// TestDifferenceAligned proves that logs of two days are laid over one another: a log and a later
// copy of it differ nowhere.
func TestDifferenceAligned(t *testing.T) {
	copies(t, map[string]string{"before.hdr": "logs/node1.hdr"})
	text := string(read(t, "before.hdr"))
	later := strings.ReplaceAll(text, "Time: 1468800401.074", "Time: 1469000000.500")
	if later == text {
		t.Fatal("no start in the log")
	}
	for n, after := range []string{later, strings.ReplaceAll(later, "\nTag=insert-st,", "\nTag=insert-rt,")} {
		if err := os.WriteFile("after.hdr", []byte(after), 0o666); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(strings.NewReader(hdrplot(t, "", strings.Fields("before.hdr after.hdr -compare -type heatmap -incT insert-rt -q -of - -format png")...)))
		if err != nil {
			t.Fatal(err)
		}
		colours := map[string]int{}
		for x := 100; x < 1000; x++ { // the chart of the difference, without the scale beside it
			for y := 600; y < 740; y++ {
				r, g, b, _ := img.At(x, y).RGBA()
				colours[fmt.Sprintf("%02x%02x%02x", r>>8, g>>8, b>>8)]++
			}
		}
		delete(colours, "e4e4e4") // the grid
		delete(colours, "ffffff")
		if same := colours["939393"]; n == 0 && (same < 10_000 || len(colours) > 1) || n == 1 && len(colours) < 20 {
			t.Errorf("%d dots have the colour of equal rates; %d colours", same, len(colours))
		}
	}
}
