package histogram

import (
	"bytes"
	"slices"
	"testing"
	"unsafe"

	"hdrkit/hdrlog/internal/logtest"
)

// FuzzVectors compares the assembly that passes over counts with loops that take one at a time. The
// memory behind both cannot be read.
func FuzzVectors(f *testing.F) {
	if !hasVectors() {
		f.Skip("this processor has no vectors, or the build leaves them out")
	}
	f.Add(bytes.Repeat([]byte{2, 0x7f, 6, 1}, 100))
	f.Add(append(bytes.Repeat([]byte{4}, 70), 0x80, 1))
	f.Add(bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0}, 64))
	f.Add(bytes.Repeat([]byte{0xff}, 512))
	f.Add(bytes.Repeat([]byte{1, 2, 3, 5, 7, 11, 13}, 500))
	guarded := logtest.NewGuard(f, 1<<16)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		if steps := len(data) / 64; steps > 0 {
			counts := asCounts(guarded(data[:64*steps]))
			total, weighted := weighEights(counts, steps)
			var wantTotal, wantWeighted int64
			for i, n := range counts {
				wantTotal += n
				wantWeighted += int64(i) * n
			}
			if total != wantTotal || weighted != wantWeighted {
				t.Errorf("weighs %d, %d; want %d, %d", total, weighted, wantTotal, wantWeighted)
			}
		}
		if pages := len(data) / (2 * 8 * pageSize); pages > 0 {
			half := 8 * pageSize * pages
			begin, counts := asCounts(slices.Clone(data[:half])), asCounts(slices.Clone(data[half:2*half]))
			want, sums := slices.Clone(begin), make([]int64, pages)
			for i, n := range counts {
				want[i] += n
				sums[i/pageSize] += n
			}
			slots := make([]int64, pages)
			sumPages(&slots[0], &asCounts(guarded(data[half : 2*half]))[0], pages)
			if !slices.Equal(slots, sums) {
				t.Errorf("sums of pages are %d, not %d", slots, sums)
			}
			slots = asCounts(guarded(data[:half]))
			addPages(&slots[0], &counts[0], pages)
			if !slices.Equal(slots, want) {
				t.Errorf("adds to %d, not %d", slots, want)
			}
			addPages(&begin[0], &asCounts(guarded(data[half : 2*half]))[0], pages)
			if !slices.Equal(begin, want) {
				t.Errorf("adds to %d, not %d", begin, want)
			}
		}
	})
}

// asCounts returns the memory of text as counts.
func asCounts(text []byte) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(&text[0])), len(text)/8)
}
