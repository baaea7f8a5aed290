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

// A Document is the output of hdrsum -st json and hdrdiff -st json. New versions can add fields,
// but never change or remove a field. Document and [DocumentSummary] have one field for each member
// of a JSON object, in the same order, so they are not divided into smaller structs.
type Document struct {
	// UnitRatio is the number that values were divided by.
	UnitRatio float64 `json:"unitRatio"`
	// Unit is the unit of values, null if it is unknown.
	Unit *string `json:"unit"`
	// PeriodMs is the time that throughput is computed from, in milliseconds. PeriodMode says how
	// it was computed: covered, sum or intervals.
	PeriodMs   int64  `json:"periodMs"`
	PeriodMode string `json:"periodMode"`
	// Inputs are the names of the logs.
	Inputs []string `json:"inputs"`
	// SkippedLines is the number of malformed lines.
	SkippedLines int `json:"skippedLines"`
	// PhasesOverlap is set if some intervals are in the summaries of several phases.
	PhasesOverlap bool `json:"phasesOverlap,omitempty"`
	// Summaries has one element for each tag, untagged intervals first, or a single one for all
	// tags together.
	Summaries []DocumentSummary `json:"summaries"`
	// Findings are sorted by importance, the most important first.
	Findings []Finding `json:"findings,omitempty"`
	// Sentence says what changed. It is missing if the logs are not compared.
	Sentence string `json:"sentence,omitempty"`
	// Baseline has the logs before the change. It is missing if the logs are not compared.
	Baseline *DocumentBaseline `json:"baseline,omitempty"`
	// Changes has one element for each tag of both sides. It is missing without intervals of
	// confidence.
	Changes []DocumentChange `json:"changes,omitempty"`
	// Limits has one element for each limit and tag. It is missing if there are no limits.
	Limits []DocumentVerdict `json:"limits,omitempty"`
	// Breaches are the times at which limits did not hold. It is missing if there are no limits.
	Breaches *[]Breach `json:"breaches,omitempty"`
	// Moments are the worst moments, the worst first. It is missing without -worst.
	Moments *[]Moment `json:"worst,omitempty"`
	// Shares has one element for each tag of each log. It is missing without -who.
	Shares *[]Share `json:"who,omitempty"`

	stream iter.Seq[DocumentSummary] // makes Summaries one by one, nil if Summaries has them
}

// A DocumentVerdict says whether a limit, such as p99<10ms, holds for a tag.
type DocumentVerdict struct {
	// Tag is the text of the tag, and Limit the text of the limit.
	Tag   string `json:"tag"`
	Limit string `json:"limit"`
	// Verdict is holds, fails or undecided. Holds is null if the limit is undecided.
	Verdict string `json:"verdict"`
	Holds   *bool  `json:"holds"`
	// Value is the figure, and Bound its largest or smallest allowed value. Both are null if the
	// figure is missing. Of two runs at once, Value is Baseline with the change while both ran.
	Value *float64 `json:"value"`
	Bound *float64 `json:"bound"`
	// Worse is set if a relative limit is undecided, and its figure is beyond the bound.
	Worse bool `json:"worse,omitempty"`
	// Missing says why the figure is missing, and Note why the limit is undecided.
	Missing string `json:"missing,omitempty"`
	Note    string `json:"note,omitempty"`
	// Baseline is the figure before, for a limit of the change. It is missing for other limits.
	Baseline *float64 `json:"baseline,omitempty"`
	// Unit is the unit of Value, Bound and Baseline. It is missing if they have the unit of the
	// document, and for throughput, count and apdex.
	Unit string `json:"unit,omitempty"`
}

// A DocumentBaseline has the summaries of the logs before a change.
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

// A Printed is the text of a number. Its JSON is this number, or null if the text is empty.
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

// Float returns the number, NaN if the text is empty.
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

// A DocumentSummary is a [Summary] as JSON. Values are divided by the unit ratio. Values are null
// if the summary has no counts.
type DocumentSummary struct {
	// PeriodMs is the period of the summary. It is missing if it equals that of the document.
	PeriodMs *int64 `json:"periodMs,omitempty"`
	Tag      Tag    `json:"tag"`
	// Input is the name of the log. It is missing if summaries can have several logs.
	Input string `json:"input,omitempty"`
	// UnitRatio is the number that values were divided by. It is missing if it equals that of the
	// document.
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
	// Values has the values of Percentiles by names such as p99.
	Values map[string]Printed `json:"values"`
	// Shares has one element for each figure over(VALUE). It is missing without such figures.
	Shares []DocumentShare `json:"shares,omitempty"`
	// Apdex has one element for each figure apdex(VALUE). It is missing without such figures.
	Apdex []DocumentApdex `json:"apdex,omitempty"`
	// Confidence is missing without intervals of confidence.
	Confidence *DocumentConfidence `json:"confidence,omitempty"`
}

// A DocumentConfidence has what all intervals of confidence of a summary share, and the interval of
// its throughput. The intervals of values are in [DocumentPercentile].
type DocumentConfidence struct {
	// Level is the confidence of intervals in percent, and WindowMs the length of the windows that
	// they are computed from.
	Level      float64           `json:"level"`
	WindowMs   int64             `json:"windowMs"`
	Windows    int               `json:"windows"`
	Throughput *DocumentInterval `json:"throughput"`
	// Shift is missing if the level of high percentiles does not change for good.
	Shift *DocumentShift `json:"shift,omitempty"`
}

