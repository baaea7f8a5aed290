package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// TestOmissionNotice checks the notice for one sender that waits five seconds for an answer, and
// that it is silent where there is nothing to say.
func TestOmissionNotice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stall.hdr")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := hdrlog.NewWriter(file)
	w.Version()
	w.BaseTime(1000)
	w.StartTime(1000)
	for second := range 100 {
		h, err := histogram.New(histogram.Layout{Lowest: 1, Digits: 3})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case second == 55:
			h.Record(5_000_000_000, 1)
		case second < 50 || second > 55:
			h.Record(1_000_000, 100)
		}
		payload, err := new(histogram.Encoder).AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Fields(nil, fmt.Appendf(nil, "%d.000,1.000,0.000,%s", second, payload)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	const notice = "stall.hdr:60: a value of 5.004s, and few others during that time: it looks as if the recorder waited for an answer (coordinated omission). -co 10000000 would correct for a value every 10ms\n"
	for _, c := range []struct {
		options string
		said    bool
	}{
		{"-st table -in ns", true},
		{"-st table -in ns -ci 95", true},
		{"-st table -in ns -it", true},
		{"-st table -in ns -co 10000000", false},
		{"-st table -in ns -e 30", false},
		{"-st table", false},
		{"-st json -in ns", false},
	} {
		_, stderr, status := hdrsum(t, append(strings.Fields(c.options), path)...)
		if status != 0 || strings.HasSuffix(stderr, notice) != c.said || !c.said && stderr != "" {
			t.Errorf("%s: exit status %d, %s", c.options, status, stderr)
		}
	}
}
