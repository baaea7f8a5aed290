//go:build browser

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/page/pagetest"
)

// TestBrowserDifference points at the cells of a difference. In known logs, which start on
// different days, a value is so many times as frequent as before, in each half of the time.
func TestBrowserDifference(t *testing.T) {
	type change struct{ before, after int64 } // values of an interval
	known := map[int64][2]change{             // by value in ms and half
		1: {{12, 36}, {12, 12}}, 10: {{40, 5}, {40, 400}}, 100: {{2, 0}, {2, 0}}, 1000: {{0, 1}, {0, 1}},
	}
	const half = 60
	var paths []string
	for n, name := range []string{"old.hdr", "new.hdr"} {
		paths = append(paths, writeLog(t, name, func(w *hdrlog.Writer) (err error) {
			w.StartTime(1.7e9 + 1e6*float64(n))
			w.BaseTime(1.7e9 + 1e6*float64(n))
			for second := range 2 * half {
				h, broken := histogram.New(histogram.Layout{Digits: 3, Lowest: 1000})
				for ms, both := range known {
					count := []int64{both[second/half].before, both[second/half].after}[n]
					err = errors.Join(err, h.RecordN(ms*1e6, count))
				}
				err = errors.Join(err, broken, w.Interval(fmt.Appendf(nil, "tag%d", second%2), float64(second), 1, h))
			}
			return err
		}))
	}
	b := newBrowser(t)
	for _, theme := range []string{"light", "dark"} {
		p := b.open(t, append(strings.Fields("-q -in ns -unit ms -compare -theme "+theme), paths...)...)
		scale := p.Themes[theme].Change
		for _, view := range [][2]float64{{0, 2 * half}, {0.8 * half, 1.4 * half}} {
			if view[0] > 0 {
				b.screenshot(t, "hdrplot-difference-"+theme+".png")
				b.eval(t, fmt.Sprintf("location.hash = 't=%v,%v'", view[0], view[1]))
				b.until(t, "!document.getElementById('whole').classList.contains('unused')")
			}
			checkChanges(t, b, p, view[0] == 0)
			left, _ := b.at(t, "heat-map", 0)
			right, _ := b.at(t, "heat-map", 1)
			for at, middle := range []float64{0.9 * half, 1.2 * half} {
				x := math.Round(left + (middle-view[0])/(view[1]-view[0])*(right-left))
				var cells []struct {
					Text   string
					Colour []string // of nine dots around
				}
				text := b.eval(t, fmt.Sprintf(`JSON.stringify((() => {
					const frame = requestAnimationFrame, over = document.getElementById('heat-over'), box = over.getBoundingClientRect(), g = %s, cells = [];
					window.requestAnimationFrame = draw => draw();
					for (let y = 0; y < box.height; y++) {
						over.dispatchEvent(new PointerEvent('pointermove', { clientX: %v, clientY: box.top + y }));
						const data = g.getImageData(Math.round(%v - box.left), y - 4, 1, 9).data, dot = n => '#' + [0, 1, 2].map(c => data[4 * n + c].toString(16).padStart(2, '0')).join('');
						cells.push({ Text: document.getElementById('readout').textContent, Colour: [0, 1, 2, 3, 4, 5, 6, 7, 8].map(dot) });
					}
					window.requestAnimationFrame = frame;
					return cells;
				})())`, copyOf("heat-map"), x, x))
				if err := json.Unmarshal([]byte(text), &cells); err != nil {
					t.Fatal(err)
				}
				seen := map[int64]bool{}
				for _, cell := range cells {
					found := readDifference.FindStringSubmatch(cell.Text)
					if found == nil || found[4] == "0" && found[5] == "0" {
						continue
					}
					number := func(n int) float64 {
						v, err := strconv.ParseFloat(strings.ReplaceAll(found[n], ",", ""), 64)
						if err != nil {
							t.Fatalf("%q: %v", cell.Text, err)
						}
						return v
					}
					low, high := number(1), number(2)
					if found[3] == "s" {
						high *= 1000
					}
					if found[3] == "s" && low < 2 {
						low *= 1000
					}
					for ms, both := range known {
						if c := both[at]; high > 0.97*float64(ms) && low < 1.03*float64(ms) {
							seen[ms] = true
							ratio := float64(c.after) / float64(c.before)
							want := fmt.Sprintf(", %v times as many per second", strconv.FormatFloat(ratio, 'g', 3, 64))
							part := min(max(0.5+math.Log(ratio)/math.Log(8)/2, 0), 1)
							colour, end := scale[int(math.Round(part*float64(len(scale)-1)))], c.before*c.after == 0
							if end && (found[6] != "" || (found[4] == "0") != (c.before == 0)) || !end && found[6] != want {
								t.Errorf("%s at %v s: %d ms: %q, want %v", theme, middle, ms, cell.Text, want)
							}
							if !slices.Contains(cell.Colour, hexOf(colour)) {
								t.Errorf("%s at %v s: %d ms has %q, want %s", theme, middle, ms, cell.Colour, hexOf(colour))
							}
							if others := slices.DeleteFunc(slices.Clone(cell.Colour), func(c string) bool { return c == hexOf(colour) }); end && len(others) < 5 {
								t.Errorf("%s at %v s: %d ms has no stripes: %q", theme, middle, ms, cell.Colour)
							}
						}
					}
				}
				if len(seen) != len(known) {
					t.Errorf("%s at %v s: the difference has only %v", theme, middle, seen)
				}
			}
		}
	}
	if got := b.eval(t, "document.getElementById('change').innerText.replace(/\\s+/g, ' ')"); !strings.HasPrefix(got, "1/8 or less 1/4 1/2 as many 2 4 8 or more times as many") {
		t.Errorf("scale %q", got)
	}
	b.do(t, chromedp.Click(chromedp.CSS("#toggles button")), chromedp.Click(chromedp.CSS("#toggles button:nth-of-type(2)")))
	if got := b.eval(t, "document.getElementById('change').hidden"); got != "true" {
		t.Error("one log alone has a difference")
	}
	b.checkConsole(t)
}

