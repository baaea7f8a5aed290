package hdrlog

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestParseDecimal compares parseDecimal with strconv.ParseFloat, for text of the characters that
// numbers have.
func TestParseDecimal(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{
		"", ".", "5.", ".5", "0", "-0", "+1", "1.2.3", "1x1", "1_0", "1e3", "0.1", "0.0000000000001",
		"999999999999999", "9999999999999999", "9999999999999.9", "99999999999999.9", ".99999999999999",
	}
	const chars = "01234567890123456789012345678901234567890123456789.-e_"
	for range 50000 {
		text := make([]byte, random.IntN(18))
		for n := range text {
			text[n] = chars[random.IntN(len(chars))]
		}
		texts = append(texts, string(text))
	}
	parsed := 0
	for _, text := range texts {
		got, ok := parseDecimal([]byte(text))
		if !ok {
			continue
		}
		parsed++
		if want, err := strconv.ParseFloat(text, 64); err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("parseDecimal(%q) = %v, want %v, %v", text, got, want, err)
		}
	}
	if parsed < len(texts)/4 {
		t.Errorf("parseDecimal read only %d of %d texts", parsed, len(texts))
	}
	for _, text := range []string{"0.002", "1.000", "3599.137", "1468800000.137", "127"} {
		if _, ok := parseDecimal([]byte(text)); !ok {
			t.Errorf("parseDecimal refuses %q", text)
		}
	}
}
