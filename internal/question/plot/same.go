package plot

import (
	"maps"
	"regexp"
	"slices"

	"hdrkit/internal/base/writers"
	"hdrkit/internal/chart"
	"hdrkit/tags"
)

// dropSameRequests leaves out tags of a report that count the same requests as other tags, unless
// the user chose tags. Otherwise the sum of all tags would count requests several times.
func (d *decision) dropSameRequests() error {
	sums := d.plan.needs.findings && !d.asked.Page && d.drawn.Chart.Marks == chart.Cells
	if d.surveyed == nil || !sums || d.asked.Logs.Tags.Include != nil || d.asked.Logs.Tags.Exclude != nil {
		return nil
	}
	kept := slices.Sorted(maps.Keys(d.surveyed.names))
	var dropped []string
	for {
		same, ok := writers.SameAmong(kept)
		if !ok || same.Other != "" {
			break
		}
		if d.plan.content.same == nil {
			d.plan.content.same = same.Tags
		}
		for _, tag := range same.Tags[1:] {
			dropped = append(dropped, regexp.QuoteMeta(tag))
		}
		kept = slices.DeleteFunc(kept, func(tag string) bool { return slices.Contains(same.Tags[1:], tag) })
	}
	if dropped == nil {
		return nil
	}
	filter, err := tags.NewFilter(nil, dropped)
	if err != nil {
		return err
	}
	d.scan.Selection.Tags = filter
	return nil
}
