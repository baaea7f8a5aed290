package output

import (
	"encoding/json"
	"io"
	"math"
	"time"

	"hdrkit/tags"
)

// A Document is what hdrsum -st json writes. Fields are only ever added to it.
type Document struct {
	// UnitRatio is what values were divided by.
	UnitRatio float64 `json:"unitRatio"`
	// PeriodMs is how long was measured, in milliseconds, and PeriodMode how that was reckoned.
	PeriodMs   int64  `json:"periodMs"`
	PeriodMode string `json:"periodMode"`
	// Inputs are the logs that were read, by name.
	Inputs []string `json:"inputs"`
	// SkippedLines is how many lines of them could not be read.
	SkippedLines int `json:"skippedLines"`
	// Summaries has one element for each tag, the untagged intervals first, or a single one for all tags together.
	Summaries []DocumentSummary `json:"summaries"`
}

// A DocumentSummary is a Summary as JSON has it. Values are divided by the unit ratio, and null where there are none.
type DocumentSummary struct {
	// Tag is null for untagged intervals and for the sum of all tags.
	Tag *string `json:"tag"`
	// Intervals is how many intervals were added up, TotalCount how many values they hold.
	Intervals  int64 `json:"intervals"`
	TotalCount int64 `json:"totalCount"`
	// Throughput is values a second of the period; null if that is zero.
	Throughput *float64 `json:"throughput"`
	// Start and End are when the first interval began and the last one ended, also in milliseconds since the epoch.
	Start   string `json:"start"`
	End     string `json:"end"`
	StartMs int64  `json:"startMs"`
	EndMs   int64  `json:"endMs"`
	// SignificantDigits is the precision of the values, in decimal digits.
	SignificantDigits int                  `json:"significantDigits"`
	Min               *float64             `json:"min"`
	Mean              *float64             `json:"mean"`
	StdDev            *float64             `json:"stdDev"`
	Max               *float64             `json:"max"`
	Percentiles       []DocumentPercentile `json:"percentiles"`
}

// A DocumentPercentile is the value at a percentile.
type DocumentPercentile struct {
	Percentile float64  `json:"percentile"`
	Value      *float64 `json:"value"`
}

// JSON writes doc with the summaries in it.
func JSON(w io.Writer, doc Document, summaries []*Summary, o *Options) error {
	doc.UnitRatio, doc.PeriodMs = o.Ratio, o.Period
	doc.Summaries = []DocumentSummary{}
	for _, s := range summaries {
		doc.Summaries = append(doc.Summaries, documentSummary(s, o))
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(doc)
}

func documentSummary(s *Summary, o *Options) DocumentSummary {
	h := s.Histogram
	d := DocumentSummary{
		Intervals:         s.Intervals,
		TotalCount:        h.TotalCount(),
		Throughput:        finite(o.throughput(h)),
		Start:             rfc3339(s.Start),
		End:               rfc3339(s.End),
		StartMs:           s.Start,
		EndMs:             s.End,
		SignificantDigits: h.Layout().Digits,
		Percentiles:       []DocumentPercentile{},
	}
	if s.Tag != nil {
		tag := tags.Text(s.Tag)
		d.Tag = &tag
	}
	any := h.TotalCount() > 0
	value := func(v float64) *float64 {
		if !any {
			return nil
		}
		return finite(v)
	}
	d.Min = value(o.scaled(h, h.Min()))
	d.Mean = value(h.Mean() / o.Ratio)
	d.StdDev = value(h.StdDev() / o.Ratio)
	d.Max = value(o.scaled(h, h.Max()))
	for _, p := range o.Percentiles {
		d.Percentiles = append(d.Percentiles, DocumentPercentile{p, value(o.scaled(h, h.ValueAtPercentile(p)))})
	}
	return d
}

// finite returns v, or nil where JSON has no number for it.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func rfc3339(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
