package output

import (
	"encoding/json"
	"io"
	"math"
	"time"

	"hdrkit/tags"
)

// A Document is the output of hdrsum -st json. New versions may add fields, but never change or remove one.
type Document struct {
	// UnitRatio is the number that values were divided by.
	UnitRatio float64 `json:"unitRatio"`
	// PeriodMs is the time that throughput is computed from, in milliseconds. PeriodMode says how it was computed.
	PeriodMs   int64  `json:"periodMs"`
	PeriodMode string `json:"periodMode"`
	// Inputs are the names of the logs.
	Inputs []string `json:"inputs"`
	// SkippedLines is the number of malformed lines.
	SkippedLines int `json:"skippedLines"`
	// Summaries has one element for each tag, untagged intervals first, or a single one for all tags together.
	Summaries []DocumentSummary `json:"summaries"`
}

// A DocumentSummary is a [Summary] as JSON. Values are divided by the unit ratio. A value is null if nothing was recorded.
type DocumentSummary struct {
	// Tag is [tags.Text]. It is null for untagged intervals and for the sum of all tags.
	Tag *string `json:"tag"`
	// Intervals is the number of intervals, TotalCount the number of values.
	Intervals  int64 `json:"intervals"`
	TotalCount int64 `json:"totalCount"`
	// Throughput is values per second of the period, null if the period is zero.
	Throughput *float64 `json:"throughput"`
	// Start is the start of the first interval and End the end of the last one.
	Start   string `json:"start"`
	End     string `json:"end"`
	StartMs int64  `json:"startMs"`
	EndMs   int64  `json:"endMs"`
	// SignificantDigits is the precision of the values, in decimal digits.
	SignificantDigits int                  `json:"significantDigits"`
	Min               *json.Number         `json:"min"`
	Mean              *json.Number         `json:"mean"`
	StdDev            *json.Number         `json:"stdDev"`
	Max               *json.Number         `json:"max"`
	Percentiles       []DocumentPercentile `json:"percentiles"`
}

// A DocumentPercentile is the value at a percentile.
type DocumentPercentile struct {
	Percentile float64      `json:"percentile"`
	Value      *json.Number `json:"value"`
}

// NewDocument returns a document of summaries with their values at percentiles. The period is that of the first summary.
func NewDocument(summaries []*Summary, scale Scale, percentiles []float64) (*Document, error) {
	doc := &Document{UnitRatio: scale.ratio(), Inputs: []string{}, Summaries: []DocumentSummary{}}
	for _, s := range summaries {
		if s.Histogram == nil {
			return nil, ErrNoHistogram
		}
		doc.Summaries = append(doc.Summaries, documentSummary(s, scale, percentiles))
	}
	if len(summaries) > 0 {
		doc.PeriodMs = summaries[0].Period
	}
	return doc, nil
}

// JSON writes a document.
func JSON(w io.Writer, doc *Document) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(doc)
}

func documentSummary(s *Summary, scale Scale, percentiles []float64) DocumentSummary {
	h := s.Histogram
	d := DocumentSummary{
		Intervals:         s.Intervals,
		TotalCount:        h.TotalCount(),
		Throughput:        finite(s.throughput()),
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
	value := func(v Value) *json.Number {
		if h.TotalCount() == 0 || finite(v.float) == nil {
			return nil
		}
		n := json.Number(scale.text(v))
		return &n
	}
	d.Min = value(ValueOf(h, h.Min()))
	d.Mean = value(Value{float: h.Mean()})
	d.StdDev = value(Value{float: h.StdDev()})
	d.Max = value(ValueOf(h, h.Max()))
	for _, p := range percentiles {
		d.Percentiles = append(d.Percentiles, DocumentPercentile{p, value(ValueOf(h, h.ValueAtPercentile(p)))})
	}
	return d
}

// finite returns v, or nil if JSON has no number for it.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func rfc3339(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
