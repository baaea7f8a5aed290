package merge

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync/atomic"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
)

// A TagSum is what all intervals of a tag add up to.
type TagSum struct {
	Tag []byte // nil if the intervals are untagged
	Sum
}

// ByTag reads logs to their ends, one after another, and returns a sum for each tag, in the order
// of tags, no tag first. It decodes on all cores; see [hdrlog.Decode].
//
// Report is called with a [*hdrlog.SyntaxError] for each line that cannot be read, decoded or
// added, in the order of the logs, and the sums are without it. If a tag has histograms of integers
// and of doubles, its first one decides which are added. If report is nil, the first such line ends
// the reading. The error is that one, the error that ended a log, or a [*SumError] of a tag whose
// counts do not add up otherwise.
func ByTag(report func(error), logs ...*hdrlog.Reader) ([]*TagSum, error) {
	var size atomic.Int64
	parts := make([]*tagSums, runtime.GOMAXPROCS(0))
	for n := range parts {
		parts[n] = &tagSums{sums: make(map[string]*TagSum), size: &size}
	}
	kinds := make(map[string]bool) // whether the first interval of a tag is of doubles
	for _, log := range logs {
		if err := readTags(log, parts, kinds, report); err != nil {
			return nil, err
		}
	}
	all := make([]*TagSum, 0, len(kinds))
	for _, tag := range slices.Sorted(maps.Keys(kinds)) {
		key := string(kindKey(nil, kinds[tag])) + tag
		var sum *TagSum
		for _, part := range parts {
			s := part.sums[key]
			if sum == nil || s == nil {
				sum = cmp.Or(sum, s)
			} else if err := sum.Merge(&s.Sum); err != nil {
				return nil, fmt.Errorf("tag %q: %w", sum.Tag, err)
			}
		}
		all = append(all, sum)
	}
	return all, nil
}

// readTags adds a log to the parts, one for each worker.
func readTags(log *hdrlog.Reader, parts []*tagSums, kinds map[string]bool, report func(error)) error {
	next := 0
	worker := func() func(*hdrlog.Interval, *bool) error {
		next++
		return parts[next-1].add
	}
	var tag []byte
	for i, err := range hdrlog.Decode(log, len(parts), worker) {
		if err == nil {
			tag = AppendKey(tag[:0], i.Tag)
			double, known := kinds[string(tag)]
			if !known {
				kinds[string(tag)] = *i.Result
			} else if double != *i.Result {
				err = &hdrlog.SyntaxError{
					File:  log.Name(),
					Line:  i.Line,
					Field: "payload",
					Err:   &SumError{histogram.ErrKind},
				}
			}
		}
		if err == nil {
			continue
		}
		if _, isLine := err.(*hdrlog.SyntaxError); !isLine || report == nil {
			return err
		}
		report(err)
	}
	return nil
}

// tagSums are the sums of a worker, by [kindKey] and tag.
type tagSums struct {
	sums    map[string]*TagSum
	size    *atomic.Int64 // of the sums of all workers
	decoder histogram.Decoder
	key     []byte
}

// kindKey appends what is a key of its own for doubles.
func kindKey(key []byte, double bool) []byte {
	if double {
		return append(key, 'd')
	}
	return append(key, 'i')
}

// add adds an interval. It sets double if that is a histogram of doubles.
func (t *tagSums) add(i *hdrlog.Interval, double *bool) error {
	p, err := t.decoder.Open(i.Payload)
	if err != nil {
		return err
	}
	*double = p.Double()
	t.key = AppendKey(kindKey(t.key[:0], *double), i.Tag)
	s := t.sums[string(t.key)]
	if s == nil {
		s = &TagSum{Tag: bytes.Clone(i.Tag)}
	}
	before := s.Size()
	if s.Intervals() < 2 && t.size.Load() > manyBytes {
		s.Compact()
	}
	if err := s.AddPayload(i, p); err != nil {
		return err
	}
	t.sums[string(t.key)] = s
	t.size.Add(int64(s.Size() - before))
	return nil
}
