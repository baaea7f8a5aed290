package asked

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hdrkit/internal/base/message"
	"hdrkit/internal/gate"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// TestParsePercentiles: max is percentile 100, and each one counts once.
func TestParsePercentiles(t *testing.T) {
	all, err := ParsePercentiles("50, p99,100,max,50.0")
	if want := []float64{50, 99, 100}; err != nil || !slices.Equal(all, want) {
		t.Errorf("%v, not %v: %v", all, want, err)
	}
}

// TestParseFigures: each figure counts once, so that no two columns have one name.
func TestParseFigures(t *testing.T) {
	f, err := ParseFigures("50,p99,99,max,100,over(20ms),over(20ms),over(20us)")
	if want := []float64{50, 99, 100}; err != nil || !slices.Equal(f.Percentiles, want) {
		t.Errorf("%v, not %v: %v", f.Percentiles, want, err)
	}
	if len(f.Shares) != 2 {
		t.Errorf("%v", f.Shares)
	}
}

// TestParseLevel: a confidence is a percentage from 50 to 99.99.
func TestParseLevel(t *testing.T) {
	for text, want := range map[string]float64{"50": 50, "95%": 95, "99.99": 99.99, "49.9": 0, "99.991": 0, "NaN": 0, "much": 0} {
		if got, err := ParseLevel(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
}

// TestParseParts: noise, and what is the same, are percentages above 0, to 100. Noise may be runs
// instead.
func TestParseParts(t *testing.T) {
	for text, want := range map[string]float64{"4%": 0.04, "4": 0.04, "100%": 1, "0.5%": 0.005, "0": 0, "100.1%": 0, "-1": 0, "": 0, "x%": 0} {
		if got, err := ParseSame(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("-same %s: %v, %v, want %v", text, got, err, want)
		}
		n, err := ParseNoise(text)
		if n.Part != want || n.Runs != nil || (err == nil) != (want > 0) {
			t.Errorf("-noise %s: %+v, %v, want %v", text, n, err, want)
		}
	}
	if n, err := ParseNoise("old/"); err != nil || n.Part != sides.UsualNoise || !slices.Equal(n.Runs, []string{"old/"}) {
		t.Errorf("%+v, %v", n, err)
	}
}

// TestBelieved: percentiles of limits have intervals, too, each once.
func TestBelieved(t *testing.T) {
	limits, err := gate.Parse("p99<=5,p90<=5,a:p90<=7,max<=9,throughput>=5")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Believed([]float64{50, 99}, limits), []float64{50, 99, 90}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestStatus: limits that fail or are undecided set the status, and a message says how many are.
func TestStatus(t *testing.T) {
	verdict := func(tag string, result output.Weight) gate.Verdict {
		return gate.Verdict{Limit: new(gate.Limit), Tag: tag, Result: result}
	}
	fails, holds, open := verdict("a", output.Fails), verdict("a", output.Holds), verdict("a", output.Undecided)
	worse := verdict("a", output.Undecided)
	worse.Relative.Worse = true
	elsewhere := func(v gate.Verdict, tag string, result output.Weight) gate.Verdict {
		v.Tag, v.Result = tag, result
		return v
	}
	otherwise := errors.New("otherwise")
	for _, test := range []struct {
		verdicts  []gate.Verdict
		undecided string
		want      error
		says      string
	}{
		{nil, "fail", otherwise, ""},
		{[]gate.Verdict{holds}, "fail", otherwise, ""},
		{[]gate.Verdict{holds, fails, open}, "pass", message.Status(message.Exceeded), "1 of 3 limits does not hold"},
		{[]gate.Verdict{fails, elsewhere(fails, "b", output.Holds), open}, "pass", message.Status(message.Exceeded), "1 of 2 limits does not hold, for 1 of 2 rows"},
		{[]gate.Verdict{fails, elsewhere(fails, "b", output.Fails), elsewhere(holds, "c", output.Fails)}, "pass", message.Status(message.Exceeded), "2 of 2 limits do not hold, for 3 of 3 rows"},
		{[]gate.Verdict{open, elsewhere(open, "b", output.Holds)}, "pass", otherwise, "1 of 1 limit is undecided, for 1 of 2 rows. Look again"},
		{[]gate.Verdict{holds, open}, "pass", otherwise, "1 of 2 limits is undecided. Look again"},
		{[]gate.Verdict{holds, open}, "worse", otherwise, "1 of 2 limits is undecided. Look again"},
		{[]gate.Verdict{open, worse}, "worse", message.Status(message.Undecided), "2 of 2 limits are undecided, 1 beyond the bound. Look again"},
		{[]gate.Verdict{open, worse}, "pass", otherwise, "2 of 2 limits are undecided, 1 beyond the bound. Look again"},
		{[]gate.Verdict{open}, "fail", message.Status(message.Undecided), "1 of 1 limit is undecided. Look again"},
	} {
		var said strings.Builder
		got := Status(&message.Streams{Err: &said}, test.verdicts, test.undecided, "Look again", otherwise)
		if got != test.want || !strings.HasSuffix(strings.TrimSpace(said.String()), test.says) || test.says == "" && said.Len() > 0 {
			t.Errorf("%+v, %s: %v, %q, want %v, %q", test.verdicts, test.undecided, got, said.String(), test.want, test.says)
		}
	}
}
