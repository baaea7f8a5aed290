package scan

import (
	"fmt"
	"testing"
	"time"

	"hdrkit/hdrlog"
)

func TestParseTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skipf("skipped: there is no database of time zones: %v", err)
	}
	const at = 1468800400 // 2016-07-18T00:06:40Z
	for text, want := range map[string]string{
		"0":                             "0 start",
		"60":                            "60 start",
		"1.5":                           "1.5 start",
		"99999999":                      "9.9999999e+07 start",
		"90s":                           "90 start",
		"1h5m":                          "3900 start",
		"200000000s":                    "2e+08 start",
		"-30":                           "-30 end",
		"-30s":                          "-30 end",
		"-1m30s":                        "-90 end",
		"-0":                            "0 end",
		"1e8":                           "1e+08 epoch",
		fmt.Sprint(at):                  "1.4688004e+09 epoch",
		"1468800400.394":                "1.468800400394e+09 epoch",
		"2016-07-18T00:06:40Z":          "1.4688004e+09 epoch",
		"2016-07-18T02:06:40+02:00":     "1.4688004e+09 epoch",
		"2016-07-18 00:06:40Z":          "1.4688004e+09 epoch",
		"2016-07-18 02:06:40":           "1.4688004e+09 epoch",
		"2016-07-18T02:06:40":           "1.4688004e+09 epoch",
		"2016-07-18 02:06:40.394":       "1.468800400394e+09 epoch",
		"2016-07-18 02:06":              "1.46880036e+09 epoch",
		"2016-01-18 01:06":              "1.45307556e+09 epoch", // in winter the zone is an hour less
		"2016-07-18":                    "1.4687928e+09 epoch",
		"00:07":                         "420 midnight",
		"0:07":                          "420 midnight",
		"23:59:59.5":                    "86399.5 midnight",
		"24:00":                         "",
		"00:60":                         "",
		"-00:07":                        "",
		"yesterday":                     "",
		"NaN":                           "",
		"2016-07-32":                    "",
		"2016-07-18 02:06:40 Europe":    "",
		"2016-07-18T00:06:40Z and more": "",
	} {
		t.Run(text, func(t *testing.T) {
			bound, ok := ParseTime(text, berlin)
			origin := map[Origin]string{LogStart: "start", LogEnd: "end", Epoch: "epoch", Midnight: "midnight"}[bound.Origin]
			got := fmt.Sprintf("%v %s", bound.Seconds, origin)
			if ok != (want != "") || ok && got != want && got != "-"+want {
				t.Errorf("%s, %v, want %s", got, ok, want)
			}
		})
	}
}

// TestContains proves that both ends of a range belong to it, whatever binary fractions do: each
// millisecond of a log chooses itself, from its start, from its end, and since the epoch.
func TestContains(t *testing.T) {
	t.Parallel()
	const start = 1468800000.137
	end := EndMillis(&hdrlog.Interval{Start: 3, Length: 0.25, Base: start})
	for ms := range 3000 {
		seconds := float64(ms) / 1000
		i := &hdrlog.Interval{Start: seconds, Length: 0.25, Base: start, LogStart: start}
		for _, text := range []string{
			fmt.Sprintf("%.3f", seconds), fmt.Sprintf("%dms", ms),
			fmt.Sprintf("1468800%03d.%03d", (ms+137)/1000, (ms+137)%1000), fmt.Sprintf("-%.3f", 3.25-seconds),
		} {
			r, err := ParseRange(text, text, time.UTC)
			if err != nil || !r.Contains(i, end) {
				t.Fatalf("%s does not choose the interval at %.3f: %v", text, seconds, err)
			}
			i.Start += 0.001
			later := r.Contains(i, end)
			i.Start -= 0.002
			if later || r.Contains(i, end) {
				t.Fatalf("%s chooses a neighbour of the interval at %.3f", text, seconds)
			}
			i.Start = seconds
		}
	}
}

