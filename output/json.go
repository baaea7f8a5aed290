package output

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"hdrkit/hdrlog/confidence"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/people"
	"hdrkit/tags"
)

// A Document is the output of hdrsum -st json. New versions may add fields, but never change or
// remove one. Its fields lie side by side as those of the JSON object do, and so do those of
// [DocumentSummary].
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
	// PhasesOverlap is set if summaries of phases have intervals in common.
	PhasesOverlap bool `json:"phasesOverlap,omitempty"`
	// Summaries has one element for each tag, untagged intervals first, or a single one for all
	// tags together.
	Summaries []DocumentSummary `json:"summaries"`
	// Findings are what the run shows, the most important first.
	Findings []Finding `json:"findings,omitempty"`
	// Sentence says what changed, if the logs are compared.
	Sentence string `json:"sentence,omitempty"`
	// Baseline is what the logs are compared with. It is missing if they are not compared.
	Baseline *DocumentBaseline `json:"baseline,omitempty"`
	// Changes has one element for each tag that both have. It is missing if nobody asked how far
	// changes can be believed.
	Changes []DocumentChange `json:"changes,omitempty"`
	// Limits has one element for each limit and tag. It is missing if there are no limits.
	Limits []DocumentVerdict `json:"limits,omitempty"`
	// Breaches are the times at which limits did not hold. It is missing without limits.
	Breaches *[]Breach `json:"breaches,omitempty"`
	// Moments are the worst ones, the worst first. It is missing if nobody asked.
	Moments *[]Moment `json:"worst,omitempty"`
	// Shares has one element for each tag of each log. It is missing if nobody asked.
	Shares *[]Share `json:"who,omitempty"`

	stream iter.Seq[DocumentSummary] // makes Summaries, nil if they are made
}

// A DocumentVerdict says whether a limit holds for a tag.
type DocumentVerdict struct {
	// Tag is the text of the tag, and Limit that of the limit.
	Tag   string `json:"tag"`
	Limit string `json:"limit"`
	// Verdict is holds, fails or undecided. Holds is null if the limit is undecided.
	Verdict string `json:"verdict"`
	Holds   *bool  `json:"holds"`
	// Value is the figure, and Bound what it must be at most or at least. Both are null if there is
	// nothing to check.
	Value *float64 `json:"value"`
	Bound *float64 `json:"bound"`
	// Worse is set if a relative limit is undecided, and its figure is beyond the bound.
	Worse bool `json:"worse,omitempty"`
	// Missing says why there is nothing to check, and Note why the limit is undecided.
	Missing string `json:"missing,omitempty"`
	Note    string `json:"note,omitempty"`
	// Baseline is what a relative limit is relative to. It is missing if the limit is not relative.
	Baseline *float64 `json:"baseline,omitempty"`
	// Unit is that of the values. It is missing if they are in the unit of the document, and of
	// throughput, count and apdex.
	Unit string `json:"unit,omitempty"`
}

// A DocumentBaseline is the part of a [Document] that is about the baseline.
type DocumentBaseline struct {
	PeriodMs  int64             `json:"periodMs"`
	Inputs    []string          `json:"inputs"`
	Summaries []DocumentSummary `json:"summaries"`
}

// A Tag is a tag whose JSON is [tags.Text], or null for untagged intervals and the sum of all tags.
type Tag []byte

// MarshalJSON implements [json.Marshaler].
func (t Tag) MarshalJSON() ([]byte, error) {
	if t == nil {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	err := JSON(&b, tags.Text(t))
	return b.Bytes(), err
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Tag) UnmarshalJSON(text []byte) error {
	var name *string
	err := json.Unmarshal(text, &name)
	*t = nil
	if name != nil {
		*t = tags.Parse(*name)
	}
	return err
}

// A Number is a number whose JSON is null if it is infinite or not a number.
type Number float64

// MarshalJSON implements [json.Marshaler].
func (n Number) MarshalJSON() ([]byte, error) {
	if v := float64(n); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return json.Marshal(v)
	}
	return []byte("null"), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Number) UnmarshalJSON(text []byte) error {
	var v *float64
	err := json.Unmarshal(text, &v)
	*n = Number(math.NaN())
	if v != nil {
		*n = Number(*v)
	}
	return err
}

// A Printed is a number as it is printed. It is empty if there is none, which is null in JSON.
type Printed string

// MarshalJSON implements [json.Marshaler].
func (p Printed) MarshalJSON() ([]byte, error) { return []byte(cmp.Or(p, "null")), nil }

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Printed) UnmarshalJSON(text []byte) error {
	var n *json.Number
	err := json.Unmarshal(text, &n)
	*p = ""
	if n != nil {
		*p = Printed(*n)
	}
	return err
}

