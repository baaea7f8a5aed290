package inflate

import (
	"bytes"
	stdzlib "compress/zlib"
	"io"
	"testing"

	kzlib "github.com/klauspost/compress/zlib"

	"hdrkit/hdrlog/internal/logtest"
)

// BenchmarkZlib inflates the payloads of the logs in testdata, or of the log that HDRKIT_BENCH_LOG
// names, which should be large: of few payloads, the processor learns every branch.
func BenchmarkZlib(b *testing.B) {
	all := logtest.Streams(b)
	dst := make([]byte, 1<<20)
	var d Decoder
	total := 0
	for _, p := range all {
		n, _, err := d.Zlib(dst, p)
		if err != nil {
			b.Fatal(err)
		}
		total += n
	}
	run := func(name string, inflate func(src []byte) error) {
		b.Run("impl="+name, func(b *testing.B) {
			b.SetBytes(int64(total))
			for b.Loop() {
				for _, p := range all {
					if err := inflate(p); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	run("hdrkit", func(src []byte) error {
		_, _, err := d.Zlib(dst, src)
		return err
	})
	in := bytes.NewReader(nil)
	readAll := func(r io.Reader, err error) error {
		for n := 0; err == nil; {
			var m int
			m, err = r.Read(dst[n:])
			n += m
		}
		if err == io.EOF {
			return nil
		}
		return err
	}
	klaus, _ := kzlib.NewReader(bytes.NewReader(all[0]))
	run("klauspost", func(src []byte) error {
		in.Reset(src)
		return readAll(klaus, klaus.(kzlib.Resetter).Reset(in, nil))
	})
	std, _ := stdzlib.NewReader(bytes.NewReader(all[0]))
	run("std", func(src []byte) error {
		in.Reset(src)
		return readAll(std, std.(stdzlib.Resetter).Reset(in, nil))
	})
}
