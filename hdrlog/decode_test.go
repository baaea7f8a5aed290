package hdrlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// counts are workers that count the values of intervals.
func counts() func(*hdrlog.Interval, *int64) error {
	var decoder histogram.Decoder
	var h histogram.Histogram
	return func(i *hdrlog.Interval, count *int64) error {
		err := decoder.Decode(&h, i.Payload)
		*count = h.TotalCount()
		return err
	}
}

// TestDecode checks that any number of workers finds what one goroutine finds, in the same order,
// with the errors of lines and payloads in their places.
func TestDecode(t *testing.T) {
	var text []byte
	for _, name := range []string{"node1", "node2", "mixed-precision", "node3", "many-tags"} {
		log, err := os.ReadFile("../testdata/logs/" + name + ".hdr")
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, log...)
	}
	text = append(text, "Tag=x,2,1,1,HIST\nx\n"...)
	text = bytes.Repeat(text, 3)
	text = append(text, "Tag=x,2,1,1,HISTFAA"...)
	broken := errors.New("broken disk")
	read := func() *hdrlog.Reader {
		return hdrlog.NewReader(io.MultiReader(bytes.NewReader(text), iotest.ErrReader(broken)), "log")
	}

	var want []string
	reader, one := read(), counts()
	for record := range reader.All() {
		var count int64
		switch record.Kind {
		case hdrlog.Malformed:
			want = append(want, record.Err.Error())
		case hdrlog.IntervalRecord:
			if err := one(&record.Interval, &count); err != nil {
				want = append(want, record.Malformed("log", err).Error())
				break
			}
			want = append(want, fmt.Sprintf("%d %s %d", record.Line, record.Interval.Tag, count))
		}
	}
	want = append(want, reader.Err().Error())
	for _, parallel := range []int{0, 1, 7} {
		var got []string
		for i, err := range hdrlog.Decode(read(), parallel, counts) {
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, fmt.Sprintf("%d %s %d", i.Line, i.Tag, *i.Result))
		}
		if !slices.Equal(got, want) {
			t.Errorf("parallel %d: got %d, want %d", parallel, len(got), len(want))
		}
	}
}

// line is an interval of 741 values.
const line = "Tag=a,1,1,1,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvsPEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekILGZkKmcCAEf2CsI=\n"

// TestDecodeStops checks that a loop may end early, and that the errors of workers keep what they
// say.
func TestDecodeStops(t *testing.T) {
	log := strings.Repeat(line, 10_000)
	for i, err := range hdrlog.Decode(hdrlog.NewReader(strings.NewReader(log), "log"), 2, counts) {
		if err != nil || i.Line != 1 {
			t.Fatal(i, err)
		}
		break
	}
	refuse := func() func(*hdrlog.Interval, *int64) error {
		return func(*hdrlog.Interval, *int64) error { return &hdrlog.SyntaxError{Field: "tag", Err: hdrlog.ErrTag} }
	}
	for _, err := range hdrlog.Decode(hdrlog.NewReader(strings.NewReader(line+line), "log"), 2, refuse) {
		if err.Error() != "log:1: tag: "+hdrlog.ErrTag.Error() {
			t.Error(err)
		}
		break
	}
	for _, err := range hdrlog.Decode(new(hdrlog.Reader), 1, counts) {
		if err == nil {
			t.Error("a reader without input has no error")
		}
	}
}

// TestDecodeLongLines checks that lines which are longer than batches are handed over, too.
func TestDecodeLongLines(t *testing.T) {
	log := strings.Repeat(line+"#"+strings.Repeat("x", 3<<20)+"\n", 10)
	lines := 0
	for i, err := range hdrlog.Decode(hdrlog.NewReader(strings.NewReader(log), "log"), 2, counts) {
		if err != nil || i.Line != 2*lines+1 {
			t.Fatal(i, err)
		}
		lines++
	}
	if lines != 10 {
		t.Errorf("%d intervals", lines)
	}
}
