package merge_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
)

// TestByTag has what is wrong in a log: it is reported, or ends the reading.
func TestByTag(t *testing.T) {
	payload := func(layout histogram.Layout) string {
		h, err := histogram.New(layout)
		if err != nil {
			t.Fatal(err)
		}
		recorded := h.Record(10)
		text, err := new(histogram.Encoder).AppendBase64(nil, h)
		if err = errors.Join(err, recorded); err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	ten := payload(histogram.Layout{Digits: 3})
	double := "Tag=a,3,1,1," + payload(histogram.Layout{Digits: 3, Ratio: 1}) + "\n"
	good := "Tag=a,1,1,1," + ten + "\n2,1,1," + ten + "\n"
	const bad = "x\nTag=b,2,1,1,HIST\n"
	read := func(text string) *hdrlog.Reader { return hdrlog.NewReader(strings.NewReader(text), "log") }
	var said []string
	report := func(err error) {
		if _, ok := errors.AsType[*hdrlog.SyntaxError](err); !ok {
			t.Errorf("%T", err)
		}
		said = append(said, strings.Join(strings.Split(err.Error(), ": ")[:2], ": "))
	}
	sums, err := merge.ByTag(report, read(good+bad), read(good+good))
	if err != nil || len(sums) != 2 || sums[0].Tag != nil || string(sums[1].Tag) != "a" || sums[0].Intervals() != 3 || sums[1].Intervals() != 3 {
		t.Errorf("%+v, %v", sums, err)
	}
	if want := []string{"log:3: start", "log:4: payload"}; !slices.Equal(said, want) {
		t.Errorf("got %q, want %q", said, want)
	}
	if h, err := sums[0].Histogram(nil); err != nil || h.TotalCount() == 0 {
		t.Errorf("%v, %v", h, err)
	}
	if sums, err := merge.ByTag(nil, read(good+bad)); sums != nil || !errors.Is(err, hdrlog.ErrMissing) && !errors.Is(err, hdrlog.ErrNumber) {
		t.Errorf("without report: %v, %v", sums, err)
	}
	if sums, err := merge.ByTag(nil, read(good+double)); sums != nil || err == nil {
		t.Errorf("doubles and integers: %v, %v", sums, err)
	}
	broken := errors.New("broken disk")
	log := hdrlog.NewReader(io.MultiReader(strings.NewReader(good), iotest.ErrReader(broken)), "log")
	if _, err := merge.ByTag(report, log); !errors.Is(err, broken) || err.Error() != "log: broken disk" {
		t.Errorf("a broken disk: %v", err)
	}
	if sums, err := merge.ByTag(nil); len(sums) != 0 || err != nil {
		t.Errorf("no logs: %v, %v", sums, err)
	}
}

// TestByTagKinds checks that the first interval of a tag decides whether it has integers or
// doubles, whatever worker decodes it.
func TestByTagKinds(t *testing.T) {
	payload := func(layout histogram.Layout) string {
		h, err := histogram.New(layout)
		if err != nil {
			t.Fatal(err)
		}
		text, err := new(histogram.Encoder).AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	integer := "1,1,1," + payload(histogram.Layout{Digits: 3}) + "\n"
	double := "1,1,1," + payload(histogram.Layout{Digits: 3, Ratio: 1}) + "\n"
	const each = 2000 // several batches
	text := "Tag=a," + integer + "Tag=b," + double +
		strings.Repeat("Tag=a,"+double, each) + strings.Repeat("Tag=b,"+double, each) + strings.Repeat("Tag=b,"+integer, each)
	line := 3
	sums, err := merge.ByTag(func(err error) {
		if line == each+3 {
			line = 2*each + 3
		}
		e, ok := errors.AsType[*hdrlog.SyntaxError](err)
		if !ok || e.Line != line || e.Field != "payload" || !errors.Is(err, histogram.ErrKind) {
			t.Fatalf("line %d: %v", line, err)
		}
		line++
	}, hdrlog.NewReader(strings.NewReader(text), "log"))
	if err != nil || line != 3*each+3 || len(sums) != 2 {
		t.Fatal(line, sums, err)
	}
	if a, b := sums[0].Intervals(), sums[1].Intervals(); a != 1 || b != each+1 {
		t.Errorf("%d and %d intervals", a, b)
	}
}
