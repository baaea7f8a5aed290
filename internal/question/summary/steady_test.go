package summary

import (
	"bytes"
	"io"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/loggen"
	"hdrkit/internal/scan"
)

// TestCourseLevels: each look at a course is about its own percentile, also after another one.
func TestCourseLevels(t *testing.T) {
	var log bytes.Buffer
	if err := loggen.ScenarioNamed("shift").Write(&log, 0); err != nil {
		t.Fatal(err)
	}
	s := &scan.Scan{
		Inputs: []scan.Input{{
			Name: "a.hdr",
			Open: func() (io.ReadCloser, error) { return io.NopCloser(&log), nil },
		}},
		Workers: 2,
		Report:  func(err *hdrlog.SyntaxError, _ bool) error { return err },
	}
	course := new(Course)
	result, err := Collect(s, Options{Course: course})
	if err != nil {
		t.Fatal(err)
	}
	var later float64
	for _, percentile := range []float64{50, 99} {
		levels, err := course.Levels(percentile, result.Summaries)
		if err != nil {
			t.Fatal(err)
		}
		shifts := levels.Shifts()
		if len(shifts) == 0 {
			t.Fatalf("no shift of p%v", percentile)
		}
		if s := shifts[0]; s.Percentile != percentile || s.Later <= later {
			t.Errorf("p%v: %+v", percentile, s)
		}
		later = shifts[0].Later
	}
}
