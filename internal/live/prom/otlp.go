package prom

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"net/url"
	"strings"

	"github.com/klauspost/compress/gzip"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/unit"
	"hdrkit/output"
	"hdrkit/tags"
)

// MaxScale is the scale with the narrowest buckets in exponential histograms. MinSchema is the
// scale with the widest.
const MaxScale = 20

// maxBuckets is the number of buckets that a row may have, with empty buckets between others.
const maxBuckets = 4096

// OTLP writes rows as metrics of [OpenTelemetry]. Each row is an exponential histogram with delta
// temporality. The encoded rows can be concatenated: concatenated messages of protocol buffers are
// one message, and so one request. OTLP is an [output.RowWriter].
//
// [OpenTelemetry]:
// https://opentelemetry.io/docs/specs/otel/metrics/data-model/#exponentialhistogram
type OTLP struct {
	w        io.Writer
	options  Options
	resource *resource.Resource
	json     bool
}

// NewOTLP returns an OTLP that writes each row to w with one Write, as a line of JSON or as
// protocol buffers. It calls environment for the variables that describe the resource, such as
// OTEL_SERVICE_NAME.
func NewOTLP(w io.Writer, o Options, environment func(string) string, json bool) (*OTLP, error) {
	attributes := []*common.KeyValue{}
	name := environment("OTEL_SERVICE_NAME")
	for part := range strings.SplitSeq(environment("OTEL_RESOURCE_ATTRIBUTES"), ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		text, err := url.PathUnescape(strings.TrimSpace(value))
		key = strings.TrimSpace(key)
		switch {
		case part == "" && !ok:
		case !ok || key == "" || err != nil:
			return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %q is not KEY=VALUE", part)
		case key != "service.name":
			attributes = append(attributes, attribute(key, text))
		case name == "":
			name = text
		}
	}
	if name == "" {
		name = o.Service
	}
	attributes = append(attributes, attribute("service.name", name))
	return &OTLP{
		w:        w,
		options:  o,
		resource: &resource.Resource{Attributes: attributes},
		json:     json,
	}, nil
}

// Gzip returns the body of a request with encoded rows.
func Gzip(rows []byte) []byte {
	var body bytes.Buffer
	w := gzip.NewWriter(&body)
	w.Write(rows) // writing to a buffer does not fail
	w.Close()
	return body.Bytes()
}

// Rejected decodes the answer of a receiver that has accepted a request. It returns how many rows
// the receiver has left out all the same, and why.
func Rejected(answer []byte) (rows int, why string) {
	for number, partial := range fieldsOf(answer) {
		if number != 1 { // not the field partial_success of ExportMetricsServiceResponse
			continue
		}
		for number, value := range fieldsOf(partial) {
			switch number {
			case 1:
				n, _ := protowire.ConsumeVarint(value)
				rows = int(n)
			case 2:
				why = string(value)
			}
		}
	}
	return rows, why
}

// fieldsOf iterates over the fields of a message of protocol buffers, up to the end or to a field
// that is cut off.
func fieldsOf(message []byte) iter.Seq2[protowire.Number, []byte] {
	return func(yield func(protowire.Number, []byte) bool) {
		for len(message) > 0 {
			number, kind, n := protowire.ConsumeTag(message)
			size := protowire.ConsumeFieldValue(number, kind, message[max(n, 0):])
			if n < 0 || size < 0 {
				return
			}
			value := message[n : n+size]
			message = message[n+size:]
			if kind == protowire.BytesType {
				value, _ = protowire.ConsumeBytes(value)
			}
			if !yield(number, value) {
				return
			}
		}
	}
}

// Close returns nil: nothing follows the last row.
func (o *OTLP) Close() error { return nil }

// Row writes the counts of a row.
func (o *OTLP) Row(row *output.Row) error {
	tag := row.Tag
	point := point(row.Counts, row.Scale.Divisor(), MaxScale)
	point.StartTimeUnixNano, point.TimeUnixNano = uint64(row.Start)*1e6, uint64(row.End)*1e6
	if tag != nil {
		point.Attributes = []*common.KeyValue{attribute("tag", tags.Text(tag))}
	}
	data := &metrics.ExponentialHistogram{
		AggregationTemporality: metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA,
		DataPoints:             []*metrics.ExponentialHistogramDataPoint{point},
	}
	metric := &metrics.Metric{
		Name: o.options.Metric,
		Unit: o.options.Scale.Unit,
		Data: &metrics.Metric_ExponentialHistogram{ExponentialHistogram: data},
	}
	all := &metrics.MetricsData{ResourceMetrics: []*metrics.ResourceMetrics{{
		Resource:     o.resource,
		ScopeMetrics: []*metrics.ScopeMetrics{{Scope: &common.InstrumentationScope{Name: "hdrkit"}, Metrics: []*metrics.Metric{metric}}},
	}}}
	text, err := proto.Marshal(all)
	if o.json {
		text, err = jsonLine(all)
	}
	if err == nil {
		_, err = o.w.Write(text)
	}
	return err
}

// jsonLine returns a line of JSON as OpenTelemetry defines it: names of enumerations are numbers.
func jsonLine(m proto.Message) ([]byte, error) {
	text, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil { // protojson inserts spaces at random
		return nil, err
	}
	line.WriteByte('\n')
	return line.Bytes(), nil
}

// point returns a data point without a time. It uses the highest scale that the precision of h
// needs, that is at most highest, and that gives at most maxBuckets buckets.
func point(h *histogram.Histogram, ratio float64, highest int) *metrics.ExponentialHistogramDataPoint {
	scale := min(highest, scaleOf(h.Layout().Digits))
	zero, all := exponentialBuckets(h, ratio, scale)
	for len(all) > 0 && all[len(all)-1].index-all[0].index >= maxBuckets && scale > MinSchema {
		scale--
		zero, all = exponentialBuckets(h, ratio, scale)
	}
	p := &metrics.ExponentialHistogramDataPoint{Count: uint64(h.TotalCount()), ZeroCount: zero, Scale: int32(scale)}
	if p.Count > 0 {
		p.Sum = proto.Float64(unit.Divide(h.Mean()*float64(h.TotalCount()), ratio))
		p.Min = proto.Float64(unit.Divide(h.Float(h.Min()), ratio))
		p.Max = proto.Float64(unit.Divide(h.Float(h.Max()), ratio))
	}
	if len(all) > 0 {
		first := all[0].index
		// OpenTelemetry numbers a bucket by its lower bound, which is one less.
		p.Positive = &metrics.ExponentialHistogramDataPoint_Buckets{Offset: int32(first - 1), BucketCounts: make([]uint64, all[len(all)-1].index-first+1)}
		for _, b := range all {
			p.Positive.BucketCounts[b.index-first] = uint64(b.count)
		}
	}
	return p
}

// scaleOf returns the lowest scale whose buckets are no wider than the steps of values with this
// many significant digits.
func scaleOf(digits int) int {
	return min(int(math.Ceil(-math.Log2(math.Log2(1+math.Pow10(-digits))))), MaxScale)
}

func attribute(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}