// Float returns the number. It is not a number if there is none.
func (p Printed) Float() float64 {
	if v, err := strconv.ParseFloat(string(p), 64); err == nil {
		return v
	}
	return math.NaN()
}

// ReadDocument reads the output of hdrsum -st json or hdrdiff -st json, of any version.
func ReadDocument(r io.Reader) (*Document, error) {
	d := new(Document)
	if err := json.NewDecoder(r).Decode(d); err != nil {
		return nil, err
	}
	if !(d.UnitRatio > 0) || d.Summaries == nil {
		return nil, errDocument
	}
	return d, nil
}

var errDocument = errors.New("this is no output of -st json")

// A DocumentSummary is a [Summary] as JSON. Values are divided by the unit ratio. A value is null
// if nothing was recorded.
type DocumentSummary struct {
	// PeriodMs is the period of the row, if it is not that of the document.
	PeriodMs *int64 `json:"periodMs,omitempty"`
	Tag      Tag    `json:"tag"`
	// Input is the name of the log. It is missing if a summary can have several.
	Input string `json:"input,omitempty"`
	// UnitRatio is the number that values were divided by, if it is not that of the document.
	UnitRatio float64 `json:"unitRatio,omitempty"`
	// Intervals is the number of intervals, TotalCount the number of values.
	Intervals  int64 `json:"intervals"`
	TotalCount int64 `json:"totalCount"`
	// Throughput is values per second of the period, null if the period is zero.
	Throughput Number `json:"throughput"`
	// Start is the start of the first interval and End the end of the last one.
	Start   string `json:"start"`
	End     string `json:"end"`
	StartMs int64  `json:"startMs"`
	EndMs   int64  `json:"endMs"`
	// SignificantDigits is the precision of the values, in decimal digits.
	SignificantDigits int                  `json:"significantDigits"`
	Min               Printed              `json:"min"`
	Mean              Printed              `json:"mean"`
	StdDev            Printed              `json:"stdDev"`
	Max               Printed              `json:"max"`
	Percentiles       []DocumentPercentile `json:"percentiles"`
	// Values are the same values at percentiles, by names such as p99.
	Values map[string]Printed `json:"values"`
	// Shares are those of values above some that were asked for. It is missing if none was.
	Shares []DocumentShare `json:"shares,omitempty"`
	// Apdex are those that were asked for. It is missing if none was.
	Apdex []DocumentApdex `json:"apdex,omitempty"`
	// Confidence is missing if nobody asked how far the figures can be believed.
	Confidence *DocumentConfidence `json:"confidence,omitempty"`
}

// A DocumentConfidence says how far the figures of a summary can be believed.
type DocumentConfidence struct {
	// Level is the confidence of intervals in percent, and WindowMs the length of the windows that
	// they come from.
	Level      float64           `json:"level"`
	WindowMs   int64             `json:"windowMs"`
	Windows    int               `json:"windows"`
	Throughput *DocumentInterval `json:"throughput"`
	// Shift is missing if no shift was found.
	Shift *DocumentShift `json:"shift,omitempty"`
}

// A DocumentShift is where the level of a percentile shifts for good.
type DocumentShift struct {
	Percentile float64 `json:"percentile"`
	Start      string  `json:"start"`
	StartMs    int64   `json:"startMs"`
	// Before and After are about the values on both sides.
	Before Printed `json:"before"`
	After  Printed `json:"after"`
}

// A DocumentInterval is the interval of a figure.
type DocumentInterval struct {
	// Low and High are null if there is no limit, or if the run is too short.
	Low                Printed `json:"low"`
	High               Printed `json:"high"`
	IndependentWindows float64 `json:"independentWindows"`
	TooShort           bool    `json:"tooShort"`
}

// A DocumentChange is how the figures of a tag changed.
type DocumentChange struct {
	Tag Tag `json:"tag"`
	// RunsBefore and RunsAfter are 1 if one run was compared with one.
	RunsBefore  int                        `json:"runsBefore"`
	RunsAfter   int                        `json:"runsAfter"`
	Percentiles []DocumentPercentileChange `json:"percentiles"`
	Throughput  *DocumentFigureChange      `json:"throughput"`
	// Mean is missing if one run was compared with one.
	Mean *DocumentFigureChange `json:"mean,omitempty"`
}

// A DocumentPercentileChange is how the value at a percentile changed.
type DocumentPercentileChange struct {
	Percentile float64 `json:"percentile"`
	*DocumentFigureChange
}

