package summary

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"
	"sync"

	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// ErrManyTags is the error if the windows of all tags take too much memory.
var ErrManyTags = errors.New("the counts of so many tags in windows take too much memory: choose tags with -incT, or add them up with -it")

const (
	// mostBytes is the memory of the counts of all windows. If they take more, longer windows
	// replace them.
	mostBytes = 64 << 20
	// mostWindows is the largest number of windows of a tag. More take time, and tell no more.
	mostWindows = 1 << 14
)

// Runs keep what each tag recorded in each window of absolute time, in memory that does not grow
// with the log. The zero value is ready.
type Runs struct {
	// Size is the size of windows in milliseconds. Longer intervals make longer windows.
	Size int64

	tags    map[string][]piece
	longest int64 // interval
	first   int64 // start
	last    int64 // end
	bytes   int
	coarse  int64 // the size of the windows that pieces were merged to, 0 if they were not
	err     error
}

// A piece is one interval, or what the intervals of a window add up to. Covered is the time that
// they cover together, and counts is a payload that is not compressed.
type piece struct {
	start, end, covered int64
	counts              []byte
}

// pieceBytes is the memory of a piece without its counts.
const pieceBytes = 96

// add adds the counts of an interval, and keeps a copy. A key is that of keyOf.
func (r *Runs) add(key string, v scan.Visit, counts []byte) {
	if r.err != nil {
		return
	}
	if r.tags == nil {
		r.tags = make(map[string][]piece)
		r.first, r.last = math.MaxInt64, math.MinInt64
	}
	p := piece{start: v.StartMillis(), end: v.EndMillis(), counts: bytes.Clone(counts)}
	p.covered = p.end - p.start
	r.tags[key] = append(r.tags[key], p)
	r.longest = max(r.longest, p.covered)
	r.first, r.last = min(r.first, p.start), max(r.last, p.end)
	if r.bytes += pieceBytes + len(p.counts); r.bytes > mostBytes {
		r.coarsen()
	}
}

// size returns the size of windows.
func (r *Runs) size() int64 {
	size := max(r.Size, r.longest, 1)
	if r.coarse > 0 {
		for size = r.coarse; size < r.longest; {
			size *= 2
		}
	}
	for (r.last-r.first)/size >= mostWindows {
		size *= 2
	}
	return size
}

// coarsen merges pieces to windows until half of the memory is free.
func (r *Runs) coarsen() {
	for r.coarse = r.size(); ; r.coarse *= 2 {
		r.bytes = 0
		for key, pieces := range r.tags {
			merged, err := windowsOf(pieces, r.coarse)
			if err != nil {
				r.err = err
				return
			}
			r.tags[key] = merged
			for _, p := range merged {
				r.bytes += pieceBytes + len(p.counts)
			}
		}
		if r.bytes <= mostBytes/2 {
			return
		}
		if (r.last-r.first)/r.coarse < 2*confidence.MinWindows {
			r.tags, r.err = nil, ErrManyTags
			return
		}
	}
}

// windowsOf adds up the pieces of each window. The result is in the order of time.
func windowsOf(pieces []piece, size int64) ([]piece, error) {
	at := func(p *piece) int64 { return merge.WindowOf(p.start, p.end, size).Start }
	slices.SortStableFunc(pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(at(&a), at(&b)), cmp.Compare(a.start, b.start))
	})
	var c counter
	var merged []piece
	for first := 0; first < len(pieces); {
		m, next := pieces[first], first+1
		for ; next < len(pieces) && at(&pieces[next]) == at(&m); next++ {
			p := &pieces[next]
			if p.end > m.end {
				m.covered += min(p.covered, p.end-max(p.start, m.end))
				m.end = p.end
			}
		}
		if next > first+1 {
			var err error
			if m.counts, err = c.sum(pieces[first:next]); err != nil {
				return nil, err
			}
		}
		merged, first = append(merged, m), next
	}
	return merged, nil
}

// A counter decodes pieces.
type counter struct {
	decoder histogram.Decoder
	scratch histogram.Histogram
}

// counts returns the counts of a piece. They are valid until the next call.
func (c *counter) counts(p *piece) (*histogram.Histogram, error) {
	payload, err := c.decoder.OpenBinary(p.counts)
	if err != nil {
		return nil, err
	}
	return &c.scratch, payload.Decode(&c.scratch)
}

// sum returns the counts of several pieces.
func (c *counter) sum(pieces []piece) ([]byte, error) {
	var sum histogram.Histogram
	for n := range pieces {
		h, err := c.counts(&pieces[n])
		if err == nil {
			err = sum.Add(h)
		}
		if err != nil {
			return nil, err
		}
	}
	return sum.AppendBinary(nil)
}

// windows returns the windows of a tag, whose sum has a ratio, and when the first one starts. They
// share memory.
func (r *Runs) windows(key string, ratio float64) (windows []confidence.Window, start int64, err error) {
	if r.err != nil || len(r.tags[key]) == 0 {
		return nil, 0, r.err
	}
	size := r.size()
	pieces, err := windowsOf(r.tags[key], size)
	if err != nil {
		return nil, 0, err
	}
	c := new(counter)
	first := merge.WindowOf(pieces[0].start, pieces[0].end, size).Start
	for n := range pieces {
		p := &pieces[n]
		at := (merge.WindowOf(p.start, p.end, size).Start - first) / size
		windows = append(windows, make([]confidence.Window, int(at)-len(windows))...)
		windows = append(windows, &window{p, c, ratio})
	}
	return windows, first, nil
}

// A window is a piece as a [confidence.Window]. Its values are multiples of ratio.
type window struct {
	*piece
	counter *counter
	ratio   float64
}

// Seconds implements [confidence.Window].
func (w *window) Seconds() float64 { return float64(w.covered) / 1000 }

// Count implements [confidence.Window].
func (w *window) Count(upTo, counts []int64) (total int64, sum float64) {
	h, err := w.counter.counts(w.piece)
	if err != nil {
		return 0, 0 // cannot be: it was decoded before
	}
	factor := h.Ratio() / w.ratio
	if factor != 1 {
		upTo = slices.Clone(upTo)
		for n := range upTo {
			upTo[n] = int64(float64(upTo[n]) / factor)
		}
	}
	total, sum = confidence.HistogramWindow{Histogram: h}.Count(upTo, counts)
	return total, sum * factor
}

// Believe gives each summary the intervals of its figures, at a level of confidence.
func (r *Result) Believe(runs *Runs, percentiles []float64, level float64, workers int) error {
	var group sync.WaitGroup
	defer group.Wait()
	free := make(chan struct{}, max(workers, 1))
	for _, s := range r.Summaries {
		sum := s.Counts()
		windows, _, err := runs.windows(string(keyOf(s.Tag)), sum.Ratio())
		if err != nil {
			return err
		}
		if windows == nil {
			continue
		}
		run, size := confidence.NewRun(sum, windows), runs.size()
		free <- struct{}{}
		group.Go(func() {
			s.Confidence = output.NewConfidence(run, percentiles, level, size)
			<-free
		})
	}
	return nil
}

// keyOf returns a key of a tag. Untagged intervals differ from those of an empty tag.
func keyOf(tag []byte) []byte {
	if tag == nil {
		return nil
	}
	return append([]byte{'='}, tag...)
}
