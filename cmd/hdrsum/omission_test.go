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
			h.Record(5_000_000_000)
		case second < 50 || second > 55:
			h.RecordN(1_000_000, 100)
		}
		payload, err := new(histogram.Encoder).AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteEncoded(nil, fmt.Appendf(nil, "%d.000,1.000,0.000,%s", second, payload)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	const sentence = "Requests waited for an answer while nothing was recorded: p99 with those that were due is 4,014 ms if all requests waited and went on at once (-co 10ms)."
	for _, c := range []struct {
		options string
		said    bool
	}{
		{"-st table -in ns -unit ms", true},
		{"-st table -in ns -unit ms -ci 95", true},
		{"-st json -in ns -unit ms", true},
		{"-in ns -unit ms -co 10000000", false},
		{"-in ns -unit ms -e 30", false},
		{"", false},
		{"-st percentiles -in ns -unit ms", false},
	} {
		stdout, stderr, status := hdrsum(t, append(strings.Fields(c.options), path)...)
		if status != 0 || strings.Contains(stdout, sentence) != c.said {
			t.Errorf("%s: exit status %d, %s%s", c.options, status, stdout, stderr)
		}
	}
}
