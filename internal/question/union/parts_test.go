//go:build unix

package union

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/loggen"
	"hdrkit/internal/scan"
)

// The clock of each machine is later than the one before, in milliseconds.
const benchStart, later = 1468800000137, 137

// benchLogs makes the logs of three machines. Their clocks differ, so those of the first two join.
func benchLogs(b *testing.B) (inputs []scan.Input) {
	b.Helper()
	for n := range 3 {
		path := filepath.Join(b.TempDir(), "log.hdr")
		f, err := os.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		o := loggen.Options{Seconds: 600, Rate: 10000, Seed: uint64(n), Start: benchStart + later*int64(n)}
		if err := errors.Join(loggen.Write(f, o), f.Close()); err != nil {
			b.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		inputs = append(inputs, scan.File(path, info.Size()))
	}
	return inputs
}

// cpu returns the processor time that this process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// part measures the least processor time of a part. It reports how much more that is than the part
// before in it takes.
func part(b *testing.B, name string, before time.Duration, work func()) (least time.Duration) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		least = time.Hour
		for b.Loop() {
			start := cpu(b)
			work()
			least = min(least, cpu(b)-start)
		}
		b.ReportMetric(float64(least-before)/1e6, "cpu-ms")
	})
	return least
}

// BenchmarkParts measures what a union cannot do without, each part by itself, and then all of it.
// See bench/README.md.
func BenchmarkParts(b *testing.B) {
	inputs := benchLogs(b)
	var all []*hdrlog.Interval
	part(b, "read", 0, func() {
		for n := range inputs {
			f, err := inputs[n].Open()
			if err != nil {
				b.Fatal(err)
			}
			r := inputs[n].NewReader(f, 0)
			for batch := new(hdrlog.Batch); r.ReadBatch(batch); {
			}
			f.Close()
		}
	})
	windows := make(map[string][]*hdrlog.Interval)
	for n := range inputs {
		f, err := inputs[n].Open()
		if err != nil {
			b.Fatal(err)
		}
		r := inputs[n].NewReader(f, 0)
		for r.Scan() {
			if r.Record().Kind != hdrlog.IntervalRecord {
				continue
			}
			i := &r.Record().Clone().Interval
			all = append(all, i)
			if n < 2 {
				second := (i.StartMillis() - benchStart - later*int64(n) + 500) / 1000
				at := fmt.Sprintf("%s at %d s", i.Tag, second)
				windows[at] = append(windows[at], i)
			}
		}
		f.Close()
	}
	var d histogram.Decoder
	open := func(i *hdrlog.Interval) *histogram.Payload {
		p, err := d.Open(i.Payload)
		if err != nil {
			b.Fatal(err)
		}
		return p
	}
	openAll := func(then func(p *histogram.Payload)) func() {
		return func() {
			for _, i := range all {
				then(open(i))
			}
		}
	}
	opened := part(b, "base64 and inflate", 0, openAll(func(*histogram.Payload) {}))
	var raw []byte
	part(b, "check and hold", opened, openAll(func(p *histogram.Payload) {
		var err error
		if raw, err = p.AppendBinary(raw[:0]); err != nil {
			b.Fatal(err)
		}
	}))
	openJoined := part(b, "inflate of those that join", 0, func() {
		for _, members := range windows {
			for _, i := range members {
				open(i)
			}
		}
	})
	var sum histogram.Histogram
	var encoder histogram.Encoder
	each := func(then func()) func() {
		return func() {
			for _, members := range windows {
				for n, i := range members {
					p := open(i)
					if n == 0 {
						sum.Reset(p.Layout())
					}
					if err := p.AddTo(&sum); err != nil {
						b.Fatal(err)
					}
				}
				then()
			}
		}
	}
	added := part(b, "add", openJoined, each(func() {}))
	encoded := part(b, "encode", added, each(func() { raw = sum.AppendCounts(raw[:0]) }))
	deflated := part(b, "deflate", encoded, each(func() {
		if _, err := encoder.Encode(&sum); err != nil {
			b.Fatal(err)
		}
	}))
	part(b, "base64 of the result", deflated, each(func() {
		var err error
		if raw, err = encoder.AppendBase64(raw[:0], &sum); err != nil {
			b.Fatal(err)
		}
	}))
	write := func(workers int) func() {
		return func() {
			f, err := os.Create(filepath.Join(b.TempDir(), "union.hdr"))
			if err != nil {
				b.Fatal(err)
			}
			s := &scan.Scan{
				Inputs:  inputs,
				Workers: workers,
				Report:  func(err *hdrlog.SyntaxError, _ bool) error { return err },
			}
			if _, err := Write(f, s, Options{}); err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	}
	part(b, "union", 0, write(1))
	part(b, "union of two cores", 0, write(2))
	text, err := os.ReadFile(inputs[0].Name)
	if err != nil {
		b.Fatal(err)
	}
	part(b, "write", 0, func() {
		f, err := os.Create(filepath.Join(b.TempDir(), "union.hdr"))
		if err != nil {
			b.Fatal(err)
		}
		for range 7 { // 2.35 times a log
			for at := 0; at < len(text)/3; at += 64 << 10 {
				f.Write(text[at:min(at+64<<10, len(text)/3)])
			}
		}
		f.Close()
	})
}
