package scan

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// TestExpand proves that payloads which stand for far more counts than their text can have end a
// scan, and that others never do.
func TestExpand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		values int
		ends   bool
	}{{"a value in each slot", 30_000, true}, {"a value", 1, false}} {
		layout := histogram.Layout{Digits: 3, Lowest: 1}
		h, err := histogram.New(layout)
		if err != nil {
			t.Fatal(err)
		}
		for slot := range test.values {
			if err := h.Record(layout.LowestAt(slot), 1); err != nil {
				t.Fatal(err)
			}
		}
		text, err := new(histogram.Encoder).AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		p, err := new(histogram.Decoder).Open(bytes.Clone(text))
		if err != nil {
			t.Fatal(err)
		}
		shared := NewPayloads(nil)
		for n := range 2 * freeCounts / 30_000 {
			if err = shared.expand(text, p); err != nil {
				if !errors.As(err, new(Fatal)) || int64(n)*30_000 < freeCounts-30_000 {
					t.Errorf("%s: payload %d: %v", test.name, n, err)
				}
				break
			}
		}
		if (err != nil) != test.ends {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestExpandLogs proves that payloads of real logs stay far below the limit.
func TestExpandLogs(t *testing.T) {
	t.Parallel()
	root := "../.."
	var logs []string
	for _, pattern := range []string{"testdata/logs/*", "testdata/dialects/*", "../shared/reference/real-logs/*"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, names...)
	}
	var payloads int
	for _, name := range logs {
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			continue
		}
		r, err := hdrlog.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var d histogram.Decoder
		for r.Scan() {
			if r.Record().Kind != hdrlog.IntervalRecord {
				continue
			}
			i := r.Record().Interval
			p, err := d.Open(i.Payload)
			if err != nil || p.Version() < 2 {
				continue
			}
			payloads++
			if p.CountsSize() > mostCounts/10*len(i.Payload) {
				t.Errorf("%s: %d bytes of counts in %d bytes", name, p.CountsSize(), len(i.Payload))
			}
		}
	}
	if payloads < 1000 {
		t.Errorf("only %d payloads", payloads)
	}
}
