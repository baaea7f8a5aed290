package cli

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"hdrkit/hdrlog"
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
			_, stderr := run(t, RangeFlags(), func(c *cli.Context) error {
				zone, err := Zone(c)
				if err == nil {
					got = summer.In(zone).Format(time.RFC3339)
				}
				return err
			}, "-tz="+name)
			if first, _, _ := strings.Cut(stderr, "\n"); got+first != want {
				t.Errorf("%s%s, want %s", got, first, want)
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
	if err := findEnds(s); err != nil || s.Inputs[0].End != 0 {
		t.Errorf("without -s and -e: %v, %d", err, s.Inputs[0].End)
	}
	s.Selection.Range.From = &scan.Bound{Seconds: -1.5, Origin: scan.LogEnd}
	if err := findEnds(s); err != nil || s.Inputs[0].End != 1010500 || s.Inputs[1].End != 6000 {
		t.Errorf("%v, the logs end at %d and %d", err, s.Inputs[0].End, s.Inputs[1].End)
	}
	last := &hdrlog.Interval{Start: 9, Base: 1000}
	if r := s.Selection.Range; !r.Contains(last, 1010500) || r.Contains(last, 1010501) {
		t.Error("the bound does not belong to the range")
	}
	s.Inputs[1].Once = true
	if err := findEnds(s); err == nil || err.Error() != "-s and -e cannot count from the end of log, which can be read only once" {
		t.Errorf("a pipe: %v", err)
	}
}

// TestFindTimes: parts of a rotated log count from its start, unless each log is looked at by
// itself.
func TestFindTimes(t *testing.T) {
	log := func(start string) scan.Input {
		return scan.Input{Name: start, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("#[StartTime: " + start + "]\n#[BaseTime: " + start + "]\n0,1,0,H\n1,1,0,H\n2,1,0,H\n")), nil
		}}
	}
	flags := RangeFlags()
	for _, name := range []string{"compare", "diff", "r"} {
		flags = append(flags, &cli.BoolFlag{Name: name})
	}
	for _, test := range []struct {
		args []string
		want bool
		err  string
	}{
		{[]string{"-s=1"}, true, ""},
		{[]string{"-e=1"}, true, ""},
		{[]string{"-s=-1"}, true, ""},
		{[]string{"-s=2016-07-18"}, false, ""},
		{nil, false, ""},
		{[]string{"-s=1", "-r"}, false, ""},
		{[]string{"-s=1", "-compare"}, false, ""},
		{[]string{"-s=1", "-diff"}, false, ""},
		{[]string{"-s=1", "-times=each"}, false, ""},
		{[]string{"-s=1", "-times=ALL"}, true, ""},
		{[]string{"-s=1", "-times=all", "-r"}, false, "-times and -r do not go together"},
	} {
		_, stderr := run(t, flags, func(c *cli.Context) (err error) {
			s := &scan.Scan{Inputs: []scan.Input{log("1000"), log("1003")}}
			if s.Selection.Range, err = timeRange(c); err == nil {
				err = findTimes(c, s)
			}
			for n := range s.Inputs {
				if start := s.Inputs[n].Start; (start != nil) != test.want || start != nil && *start != 1000 {
					t.Errorf("%q: log %d counts from %v", test.args, n, start)
				}
			}
			return err
		}, test.args...)
		if !strings.Contains(stderr, test.err) || strings.Contains(stderr, "follow each other") != (test.want && !strings.Contains(strings.Join(test.args, ""), "times")) {
			t.Errorf("%q: %s", test.args, stderr)
		}
	}
}
