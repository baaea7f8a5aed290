// Package pipeline merges HdrHistogram logs in Apache Beam pipelines: on one machine or on many, in
// the same way as hdrunion -grid does.
//
// [Read] reads logs and merges their intervals by tag and window, within groups of logs. [Union]
// merges the results of all groups. [Write] writes the union as logs, and [Summaries] merges it by
// tag:
//
//	read := pipeline.Read(s, pipeline.Match(s, 8, "logs/*.hdr"), pipeline.Options{Grid: 10_000})
//	union := pipeline.Union(s, read)
//	pipeline.Write(s, read, union, "all.hdr", 0)
//
// Package hdrkit/hdrlog/merge defines windows, and how intervals of a window are merged. All times
// are milliseconds. A pipeline writes the same bytes however a runner divides the work, and however
// often it repeats a part.
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

// key returns the key of a window, a kind of histogram and a tag. It has the start of the window in
// eight bytes, big-endian and with the sign bit flipped, so that keys sort by time. A byte for the
// kind follows (1 for doubles), and then the tag as [appendTag] encodes it.
func key(start int64, double bool, tag []byte) []byte {
	k := binary.BigEndian.AppendUint64(nil, uint64(start)^1<<63)
	kind := byte(0)
	if double {
		kind = 1
	}
	return appendTag(append(k, kind), tag)
}

// appendTag appends a byte 0 for no tag, or a byte 1 and the tag. So intervals without a tag sort
// first.
func appendTag(k, tag []byte) []byte {
	if tag == nil {
		return append(k, 0)
	}
	return append(append(k, 1), tag...)
}

// parseKey is the reverse of [key]. The tag is a view of k.
func parseKey(k []byte) (start int64, double bool, tag []byte, err error) {
	if len(k) < 10 || k[8] > 1 || k[9] > 1 {
		return 0, false, nil, fmt.Errorf("%q is no key of a window and tag", k)
	}
	if k[9] == 1 {
		tag = k[10:]
	}
	return int64(binary.BigEndian.Uint64(k) ^ 1<<63), k[8] == 1, tag, nil
}

// Union merges sums of the same tag and window. The result has one element for each tag and window:
// the key and the encoded [merge.Sum].
//
// Union groups by key rather than combine. A runner may lift a combiner before the shuffle and so
// decode and encode each sum once more, which took a seventh of the time for 12 logs of 38 MB.
// [Read] merges within its groups already.
func Union(s beam.Scope, read Logs) beam.PCollection {
	s = s.Scope("hdrkit.Union")
	return beam.ParDo(s, mergeSums, beam.GroupByKey(s, read.Sums))
}

// mergeSums merges the encoded sums of a key. It returns the key and the encoded result.
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

// A merger has the memory for merging sums, which mergeSums reuses. Allocating it for each key took
// a sixth of the CPU time for windows of 1 s.
type merger struct{ sum, other merge.Sum }

var mergers = sync.Pool{New: func() any { return new(merger) }}

// packed is the first byte of a sum that [merge.Sum.AppendPacked] encoded. Sums that MarshalBinary
// encoded begin with a version, which is lower.
const packed = 0xfe

// setSum decodes a sum into s.
func setSum(s *merge.Sum, data []byte) error {
	if len(data) > 0 && data[0] == packed {
		return s.SetPacked(data[1:])
	}
	return s.UnmarshalBinary(data)
}

// A place is the file and the line of an interval.
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

// checkKinds returns an error if a tag has both integer and double histograms, which cannot be
// merged. It names the first such tag and the first place of each kind.
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
