//go:build browser

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
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

// TestBrowserRanges compares two ranges on a page, with what hdrdiff says of logs that have only
// one of them each. A figure of the page lies within a slot of 1/64, so that its change and the
// ends of intervals differ by about as much.
func TestBrowserRanges(t *testing.T) {
	b := newBrowser(t)
	hdrdiff := clitest.Build(t, "hdrdiff")
	dir := t.TempDir()
	logs := []struct {
		name  string
		write func(w io.Writer) error
	}{
		{"equal", func(w io.Writer) error {
			return loggen.Write(w, loggen.Options{Seconds: 1800, Rate: 600, Seed: 7, Start: 1468800000137})
		}},
		{"shift", func(w io.Writer) error {
			s := loggen.ScenarioNamed("shift")
			return s.Write(w, 0)
		}},
	}
	proven := 0
	for _, one := range logs {
		name := one.name
		var text bytes.Buffer
		if err := one.write(&text); err != nil {
			t.Fatal(err)
		}
		log := filepath.Join(dir, name+".hdr")
		if err := os.WriteFile(log, text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		p := b.open(t, "-q", "-in", "ns", "-if", log)
		third := float64(p.To-p.From) / 3000
		views := [2][2]float64{{10, math.Trunc(third)}, {math.Trunc(2 * third), math.Trunc(3*third) - 10}}
		var sides []string
		for n, view := range views {
			side := filepath.Join(dir, fmt.Sprint(name, n, ".hdr"))
			if err := os.WriteFile(side, cut(text.Bytes(), view[0], view[1]), 0o666); err != nil {
				t.Fatal(err)
			}
			sides = append(sides, side)
		}
		out, err := exec.Command(hdrdiff, "-q", "-in", "ns", "-st", "json", "-p", "50,90,99,99.9,99.99", sides[0], sides[1]).Output()
		if err != nil {
			t.Fatal(err)
		}
		var want struct{ Changes []changed }
		if err := json.Unmarshal(out, &want); err != nil {
			t.Fatal(err)
		}
		b.show(t, fmt.Sprintf("t=%v,%v", views[0][0], views[0][1]-0.001))
		b.eval(t, "document.getElementById('compare').click()")
		if got := b.eval(t, "document.getElementById('precision').textContent"); !strings.Contains(got, "choose what to compare with") {
			t.Errorf("%s: it says %q", name, got)
		}
		address := b.eval(t, "location.hash")
		if address != fmt.Sprintf("#with=%v,%v", views[0][0], views[0][1]-0.001) {
			t.Errorf("%s: the address is %s", name, address)
		}
		b.eval(t, `window.said = [], new MutationObserver(() => said.push(document.getElementById('precision').textContent)).observe(document.getElementById('precision'), { childList: true })`)
		b.show(t, fmt.Sprintf("%s&t=%v,%v", address[1:], views[1][0], views[1][1]-0.001))
		b.until(t, "!document.getElementById('precision').textContent.includes('Comparing')")
		if got := b.eval(t, "said.some(text => text.includes('Comparing with'))"); got != fmt.Sprint(name == "equal") {
			t.Errorf("%s: that it says that it computes is %s", name, got)
		}
		b.screenshot(t, "hdrplot-ranges-"+name+".png")
		var rows [][]string
		all := b.eval(t, `JSON.stringify([...document.querySelectorAll('#summary tbody tr')].map(row => [...row.cells].map((cell, n) => n ? cell.querySelector('div')?.textContent ?? '' : cell.textContent)))`)
		if err := json.Unmarshal([]byte(all), &rows); err != nil || len(rows) != len(want.Changes) || len(rows) == 0 {
			t.Fatalf("%v: %s", err, all)
		}
		for _, c := range want.Changes {
			row := rows[slices.IndexFunc(rows, func(row []string) bool { return row[0] == c.Tag })]
			figures := append([]figureChanged{c.Throughput}, c.Percentiles...)
			for n, f := range figures {
				column := 3 // of the rate
				if n > 0 {
					column = n + 5
				}
				cell := row[column]
				f.agree(t, fmt.Sprint(name, " ", c.Tag, " ", n), cell)
				if f.Significant {
					proven++
				}
			}
		}
		b.eval(t, "document.getElementById('compare').click()")
		if got := b.eval(t, "document.querySelectorAll('#summary td div').length + location.hash"); !strings.HasPrefix(got, "0#t=") {
			t.Errorf("%s: afterwards %s", name, got)
		}
	}
	if proven == 0 {
		t.Error("no change is proven")
	}
	b.checkShortRanges(t) // of the last one
	b.checkConsole(t)
}

// checkShortRanges compares two ranges that are too short for an interval of a change, and for a
// value above p99.99. The page speaks of no brackets, and has no change of a figure that is
// missing.
func (b *browser) checkShortRanges(t *testing.T) {
	t.Helper()
	const ofWhole = "getComputedStyle(document.querySelector('#result > div'), '::after').content"
	b.show(t, "with=10,20&t=40,50")
	if got := b.eval(t, "document.getElementById('precision').textContent"); strings.Contains(got, "brackets") || !strings.Contains(got, "?: too little") {
		t.Errorf("it says %q", got)
	}
	cells := b.eval(t, "JSON.stringify([...document.querySelectorAll('#summary td:nth-last-child(2)')].map(cell => cell.textContent))")
	if cells != `["-","-"]` {
		t.Errorf("p99.99 has %s", cells)
	}
	if got := b.eval(t, ofWhole); !strings.Contains(got, "whole range") {
		t.Errorf("in a part, the sentences are %s", got)
	}
	b.screenshot(t, "hdrplot-ranges-short.png")
	b.show(t, "")
	if got := b.eval(t, ofWhole); got != "none" {
		t.Errorf("in the whole range, the sentences are %s", got)
	}
}

// cut returns a log with the intervals that start in a range of seconds.
func cut(log []byte, from, to float64) []byte {
	var some bytes.Buffer
	for line := range bytes.Lines(log) {
		fields := bytes.Split(bytes.TrimPrefix(line, []byte("Tag=")), []byte{','})
		if bytes.HasPrefix(line, []byte("Tag=")) {
			fields = fields[1:]
		}
		if start, err := strconv.ParseFloat(string(fields[0]), 64); err == nil && (start < from || start >= to) {
			continue
		}
		some.Write(line)
	}
	return some.Bytes()
}

// A changed is how a tag changed, as hdrdiff says in JSON.
type changed struct {
	Tag         string
	Percentiles []figureChanged
	Throughput  figureChanged
}

type figureChanged struct {
	Ratio       float64
	Low, High   *float64
	Significant bool
}

// agree compares a change with the text of a cell.
func (f *figureChanged) agree(t *testing.T, what, cell string) {
	t.Helper()
	numbers := regexp.MustCompile(`[+-]\d+(\.\d+)?`).FindAllString(cell, -1)
	if strings.HasPrefix(cell, "?") || f.Low == nil {
		if strings.HasPrefix(cell, "?") != (f.Low == nil) {
			t.Errorf("%s: %q, want %+v", what, cell, f)
		}
		return
	}
	if strings.ContainsAny(cell[:1], "~!") == f.Significant {
		t.Errorf("%s: %q, want %+v", what, cell, f)
	}
	wants := []float64{f.Ratio, *f.Low}
	width := math.Inf(1)
	if f.High != nil { // otherwise it is infinite
		wants = append(wants, *f.High)
		width = math.Log(*f.High / *f.Low)
	}
	if len(numbers) != len(wants) {
		t.Errorf("%s: %q, want %v", what, cell, wants)
		return
	}
	for n, want := range wants {
		got, err := strconv.ParseFloat(numbers[n], 64)
		if err != nil {
			t.Fatal(err)
		}
		got = 1 + got/100
		rounded := 0.006 // of the text: half a percent
		share := 1.0 / 64
		if n > 0 {
			share += 0.05 * min(width, 10) // of that of the interval
		}
		if math.Abs(got-want) > rounded+share*want {
			t.Errorf("%s: number %d of %q, want %v", what, n, cell, want)
		}
	}
}
