package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/unit"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// summaryOf returns a summary of values in a second.
func summaryOf(tag string, values ...int64) *output.Summary {
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		panic(err)
	}
	for _, v := range values {
		h.Record(v)
	}
	s := &output.Summary{Histogram: h, Period: 1000}
	if tag != "" {
		s.Tag = []byte(tag)
	}
	return s
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"99<=5":                          "any 99 <= 5",
		"p99.9<=20":                      "any 99.9 <= 20",
		" a : max <= 1e3 ":               "a max <= 1000",
		"load::READ:50>=2":               "load::READ 50 >= 2",
		"throughput>=1000":               "any throughput >= 1000",
		"count<=5":                       "any count <= 5",
		"99<=250ms":                      "any 99 <= 250 ms",
		"p99<250ms":                      "any 99 <= 250 ms",
		"p50>2":                          "any 50 >= 2",
		"throughput>10":                  "any throughput >= 10",
		"count>0":                        "any count > 0",
		"count<5":                        "any count < 5",
		"count<5.5":                      "any count < 5.5",
		"count<+5%":                      "any count <= 5% NaN",
		"p99<5":                          "any 99 <= 5",
		"99<=.5 µs":                      "any 99 <= 0.5 us",
		"50<=+10%":                       "any 50 <= 10% NaN",
		"50<=10%":                        "any 50 <= 10% NaN",
		"x<=y:throughput>=5,count>=5":    "x<=y throughput >= 5; any count >= 5",
		"throughput>=-5%":                "any throughput >= -5% NaN",
		"x<=y:99<=5":                     "x<=y 99 <= 5",
		"default:99<=5,%64efault:min<=1": "default 99 <= 5; %64efault min <= 1",
		"over(20ms)<=0.1%":               "any over 20 above <= 0.1 ms",
		"over(3)<=+10%":                  "any over 3 above <= 10% NaN",
		"p99<=+5ms":                      "any 99 <= NaN% 5 ms",
		"throughput>=-10/s":              "any throughput >= NaN% -10",
		"throughput>=100/s":              "any throughput >= 100",
		"p99<=+10% or +2ms":              "any 99 <= 10% 2 ms",
		"p99<= 10% or +2 ms":             "any 99 <= 10% 2 ms",
		"min>=-500us or -5%":             "any min >= -5% -500 us",
		"p99<=20ms in 99.5% of 10s":      "any 99 <= 20 ms in 99.5 of 10000",
		"a.*:count>=5 in 50% of 1m":      "a.* count >= 5 in 50 of 60000",
		"(?:a|b):max<=5 in 100% of 0.5":  "(?:a|b) max <= 5 in 100 of 500",
	} {
		limits, err := Parse(text)
		var all []string
		for _, l := range limits {
			tag, statistic, operator, value := "any", l.Name, "<=", fmt.Sprint(l.Value)
			if l.Tag != nil {
				tag = *l.Tag
			}
			if statistic == "" {
				statistic = fmt.Sprint(l.Percentile)
			}
			if l.AtLeast {
				operator = ">="
			}
			if l.Exclusive {
				operator = operator[:1]
			}
			if l.Change != nil {
				value = fmt.Sprintf("%v%% %v", l.Change.Percent, l.Change.By)
			}
			if l.Unit != 0 {
				value += " " + l.Unit.String()
			}
			if l.Name == "over" {
				statistic += fmt.Sprint(" ", l.Above, " above")
			}
			if l.Window > 0 {
				value += fmt.Sprint(" in ", l.Share, " of ", l.Window)
			}
			all = append(all, strings.Join([]string{tag, statistic, operator, value}, " "))
		}
		if got := strings.Join(all, "; "); got != want || err != nil {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"throughput>=90%":    `"throughput>=90%": "90%" is no change: -10% allows a tenth less`,
		"throughput=5":       `"throughput=5": = is no operator of limits: write throughput<=5 or throughput>=5`,
		"p99 = 20ms":         `"p99 = 20ms": = is no operator of limits: write p99<=20ms or p99>=20ms`,
		"p99==20ms":          `"p99==20ms": == is no operator of limits: write p99<=20ms or p99>=20ms`,
		"a:p99=<10%":         `"a:p99=<10%": =< is no operator of limits: write a:p99<=+10%`,
		"throughput=>5":      `"throughput=>5": => is no operator of limits: write throughput>=5`,
		"99<>5":              `"99<>5": <> is no operator of limits: write 99<=5 or 99>=5`,
		"":                   `"": a limit is a statistic, <= or >=, and a value, such as 99.9<=20 or throughput>=1000`,
		":99<=5":             `":99<=5": an empty pattern matches no tag; the empty tag is %`,
		"101<=5":             `"101<=5": "101" is neither a percentile from 0 to 100 nor min, mean, max, throughput, count, over(VALUE) or apdex(VALUE)`,
		"pp99<=5":            `"pp99<=5": "pp99" is neither a percentile from 0 to 100 nor min, mean, max, throughput, count, over(VALUE) or apdex(VALUE)`,
		"99<=5furlongs":      `"99<=5furlongs": "5furlongs" is neither a number, a number with a unit (ns, us, ms, s), nor a change such as +10%`,
		"over(20ms)<=5":      `"over(20ms)<=5": "5" is neither a share such as 0.1% nor a change such as +10%`,
		"over(x)<=5%":        `"over(x)<=5%": "x" is neither a number nor a number with a unit (ns, us, ms, s)`,
		"99<=5 in 9 of":      `"99<=5 in 9 of": in "9 of": give a share of windows and their length, such as 99% of 10s`,
		"99<=5 in 101% of 1": `"99<=5 in 101% of 1": in "101% of 1": give a share of windows and their length, such as 99% of 10s`,
		"99<=+5% in 9% of 1": `"99<=+5% in 9% of 1": a limit of windows cannot be a change`,
		"(a:99<=5":           `"(a:99<=5": "(a": missing closing ): ` + "`(a`",
		"99<=ms":             `"99<=ms": "ms" is neither a number, a number with a unit (ns, us, ms, s), nor a change such as +10%`,
		"throughput>=5ms":    `"throughput>=5ms": throughput has no unit`,
		"99<=5,max<=NaN":     `"max<=NaN": "NaN" is neither a number, a number with a unit (ns, us, ms, s), nor a change such as +10%`,
		"99<=5,,max<=NaN":    `"": a limit is a statistic, <= or >=, and a value, such as 99.9<=20 or throughput>=1000`,
		"p99<=+5":            `"p99<=+5": "+5" has a sign, so it is a change: write +5%, or a unit (ns, us, ms, s) such as +5ms`,
		"p99>=-5.5":          `"p99>=-5.5": "-5.5" has a sign, so it is a change: write -5.5%, or a unit (ns, us, ms, s) such as -5.5ms`,
		"throughput>=-10":    `"throughput>=-10": "-10" has a sign, so it is a change: write -10% or -10/s`,
		"throughput>=-10ms":  `"throughput>=-10ms": "-10ms" has a sign, so it is a change: write -10% or -10/s`,
		"count>=-10":         `"count>=-10": "-10" has a sign, so it is a change, and a change of count is in percent: -10%`,
		"over(1)<=+1":        `"over(1)<=+1": "+1" has a sign, so it is a change, and a change of over is in percent: +1%`,
		"p99<=+10% or 2ms":   `"p99<=+10% or 2ms": "2ms" has no sign: +2ms is a change`,
		"p99<=+1% or +2%":    `"p99<=+1% or +2%": a change has one percentage and one amount, such as +10% or +2ms`,
		"p99<=+x%":           `"p99<=+x%": "+x%" has a sign, so it is a change: write +10%, or a unit (ns, us, ms, s) such as +10ms`,
	} {
		if _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	after := []*output.Summary{summaryOf("", 1, 2, 3), summaryOf("a", 100, 100, 200), summaryOf("empty")}
	before := []*output.Summary{summaryOf("", 1, 2, 2), summaryOf("a"), summaryOf("gone", 5)}
	for _, s := range slices.Concat(after, before) {
		s.Scale = hdrlog.Scale{Ratio: 10, In: hdrlog.Microsecond}
	}
	for _, test := range []struct{ limits, want string }{
		{"default:max<=0.3", "default ok 0.3"},
		{"default:max<=0.29", "default FAIL 0.3"},
		{"default:min>=0.1", "default ok 0.1"},
		{"default:min>=0.2", "default FAIL 0.1"},
		{"a:50<=100us", "a undecided 100"},
		{"a:50<=0.09ms", "a FAIL 0.1"},
		{"a:max>=0.2ms", "a ok 0.2"},
		{"a:throughput>=3", "a ok 3"},
		{"a:throughput>=3.1", "a FAIL 3"},
		{"empty:count>=0", "empty ok 0"},
		{"empty:throughput>=1", "empty FAIL 0"},
		{"empty:99<=5", "empty FAIL no values"},
		{"nobody:99<=5", "nobody FAIL no intervals with this tag"},
		{"default:max<=+50%", "default undecided 0.3"},
		{"default:99<=+50%", "default undecided 0.3"},
		{"default:count<=+50%", "default ok 3"},
		{"a:count<3", "a FAIL 3"},
		{"a:count<3.5", "a ok 3"},
		{"a:count>3", "a FAIL 3"},
		{"a:count>2", "a ok 3"},
		{"a:over(10)<=50%", "a ok 33.33333333"},
		{"a:over(10)<=30%", "a FAIL 33.33333333"},
		{"a:over(99us)<=99%", "a FAIL 100"},
		{"a:over(0.2ms)<=0%", "a ok 0"},
		{"empty:over(1)<=5%", "empty FAIL no values"},
		{"a.*:min>=1", "a ok 10"},
		{"(a|em.*):count>=1", "a ok 3; empty FAIL 0"},
		{"b.*:count>=1", "b.* FAIL no intervals with this tag"},
		{"(a|gone):count>=1", "a ok 3; gone FAIL no intervals with this tag"},
		{"g.*:count>=1", "gone FAIL no intervals with this tag"},
		{"gone:count>=1", "gone FAIL no intervals with this tag"},
		{"default:count>=+1%", "default FAIL 3"},
		{"a:max<=+50%", "a FAIL no values before"},
		{"empty:count<=+50%", "empty FAIL no intervals with this tag before"},
		{"max<=1000", "default ok 0.3; a ok 20; empty FAIL no values; gone FAIL no intervals with this tag"},
	} {
		limits, err := Parse(test.limits)
		if err != nil {
			t.Fatal(err)
		}
		verdicts := Judge(limits, Measured{Summaries: after, Baseline: before})
		var all []string
		failed := 0
		for _, v := range verdicts {
			result, detail := "ok", fmt.Sprintf("%.10g", v.Value)
			if v.Result == output.Undecided {
				result = "undecided"
			} else if v.Result == output.Fails {
				result = "FAIL"
				failed++
			}
			if v.Missing != "" {
				detail = v.Missing
			}
			all = append(all, v.Tag+" "+result+" "+detail)
		}
		if _, rows := Count(verdicts, func(v *Verdict) bool { return v.Result == output.Fails }); rows != failed {
			t.Errorf("%s: a limit does not hold for %d rows, want %d", test.limits, rows, failed)
		}
		if got := strings.Join(all, "; "); got != test.want {
			t.Errorf("%s: %s, want %s", test.limits, got, test.want)
		}
	}
	zero := summaryOf("", 5)
	zero.Period = 0
	limits, _ := Parse("throughput>=1")
	if v := Judge(limits, Measured{Summaries: []*output.Summary{zero}})[0]; v.Result != output.Fails || v.Missing != "the period is zero" {
		t.Errorf("no period: %+v", v)
	}
}

// TestRecorded: a limit at a recorded value holds, and one that no value of the slot keeps fails.
func TestRecorded(t *testing.T) {
	t.Parallel()
	const value = 250_000_000 // in the slot from 249,954,304 to 250,085,375
	s := summaryOf("", slices.Repeat([]int64{value}, 1000)...)
	for limit, holds := range map[string]bool{
		"max<=250ms": true, "99<=250ms": true, "min>=250ms": true, "50>=250ms": true, "over(250ms)<=0%": true,
		"99<=250ms in 100% of 10s": true, "min>=250ms in 100% of 10s": true, "99<=249.95ms in 100% of 10s": false,
		"max<=249.95ms": false, "99<=249.95ms": false, "min>=250.1ms": false, "over(249.95ms)<=0%": false,
	} {
		limits, err := Parse(limit)
		if err != nil {
			t.Fatal(err)
		}
		s.Scale = hdrlog.Scale{In: hdrlog.Nanosecond, Ratio: 1}
		w := NewLive(limits, nil, func([]byte) (hdrlog.Scale, error) { return s.Scale, nil })
		if err := w.Check(10_000, s); err != nil {
			t.Fatal(err)
		}
		if v := Judge(limits, Measured{Summaries: []*output.Summary{s}, Watch: w})[0]; (v.Result == output.Holds) != holds {
			t.Errorf("%s: %+v", limit, v)
		}
	}
}

// TestDouble: a limit does not hold if it is below the slot of a value of a double histogram.
func TestDouble(t *testing.T) {
	t.Parallel()
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1, Ratio: 512})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.RecordFloat(968_003); err != nil { // in the slot from 967,680 to 968,192
		t.Fatal(err)
	}
	for limit, holds := range map[string]bool{"max<=967679": false, "max<=968003": true, "max<=968192": true} {
		limits, err := Parse(limit)
		if err != nil {
			t.Fatal(err)
		}
		if v := Judge(limits, Measured{Summaries: []*output.Summary{{Histogram: h, Period: 1000}}})[0]; (v.Result == output.Holds) != holds {
			t.Errorf("%s: %+v", limit, v)
		}
	}
}

