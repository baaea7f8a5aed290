// Package pipeline merges HdrHistogram logs in Apache Beam pipelines: on one machine or on many, in
// the same way as hdrunion -grid does.
//
// [Read] reads logs, each as one element, and merges their intervals by tag and window. [Union]
// merges what it read across logs, [Write] writes the result as logs, and [Summaries] sums it up by
// tag:
//
//	read := pipeline.Read(s, pipeline.Match(s, 8, "logs/*.hdr"), pipeline.Options{Grid: 10_000})
//	union := pipeline.Union(s, read)
//	pipeline.Write(s, read, union, "all.hdr", 0)
//
// A window, and what several intervals of it become, are those of package hdrkit/hdrlog/merge. All
// times are milliseconds. A pipeline gives the same bytes however a runner divides the work, and
// however often it repeats a part of it.
package pipeline

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/tags"
)

func init() {
	register.Function2x3(mergeSums)
}

// key returns the key of a window and tag: the window's start, of which the sign is flipped so that
// keys sort by time, then the kind of histogram, then the tag as [appendTag] has it.
func key(start int64, double bool, tag []byte) []byte {
	k := binary.BigEndian.AppendUint64(nil, uint64(start)^1<<63)
	kind := byte(0)
	if double {
		kind = 1
	}
	return appendTag(append(k, kind), tag)
}

// appendTag appends 0 for no tag, or 1 and the tag. So untagged intervals sort first.
func appendTag(k, tag []byte) []byte {
	if tag == nil {
		return append(k, 0)
	}
	return append(append(k, 1), tag...)
}

// parseKey returns what [key] was made of.
func parseKey(k []byte) (start int64, double bool, tag []byte, err error) {
	if len(k) < 10 || k[8] > 1 || k[9] > 1 {
		return 0, false, nil, fmt.Errorf("%q is no key of a window and tag", k)
	}
	if k[9] == 1 {
		tag = k[10:]
	}
	return int64(binary.BigEndian.Uint64(k) ^ 1<<63), k[8] == 1, tag, nil
}

// Union merges what was read, across logs. Its result has the key and the encoded [merge.Sum] of
// each tag and window.
//
// It groups sums and merges each group at once. [Read] has combined them before. A runner that
// lifts combiners before the shuffle would decode and encode each sum once more, which took a
// seventh of the time for 12 logs of 38 MB.
func Union(s beam.Scope, read Logs) beam.PCollection {
	s = s.Scope("hdrkit.Union")
	return beam.ParDo(s, mergeSums, beam.GroupByKey(s, read.Sums))
}

// mergeSums merges the encoded sums of a key.
func mergeSums(k []byte, sums func(*[]byte) bool) ([]byte, []byte, error) {
	var data []byte
	sums(&data)
	data, err := unspill(data)
	if err != nil {
		return nil, nil, err
	}
	m := mergers.Get().(*merger)
	defer mergers.Put(m)
	only := data
	more := sums(&data)
	if !more && only[0] != packed {
		return k, only, nil
	}
	err = setSum(&m.sum, only)
	for ; more && err == nil; more = sums(&data) {
		if data, err = unspill(data); err != nil {
			break
		}
		if err = setSum(&m.other, data); err == nil {
			err = m.sum.Merge(&m.other)
		}
	}
	if err == nil {
		data, err = m.sum.MarshalBinary()
	}
	if err != nil {
		_, _, tag, _ := parseKey(k)
		return nil, nil, fmt.Errorf("tag %s: %w", tags.Text(tag), err)
	}
	return k, data, nil
}

// A merger is memory to merge sums. To allocate it for each key takes a sixth of the CPU time of
// windows of 1 s.
type merger struct{ sum, other merge.Sum }

var mergers = sync.Pool{New: func() any { return new(merger) }}

// packed begins a sum that [merge.Sum.AppendPacked] encoded. Others begin with their version.
const packed = 0xfe

// setSum makes s the sum that was encoded.
func setSum(s *merge.Sum, data []byte) error {
	if len(data) > 0 && data[0] == packed {
		return s.SetPacked(data[1:])
	}
	return s.UnmarshalBinary(data)
}

// place is where an interval stands.
type place struct {
	File string
	Line int
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// compare orders places by file and line.
func (p place) compare(q place) int {
	if p.File != q.File {
		return bytes.Compare([]byte(p.File), []byte(q.File))
	}
	return p.Line - q.Line
}

// checkKinds returns an error for the first tag that has integer and double histograms.
func checkKinds(facts []facts) error {
	type firsts struct{ integers, doubles *place }
	found := make(map[string]*firsts)
	for _, f := range facts {
		for _, first := range f.Firsts {
			t := found[string(appendTag(nil, first.Tag))]
			if t == nil {
				t = new(firsts)
				found[string(appendTag(nil, first.Tag))] = t
			}
			at := &t.integers
			if first.Double {
				at = &t.doubles
			}
			if p := (place{f.File, first.Line}); *at == nil || p.compare(**at) < 0 {
				*at = &p
			}
		}
	}
	for _, k := range slices.Sorted(maps.Keys(found)) {
		t := found[k]
		if t.integers == nil || t.doubles == nil {
			continue
		}
		var tag []byte
		if k[0] == 1 {
			tag = []byte(k[1:])
		}
		return fmt.Errorf("tag %s: %w: integers at %v, doubles at %v", tags.Text(tag), histogram.ErrKind, t.integers, t.doubles)
	}
	return nil
}
