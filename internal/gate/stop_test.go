package gate

import (
	"testing"

	"hdrkit/internal/base/unit"
	"hdrkit/output"
)

// TestStop asks which limits end a run that goes on: of some values of 5, in some seconds.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		limit   string
		values  int
		seconds int64
		want    bool
	}{
		{"max<=1", 1, 1, true},
		{"100<=1", 1, 1, true},
		{"count<=0", 1, 1, true},
		{"min>=9", 1, 1, true},
		{"0>=9", 1, 1, true},
		{"max<=9", 1, 1, false}, // holds
		{"max>=9", 100_000, 3600, false},
		{"count>=900000", 100_000, 3600, false},
		{"min<=1", 100_000, 3600, false},
		{"99<=1", 10_000, 60, true},
		{"99<=1", 9_999, 60, false}, // it takes 10,000 values
		{"99<=1", 10_000, 59, false},
		{"99<=5", 100_000, 60, false}, // holds
		{"50>=9", 200, 60, true},
		{"50>=9", 199, 60, false},
		{"1>=9", 10_000, 60, true},
		{"1>=9", 9_999, 60, false},
		{"mean<=1", 100, 60, true},
		{"mean>=6", 99, 60, false},
		{"over(4)<=10%", 1000, 60, true},
		{"over(4)<=10%", 999, 60, false},
		{"over(4)<=0%", 1, 1, true},
		{"over(5)>=100%", 1, 1, true},
		{"throughput>=9", 1, 60, true},
		{"throughput<=1", 1000, 59, false},
		{"nobody:count<=1", 1000, 60, false},
	} {
		limits, err := Parse(test.limit)
		if err != nil {
			t.Fatal(err)
		}
		s := summaryOf("")
		s.Period = 1000 * test.seconds
		if err := s.Histogram.Record(5, int64(test.values)); err != nil {
			t.Fatal(err)
		}
		f := Figures{Summaries: []*output.Summary{s}, Scale: unit.Scale{Ratio: 1}}
		if got := (Stop{After: 60_000}).Ends(Judge(limits, f), f.Summaries); got != test.want {
			t.Errorf("%s of %d values in %d s: %v, want %v", test.limit, test.values, test.seconds, got, test.want)
		}
	}
}

// TestStopWindows asks when too many windows did not keep a limit.
func TestStopWindows(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		share              string
		bad, good, planned int
		want               bool
	}{
		{"99", 1, 0, 100, false}, // one of 100 may
		{"99", 2, 0, 100, true},
		{"99", 2, 50, 200, false},
		{"99", 3, 50, 200, true},
		{"99", 1, 0, 99, true},
		{"100", 1, 0, 1000, true},
		{"99.9", 1, 0, 1000, false},
		{"90", 1, 8, 0, false}, // too few, if no end is known
		{"90", 2, 8, 0, true},
		{"90", 1, 9, 0, false}, // it holds
	} {
		limits, err := Parse("max<=10 in " + test.share + "% of 1s")
		if err != nil {
			t.Fatal(err)
		}
		w := NewLive(limits)
		for n := range test.bad + test.good {
			value := int64(5)
			if n < test.bad {
				value = 50
			}
			w.Window(summaryOf("", value), unit.Scale{Ratio: 1})
		}
		all := []*output.Summary{summaryOf("", 5)}
		verdicts := Judge(limits, Figures{Summaries: all, Scale: unit.Scale{Ratio: 1}, Watch: w})
		if got := (Stop{Planned: int64(test.planned)}).Ends(verdicts, all); got != test.want {
			t.Errorf("%+v: %v, %+v", test, got, verdicts[0])
		}
	}
}
