package merge

import (
	"bytes"
	"maps"
	"slices"

	"hdrkit/hdrlog"
)

// A TagSum is what all intervals of a tag add up to.
type TagSum struct {
	Tag []byte // nil if the intervals are untagged
	Sum
}

// ByTag reads logs to their ends and returns a sum for each tag, in the order of tags, no tag
// first.
//
// Report is called with a [*hdrlog.SyntaxError] for each line that cannot be read, decoded or
// added, and the sums are without it. If report is nil, the first such line ends the reading. The
// error is that one, or the error that ended a log.
func ByTag(report func(error), logs ...*hdrlog.Reader) ([]*TagSum, error) {
	sums := make(map[string]*TagSum)
	var key []byte
	taken := 0
	for _, log := range logs {
		for record := range log.All() {
			var err error
			switch record.Kind {
			case hdrlog.IntervalRecord:
				i := &record.Interval
				key = AppendKey(key[:0], i.Tag)
				s := sums[string(key)]
				if s == nil {
					s = &TagSum{Tag: bytes.Clone(i.Tag)}
				}
				before := s.Size()
				if s.Intervals() < 2 && taken > manyBytes {
					s.Compact()
				}
				if err = s.Add(i); err != nil {
					err = &hdrlog.SyntaxError{
						File:  log.Name(),
						Line:  record.Line,
						Field: "payload",
						Err:   err,
					}
					break
				}
				sums[string(key)] = s
				taken += s.Size() - before
			case hdrlog.Malformed:
				err = record.Err
			}
			if err != nil && report == nil {
				return nil, err
			}
			if err != nil {
				report(err)
			}
		}
		if err := log.Err(); err != nil {
			return nil, err
		}
	}
	all := make([]*TagSum, 0, len(sums))
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		all = append(all, sums[key])
	}
	return all, nil
}
