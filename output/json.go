package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"time"

	"hdrkit/tags"
)

// A Document is the output of hdrsum -st json. New versions may add fields, but never change or
// remove one.
type Document struct {
	// UnitRatio is the number that values were divided by.
	UnitRatio float64 `json:"unitRatio"`
	// Unit is the unit of values, null if it is unknown.
	Unit *string `json:"unit"`
	// PeriodMs is the time that throughput is computed from, in milliseconds. PeriodMode says how
	// it was computed.
	PeriodMs   int64  `json:"periodMs"`
	PeriodMode string `json:"periodMode"`
	// Inputs are the names of the logs.
	Inputs []string `json:"inputs"`
	// SkippedLines is the number of malformed lines.
	SkippedLines int `json:"skippedLines"`
	// Summaries has one element for each tag, untagged intervals first, or a single one for all
	// tags together.
	Summaries []DocumentSummary `json:"summaries"`
	// Baseline is what the logs are compared with. It is missing if they are not compared.
	Baseline *DocumentBaseline `json:"baseline,omitempty"`
	// Limits has one element for each limit and tag. It is missing if there are no limits.
	Limits []DocumentLimit `json:"limits,omitempty"`
}

// A DocumentBaseline is the part of a [Document] that is about the baseline.
type DocumentBaseline struct {
	PeriodMs  int64             `json:"periodMs"`
	Inputs    []string          `json:"inputs"`
	Summaries []DocumentSummary `json:"summaries"`
}

// A DocumentLimit says whether a limit holds for a tag.
type DocumentLimit struct {
	// Tag is the printed text of the tag, "default" for untagged intervals.
	Tag   string `json:"tag"`
	Limit string `json:"limit"`
	Holds bool   `json:"holds"`
	// Value is the statistic and Bound what it must be at most, or at least. They are null if there
	// is nothing to check; then Missing says why.
	Value   *float64 `json:"value"`
	Bound   *float64 `json:"bound"`
	Missing string   `json:"missing,omitempty"`
	// Baseline is the statistic of the baseline. It is missing if the limit is not relative.
	Baseline *float64 `json:"baseline,omitempty"`
	// Unit is the unit of the limit, empty if the limit is in printed units.
	Unit string `json:"unit,omitempty"`
}

// A TagList is the output of hdrsum -lt -st json.
type TagList struct {
	Inputs       []string      `json:"inputs"`
	SkippedLines int           `json:"skippedLines"`
	Tags         []DocumentTag `json:"tags"`
}

// A DocumentTag is a tag with its numbers of intervals and values.
type DocumentTag struct {
	Tag        *string `json:"tag"`
	Intervals  int64   `json:"intervals"`
	TotalCount int64   `json:"totalCount"`
}

// NewTagList returns the tags of summaries.
func NewTagList(summaries []*Summary) (*TagList, error) {
	list := &TagList{Inputs: []string{}, Tags: []DocumentTag{}}
	for _, s := range summaries {
		if s.Counts() == nil {
			return nil, ErrNoHistogram
		}
		list.Tags = append(list.Tags, DocumentTag{jsonTag(s.Tag), s.Intervals, s.Counts().TotalCount()})
	}
	return list, nil
}

// jsonTag returns a tag for JSON, nil for null.
func jsonTag(tag []byte) *string {
	if tag == nil {
		return nil
	}
	text := tags.Text(tag)
	return &text
}

// A DocumentSummary is a [Summary] as JSON. Values are divided by the unit ratio. A value is null
// if nothing was recorded.
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

// NewDocument returns a document of summaries with their values at percentiles, and times in a
// zone; nil is UTC. The period is that of the first summary.
func NewDocument(summaries []*Summary, scale Scale, percentiles []float64, zone *time.Location) (*Document, error) {
	doc := &Document{UnitRatio: scale.ratio(), Inputs: []string{}, Summaries: []DocumentSummary{}}
	for _, s := range summaries {
		if s.Counts() == nil {
			return nil, ErrNoHistogram
		}
		doc.Summaries = append(doc.Summaries, documentSummary(s, scale, percentiles, zone))
	}
	if len(summaries) > 0 {
		doc.PeriodMs = summaries[0].Period
	}
	if scale.Unit != "" {
		doc.Unit = &scale.Unit
	}
	return doc, nil
}

// Compare adds a baseline to the document.
func (d *Document) Compare(baseline *Document) {
	d.Baseline = &DocumentBaseline{baseline.PeriodMs, baseline.Inputs, baseline.Summaries}
}

// JSON writes a [Document] or a [TagList].
func JSON(w io.Writer, doc any) error {
	if d, ok := doc.(*Document); ok {
		return d.write(w)
	}
	text, err := indented(doc, "")
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}

// write writes the document with one summary after another. The text of all of them takes much more
// memory than they do: 300 MB for 100,000 tags.
func (d *Document) write(w io.Writer) error {
	head := *d
	head.Summaries = nil
	text, err := indented(head, "")
	if err != nil {
		return err
	}
	before, after, _ := bytes.Cut(text, []byte("\n  \"summaries\": null"))
	out := bufio.NewWriter(w)
	out.Write(before)
	out.WriteString("\n  \"summaries\": [")
	for n := range d.Summaries {
		text, err := indented(&d.Summaries[n], "    ")
		if err != nil {
			return err
		}
		if n > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		out.Write(text)
	}
	if len(d.Summaries) > 0 {
		out.WriteString("\n  ")
	}
	out.WriteByte(']')
	out.Write(after)
	out.WriteByte('\n')
	return out.Flush() // returns the first error
}

// indented returns a value as JSON. All lines but the first begin with prefix.
func indented(value any, prefix string) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent(prefix, "  ")
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

func documentSummary(s *Summary, scale Scale, percentiles []float64, zone *time.Location) DocumentSummary {
	h := s.Counts()
	d := DocumentSummary{
		Tag:               jsonTag(s.Tag),
		Intervals:         s.Intervals,
		TotalCount:        h.TotalCount(),
		Throughput:        finite(s.Throughput()),
		Start:             rfc3339(s.Start, zone),
		End:               rfc3339(s.End, zone),
		StartMs:           s.Start,
		EndMs:             s.End,
		SignificantDigits: h.Layout().Digits,
		Percentiles:       []DocumentPercentile{},
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
	for n, v := range h.AppendValuesAtPercentiles(nil, percentiles) {
		d.Percentiles = append(d.Percentiles, DocumentPercentile{percentiles[n], value(ValueOf(h, v))})
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

// rfc3339 returns a time in a zone; nil is UTC.
func rfc3339(ms int64, zone *time.Location) string {
	if zone == nil {
		zone = time.UTC
	}
	return time.UnixMilli(ms).In(zone).Format("2006-01-02T15:04:05.000Z07:00")
}
