package plot

import (
	"slices"

	"hdrkit/internal/base/message"
	"hdrkit/internal/chart"
	"hdrkit/output"
)

// A fleet says that a picture has a row for each of many logs, coloured by a percentile.
type fleet struct{ percentile float64 }

// fleetOf decides whether a picture has a row for each log: a heat map or a report with -by input,
// of more logs than charts can show, if these ran at the same time. It returns nil for other
// pictures.
func (d *decision) fleetOf() (*fleet, error) {
	logs := len(d.scan.Inputs)
	isMap := (d.asked.Type == chart.Heatmap || d.asked.Type == chart.Report) && !d.asked.Page
	isFleet := isMap && !d.asked.Compare && d.by.Inputs() && logs > chart.MaxTogether && d.surveyed.ranTogether(logs)
	given := len(d.asked.Percentiles)
	switch {
	case isMap && given > 0 && !isFleet:
		return nil, message.Usagef("-p: -type %s shows a percentile only with -by input, of more than %d logs that ran at "+
			"the same time", d.asked.Type.Name, chart.MaxTogether)
	case isMap && given > 1:
		return nil, message.Usagef("-p: -type %s shows one percentile of many logs, and there are %d", d.asked.Type.Name, given)
	case !isFleet:
		return nil, nil
	case given == 1:
		return &fleet{percentile: d.asked.Percentiles[0]}, nil
	}
	return &fleet{percentile: 99}, nil
}

// heightOf returns the height of the picture. A picture with a row for each log is higher, unless
// the user chose the height.
func (d *decision) heightOf() float64 {
	height, rows := d.asked.Looks.Height, chart.FleetHeight(len(d.scan.Inputs))
	switch {
	case d.fleet == nil || d.asked.HeightGiven:
		return height
	case d.asked.Type == chart.Heatmap:
		const around, least = 130, 400 // pixels: the height of axis and texts, and of the whole picture
		return max(around+rows, least)
	}
	return height + rows
}

// ranTogether reports whether at least half of the logs ran at the same time. It is false without a
// survey.
func (s *survey) ranTogether(logs int) bool {
	if s == nil {
		return false
	}
	slices.Sort(s.starts)
	slices.Sort(s.ends)
	ended := 0
	for n, start := range s.starts {
		for s.ends[ended] <= start {
			ended++
		}
		if 2*(n+1-ended) >= logs {
			return true
		}
	}
	return false
}

// ratiosOf returns the rows of a picture of many logs, nil for other pictures. Rows of the same tag
// are compared with one another.
func ratiosOf(picture *chart.Picture, p *plan, rows []row) *chart.Ratios {
	if p.content.fleet == nil {
		return nil
	}
	level := p.content.fleet.percentile
	figures, tagOf := make(map[string]float64), make(map[string]string)
	for _, row := range rows {
		_, tagOf[row.Label] = p.labels.split(row.sum.Tag)
		for _, p := range output.RanksOf(row.sum.Counts(), []float64{level}, output.Stats{}).Percentiles {
			figures[row.Label] = row.sum.Scale.Of(p.Value.Float())
		}
	}
	return picture.RatiosOf(chart.AtPercentile(level).Name, figures, tagOf)
}
