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