// A DocumentShift is a [Shift] as JSON.
type DocumentShift struct {
	Percentile float64 `json:"percentile"`
	Start      string  `json:"start"`
	StartMs    int64   `json:"startMs"`
	// Before and After are the approximate values of the percentile before and after the start.
	Before Printed `json:"before"`
	After  Printed `json:"after"`
}

// A DocumentInterval is the interval of confidence of a figure.
type DocumentInterval struct {
	// Low and High are null if the interval has no such limit, or if the run is too short.
	Low                Printed `json:"low"`
	High               Printed `json:"high"`
	IndependentWindows float64 `json:"independentWindows"`
	TooShort           bool    `json:"tooShort"`
}

// A DocumentChange has the changes of the figures of a tag.
type DocumentChange struct {
	Tag Tag `json:"tag"`
	// RunsBefore and RunsAfter are the numbers of runs of both sides.
	RunsBefore  int                        `json:"runsBefore"`
	RunsAfter   int                        `json:"runsAfter"`
	Percentiles []DocumentPercentileChange `json:"percentiles"`
	Throughput  *DocumentFigureChange      `json:"throughput"`
	// Mean is missing if both sides have a single run.
	Mean *DocumentFigureChange `json:"mean,omitempty"`
}

// A DocumentPercentileChange is the change of the value at a percentile.
type DocumentPercentileChange struct {
	Percentile float64 `json:"percentile"`
	*DocumentFigureChange
}

// A DocumentFigureChange is the change of a figure. What cannot be computed is null.
type DocumentFigureChange struct {
	// Before and After are the compared figures. For several runs, they are geometric means.
	Before Number `json:"before"`
	After  Number `json:"after"`
	// Ratio is After divided by Before. Low and High are the limits of its interval.
	Ratio Number `json:"ratio"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
	// P is 1 - level/100 for the level at which the interval would just touch 1.
	P Number `json:"p"`
	// Significant is set if the change is significant after Hochberg's correction for all changes.
	Significant bool `json:"significant"`
	// Paired is set if the comparison removes variation that both sides share: two runs ran at the
	// same time, or several runs of both sides alternated.
	Paired bool `json:"paired,omitempty"`
	// Untimed is set if values have no times. The interval is right if the values are independent.
	Untimed bool `json:"untimed,omitempty"`
	// Least is the smallest change, as a ratio above 1, that runs like these usually find.
	Least Number `json:"least,omitempty"`
}

// A DocumentShare is the share of the values above a threshold: the figure [Over].
type DocumentShare struct {
	Above   float64 `json:"above"`
	Unit    string  `json:"unit,omitempty"`
	Percent Number  `json:"percent"`
}

// A DocumentApdex is the Application Performance Index for a threshold: the figure [Apdex].
type DocumentApdex struct {
	Threshold float64 `json:"threshold"`
	Unit      string  `json:"unit,omitempty"`
	Value     Number  `json:"value"`
}

// A DocumentPercentile is the value at a percentile.
type DocumentPercentile struct {
	Percentile float64 `json:"percentile"`
	Value      Printed `json:"value"`
	// DocumentInterval is nil if no interval of confidence was computed.
	*DocumentInterval
}

// NewDocument returns a document of summaries, with the values at percentiles and the figures
// shares, see [Figure.OfCounts]. Times are in zone, or in UTC if zone is nil. The period of the
// document is the longest period of a summary.
func NewDocument(summaries []*Summary, percentiles []float64, shares []Figure, zone *time.Location) *Document {
	doc := StreamDocument(summaries, percentiles, shares, zone)
	doc.collect()
	return doc
}

// StreamDocument is [NewDocument] for many summaries: Summaries stays empty, and [JSON] makes and
// writes one summary after another.
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

// collect makes Summaries from the stream.
func (d *Document) collect() {
	if d.stream != nil {
		d.Summaries = slices.AppendSeq(d.Summaries, d.stream)
		d.stream = nil
	}
}

// JSON writes a [Document] or another value as indented JSON. It escapes characters that cannot be
// printed, such as marks of the direction of text. Of the lists of a Document, only one element at
// a time is in memory as text.
func JSON(w io.Writer, doc any) error {
	d, is := doc.(*Document)
	if !is {
		if err := writeIndented(w, doc, ""); err != nil {
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
			err = writeIndented(b, field.Interface(), "  ")
		}
		if err != nil {
			return err
		}
	}
	b.WriteString("\n}\n")
	return b.Flush()
}

// elements iterates over a slice.
func elements(list reflect.Value) iter.Seq[any] {
	return func(yield func(any) bool) {
		for n := range list.Len() {
			if !yield(list.Index(n).Interface()) {
				return
			}
		}
	}
}

// writeList writes a list that is a member of a document.
func writeList[T any](b *bufio.Writer, all iter.Seq[T]) error {
	separator := "["
	for element := range all {
		b.WriteString(separator + "\n    ")
		if err := writeIndented(b, element, "    "); err != nil {
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

// writeIndented writes a value as indented JSON, without a line break at its end. All lines but the
// first begin with prefix.
func writeIndented(w io.Writer, value any, prefix string) error {
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

// newDocumentSummary returns a summary as JSON, in a document with the unit ratio common.
func newDocumentSummary(s *Summary, common float64, percentiles []float64, shares []Figure, zone *time.Location) DocumentSummary {
	h := s.Counts()
	ratio := s.Scale.Divisor()
	if ratio == common {
		ratio = 0 // omitted
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

// limitOf returns a limit of an interval of h. A whole limit of integer values is an exact [Value].
func limitOf(h *histogram.Histogram, limit float64) Value {
	return Value{float: limit, integer: int64(limit), whole: !h.Double() && limit == math.Trunc(limit) && math.Abs(limit) < 1<<62}
}
