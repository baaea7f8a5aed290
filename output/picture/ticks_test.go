package picture

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func (m marks) String() string {
	var labels []string
	for _, tick := range m {
		if tick.Label != "" {
			labels = append(labels, strings.ReplaceAll(tick.Label, "\n", "/"))
		}
	}
	return strings.Join(labels, " ")
}

// TestColourTicks proves that a scale of colours has more than one label wherever it can.
func TestColourTicks(t *testing.T) {
	for _, test := range []struct {
		least, most float64
		want        []float64
	}{
		{0.1, 1.2, []float64{0.1, 0.2, 0.5, 1}},
		{0.3, 7, []float64{0.5, 1, 2, 5}},
		{3, 3, nil},
		{0.03, 300, []float64{0.1, 1, 10, 100}},
		{1e-6, 2e-3, []float64{1e-6, 1e-5, 1e-4, 1e-3}},
	} {
		got := colourTicks(test.least, test.most)
		if !slices.EqualFunc(got, test.want, func(a, b float64) bool { return math.Abs(a/b-1) < 1e-9 }) {
			t.Errorf("%v to %v: %v, want %v", test.least, test.most, got, test.want)
		}
	}
}

func TestLinearTicks(t *testing.T) {
	for _, test := range []struct {
		unit    string
		highest float64
		want    string
		title   string
	}{
		{"ms", 356, "0 50 100 150 200 250 300 350 400", "value (ms)"},
		{"ns", 355991551, "0 50 100 150 200 250 300 350 400", "value (ms)"},
		{"us", 9.5, "0 1 2 3 4 5 6 7 8 9 10", "value (µs)"},
		{"s", 0.02, "0 2 4 6 8 10 12 14 16 18 20", "value (ms)"},
		{"ms", 12000, "0 2 4 6 8 10 12", "value (s)"},
		{"MB", 1200, "0 200 400 600 800 1,000 1,200", "value (MB)"},
		{"MB", 0.001, "0 0.0001 0.0002 0.0003 0.0004 0.0005 0.0006 0.0007 0.0008 0.0009 0.001", "value (MB)"},
		{"", 356e6, "0 50M 100M 150M 200M 250M 300M 350M 400M", "value"},
		{"", 1 << 62, "0 5e17 1e18 1.5e18 2e18 2.5e18 3e18 3.5e18 4e18 4.5e18 5e18", "value"},
		{"", 0, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1", "value"},
	} {
		s := scaleFor(test.unit, test.highest)
		ticks, end := s.linearAxis(test.highest, 11)
		if ticks.String() != test.want || s.titled("value") != test.title || end < test.highest {
			t.Errorf("%v %s: %s, %s, ends at %v", test.highest, test.unit, ticks, s.titled("value"), end)
		}
	}
}

func TestLogTicks(t *testing.T) {
	for _, test := range []struct {
		unit            string
		lowest, highest float64
		most            int
		want            string
	}{
		{"ns", 1500, 3.5e8, 11, "1 µs 10 µs 100 µs 1 ms 10 ms 100 ms"},
		{"ns", 1500, 90000, 11, "1 µs 2 µs 5 µs 10 µs 20 µs 50 µs 100 µs"},
		{"", 1, 1 << 62, 11, "1 100 10k 1M 100M 10G 1T 100T 1e16 1e18"},
		{"ms", 0.5, 20000, 11, "1 ms 10 ms 100 ms 1 s 10 s"},
		{"kB", 7, 7, 11, "2 5 10 20"},
	} {
		ticks, from, to := logAxis(test.unit, test.lowest, test.highest, test.most)
		if ticks.String() != test.want || from > test.lowest || to < test.highest {
			t.Errorf("%v to %v %s: %s, from %v to %v", test.lowest, test.highest, test.unit, ticks, from, to)
		}
	}
}

func TestTimeTicks(t *testing.T) {
	const origin = 1468799990 // 2016-07-17T23:59:50Z
	for _, test := range []struct {
		from, to        float64
		relative, clock string
	}{
		{0, 0.5, "0 0.1 0.2 0.3 0.4 0.5", "23:59:50.000/2016-07-17 23:59:50.100 23:59:50.200 23:59:50.300 23:59:50.400 23:59:50.500"},
		{0, 120, "0 30 60 90 120", "00:00:00/2016-07-18 00:00:30 00:01:00 00:01:30"},
		{0, 3599, "0:00 10:00 20:00 30:00 40:00 50:00", "00:00/2016-07-18 00:10 00:20 00:30 00:40 00:50"},
		{3600, 3700, "1:00:00 1:00:30 1:01:00 1:01:30", "01:00:00/2016-07-18 01:00:30 01:01:00 01:01:30"},
		{0, 7200, "0:00 0:30 1:00 1:30 2:00", "00:00/2016-07-18 00:30 01:00 01:30"},
		{0, 2 * day, "0:00 12:00 24:00 36:00 48:00", "00:00/2016-07-18 12:00 00:00/2016-07-19 12:00"},
		{0, 20 * day, "0 7 14", "2016-07-21 2016-07-28 2016-08-04"},
		{0, 400 * day, "0 100 200 300 400", "2016-10 2017-01 2017-04 2017-07"},
		{0, 5 * 365 * day, "0 500 1,000 1,500", "2017 2018 2019 2020 2021"},
	} {
		relative, _ := relativeTicks(test.from, test.to, 6)
		absolute, _ := clockTicks(test.from, test.to, origin, 6)
		if relative.String() != test.relative {
			t.Errorf("%v to %v: %s, want %s", test.from, test.to, relative, test.relative)
		}
		if absolute.String() != test.clock {
			t.Errorf("%v to %v: %s, want %s", test.from, test.to, absolute, test.clock)
		}
	}
}

func TestNines(t *testing.T) {
	if got := ninesTicks(4.2, 0.2).String(); got != "0% 50% 90% 99% 99.9% 99.99%" {
		t.Error(got)
	}
	if got := ninesTicks(18.4, 1.1).String(); strings.Count(got, "%") > 12 || !strings.HasPrefix(got, "0% 99% 99.99%") {
		t.Error(got)
	}
	for percentile, want := range map[float64]float64{0: 0, 90: 1, 99.9: 3} {
		if got := nines(percentile); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v%% at %v", percentile, got)
		}
	}
}
