package axis

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"slices"
	"testing"
	"time"
	_ "time/tzdata"
)

var update = flag.Bool("update", false, "write the golden cases again")

// A golden is a case that Go and the page's script must agree on. The script's side is
// TestScript in package page.
type golden struct {
	Rule    string     `json:"rule"`
	Unit    string     `json:"unit,omitempty"`
	Low     float64    `json:"low"`
	High    float64    `json:"high"`
	Exact   bool       `json:"exact,omitempty"`
	Origin  float64    `json:"origin,omitempty"`
	Zone    string     `json:"zone,omitempty"`
	Since   bool       `json:"since,omitempty"`
	Offsets [][2]int64 `json:"offsets,omitempty"`
	Most    float64    `json:"most,omitempty"`
	Title   string     `json:"title,omitempty"`
	Want    []string   `json:"want"`
	// At are the values of the ticks that have a label.
	At []float64 `json:"at,omitempty"`
}

// got returns what the rule gives.
func (g *golden) got(t *testing.T) (title string, labels []string, at []float64) {
	t.Helper()
	var ticks []Tick
	switch most := int(g.Most); g.Rule {
	case "number":
		return "", []string{Number(g.High)}, nil
	case "short":
		return "", []string{Short(g.High)}, nil
	case "value":
		return "", []string{Value(g.Unit, g.High)}, nil
	case "handy":
		return "", []string{Handy(g.Unit, g.High)}, nil
	case "linear":
		scale := ScaleFor(g.Unit, g.High)
		ticks, _ = scale.Linear(g.Low, g.High, g.Exact, most)
		title = scale.Titled("value")
	case "log":
		ticks, _, _ = Log(g.Unit, g.Low, g.High, g.Exact, most)
	case "relative":
		ticks, title = Relative(g.Low, g.High, most)
	case "clock":
		zone, err := time.LoadLocation(g.Zone)
		if err != nil {
			t.Fatal(err)
		}
		ticks, title = Clock(g.Low, g.High, g.Origin, zone, g.Since, most)
		g.Offsets = Offsets(g.Low+g.Origin, g.High+g.Origin, zone)
	case "nines":
		ticks = NinesTicks(g.High, g.Most)
	default:
		t.Fatalf("rule %q", g.Rule)
	}
	for _, tick := range ticks {
		if tick.Label != "" {
			labels, at = append(labels, tick.Label), append(at, tick.Value)
		}
	}
	return title, labels, at
}

// TestHalf proves that 50% has a tick, however long the axis is, and labels keep apart.
func TestHalf(t *testing.T) {
	t.Parallel()
	for last := 1.0; last < 17; last += 0.3 {
		for _, pixels := range []float64{200, 400, 1100} {
			gap := 64 * last / pixels
			ticks := NinesTicks(last, gap)
			if !slices.ContainsFunc(ticks, func(tick Tick) bool { return tick.Value == Nines(50) }) {
				t.Errorf("%v nines on %v pixels: no tick", last, pixels)
			}
			before := math.Inf(-1)
			for _, tick := range ticks {
				if tick.Label != "" {
					if tick.Value-before < gap {
						t.Errorf("%v nines on %v pixels: %s is %v after the label before", last, pixels, tick.Label, tick.Value-before)
					}
					before = tick.Value
				}
			}
		}
	}
	if ticks := NinesTicks(9, 0.5); ticks[0].Label != "" || ticks[1].Label != "50%" {
		t.Errorf("%+v", ticks[:2])
	}
}

// TestGolden compares the rules with cases that a person checked. With -update it fills in the
// results of the cases; look at the difference.
func TestGolden(t *testing.T) {
	const path = "testdata/golden.json"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []golden
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		g := &cases[i]
		title, labels, at := g.got(t)
		if *update {
			g.Title, g.Want, g.At = title, labels, at
			continue
		}
		same := title == g.Title && len(labels) == len(g.Want) && len(at) == len(g.At)
		for n := range labels {
			same = same && labels[n] == g.Want[n] && (at == nil || math.Abs(at[n]-g.At[n]) <= 1e-9*math.Abs(at[n]))
		}
		if !same {
			t.Errorf("%s %v to %v %s: %q %q %v, want %q %q %v", g.Rule, g.Low, g.High, g.Unit, title, labels, at, g.Title, g.Want, g.At)
		}
	}
	if !*update {
		return
	}
	out := []byte("[\n")
	for i, g := range cases {
		line, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, line...); i < len(cases)-1 {
			out = append(out, ',')
		}
		out = append(out, '\n')
	}
	if err := os.WriteFile(path, append(out, ']', '\n'), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestLength(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{
		1: "1 ms", 999: "999 ms", 1000: "1 s", 1500: "1.5 s", 60_000: "1 min", 90_000: "90 s", 599_900: "599.9 s", 600_000: "10 min",
		600_100: "10 min", 3580_000: "59 min 40 s", 3580_100: "59 min 40 s", 3600_000: "1 h", 5400_000: "90 min", 48 * 3600_000: "2 d",
	} {
		if got := Length(ms); got != want {
			t.Errorf("%d ms: %q, want %q", ms, got, want)
		}
	}
}
