package rotate

import (
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hdrkit/internal/clitest"
	"hdrkit/internal/scan"
)

// A writer writes logs as a program does that records an interval after another.
type writer struct {
	random *rand.Rand
	length float64 // of an interval
	now    float64
	tags   []string // "" for none
}

// log returns a log of intervals. The last one may be cut short.
func (w *writer) log(intervals int, cut bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "#[StartTime: %.3f (seconds since epoch)]\n#[BaseTime: %.3f (seconds since epoch)]\n\"StartTimestamp\",\"Interval_Length\"\n", w.now, w.now)
	start := w.now
	for n := range intervals {
		length := w.length * (1 + 0.02*w.random.Float64()) // timers are late
		if cut && n == intervals-1 {
			length *= 0.1 + 0.7*w.random.Float64()
		}
		for _, tag := range w.tags {
			if tag != "" {
				tag = "Tag=" + tag + ","
			}
			fmt.Fprintf(&text, "%s%.3f,%.3f,0.000,HISTF\n", tag, w.now-start, length)
		}
		w.now += length
	}
	return text.String()
}

func (w *writer) between(low, high float64) float64 { return low + (high-low)*w.random.Float64() }

func newWriter(random *rand.Rand) writer {
	w := writer{random: random, length: []float64{0.1, 1, 5, 10, 60}[random.IntN(5)], now: 1.7e9 + 1e6*random.Float64()}
	w.tags = [][]string{{""}, {"a"}, {"a", "b", "c"}, {"", "a"}}[random.IntN(4)]
	return w
}

func input(name, text string) scan.Input {
	return scan.Input{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// find returns the chains of inputs as names.
func find(t *testing.T, inputs []scan.Input) (found [][]string) {
	t.Helper()
	chains, _, err := Find(inputs)
	if err != nil {
		t.Fatal(err)
	}
	for _, chain := range chains {
		var names []string
		for _, n := range chain {
			names = append(names, inputs[n].Name)
		}
		found = append(found, names)
	}
	slices.SortFunc(found, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return found
}

// TestRotated proves that the parts of rotated logs are found, those of each machine by themselves.
func TestRotated(t *testing.T) {
	t.Parallel()
	names := []string{"node%[1]d-%02[2]d.hdr", "2024-01-%02[2]d/node%[1]d.hdr", "%02[2]d.node%[1]d.hdr.gz", "node%[1]d/log.%[2]d"}
	for seed := range clitest.Rounds(1000) {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		all := newWriter(random)
		name := names[random.IntN(len(names))]
		var inputs []scan.Input
		var want [][]string
		together := random.IntN(2) == 0 // all rotate at the same time
		intervals := 30 + random.IntN(130)
		for node := range 1 + random.IntN(4) {
			w := all
			if !together {
				w.now += w.between(0, 5*w.length)
			}
			var chain []string
			for part := range 2 + random.IntN(3) {
				chain = append(chain, fmt.Sprintf(name, node, part))
				text := ""
				kind := random.IntN(3)
				switch kind {
				case 0: // an interval or two are lost
					text = w.log(intervals, false)
					w.now += w.between(0, 1.9*w.length)
				case 1: // the last interval is cut, and nothing is lost
					text = w.log(intervals, true)
					w.now += w.between(0, 0.05*w.length)
				default:
					text = w.log(intervals, false)
				}
				inputs = append(inputs, input(chain[part], text))
				if together && kind == 2 {
					w.now = max(w.now, all.now+float64(part+1)*float64(intervals)*w.length)
				}
			}
			want = append(want, chain)
		}
		random.Shuffle(len(inputs), func(a, b int) { inputs[a], inputs[b] = inputs[b], inputs[a] })
		if got := find(t, inputs); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %q, want %q", seed, got, want)
		}
	}
}

// TestRuns proves that runs that merely come one after another are not joined, and neither are logs
// of machines that ran side by side. A script starts the next run at once or later; load generators
// cut their last interval short.
func TestRuns(t *testing.T) {
	t.Parallel()
	for seed := range clitest.Rounds(1000) {
		random := rand.New(rand.NewPCG(uint64(seed), 2))
		w := newWriter(random)
		var inputs []scan.Input
		nodes := 1 + random.IntN(3)
		for run := range 2 + random.IntN(5) {
			begin, last := w.now, w.now
			cut := random.IntN(2) == 0
			for node := range nodes {
				w.now = begin + w.between(0, 3*w.length)
				text := w.log(9+random.IntN(130), cut)
				inputs = append(inputs, input(fmt.Sprintf("run-%d-node%d.hdr", run, node), text))
				last = max(last, w.now)
			}
			pause := w.between(2.1, 50)
			if cut && nodes == 1 {
				pause = w.between(0.15, 5)
			}
			w.now = last + pause*w.length
		}
		if got := find(t, inputs); got != nil {
			// Nodes that end sooner than others cannot be followed by a run either.
			t.Fatalf("seed %d: %q", seed, got)
		}
	}
}

// TestEdges: what decides, one by one.
func TestEdges(t *testing.T) {
	t.Parallel()
	head := func(start float64) string {
		return fmt.Sprintf("#[StartTime: %.3f (x)]\n#[BaseTime: %.3f (x)]\n", start, start)
	}
	hour := func(start, length float64, count int, tag string) string {
		text := head(start)
		for n := range count {
			text += fmt.Sprintf("%s%.3f,%.3f,0,H\n", tag, float64(n)*length, length)
		}
		return text
	}
	first := hour(1000, 1, 100, "")
	for _, test := range []struct {
		name, second string
		want         bool
	}{
		{"at once", hour(1100, 1, 100, ""), true},
		{"two intervals later", hour(1102, 1, 100, ""), true},
		{"more than two intervals later", hour(1102.001, 1, 100, ""), false},
		{"two intervals before the end", hour(1098, 1, 100, ""), true},
		{"more than two intervals before the end", hour(1097.999, 1, 100, ""), false},
		{"another tag", hour(1100, 1, 100, "Tag=x,"), false},
		{"much longer intervals", hour(1100, 10, 100, ""), false},
		{"no intervals", head(1100), false},
		{"a short one that overlaps by half", hour(1098, 1, 4, ""), false},
	} {
		if got := find(t, []scan.Input{input("b", test.second), input("a", first)}); (got != nil) != test.want {
			t.Errorf("%s: %q", test.name, got)
		}
	}
	if got := find(t, []scan.Input{input("a", hour(1000, 1, 4, "")), input("b", hour(1002, 1, 100, ""))}); got != nil {
		t.Errorf("half of a short one: %q", got)
	}
	pipe := input("b", hour(1100, 1, 100, ""))
	pipe.Once = true
	tagged := input("b", hour(1100, 1, 100, ""))
	tagged.Tag = "READ"
	for _, second := range []scan.Input{pipe, tagged} {
		if got := find(t, []scan.Input{input("a", first), second}); got != nil {
			t.Errorf("%q", got)
		}
	}
	// Two may follow, and nothing tells which one does.
	if got := find(t, []scan.Input{input("a", first), input("b", hour(1100, 1, 100, "")), input("c", hour(1100, 1, 100, ""))}); got != nil {
		t.Errorf("%q", got)
	}
}
