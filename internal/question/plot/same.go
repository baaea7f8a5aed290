package plot

import (
	"maps"
	"regexp"
	"slices"

	"hdrkit/internal/base/writers"
	"hdrkit/internal/chart"
	"hdrkit/tags"
)

// dropSameRequests makes the scan of a report leave out tags that count the same requests as other
// tags, unless the user chose tags. Otherwise the sum of all tags would count requests several
// times. It returns the first tags that count the same requests, nil for none.
func (d *decision) dropSameRequests() (first []string, err error) {
	sums := !d.asked.Page && d.drawn.Chart.Marks == chart.Cells
	if d.surveyed == nil || !sums || d.asked.Logs.Tags.Include != nil || d.asked.Logs.Tags.Exclude != nil {
		return nil, nil
	}
	kept := slices.Sorted(maps.Keys(d.surveyed.names))
	var dropped []string
	for {
		same, ok := writers.SameAmong(kept)
		if !ok || same.Other != "" {
			break
		}
		if first == nil {
			first = same.Tags
		}
		for _, tag := range same.Tags[1:] {
			dropped = append(dropped, regexp.QuoteMeta(tag))
		}
		kept = slices.DeleteFunc(kept, func(tag string) bool { return slices.Contains(same.Tags[1:], tag) })
	}
	if dropped == nil {
		return nil, nil
	}
	d.scan.Selection.Tags, err = tags.NewFilter(nil, dropped)
	return first, err
}
