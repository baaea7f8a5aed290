package scan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hdrkit/internal/base/ledger"
)

// phase returns a phase from one bound to another one, as texts of -s.
func phase(t *testing.T, name, from, to string) Phase {
	t.Helper()
	p := Phase{Name: name}
	for _, bound := range []struct {
		text string
		set  **Bound
	}{{from, &p.From}, {to, &p.To}} {
		if bound.text == "" {
			continue
		}
		b, ok := ParseTime(bound.text, time.UTC)
		if !ok {
			t.Fatal(bound.text)
		}
		*bound.set = &b
	}
	return p
}

// TestPhasesIn finds when phases are in a log: since its start, at a time of its day or of the next
// one, and without an end. No time is so far away that it overflows.
func TestPhasesIn(t *testing.T) {
	start := float64(time.Date(2026, 5, 4, 22, 0, 0, 0, time.UTC).Unix())
	p := NewPhases([]Phase{
		phase(t, "length", "60", "1m30s"),
		phase(t, "night", "23:30", "00:30"),
		phase(t, "next day", "01:00", "02:00"),
		phase(t, "date", "2026-05-04T22:10:00Z", "1777933260"),
		phase(t, "twice", "10", "20"),
		phase(t, "twice", "15", "30"),
		phase(t, "twice", "30", "40"),
		phase(t, "twice", "50", "55"),
		phase(t, "open", "3600", ""),
		phase(t, "open at night", "22:00", ""),
		phase(t, "far", "1e300", "1e301"),
	}, nil)
	spans, err := p.In(start)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range spans {
		relative := func(at int64) float64 { return float64(at)/1000 - start }
		all = append(all, fmt.Sprintf("%s %.0f %.0f", s.Name, relative(s.Start), relative(s.End)))
	}
	want := []string{
		"open at night 0 98222068000", "twice 10 40", "twice 50 55", "length 60 90", "date 600 1260", "open 3600 100000000000",
		"night 5400 9000", "next day 10800 14400", "far 98222068000 98222068000",
	}
	if got, want := fmt.Sprintf("%q", all), fmt.Sprintf("%q", want); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if !p.Dated() || NewPhases([]Phase{phase(t, "a", "1", "")}, nil).Dated() {
		t.Error("a phase since the start has no date, and others have one")
	}
}

// TestPhasesParts compares the phases of intervals with those that a search of all spans finds.
func TestPhasesParts(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 9))
	for range 300 {
		var phases []Phase
		for range random.IntN(12) {
			from := float64(random.IntN(100))
			to := from + float64(random.IntN(30))
			phases = append(phases, Phase{
				Name:  string('a' + rune(random.IntN(4))),
				Range: Range{From: &Bound{Seconds: from / 1000}, To: &Bound{Seconds: to / 1000}},
			})
		}
		table, err := NewPhases(phases, nil).table(0)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			start := random.Int64N(120)
			end := start + random.Int64N(12)
			var want, got []string
			for _, s := range table.spans {
				middle := s.Start*2 <= start+end && start+end < s.End*2
				if middle && 2*(min(end, s.End)-max(start, s.Start)) >= end-start {
					want = append(want, s.Name)
				}
			}
			if want == nil {
				want = []string{Outside}
			}
			for _, part := range table.parts(nil, start, end) {
				got = append(got, part.nameOr(""))
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("%d to %d: %q, want %q of %v", start, end, got, want, table.spans)
			}
		}
	}
}

// TestPhasesMemory: a log whose start changes again and again takes no more memory than there is.
func TestPhasesMemory(t *testing.T) {
	var phases []Phase
	for range 1000 {
		phases = append(phases, phase(t, "a", "1", "2"))
	}
	p := NewPhases(phases, ledger.New(1<<20))
	var err error
	for start := 0; err == nil && start < 1000; start++ {
		_, err = p.In(float64(start))
	}
	if !errors.As(err, new(*ledger.LimitError)) {
		t.Error(err)
	}
}
