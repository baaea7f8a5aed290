package chart

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hdrkit/internal/chart/axis"
	"hdrkit/internal/clitest"
)

// TestTypesApart checks that only the file that describes a type of chart names it, here and in
// hdrplot, so that a new one is one file and one line of the list, and that the documents have it.
func TestTypesApart(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"*.go", "draw/*.go", "page/*.go", "../../cmd/hdrplot/*.go", "page/js/*.js"} {
		some, err := filepath.Glob(pattern)
		if err != nil || len(some) == 0 {
			t.Fatal(pattern, err)
		}
		files = append(files, some...)
	}
	for _, kind := range Types {
		clitest.Documented(t, "hdrplot.md", kind.Name)
		count := 0
		var places []string
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			n := strings.Count(string(text), strconv.Quote(kind.Name)) + strings.Count(string(text), "'"+kind.Name+"'")
			if n > 0 && !strings.HasSuffix(name, "_test.go") {
				count += n
				places = append(places, name)
			}
		}
		// The options -percentiles and -p have the name of a type, and a field of a page.
		if kind == Percentiles {
			count -= 2
		}
		if count != 1 {
			t.Errorf("%q stands %d times in the code, instead of once, also where it means something else: %s",
				kind.Name, count, strings.Join(places, ", "))
		}
	}
}

// TestLabelled proves that a limit has the handiest unit, unless somebody chose one.
func TestLabelled(t *testing.T) {
	t.Parallel()
	for unit, want := range map[string]string{"s": "SLA: p99 ≤ 500 ms", axis.Fixed("s"): "SLA: p99 ≤ 0.5 s", "": "SLA: p99 ≤ 0.5"} {
		p := &Picture{Values: ValueAxis{Unit: unit, Limits: []Limit{{Percentile: 99, Value: 0.5}}}}
		if got := p.LabelledLimits()[0].Label; got != want {
			t.Errorf("%q: %q, want %q", unit, got, want)
		}
	}
}
