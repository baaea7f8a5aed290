package chart

import (
	"testing"
)

// TestResult names long labels by what tells them apart.
func TestResult(t *testing.T) {
	p := &Picture{Looks: Looks{Unit: "ms"}}
	for i, name := range []string{"Authorize", "GetStatus"} {
		p.Summary = append(p.Summary, Summary{Label: "com.example.platform.checkout.payments.v2.PaymentService/" + name, Percentiles: make([]float64, len(Levels)), Max: float64(i + 1)})
	}
	if got := p.Result(); got != "The maximum is 2 ms (…GetStatus)." {
		t.Errorf("%q", got)
	}
}
