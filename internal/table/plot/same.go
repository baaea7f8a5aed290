package plot

import (
	"maps"
	"regexp"
	"slices"

	"hdrkit/internal/base/writers"
	"hdrkit/internal/chart"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// chooseTimes leaves tags of a report out that count the same requests as others, if nobody chose
// tags: adding them up would count each request several times.
func (d *decision) chooseTimes(s *scan.Scan, names map[string]bool) error {
	if d.Type != chart.Report || d.Page || d.Compare || d.Include != nil || d.Exclude != nil {
		return nil
	}
	kept := slices.Sorted(maps.Keys(names))
	var left []string
	for {
		same, ok := writers.SameAmong(kept)
		if !ok || same.Other != "" {
			break
		}
		if d.same == nil {
			d.same = same.Tags
		}
		for _, tag := range same.Tags[1:] {
			left = append(left, regexp.QuoteMeta(tag))
		}
		kept = slices.DeleteFunc(kept, func(tag string) bool { return slices.Contains(same.Tags[1:], tag) })
	}
	if left == nil {
		return nil
	}
	filter, err := tags.NewFilter(nil, left)
	if err != nil {
		return err
	}
	d.chosen = filter
	return nil
}