// TestInterval checks limits of a figure that has an interval: the whole of it has to keep a limit.
func TestInterval(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, test := range []struct {
		low, high float64
		limit     string
		want      string
	}{
		{8, 12, "p50<=12", "holds"},
		{8, 12, "p50<=11.9", "undecided, the interval includes the bound"},
		{8, 12, "p50<=8", "undecided, the interval includes the bound"},
		{8, 12, "p50<=7.9", "fails"},
		{nan, 12, "p50<=12", "holds"},
		{nan, 12, "p50<=11", "undecided, the interval includes the bound"},
		{8, nan, "p50<=12", "undecided, the interval includes the bound"},
		{8, nan, "p50<=7", "fails"},
		{8, 12, "p50>=8", "holds"},
		{8, 12, "p50>=12", "undecided, the interval includes the bound"},
		{8, 12, "p50>=12.1", "fails"},
		{nan, nan, "p50<=10", "holds, too short for an interval"},
		{nan, nan, "p50<=9", "fails, too short for an interval"},
		{8, 12, "max<=10", "holds, the max has no interval"},
		{8, 12, "mean<=9", "fails, the mean has no interval"},
		{8, 12, "p50<=+5%", "undecided, there are no intervals"},
		{8, 12, "strict p50<=7", "fails"},
		{nan, nan, "strict p50<=10", "undecided, too short for an interval"},
		{nan, nan, "strict p50<=9", "undecided, too short for an interval"},
		{nan, nan, "strict mean<=9", "fails, the mean has no interval"},
	} {
		limit, strict := strings.CutPrefix(test.limit, "strict ")
		limits, err := Parse(limit)
		if err != nil {
			t.Fatal(err)
		}
		s := summaryOf("", slices.Repeat([]int64{10}, 20)...)
		s.Confidence = &output.Confidence{Percentiles: map[float64]confidence.Estimate{50: {Value: 10, Low: test.low, High: test.high}}}
		v := Judge(limits, Measured{Summaries: []*output.Summary{s}, Baseline: []*output.Summary{s}, Strict: strict})[0]
		got := v.Result.String()
		if v.Note != "" {
			got += ", " + v.Note
		}
		if got != test.want || v.Value != 10 || v.Missing != "" {
			t.Errorf("%s of [%v, %v] is %s, want %s: %+v", test.limit, test.low, test.high, got, test.want, v)
		}
	}
}

