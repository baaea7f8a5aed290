package output

import (
	"testing"
	"time"
)

// TestHeadline says only what is known.
func TestHeadline(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	few, many := someSummary([]byte("few")), someSummary([]byte("many"))
	for range 100 {
		many.Histogram.Record(2000, 20)
	}
	many.Maxima = Maxima{Values: []float64{1}, Peak: many.Start + 5000}
	later := *many
	later.End += 24 * 3600 * 1000
	undated := *many
	undated.Start, undated.End, undated.Maxima.Peak = 0, 9998, 5000
	for _, test := range []struct {
		summaries []*Summary
		scale     Scale
		zone      *time.Location
		want      string
	}{
		{[]*Summary{few}, Scale{}, nil, "The maximum is 123,500."},
		{[]*Summary{{}}, Scale{}, nil, ""},
		{[]*Summary{few, many}, Scale{Ratio: 1000, Unit: "us"}, nil, "p99 of many is 2 us, the highest. The maximum is 123.5 us (few)."},
		{[]*Summary{many}, Scale{}, nil, "p99 is 2,000. Worst moment: 00:06:46 UTC, 123,500."},
		{[]*Summary{many}, Scale{}, zone, "p99 is 2,000. Worst moment: 02:06:46 Europe/Berlin, 123,500."},
		{[]*Summary{&later}, Scale{}, nil, "p99 is 2,000. Worst moment: 2016-07-18 00:06:46 UTC, 123,500."},
		{[]*Summary{&undated}, Scale{}, nil, "p99 is 2,000. Worst moment: 5 s after the start, 123,500."},
	} {
		if got := HeadlineOf(test.summaries, test.scale, test.zone).String(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
