package flow

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/report"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// highestBetween returns the highest value of the intervals whose middle is in a span of time, for
// the test.
func highestBetween(intervals [][3]float64, from, to float64) float64 {
	highest := math.NaN()
	for _, i := range intervals {
		if middle := i[0] + math.Floor((i[1]-i[0])/2); middle >= from && middle < to && !(i[2] <= highest) {
			highest = i[2]
		}
	}
	return highest
}

// TestMaxima compares the maxima of random intervals with the intervals, in any order and
// distribution over workers.
func TestMaxima(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var intervals [][3]float64 // start, end, maximum
		origin := int64(random.IntN(2)) * 1468800400137
		span := int64(1) << (1 + random.IntN(34))
		for range 1 + random.IntN(100) {
			start := origin + random.Int64N(span) - span/3
			end := start + random.Int64N(1<<random.IntN(20))
			intervals = append(intervals, [3]float64{float64(start), float64(end), float64(random.IntN(1000))})
		}
		var all Maxima
		parts := make([]Maxima, 3)
		for _, n := range random.Perm(len(intervals)) {
			i := intervals[n]
			all.Add(int64(i[0]), int64(i[1]), i[2])
			parts[random.IntN(3)].Add(int64(i[0]), int64(i[1]), i[2])
		}
		of := all.Output()
		if len(of.Values) > maxSpans {
			t.Fatalf("%d spans", len(of.Values))
		}
		for n, got := range of.Values {
			from := float64(of.Start + int64(n)*of.Step)
			want := highestBetween(intervals, from, from+float64(of.Step))
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("span of %d ms at %v: %v, want %v", of.Step, from, got, want)
			}
		}
		for n := range parts[1:] {
			parts[0].merge(&parts[n+1])
		}
		clean := func(m *Maxima) []float64 { // NaN does not equal itself
			values := []float64{float64(m.first), float64(m.step)}
			for _, v := range m.Output().Values {
				if math.IsNaN(v) {
					v = -1
				}
				values = append(values, v)
			}
			return values
		}
		if got, want := clean(&parts[0]), clean(&all); !reflect.DeepEqual(got, want) {
			t.Fatalf("merged: %v, want %v", got, want)
		}
	}
}

// TestMaximaOfLogs compares the maxima of each log and tag with its intervals, on several workers.
func TestMaximaOfLogs(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../testdata/logs/*.hdr")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d logs, %v", len(paths), err)
	}
	compared := 0
	for _, path := range paths {
		intervals := make(map[string][][3]float64)
		rows := make(map[string]output.Maxima)
		s := &scan.Scan{Workers: 3, Inputs: []scan.Input{scan.File(path, 0)}, Report: func(err *hdrlog.SyntaxError, malformed bool) error { return nil }}
		err := Run(s, &Rows{Maxima: true, Emit: func(r *Row) error {
			rows[tags.Text(r.Row)] = r.Maxima.Output()
			return nil
		}}, &Intervals{Emit: func(r *Result) error {
			if highest := r.Stats.Max.Float(); highest > 0 {
				key := tags.Text(r.Tag)
				intervals[key] = append(intervals[key], [3]float64{float64(r.Visit.StartMillis()), float64(r.Visit.EndMillis()), highest})
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		for tag, m := range rows {
			if len(m.Values) > maxSpans {
				t.Errorf("%s: %d spans", path, len(m.Values))
			}
			for n, got := range m.Values {
				from := float64(m.Start + int64(n)*m.Step)
				want := highestBetween(intervals[tag], from, from+float64(m.Step))
				if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("%s, tag %s: span %d has %v, want %v", path, tag, n, got, want)
				}
				compared++
			}
		}
	}
	if compared < 500 {
		t.Errorf("compared only %d spans", compared)
	}
}

// TestSpike draws runs in which one interval is high, and one may be missing. That is one bar, and
// one empty character if there is one for each interval. No other is empty.
func TestSpike(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		length, count := int64(1+random.IntN(100))*100, 2+random.IntN(300)
		start := 1468800400137 + random.Int64N(1e6)
		at, missing := random.IntN(count), 0
		if count > 2 && count <= 32 {
			missing = random.IntN(count - 1) // 0 for none
		}
		var m Maxima
		for n := range count {
			if n == missing && missing != 0 && missing != at {
				continue
			}
			from := start + int64(n)*length
			highest := 1.0
			if n == at {
				highest = 100
			}
			m.Add(from+random.Int64N(4), from+length+random.Int64N(4), highest)
		}
		h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
		h.Record(100)
		s := &output.Summary{
			Histogram: h,
			Start:     start,
			End:       start + int64(count)*length,
			Maxima:    m.Output(),
		}
		var b strings.Builder
		if err := (&report.Table{}).Write(&b, []*output.Summary{s}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
		line := []rune(lines[len(lines)-1])
		line = line[slices.IndexFunc(line, func(r rune) bool { return r >= '▁' && r <= '█' }):]
		empty := -1
		if missing != 0 && missing != at {
			empty = missing
		}
		if strings.Count(string(line), "█") != 1 || slices.Index(line, ' ') != empty || strings.Count(string(line), " ") > 1 || len(line) > min(count, 32) {
			t.Fatalf("%d intervals of %d ms, number %d, without %d: %q", count, length, at, empty, string(line))
		}
	}
}