// TestDoubt: a percentile that fewer than ten values lie above proves no limit, but can violate
// one.
func TestDoubt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		count       int
		limit, want string
	}{
		{1000, "99<=10", "holds"},
		{999, "99<=10", "undecided, only 9 values are above this percentile"},
		{100, "99<=10", "undecided, only 1 value is above this percentile"},
		{3, "99<=10", "undecided, that is the maximum: no value is above this percentile"},
		{3, "99<=9", "fails"},
		{3, "99>=10", "holds"},
		{3, "100<=10", "holds"},
		{3, "max<=10", "holds"},
		{3, "over(10)<=1%", "holds"},
	} {
		limits, err := Parse(test.limit)
		if err != nil {
			t.Fatal(err)
		}
		s := summaryOf("", slices.Repeat([]int64{10}, test.count)...)
		v := Judge(limits, Measured{Summaries: []*output.Summary{s}})[0]
		got := v.Result.String()
		if v.Note != "" {
			got += ", " + v.Note
		}
		if got != test.want || v.Relative.Worse {
			t.Errorf("%s of %d values: %s, want %s", test.limit, test.count, got, test.want)
		}
	}
}

// TestJSON checks a limit of each kind as JSON.
func TestJSON(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]string{
		"a:count<=+100%": `{"tag":"a","limit":"count<=+100%","verdict":"holds","holds":true,"value":1,"bound":2,"baseline":1}`,
		"a:max<=9ms":     `{"tag":"a","limit":"max<=9ms","verdict":"fails","holds":false,"value":10,"bound":9,"unit":"ms"}`,
		"a:max<=+10%":    `{"tag":"a","limit":"max<=+10%","verdict":"undecided","holds":null,"value":10,"bound":11,"note":"there are no intervals","baseline":10}`,
		"b:max<=10":      `{"tag":"b","limit":"max<=10","verdict":"fails","holds":false,"value":null,"bound":null,"missing":"no intervals with this tag"}`,
		"b:max<=+10%":    `{"tag":"b","limit":"max<=+10%","verdict":"fails","holds":false,"value":null,"bound":null,"missing":"no intervals with this tag"}`,
	} {
		limits, err := Parse(limit)
		if err != nil {
			t.Fatal(err)
		}
		a := []*output.Summary{summaryOf("a", 10)}
		a[0].Scale = hdrlog.Scale{Ratio: 1, In: hdrlog.Millisecond}
		got, err := json.Marshal(Judge(limits, Measured{Summaries: a, Baseline: a})[0].document())
		if text := strings.ReplaceAll(string(got), `\u003c`, "<"); text != want || err != nil {
			t.Errorf("%v\n%s, want\n%s", err, text, want)
		}
	}
}

