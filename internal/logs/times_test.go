package logs

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/scan"
)

func TestZone(t *testing.T) {
	summer := time.Date(2016, 7, 18, 0, 0, 0, 0, time.UTC)
	for name, want := range map[string]string{
		"UTC":           "2016-07-18T00:00:00Z",
		"+02:00":        "2016-07-18T02:00:00+02:00",
		"-0330":         "2016-07-17T20:30:00-03:30",
		"+05":           "2016-07-18T05:00:00+05:00",
		"Europe/Berlin": "2016-07-18T02:00:00+02:00",
		"Mars/Olympus":  `test: -tz "Mars/Olympus" is no zone of time: give a name such as Europe/Berlin, UTC or Local, or an offset such as +02:00`,
		"../etc/passwd": `test: -tz "../etc/passwd" is no zone of time: give a name such as Europe/Berlin, UTC or Local, or an offset such as +02:00`,
		"":              `test: -tz "" is no zone of time: give a name such as Europe/Berlin, UTC or Local, or an offset such as +02:00`,
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			zone, err := ParseZone(name)
			if err == nil {
				got = summer.In(zone).Format(time.RFC3339)
			} else {
				got = "test: " + err.Error()
			}
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// TestFindEnds reads two logs of different lengths, whose lines are out of order.
func TestFindEnds(t *testing.T) {
	input := func(text string) scan.Input {
		return scan.Input{Name: "log", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	}
	s := &scan.Scan{Inputs: []scan.Input{
		input("#[BaseTime: 1000.000]\n0.000,1.000,0.000,H\n9.000,1.500,0.000,H\nrubbish\n2.000,1.000,0.000,H\n"),
		input("5.000,1.000,0.000,H\n"),
	}}
	s.Selection.Range.From = &scan.Bound{Seconds: -1.5, Origin: scan.LogEnd}
	if err := findEnds(s, false); err != nil || s.Inputs[0].End != 1010500 || s.Inputs[1].End != 6000 {
		t.Errorf("%v, the logs end at %d and %d", err, s.Inputs[0].End, s.Inputs[1].End)
	}
	last := &hdrlog.Interval{Start: 9, Base: 1000}
	if r := s.Selection.Range; !r.Contains(last, 1010500) || r.Contains(last, 1010501) {
		t.Error("the bound does not belong to the range")
	}
	s.Inputs[1].Once = true
	if err := findEnds(s, false); err == nil || err.Error() != "-s and -e cannot count from the end of log, which can be read only once" {
		t.Errorf("a pipe: %v", err)
	}
}

// TestFindTimes: with -times all, all logs count from the start of the first one. Without -times, a
// line says what each log loses.
func TestFindTimes(t *testing.T) {
	log := func(start string) scan.Input {
		return scan.Input{Name: start, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("#[StartTime: " + start + "]\n#[BaseTime: " + start + "]\n0,1,0,H\n1,1,0,H\n2,1,0,H\n")), nil
		}}
	}
	for _, test := range []struct {
		times Times
		want  bool
		said  string
	}{
		{Times{From: "1"}, false, "leave out the first 1s of each of 2 logs; if they are parts of one log, -times all counts"},
		{Times{To: "1"}, false, "leave out what comes after the first 1s of"},
		{Times{From: "-1m"}, false, "leave out all but the last 1m0s of"},
		{Times{From: "0.5", To: "-90"}, false, "leave out the first 500ms and the last 1m30s of"},
		{Times{From: "2016-07-18"}, false, ""},
		{Times{}, false, ""},
		{Times{From: "1", SeparateOption: "r"}, false, ""},
		{Times{From: "1", SeparateOption: "compare"}, false, ""},
		{Times{From: "1", Mode: EachLog}, false, ""},
		{Times{From: "1", Mode: AllLogs}, true, ""},
		{Times{From: "1", Mode: AllLogs, SeparateOption: "r"}, false, "-times and -r do not go together"},
	} {
		var stderr bytes.Buffer
		std := &message.Streams{Name: "test", Err: &stderr}
		test.times.Zone = time.UTC
		s := &scan.Scan{Inputs: []scan.Input{log("1000"), log("1003")}}
		var err error
		if s.Selection.Range, err = test.times.span(); err == nil {
			err = test.times.find(std, s)
		}
		if err != nil {
			std.Say("%v", err)
		}
		for n := range s.Inputs {
			if start := s.Inputs[n].Start; (start != nil) != test.want || start != nil && *start != 1000 {
				t.Errorf("%+v: log %d counts from %v", test.times, n, start)
			}
		}
		if said := stderr.String(); !strings.Contains(said, test.said) || test.said == "" && said != "" {
			t.Errorf("%+v: %s", test.times, said)
		}
	}
}
