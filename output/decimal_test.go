package output

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog"
)

// TestFixed compares with String.format of Java 17 for random numbers. Each line has the bits of a
// number, the number of decimals, and Java's text.
func TestFixed(t *testing.T) {
	text, err := os.ReadFile("testdata/decimals.txt")
	if err != nil {
		t.Fatal(err)
	}
	large := 0
	for line := range strings.Lines(string(text)) {
		var bits uint64
		var decimals int
		var want string
		if _, err := fmt.Sscanf(line, "%x %d %s", &bits, &decimals, &want); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		v := math.Float64frombits(bits)
		if v > 1<<53 {
			large++
		}
		if got := fixed(v, decimals); got != want {
			t.Errorf("%v with %d decimals is %s, want %s", v, decimals, got, want)
		}
	}
	if large < 20 {
		t.Errorf("%d large numbers only", large)
	}
	for v, want := range map[float64]string{
		0.125: "0.13", 1.005: "1.01", 9.995: "10.00", 99.99499: "99.99", -0.125: "-0.13", 0: "0.00",
		math.Inf(1): "Infinity", math.Inf(-1): "-Infinity", 1e21: "1000000000000000000000.00", 5e-324: "0.00",
	} {
		if got := fixed(v, 2); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
	if got := fixed(math.NaN(), 2); got != "NaN" {
		t.Error(got)
	}
	if got := fixed(2.5, 0); got != "3" {
		t.Error(got)
	}
}

func TestPercentileLabel(t *testing.T) {
	for p, want := range map[float64]string{50: "50.000", 99.9: "99.900", 99.999: "99.999", 99.9999: "99.9999", 0: "0.000", 100: "100.000"} {
		if got := percentileLabel(p); got != want {
			t.Errorf("%v is %s, want %s", p, got, want)
		}
	}
}

// TestScaleText compares with strconv for random values and ratios.
func TestScaleText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	values := []int64{0, 1, 10, 999, 1000, 1e15 - 1, 1e15, 1e15 + 1}
	for range 10000 {
		values = append(values, int64(math.Pow(10, 16*random.Float64())))
	}
	for _, ratio := range []float64{10, 1e3, 1e6, 1e9, 1e15, 1e18, 60e9, 3, 1.5, 0.3, 0.001} {
		for _, n := range values {
			v := Value{float: float64(n), integer: n, whole: true}
			quotient := hdrlog.Scale{Ratio: ratio}.Of(v.float)
			if quotient >= 1<<53 { // these have all digits
				continue
			}
			want := strconv.FormatFloat(quotient, 'f', -1, 64)
			if got := v.text(hdrlog.Scale{Ratio: ratio}); got != want {
				t.Fatalf("%d/%v is %s, want %s", n, ratio, got, want)
			}
		}
	}
}