// TestRelative checks relative limits of two equal sides: chance fails none, and several runs have
// intervals for each figure.
func TestRelative(t *testing.T) {
	t.Parallel()
	run := func(value int64) *output.Summary { return summaryOf("", value, 10*value, 100*value) }
	change := func(before, after []*output.Summary) []sides.Pair {
		p := sides.Pair{Before: before[0], After: after[0]}
		p.Change = sides.CompareRuns(p, before, after, []float64{50}, 95)
		return []sides.Pair{p}
	}
	same := []*output.Summary{run(100), run(101), run(99)}
	slow := []*output.Summary{run(150), run(151), run(149)}
	for _, test := range []struct {
		limit string
		after []*output.Summary
		want  output.Weight
	}{
		{"max<=+10%", same, output.Holds}, {"max<=+10%", slow, output.Fails}, {"mean<=+10%", same, output.Holds}, {"min<=+40%", slow, output.Fails},
		{"50<=+0%", same, output.Undecided}, {"50<=+45%", slow, output.Fails}, {"over(9000)<=+10%", same, output.Holds}, {"over(100000)<=+10%", same, output.Undecided}, {"throughput>=-5%", same, output.Holds},
	} {
		limits, err := Parse(test.limit)
		if err != nil {
			t.Fatal(err)
		}
		f := Measured{Summaries: test.after[:1], Baseline: same[:1], Pairs: change(same, test.after)}
		if v := Judge(limits, f)[0]; v.Result != test.want {
			t.Errorf("%s is %s, want %s: %+v", test.limit, v.Result, test.want, v)
		}
	}
}

