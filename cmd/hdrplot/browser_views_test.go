//go:build browser

package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdrkit/internal/clitest"
)

// table returns the table of the page as its CSV has it.
func (b *browser) table(t *testing.T) [][]string {
	t.Helper()
	text := b.await(t, `new Promise(saved => {
		URL.createObjectURL = blob => { blob.text().then(saved); return '#'; };
		document.getElementById('csv').click();
	})`)
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
	byTag := func(a, b []string) int { return strings.Compare(a[0], b[0]) } // the page has the highest maximum first
	slices.SortFunc(table, byTag)
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

// compareShown compares the percentiles that a page shows with those of hdrsum. The page prints the
// digits that it knows, or two numbers that the value lies between.
func (b *browser) compareShown(t *testing.T, want []summed) {
	t.Helper()
	var rows [][]string
	all := b.eval(t, `JSON.stringify([...document.querySelectorAll('#summary tbody tr')].map(row => [0, 6, 7, 8, 9, 10].map(n => row.cells[n].textContent)))`)
	if err := json.Unmarshal([]byte(all), &rows); err != nil || len(rows) != len(want) {
		t.Fatalf("%v: %s", err, all)
	}
	byTag := make(map[string][]string)
	for _, row := range rows {
		byTag[row[0]] = row[1:]
	}
	for n := range 5 * len(want) {
		text := byTag[want[n/5].tag()][n%5]
		if s := &want[n/5]; text == "-" && float64(s.TotalCount)*(100-s.Percentiles[n%5].Percentile) < 100 {
			continue // no value lies above the percentile
		}
		low, high, several := strings.Cut(strings.ReplaceAll(text, ",", ""), " to ")
		if !several {
			high = low
		}
		from, err := strconv.ParseFloat(low, 64)
		to, err2 := strconv.ParseFloat(high, 64)
		if err != nil || err2 != nil {
			t.Fatalf("%q", text)
		}
		value := want[n/5].Percentiles[n%5].Value
		unit := math.Pow(10, 3*math.Round(math.Log10(value/to)/3)) // the page chooses ns, us, ms or s
		half := math.Pow(10, math.Ceil(math.Log10(to))-float64(max(digitsOf(low), 2))) * 0.5000001
		if v := value / unit; v < from-half || v > to+half {
			t.Errorf("%s: percentile %d is %q, want %v", want[n/5].tag(), n%5, text, v)
		}
	}
}

// digitsOf returns the number of significant digits of a number.
func digitsOf(number string) int {
	whole, fraction, _ := strings.Cut(number, ".")
	if fraction == "" {
		whole = strings.TrimRight(whole, "0")
	}
	return len(strings.TrimLeft(whole+fraction, "0"))
}

// TestBrowserViews compares the table of random views with hdrsum: of a page that holds each
// interval, and of one that is too small for all intervals.
func TestBrowserViews(t *testing.T) {
	b := newBrowser(t)
	hdrsum, log := clitest.Build(t, "hdrsum"), hour(t, 600)
	for name, c := range map[string]struct {
		args  []string
		share float64
	}{
		"each interval": {nil, 1.0 / 127},
		"small":         {[]string{"-page-size", "1"}, 1.0 / 127},
		"heat map":      {[]string{"-type", "heatmap", "-tz", "Europe/Berlin", "-time", "absolute"}, 1.0 / 127},
	} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, append(c.args, "-q", "-if", log)...)
			if (p.Window > 0) != (name == "small") {
				t.Fatalf("windows of %d ms", p.Window)
			}
			random := rand.New(rand.NewSource(3))
			for n := range 9 {
				from, to := 4.0, 3000.0
				if n > 0 {
					from = float64(random.Intn(3_600_000)) / 1000
					to = from + 0.001 + math.Trunc(math.Pow(10, 3+3.5*random.Float64()))/1000
				}
				b.show(t, fmt.Sprintf("t=%.3f,%.3f", from, to))
				if p.Window > 0 {
					// The page says which whole windows it shows.
					text := b.eval(t, "document.getElementById('range').textContent")
					if !strings.Contains(text, fmt.Sprintf("windows of %v s", float64(p.Window)/1000)) {
						t.Errorf("range %q", text)
					}
					a, b := snapped(p.WindowAt, p.Window, from, math.Floor), snapped(p.WindowAt, p.Window, to+0.001, math.Ceil)
					from, to = math.Max(a, 0), math.Min(b, float64(p.To)/1000)-0.001
				}
				t.Run(fmt.Sprintf("%.3f,%.3f", from, to), func(t *testing.T) {
					want := sums(t, hdrsum, from, to, log)
					b.compareShown(t, want) // first: saving the table shows the whole range
					compare(t, b.table(t), want, c.share)
				})
			}
		})
	}
	b.checkConsole(t)
}

// snapped returns the end of a window, in seconds, that lies next to a time.
func snapped(at, window int64, seconds float64, round func(float64) float64) float64 {
	return (round((seconds*1000-float64(at))/float64(window))*float64(window) + float64(at)) / 1000
}

func (s *summed) tag() string {
	if s.Tag == nil {
		return ""
	}
	return *s.Tag
}
