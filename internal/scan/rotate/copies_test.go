package rotate

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdrkit/internal/scan"
)

// A writer writes logs as a program does that records an interval after another.
type writer struct {
	random *rand.Rand
	now    float64
}

func (w *writer) log(intervals int) string {
	text := fmt.Sprintf("#[StartTime: %.3f (seconds since epoch)]\n#[BaseTime: %.3[1]f (seconds since epoch)]\n", w.now)
	start := w.now
	for range intervals {
		length := 1 + 0.02*w.random.Float64() // timers are late
		text += fmt.Sprintf("%.3f,%.3f,0.000,HISTF\n", w.now-start, length)
		w.now += length
	}
	return text
}

func input(name, text string) scan.Input {
	return scan.Input{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

func compressed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCopies(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	w := writer{random, 1.7e9 + 1e6*random.Float64()}
	one, two := w.log(5000), w.log(5000)
	whole := compressed(t, one)
	for name, test := range map[string]struct {
		inputs []scan.Input
		left   string
	}{
		"a copy":                   {[]scan.Input{input("a", one), input("a.gz", whole)}, "a"},
		"in the other order":       {[]scan.Input{input("a.gz", whole), input("a", one)}, "a"},
		"it has grown since":       {[]scan.Input{input("a", one+"more\n"), input("a.gz", whole)}, "a"},
		"it was truncated":         {[]scan.Input{input("a", one[:len(one)/2]), input("a.gz", whole)}, "a.gz"},
		"it is still compressed":   {[]scan.Input{input("a", one), input("a.gz", whole[:len(whole)/2])}, "a"},
		"another text":             {[]scan.Input{input("a", two), input("a.gz", whole)}, "a a.gz"},
		"a text that ends others":  {[]scan.Input{input("a", one[:len(one)-9]+"otherwise"), input("a.gz", whole)}, "a a.gz"},
		"nothing":                  {[]scan.Input{input("a", ""), input("a.gz", whole)}, "a a.gz"},
		"other names":              {[]scan.Input{input("a", one), input("b.gz", whole)}, "a b.gz"},
		"copies that are no parts": {[]scan.Input{input("a", one), input("b", one)}, "a b"},
		"tags that differ":         {[]scan.Input{input("a", one), {Name: "a.gz", Tag: "x", Open: input("", whole).Open}}, "a a.gz"},
	} {
		kept, copies := Copies(slices.Clone(test.inputs))
		var names []string
		for _, in := range kept {
			names = append(names, in.Name)
		}
		if strings.Join(names, " ") != test.left || len(kept)+len(copies) != len(test.inputs) {
			t.Errorf("%s: %q are left, %v", name, names, copies)
		}
	}
}

// TestNoCopies: the parts of a log that was rotated and compressed are never copies.
func TestNoCopies(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 5))
		w := writer{random, 1.7e9 + 1e6*random.Float64()}
		inputs := []scan.Input{input("log", w.log(1+random.IntN(20)))}
		for n := range 3 {
			name := []string{"log.gz", "log.1", "log.1.gz"}[n]
			text := w.log(1 + random.IntN(20))
			if strings.HasSuffix(name, "gz") {
				text = compressed(t, text)
			}
			inputs = append(inputs, input(name, text))
		}
		if _, copies := Copies(inputs); len(copies) > 0 {
			t.Errorf("seed %d: %v", seed, copies)
		}
	}
}
