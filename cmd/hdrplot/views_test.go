package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hdrkit/internal/loggen"
)

// hour writes a log of an hour, one-second intervals and six tags.
func hour(t *testing.T, rate int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hour.hdr")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := loggen.Write(file, loggen.Options{Seconds: 3600, Rate: rate, Seed: 7, Start: 1468800000137, Distinct: 40}); err != nil {
		t.Fatal(err)
	}
	return path
}

// build returns the path of a command of this module.
func build(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if out, err := exec.Command("go", "build", "-o", path, "../"+name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// summed is what hdrsum -st json prints, as far as these tests look at it.
type summed struct {
	Tag                   *string
	Intervals, TotalCount int64
	Throughput            float64
	Min, Mean, Max        float64
	Percentiles           []struct {
		Value     float64
		Low, High *float64
		TooShort  bool
	}
}

func (s *summed) tag() string {
	if s.Tag == nil {
		return ""
	}
	return *s.Tag
}

// sums returns what hdrsum says of the intervals that start in [from, to), with windows of so many
// milliseconds if that is above 0.
func sums(t *testing.T, hdrsum string, from, to float64, window int64, log string) (all []summed) {
	t.Helper()
	// Starts are whole milliseconds. A view leaves out an interval that starts at its end.
	bound := func(v, millis float64) string {
		return strconv.FormatFloat((math.Ceil(max(v, 0)*1000)+millis)/1000, 'f', 3, 64)
	}
	args := []string{"-q", "-s", bound(from, 0), "-e", bound(to, -1), "-st", "json", "-p", "50,90,99,99.9,99.99", "-ci", "95", "-if", log}
	if window > 0 {
		args = append(args, "-agg", strconv.FormatFloat(float64(window)/1000, 'f', 3, 64))
	}
	out, err := exec.Command(hdrsum, args...).Output()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 1 {
		return nil // there are none
	}
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Summaries []summed }
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Summaries
}

// table returns the table of the page as its CSV has it.
func (b *browser) table(t *testing.T) [][]string {
	t.Helper()
	b.eval(t, `(window.saved = null, URL.createObjectURL = blob => { blob.text().then(text => window.saved = text); return '#'; }, document.getElementById('csv').click())`)
	text := ""
	for text == "" || text == "null" {
		text = b.eval(t, "window.saved")
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// compare compares the table of a page with what hdrsum says. Percentiles differ by a share at
// most.
func compare(t *testing.T, table [][]string, want []summed, share float64) {
	t.Helper()
	if len(table) != len(want) {
		t.Fatalf("%d rows, want %d", len(table), len(want))
	}
	for n, s := range want {
		row := table[n]
		numbers := []float64{float64(s.Intervals), float64(s.TotalCount), s.Throughput, s.Min, s.Mean}
		for _, p := range s.Percentiles {
			numbers = append(numbers, p.Value)
		}
		if row[0] != s.tag() {
			t.Errorf("row %d is %q, want %q", n, row[0], s.tag())
		}
		for i, want := range append(numbers, s.Max) {
			got, err := strconv.ParseFloat(row[i+1], 64)
			if err != nil {
				t.Fatal(err)
			}
			near := 1e-12 // sums of the same numbers in another order
			if i > 4 && i < len(numbers) {
				near = share
			}
			if math.Abs(got-want) > near*want {
				t.Errorf("%s: column %d is %v, want %v", s.tag(), i, got, want)
			}
		}
	}
}

// compareIntervals compares the intervals of a page's table with those of hdrsum. Limits differ by
// twice a share at most, since the windows of the page count in slots of that width, and their last
// digits are rounded. It returns how many there are, and how many
// are too short.
func (b *browser) compareIntervals(t *testing.T, want []summed, share float64) (shown, short int) {
	t.Helper()
	var texts [][]string // value, low and high, or value and "too short"
	all := b.eval(t, `JSON.stringify([...document.querySelectorAll('#summary tbody tr')].flatMap(row => [...row.cells].slice(6, 11).map(cell => [cell.firstChild, cell.lastChild].flatMap(n => n.textContent.replace(/[\[\],](?! )/g, '').split(', ')))))`)
	if err := json.Unmarshal([]byte(all), &texts); err != nil || len(texts) != 5*len(want) {
		t.Fatalf("%v: %s", err, all)
	}
	for n, text := range texts {
		s, p := want[n/5], want[n/5].Percentiles[n%5]
		if p.TooShort {
			if short++; text[1] != "too short" {
				t.Errorf("%s: percentile %d is %q, want too short", s.tag(), n%5, text)
			}
			continue
		}
		if shown++; len(text) != 3 {
			t.Errorf("%s: percentile %d is %q, want an interval", s.tag(), n%5, text)
			continue
		}
		value, _ := strconv.ParseFloat(text[0], 64)
		unit := math.Pow(10, math.Round(math.Log10(p.Value/value)))
		for i, limit := range []*float64{p.Low, p.High} {
			got, err := strconv.ParseFloat(text[i+1], 64)
			if limit == nil && text[i+1] != "-" || limit != nil && (err != nil || math.Abs(got*unit-*limit) > (2*share+1e-4)**limit) {
				t.Errorf("%s: percentile %d is %q, want [%v, %v]", s.tag(), n%5, text, limitText(p.Low), limitText(p.High))
			}
		}
	}
	return shown, short
}

func limitText(v *float64) any {
	if v == nil {
		return "-"
	}
	return *v
}

// TestBrowserViews compares the table of random views with hdrsum: of a page that holds each
// interval, and of one that is too small for all intervals.
func TestBrowserViews(t *testing.T) {
	b := newBrowser(t)
	hdrsum, log := build(t, "hdrsum"), hour(t, 600)
	for name, c := range map[string]struct {
		args  []string
		share float64
	}{
		"each interval": {nil, 1.0 / 127},
		"small":         {[]string{"-page-size", "1"}, 1.0 / 127},
		"heat map":      {[]string{"-type", "heatmap", "-tz", "Europe/Berlin", "-time", "absolute"}, 1.0 / 127},
	} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, append(c.args, "-if", log)...)
			if (p.Window > 0) != (name == "small") {
				t.Fatalf("windows of %d ms", p.Window)
			}
			random := rand.New(rand.NewSource(3))
			some, all := 0, 0
			for n := range 9 {
				from, to := 4.0, 3000.0
				if n > 0 {
					from = float64(random.Intn(3_600_000)) / 1000
					to = from + 0.001 + math.Trunc(math.Pow(10, 3+3.5*random.Float64()))/1000
				}
				b.eval(t, fmt.Sprintf("location.hash = 't=%.3f,%.3f'", from, to))
				b.eval(t, "new Promise(done => requestAnimationFrame(done))")
				if p.Window > 0 {
					// The page says which whole windows it shows.
					text := b.eval(t, "document.getElementById('range').textContent")
					if !strings.Contains(text, fmt.Sprintf("windows of %v s", float64(p.Window)/1000)) {
						t.Errorf("range %q", text)
					}
					a, b := snapped(p.WindowAt, p.Window, from, math.Floor), snapped(p.WindowAt, p.Window, to, math.Ceil)
					from, to = math.Max(a, 0), math.Min(b, float64(p.To)/1000)
				}
				t.Run(fmt.Sprintf("%.3f,%.3f", from, to), func(t *testing.T) {
					want := sums(t, hdrsum, from, to, p.Window, log)
					shown, short := b.compareIntervals(t, want, c.share) // first: saving the table shows the whole range
					compare(t, b.table(t), want, c.share)
					some, all = some+shown, all+shown+short
				})
			}
			if some == 0 || some == all {
				t.Errorf("%d of %d percentiles have intervals", some, all)
			}
		})
	}
	b.checkConsole(t)
}

// snapped returns the end of a window, in seconds, that lies next to a time.
func snapped(at, window int64, seconds float64, round func(float64) float64) float64 {
	return (round((seconds*1000-float64(at))/float64(window))*float64(window) + float64(at)) / 1000
}