// TestTimeOfDay checks which intervals a time of day chooses, by the start of the log.
func TestTimeOfDay(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skipf("skipped: there is no database of time zones: %v", err)
	}
	for _, test := range []struct {
		zone                  *time.Location
		from, to, start, last string // last is the last interval that -s and -e keep, of one each second
		first                 string
	}{
		{time.UTC, "00:07", "00:07:05", "2016-07-18T00:06:41Z", "2016-07-18T00:07:05Z", "2016-07-18T00:07:00Z"},
		{time.UTC, "00:01", "00:07", "2016-07-18T00:06:41Z", "2016-07-18T00:07:00Z", "2016-07-18T00:06:41Z"},
		{time.UTC, "23:59:58", "00:00:02", "2016-07-18T23:59:30Z", "2016-07-19T00:00:02Z", "2016-07-18T23:59:58Z"}, // over midnight
		{time.UTC, "00:00:01", "00:00:02", "2016-07-18T23:59:30Z", "2016-07-19T00:00:02Z", "2016-07-19T00:00:01Z"},
		{time.UTC, "00:00", "23:59", "2016-07-18T16:40:00Z", "2016-07-18T16:41:59Z", "2016-07-18T16:40:00Z"},
		{time.UTC, "00:00", "16:40:09", "2016-07-18T16:40:00Z", "2016-07-18T16:40:09Z", "2016-07-18T16:40:00Z"},
		{time.UTC, "00:00", "", "2016-07-18T16:40:00Z", "2016-07-18T16:41:59Z", "2016-07-18T16:40:00Z"},
		{time.UTC, "", "00:01", "2016-07-18T23:59:30Z", "2016-07-19T00:01:00Z", "2016-07-18T23:59:30Z"},
		{berlin, "02:07", "02:07:05", "2016-07-18T00:06:41Z", "2016-07-18T00:07:05Z", "2016-07-18T00:07:00Z"},
		{berlin, "03:00", "03:00:05", "2016-03-27T00:59:58Z", "2016-03-27T01:00:05Z", "2016-03-27T01:00:00Z"}, // summer begins at 2:00
	} {
		r, err := ParseRange(test.from, test.to, test.zone)
		start, err2 := time.Parse(time.RFC3339, test.start)
		if err != nil || err2 != nil || r.FromLog() {
			t.Fatal(test, r.FromLog(), err, err2)
		}
		var kept []string
		for second := range 120 {
			i := &hdrlog.Interval{Start: float64(second), Length: 1, Base: float64(start.Unix()), LogStart: float64(start.Unix())}
			if r.Contains(i, 0) {
				kept = append(kept, start.Add(time.Duration(second)*time.Second).Format(time.RFC3339))
			}
		}
		if len(kept) == 0 || kept[0] != test.first || kept[len(kept)-1] != test.last {
			t.Errorf("-s %s -e %s of a log from %s keeps %q", test.from, test.to, test.start, kept)
		}
	}
}

// TestFromLog: which ranges depend on when the log starts or ends.
func TestFromLog(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to         string
		fromLog, fromEnd bool
		all              bool
	}{
		{"", "", false, false, true},
		{"5", "", true, false, false},
		{"", "5", true, false, false},
		{"-5", "", true, true, false},
		{"", "-5", true, true, false},
		{"1468800003", "", false, false, false},
		{"", "1468800003", false, false, false},
		{"1468800003", "5", true, false, false},
		{"5", "1468800003", true, false, false},
		{"1468800003", "-5", true, true, false},
	} {
		r, err := ParseRange(test.from, test.to, time.UTC)
		if err != nil || r.FromLog() != test.fromLog || r.FromEnd() != test.fromEnd || r.All() != test.all {
			t.Errorf("from %q to %q: %t, %t, %t, %v", test.from, test.to, r.FromLog(), r.FromEnd(), r.All(), err)
		}
	}
}