// TestExactBound: what prints as the bound is neither above it nor below it, although the bound in
// the unit of the log is no integer in floating point.
func TestExactBound(t *testing.T) {
	t.Parallel()
	s := summaryOf("", 1009, 1009, 1010, 1008)
	s.Scale = hdrlog.Scale{Ratio: 1000, In: hdrlog.Microsecond}
	for limit, want := range map[string]float64{"over(1.009)<=0%": 25, "over(1.009ms)<=0%": 25, "over(1.0095)<=0%": 25, "over(1.01)<=0%": 0, "over(1.0081)<=0%": 75, "over(0)<=0%": 100, "over(9e30)<=0%": 0} {
		limits, err := Parse(limit)
		if err != nil {
			t.Fatal(err)
		}
		if v := Judge(limits, Measured{Summaries: []*output.Summary{s}})[0]; v.Value != want {
			t.Errorf("%s: %v, want %v", limit, v.Value, want)
		}
	}
}

// TestParseDrawn: a chart draws limits of percentiles and the maximum, at most a value above 0. One
// without a statistic is that of the maximum.
func TestParseDrawn(t *testing.T) {
	t.Parallel()
	const wrong = "-sla %s: a picture shows limits above 0 for percentiles or the maximum, such as 20 or 99<=5ms"
	for text, want := range map[string]string{
		"20":                  "max<=20",
		"20, 5ms":             "max<=20 max<=5ms",
		" 99<=5ms , 0.5<=1":   "99<=5ms 0.5<=1",
		"max<=1e299":          "max<=1e299",
		"max<=1e300":          wrong,
		"0":                   wrong,
		"0<=5":                wrong,
		"min<=5":              wrong,
		"mean<=5":             wrong,
		"99>=5":               wrong,
		"a:99<=5":             wrong,
		"99<=+5%":             wrong,
		"99<=5 in 99% of 10s": wrong,
	} {
		limits, err := ParseDrawn(text)
		var texts []string
		for _, l := range limits {
			texts = append(texts, l.Text)
		}
		got := strings.Join(texts, " ")
		if err != nil {
			got = err.Error()
		}
		if want = strings.ReplaceAll(want, "%s", text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestDoubtParts: a percentile below 1 looks like a part of 1.
func TestDoubtParts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0.99<=5": "p0.99 is below 1: did you mean 99?", "99<=5,p0.5<=2": "p0.5 is below 1: did you mean 50?",
		"1<=5": "", "0<=5": "", "min<=5": "", "over(0.5)<=1%": "", "nonsense": "",
	} {
		if got := Doubt(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestUnits: which limits are in printed units, which need to know the unit of the logs, and what a
// chart draws for them.
func TestUnits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		limit        string
		bare         bool
		needs        string // the unit of the logs
		needsPrinted string // if -unit chooses the one that is printed
		printed      float64
	}{
		{"99<=5", true, "", "99<=5", 5},
		{"99<=5ms", false, "99<=5ms", "99<=5ms", 0.005},
		{"max<=+10%", false, "", "", 0},
		{"max<=+5us", false, "max<=+5us", "max<=+5us", 0},
		{"throughput>=5", false, "", "", 5},
		{"count>=5", false, "", "", 5},
		{"over(5)<=1%", true, "", "over(5)<=1%", 1},
		{"over(5)<=+1%", true, "", "over(5)<=+1%", 0},
		{"over(5s)<=1%", false, "over(5s)<=1%", "over(5s)<=1%", 1},
	} {
		limits, err := Parse("count>=0," + test.limit)
		if err != nil {
			t.Fatal(err)
		}
		if got := Bare(limits); got != test.bare {
			t.Errorf("%s is in printed units: %v", test.limit, got)
		}
		for _, o := range []struct {
			unit.Options
			want string
		}{{unit.Options{}, test.needs}, {unit.Options{Unit: "ms"}, test.needsPrinted}, {unit.Options{Unit: "ms", Ratio: 1000}, test.needs}} {
			if got := NeedsUnit(limits, &o.Options); got != o.want {
				t.Errorf("%s with %+v needs the unit for %q, want %q", test.limit, o.Options, got, o.want)
			}
		}
		l := &limits[1]
		if l.Change != nil || l.Name == output.Over {
			continue
		}
		if got := l.Printed(hdrlog.Scale{Ratio: 1000, In: hdrlog.Millisecond}); math.Abs(got-test.printed) > 1e-15 {
			t.Errorf("%s is drawn at %v, want %v", test.limit, got, test.printed)
		}
	}
}
