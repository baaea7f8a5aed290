package rotate

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdrkit/internal/scan"
)

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
	w := newWriter(random)
	one, two := w.log(5000, false), w.log(5000, false)
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
		w := newWriter(random)
		inputs := []scan.Input{input("log", w.log(1+random.IntN(20), true))}
		for n := range 3 {
			name := []string{"log.gz", "log.1", "log.1.gz"}[n]
			text := w.log(1+random.IntN(20), false)
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