// A DocumentFigureChange is how a figure changed. What cannot be computed is null.
type DocumentFigureChange struct {
	// Before and After are what is compared: of several runs, the geometric means of their figures.
	Before Number `json:"before"`
	After  Number `json:"after"`
	// Ratio is the figure after divided by the one before. Low and High are its interval.
	Ratio Number `json:"ratio"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
	// P is 1 - level/100 for the level at which the interval would just touch 1.
	P Number `json:"p"`
	// Significant is set if the change is proven, after Hochberg's correction over all changes.
	Significant bool `json:"significant"`
	// Paired is set if what both sides share cancels: two runs ran at the same time, or several
	// runs took turns.
	Paired bool `json:"paired,omitempty"`
	// Untimed is set if values have no times: the interval is right if they do not depend on each
	// other.
	Untimed bool `json:"untimed,omitempty"`
	// Least is the change, as a ratio above 1, that such runs mostly find.
	Least Number `json:"least,omitempty"`
}

// A DocumentShare is the share of values above one.
type DocumentShare struct {
	Above   float64 `json:"above"`
	Unit    string  `json:"unit,omitempty"`
	Percent Number  `json:"percent"`
}

// A DocumentApdex is the Application Performance Index for a threshold.
type DocumentApdex struct {
	Threshold float64 `json:"threshold"`
	Unit      string  `json:"unit,omitempty"`
	Value     Number  `json:"value"`
}

// A DocumentPercentile is the value at a percentile.
type DocumentPercentile struct {
	Percentile float64 `json:"percentile"`
	Value      Printed `json:"value"`
	// The interval is missing if nobody asked for it.
	*DocumentInterval
}

// NewDocument returns a document of summaries with their values at percentiles, and times in a
// zone; nil is UTC. The period is that of the first summary.
func NewDocument(summaries []*Summary, percentiles []float64, shares []Figure, zone *time.Location) *Document {
	doc := StreamDocument(summaries, percentiles, shares, zone)
	doc.collect()
	return doc
}

// StreamDocument is [NewDocument] for many summaries: [JSON] makes and writes one after another.
// Summaries stays empty.
func StreamDocument(summaries []*Summary, percentiles []float64, shares []Figure, zone *time.Location) *Document {
	scale := CommonScale(summaries)
	doc := &Document{UnitRatio: scale.Divisor(), Inputs: []string{}, Summaries: []DocumentSummary{}}
	for _, s := range summaries {
		doc.PeriodMs = max(doc.PeriodMs, s.Period)
	}
	if scale.Unit != "" {
		doc.Unit = &scale.Unit
	}
	doc.stream = func(yield func(DocumentSummary) bool) {
		for _, s := range summaries {
			d := newDocumentSummary(s, doc.UnitRatio, percentiles, shares, zone)
			if s.Period != doc.PeriodMs {
				d.PeriodMs = &s.Period
			}
			if !yield(d) {
				return
			}
		}
	}
	return doc
}

// collect makes the summaries that are not made yet.
func (d *Document) collect() {
	if d.stream != nil {
		d.Summaries = slices.AppendSeq(d.Summaries, d.stream)
		d.stream = nil
	}
}

// JSON writes a [Document], or another value in the same style. Characters that cannot be printed,
// such as marks of the direction of text, are escaped. Of the lists of a Document, only one element
// is in memory as text.
func JSON(w io.Writer, doc any) error {
	d, is := doc.(*Document)
	if !is {
		if err := indented(w, doc, ""); err != nil {
			return err
		}
		_, err := io.WriteString(w, "\n")
		return err
	}
	b := bufio.NewWriter(w)
	separator := "{"
	fields := reflect.ValueOf(d).Elem()
	for n := range fields.NumField() {
		name, options, ok := strings.Cut(fields.Type().Field(n).Tag.Get("json"), ",")
		field := fields.Field(n)
		list := reflect.Indirect(field)
		isList := list.Kind() == reflect.Slice
		if name == "" || ok && options == "omitempty" && (field.IsZero() || field.Kind() == reflect.Slice && field.Len() == 0) {
			continue
		}
		fmt.Fprintf(b, "%s\n  %q: ", separator, name)
		separator = ","
		var err error
		switch {
		case name == "summaries" && d.stream != nil:
			err = writeList(b, d.stream)
		case isList && !list.IsNil():
			err = writeList(b, elements(list))
		default:
			err = indented(b, field.Interface(), "  ")
		}
		if err != nil {
			return err
		}
	}
	b.WriteString("\n}\n")
	return b.Flush()
}

// elements returns the elements of a list.
func elements(list reflect.Value) iter.Seq[any] {
	return func(yield func(any) bool) {
		for n := range list.Len() {
			if !yield(list.Index(n).Interface()) {
				return
			}
		}
	}
}

// writeList writes a list that is a field of a document.
func writeList[T any](b *bufio.Writer, all iter.Seq[T]) error {
	separator := "["
	for element := range all {
		b.WriteString(separator + "\n    ")
		if err := indented(b, element, "    "); err != nil {
			return err
		}
		separator = ","
	}
	if separator == "[" {
		b.WriteString("[]")
	} else {
		b.WriteString("\n  ]")
	}
	return nil
}

// indented writes a value without a line break at its end. Lines after the first one begin with a
// prefix.
func indented(w io.Writer, value any, prefix string) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent(prefix, "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	text.Truncate(text.Len() - 1)
	printed := func(r rune) bool { return r == '\n' || strconv.IsGraphic(r) }
	if bytes.IndexFunc(text.Bytes(), func(r rune) bool { return !printed(r) }) < 0 {
		_, err := w.Write(text.Bytes())
		return err
	}
	var safe []byte
	for _, r := range text.String() {
		if printed(r) {
			safe = utf8.AppendRune(safe, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			safe = fmt.Appendf(safe, `\u%04x`, unit)
		}
	}
	_, err := w.Write(safe)
	return err
}

func newDocumentSummary(s *Summary, usual float64, percentiles []float64, shares []Figure, zone *time.Location) DocumentSummary {
	h := s.Counts()
	ratio := s.Scale.Divisor()
	if ratio == usual {
		ratio = 0 // it is that of the document
	}
	d := DocumentSummary{
		UnitRatio:         ratio,
		Tag:               s.OwnTag(),
		Input:             s.Input,
		Intervals:         s.Intervals,
		TotalCount:        h.TotalCount(),
		Throughput:        Number(s.Throughput()),
		Start:             people.RFC3339(s.Start, zone),
		End:               people.RFC3339(s.End, zone),
		StartMs:           s.Start,
		EndMs:             s.End,
		SignificantDigits: h.Layout().Digits,
		Percentiles:       []DocumentPercentile{},
		Values:            make(map[string]Printed),
	}
	value := func(v Value) Printed {
		if h.TotalCount() == 0 || math.IsNaN(v.float) || math.IsInf(v.float, 0) {
			return ""
		}
		return Printed(v.text(s.Scale))
	}
	stats := StatsOf(h, percentiles, Stats{})
	d.Min = value(stats.Min)
	d.Mean = value(Value{float: stats.Mean})
	d.Max = value(stats.Max)
	d.StdDev = value(Value{float: h.StdDev()})
	for _, at := range stats.Percentiles {
		p := DocumentPercentile{at.Percentile, value(at.Value), nil}
		d.Percentiles, d.Values["p"+people.Shortest(p.Percentile)] = append(d.Percentiles, p), p.Value
	}
	for _, f := range shares {
		share := Number(f.Share(h, s.Scale))
		in := cmp.Or(f.Unit, s.Scale.Unit)
		if f.Name == Apdex {
			d.Apdex = append(d.Apdex, DocumentApdex{f.Above, in, share})
		} else {
			d.Shares = append(d.Shares, DocumentShare{f.Above, in, share})
		}
	}
	if c := s.Confidence; c != nil {
		interval := func(e confidence.Estimate, low, high float64, text func(Value) Printed) *DocumentInterval {
			return &DocumentInterval{text(limitOf(h, low)), text(limitOf(h, high)), e.Independent, e.TooShort}
		}
		for n, p := range percentiles {
			e := c.Percentiles[p]
			d.Percentiles[n].DocumentInterval = interval(e, e.Low, e.High, value)
		}
		low, high := c.Throughput(s)
		d.Confidence = &DocumentConfidence{c.Level, c.Window, c.Rate.Windows,
			interval(c.Rate, low, high, func(v Value) Printed {
				if math.IsNaN(v.float) || math.IsInf(v.float, 0) {
					return ""
				}
				return Printed(people.Shortest(v.float))
			}), nil}
		if shift := c.Shift; shift != nil {
			d.Confidence.Shift = &DocumentShift{shift.Percentile, people.RFC3339(shift.Start, zone), shift.Start,
				value(limitOf(h, shift.Before)), value(limitOf(h, shift.After))}
		}
	}
	return d
}

// limitOf returns a limit of an interval. A whole one prints as the values of h do.
func limitOf(h *histogram.Histogram, limit float64) Value {
	return Value{float: limit, integer: int64(limit), whole: !h.Double() && limit == math.Trunc(limit) && math.Abs(limit) < 1<<62}
}
