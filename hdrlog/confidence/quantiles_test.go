package confidence

import "testing"

// TestQuantilesBounded: a program that compares for ever does not keep what it computed.
func TestQuantilesBounded(t *testing.T) {
	first := quantile(95, 8)
	for n := range 3 * mostQuantiles {
		quantile(95, 8+float64(n)/100)
	}
	quantiles.Lock()
	kept := len(quantiles.known)
	quantiles.Unlock()
	if again := quantile(95, 8); kept == 0 || kept > mostQuantiles || again != first {
		t.Errorf("%d kept, %v after %v", kept, again, first)
	}
}
