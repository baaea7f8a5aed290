package scan

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
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
			if err := h.Record(layout.LowestAt(slot)); err != nil {
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
		limits := NewPayloadLimits(nil)
		for n := range 2 * freeCounts / 30_000 {
			if err = limits.check(text, p); err != nil {
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

// TestExpandZeros proves that an hour of payloads of version 1 that are mostly zeros is read, and
// that many times as much ends a scan.
func TestExpandZeros(t *testing.T) {
	t.Parallel()
	layout := histogram.Layout{Digits: 3, Lowest: 1}
	const highest = 3_600_000_000_000 // an hour in nanoseconds
	slots := layout.SlotsFor(highest)
	raw := binary.BigEndian.AppendUint32(nil, 0x1c849301|0x80) // version 1, counts of 8 bytes
	raw = binary.BigEndian.AppendUint32(raw, uint32(8*slots))
	raw = binary.BigEndian.AppendUint32(raw, 0)
	raw = binary.BigEndian.AppendUint32(raw, uint32(layout.Digits))
	raw = binary.BigEndian.AppendUint64(raw, uint64(layout.Lowest))
	raw = binary.BigEndian.AppendUint64(raw, highest)
	raw = binary.BigEndian.AppendUint64(raw, math.Float64bits(1))
	raw = append(raw, make([]byte, 8*slots)...)
	raw[len(raw)-1] = 1
	var deflated bytes.Buffer
	w := zlib.NewWriter(&deflated)
	w.Write(raw)
	w.Close()
	packed := binary.BigEndian.AppendUint32(nil, 0x1c849302|0x80)
	packed = binary.BigEndian.AppendUint32(packed, uint32(deflated.Len()))
	packed = append(packed, deflated.Bytes()...)
	text := []byte(base64.StdEncoding.EncodeToString(packed))
	p, err := new(histogram.Decoder).Open(text)
	if err != nil {
		t.Fatal(err)
	}
	if p.CountsSize() < 200*len(text) {
		t.Fatalf("%d bytes of counts in %d bytes", p.CountsSize(), len(text))
	}
	limits := NewPayloadLimits(nil)
	for n := range 3600 {
		if err := limits.check(text, p); err != nil {
			t.Fatalf("payload %d: %v", n, err)
		}
	}
	for range 3600 {
		err = cmp.Or(err, limits.check(text, p))
	}
	if !errors.As(err, new(Fatal)) {
		t.Errorf("two hours: %v", err)
	}
}

// TestExpandLogs proves that payloads of logs of many writers stay far below the limit.
func TestExpandLogs(t *testing.T) {
	t.Parallel()
	root := "../.."
	var logs []string
	for _, pattern := range []string{"testdata/logs/*", "testdata/dialects/*"} {
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
			if p.CountsSize() > maxCounts/10*len(i.Payload) {
				t.Errorf("%s: %d bytes of counts in %d bytes", name, p.CountsSize(), len(i.Payload))
			}
		}
	}
	if payloads < 1000 {
		t.Errorf("only %d payloads", payloads)
	}
}
