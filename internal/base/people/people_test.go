package people

import (
	"testing"
	"time"
)

// TestTimeIn: a time of the day has the date if the run has several, and a run without a date
// counts from its start.
func TestTimeIn(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const start, day = 1468800401394, 24 * 3600 * 1000
	for _, test := range []struct {
		at, start, end int64
		zone           *time.Location
		want           string
	}{
		{start + 5000, start, start + 9998, nil, "00:06:46 UTC"},
		{start + 5000, start, start + 9998, zone, "02:06:46 Europe/Berlin"},
		{start + 5000, start, start + day, nil, "2016-07-18 00:06:46 UTC"},
		{5000, 0, 9998, nil, "5 s after the start"},
		{start, 0, start + 9998, nil, "2016-07-18 00:06:41 UTC"},
	} {
		if got := TimeIn(test.at, test.start, test.end, test.zone); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestSignificant(t *testing.T) {
	for _, test := range []struct {
		v      float64
		digits int
		want   string
	}{
		{0, 4, "0"}, {5, 4, "5"}, {1.5, 3, "1.50"}, {999.96, 4, "1,000"}, {0.1725, 3, "0.172"}, {12345.6, 4, "12,350"},
		{5574655, 4, "5,575,000"}, {298.844, 4, "298.8"}, {1e-7, 3, "1e-07"}, {2e-6, 4, "0.000002"}, {2.5e-6, 2, "0.0000025"}, {1e18, 4, "1e+18"}, {0.00123456, 3, "0.00123"},
	} {
		if got := Digits(test.v, test.digits); got != test.want {
			t.Errorf("%v with %d digits: %s, want %s", test.v, test.digits, got, test.want)
		}
	}
	for ms, want := range map[int64]string{
		0: "0ms", 999: "999ms", 1000: "1s", 9998: "9.998s", 59960: "60s", 99940: "99.9s", 120000: "2m", 125499: "2m5s",
		3599600: "60m", 3600000: "1h", 11220000: "3h7m", 187200000: "2d4h",
	} {
		if got := Duration(ms); got != want {
			t.Errorf("%d ms: %s, want %s", ms, got, want)
		}
	}
	for n, want := range map[string]string{"1": "1", "999": "999", "1000": "1,000", "-1234567": "-1,234,567"} {
		if got := Grouped(n); got != want {
			t.Errorf("%s: %s, want %s", n, got, want)
		}
	}
}
