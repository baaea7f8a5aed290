package hdrlog_test

import (
	"bytes"
	"os"
	"slices"
	"sync"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// addBatch adds the intervals of a batch to the sums of their tags.
func addBatch(t *testing.T, b *hdrlog.Batch, decoder *histogram.Decoder, sums map[string]*histogram.Histogram) {
	for i := range b.Records {
		rec := &b.Records[i]
		if rec.Kind != hdrlog.IntervalRecord {
			continue
		}
		p, err := decoder.Open(rec.Interval.Payload)
		if err != nil {
			t.Error(err)
			return
		}
		sum := sums[string(rec.Interval.Tag)]
		if sum == nil {
			if sum, err = histogram.New(p.Layout()); err != nil {
				t.Error(err)
				return
			}
			sums[string(rec.Interval.Tag)] = sum
		}
		if err := p.AddTo(sum); err != nil {
			t.Error(err)
		}
	}
}

// Batches that several goroutines decode, each into sums of its own, make the same sums as one
// goroutine does. Batches go back to the reader once they are decoded.
func TestConcurrent(t *testing.T) {
	var text []byte
	for _, name := range []string{"node1", "node2", "mixed-precision", "node3", "lowest1000", "many-tags"} {
		log, err := os.ReadFile("../testdata/logs/" + name + ".hdr")
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, log...)
	}
	text = bytes.Repeat(text, 4) // several batches

	want := make(map[string]*histogram.Histogram)
	var decoder histogram.Decoder
	all := 0
	for reader, b := hdrlog.NewReader(bytes.NewReader(text), "log"), new(hdrlog.Batch); reader.ReadBatch(b); {
		addBatch(t, b, &decoder, want)
		all++
	}
	if all < 4 {
		t.Errorf("only %d batches", all)
	}

	const workers = 4
	filled, empty := make(chan *hdrlog.Batch), make(chan *hdrlog.Batch, 2*workers)
	for range 2 * workers {
		empty <- new(hdrlog.Batch)
	}
	var sums [workers]map[string]*histogram.Histogram
	var group sync.WaitGroup
	for n := range sums {
		sums[n] = make(map[string]*histogram.Histogram)
		group.Go(func() {
			var decoder histogram.Decoder
			for b := range filled {
				addBatch(t, b, &decoder, sums[n])
				empty <- b
			}
		})
	}
	reader := hdrlog.NewReader(bytes.NewReader(text), "log")
	for b := <-empty; reader.ReadBatch(b); b = <-empty {
		filled <- b
	}
	close(filled)
	group.Wait()

	got := sums[0]
	for _, others := range sums[1:] {
		for tag, sum := range others {
			if got[tag] == nil {
				got[tag] = sum
			} else if err := got[tag].Add(sum); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d tags, want %d", len(got), len(want))
	}
	for tag, sum := range want {
		if got[tag] == nil || got[tag].Layout() != sum.Layout() || got[tag].TotalCount() != sum.TotalCount() ||
			!slices.Equal(slices.Collect(got[tag].Recorded()), slices.Collect(sum.Recorded())) {
			t.Errorf("the sums of tag %q differ", tag)
		}
	}
}