// checkChanges checks the changes below the figures of the second log: those of the picture for the
// whole time, and otherwise those of the figures that the table has.
func checkChanges(t *testing.T, b *browser, p *pagetest.Page, whole bool) {
	t.Helper()
	var rows [][]struct{ Head, Text, Change string }
	text := b.eval(t, `JSON.stringify([...document.querySelectorAll('#summary tbody tr')].map(r => [...r.cells].map((c, i) => ({
		Head: document.querySelectorAll('#summary thead th')[i].textContent, Text: i ? c.firstChild?.data ?? '' : c.textContent, Change: i && c.querySelector('div')?.textContent || '' }))))`)
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		t.Fatal(err)
	}
	changes := 0
	for n, row := range rows {
		label := row[0].Text
		if strings.HasPrefix(label, "old") {
			continue
		}
		if before := rows[n-1][0].Text; strings.TrimPrefix(before, "old") != strings.TrimPrefix(label, "new") {
			t.Errorf("%s stands behind %s", label, before)
		}
		for i, cell := range row[2:] {
			head, _, _ := strings.Cut(cell.Head, " ")
			head = map[string]string{"values": "count", "values/s": "/s"}[head] + map[bool]string{true: head}[!strings.HasPrefix(head, "values")]
			if whole {
				if want := p.Changed[label][head]; cell.Change != want || want == "" && head != "p99.99" { // which a comparison has not
					t.Errorf("%s of %s: %q, want %q", head, label, cell.Change, want)
				}
				changes++
				continue
			}
			if cell.Text == "-" || rows[n-1][i+2].Text == "-" { // a percentile that no value lies above
				if cell.Change != "" {
					t.Errorf("%s of %s in view: %q", head, label, cell.Change)
				}
				continue
			}
			number := func(text string) float64 {
				v, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
				if err != nil {
					return math.NaN() // such as a range
				}
				return v
			}
			percent := 100 * (number(cell.Text)/number(rows[n-1][i+2].Text) - 1)
			got := number(strings.TrimSuffix(strings.TrimPrefix(cell.Change, "?"), "%"))
			if math.Abs(got-percent) > 2 || strings.HasPrefix(cell.Change, "?") == (head == "count") {
				t.Errorf("%s of %s in view: %q, want %.1f%%", head, label, cell.Change, percent)
			}
			if got == got && percent == percent {
				changes++
			}
		}
	}
	if changes < 10 {
		t.Errorf("%d changes: %v", changes, rows)
	}
}

var readDifference = regexp.MustCompile(`([\d.,]+) (?:µs|ms|s) to ([\d.,]+) (ms|s|µs)before (less than 1|[\d.,]+) values?, after (less than 1|[\d.,]+) values?(, .* per second)?(?:highest|$)`)

// hexOf returns a colour as a page has it.
func hexOf(c chart.Colour) string {
	text, _ := c.MarshalText()
	return string(text)
}
