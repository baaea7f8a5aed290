//go:build browser

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestBrowserPhases: a phase is grey behind the charts over time, and its name stands in a lane
// above the lines. A page without phases has neither.
func TestBrowserPhases(t *testing.T) {
	b := newBrowser(t)
	dir := t.TempDir()
	log := filepath.Join(dir, "outage.hdr")
	outage(t, log)
	file := filepath.Join(dir, "ops.csv")
	text := "start,end,name\n100s,160s,repair\n300s,420s,load\n400s,401s,short\n130s,140s,gc\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	// dots are how many dots of a canvas are those of lanes, and how many those of shades.
	dots := func(canvas string) (lanes, shades int) {
		text := b.eval(t, `(() => {
			const g = `+copyOf(canvas)+`, { data } = g.getImageData(0, 0, g.canvas.width, g.canvas.height);
			let lanes = 0, shades = 0;
			for (let i = 0; i < data.length; i += 4) {
				if (data[i] !== data[i + 1] || Math.abs(data[i] - 0xd6) > 2) continue;
				if (data[i + 3] === 255) lanes++;
				if (Math.abs(data[i + 3] - 102) <= 2) shades++;
			}
			return lanes + ' ' + shades;
		})()`)
		if _, err := fmt.Sscan(text, &lanes, &shades); err != nil {
			t.Fatal(err)
		}
		return lanes, shades
	}
	before := make(map[string][2]int)
	for n, more := range [][]string{nil, {"-phases", file}, {"-facet", "tag"}, {"-facet", "tag", "-phases", file}} {
		with := n%2 == 1
		b.open(t, append([]string{"-q", "-in", "ns", "-unit", "ms", log}, more...)...)
		b.screenshot(t, fmt.Sprintf("hdrplot-phases-%d.png", n))
		for _, canvas := range []string{"rate", "time", "heat-map"} {
			lanes, shades := dots(canvas)
			if !with {
				before[canvas] = [2]int{lanes, shades}
				continue
			}
			if shades < before[canvas][1]+5000 {
				t.Errorf("%v: %s: %d shaded dots, and %d without phases", more, canvas, shades, before[canvas][1])
			}
			if lanes -= before[canvas][0]; (lanes > 1000) != (canvas == "time") {
				t.Errorf("%v: %s: %d more dots of lanes", more, canvas, lanes)
			}
		}
		b.checkConsole(t)
	}
}
