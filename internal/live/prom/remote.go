package prom

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/klauspost/compress/snappy"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protowire"

	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
	"hdrkit/tags"
)

// Remote writes rows as time series of a [remote-write 1.0] request. All values of the tag so far
// are a native histogram, and the figures of the row are gauges. The encoded rows can be
// concatenated into one request, whose body Snappy makes. Remote is an [output.RowWriter].
//
// [remote-write 1.0]: https://prometheus.io/docs/specs/prw/remote_write_spec/
type Remote struct {
	totals
	w   io.Writer
	row []byte // memory of the encoded row
}

// NewRemote returns a Remote that writes each row to w with one Write.
func NewRemote(w io.Writer, o Options) *Remote {
	return &Remote{totals: newTotals(o, "receivers"), w: w}
}

// Snappy returns the body of a request with encoded rows.
func Snappy(rows []byte) []byte { return snappy.Encode(nil, rows) }

// Numbers of the fields of messages, from prometheus/prompb.
const (
	requestSeries = 1 // in WriteRequest

	seriesLabels     = 1 // in TimeSeries
	seriesSamples    = 2
	seriesHistograms = 4

	labelName  = 1
	labelValue = 2

	sampleValue = 1
	sampleTime  = 2

	histogramCount     = 1
	histogramSum       = 3
	histogramSchema    = 4
	histogramThreshold = 5
	histogramZero      = 6
	histogramSpans     = 11
	histogramDeltas    = 12
	histogramTime      = 15

	spanOffset = 1
	spanLength = 2
)

// Close returns nil: nothing follows the last row.
func (r *Remote) Close() error { return nil }

// AddTotal adds counts to the total of a tag. The next row of the tag shows them.
func (r *Remote) AddTotal(tag []byte, factor float64, h *histogram.Histogram) error {
	_, err := r.add(tag, factor, h)
	return err
}

// Row writes the total and the figures of a row. If the row has only totals, there are no figures.
func (r *Remote) Row(row *output.Row) error {
	tag := row.Tag
	end := row.End
	h := row.Counts
	t, err := r.add(tag, row.Scale.Factor(), h)
	if err != nil {
		return fmt.Errorf("tag %s: %w", tags.Text(tag), err)
	}
	o := &r.options
	r.row = r.row[:0]
	r.appendSeries(tag, o.Metric, "", seriesHistograms, nativeMessage(t.native(r.counts(t)), end))
	if !row.TotalsOnly && h.TotalCount() > 0 {
		for _, p := range o.Percentiles {
			r.appendSeries(tag, o.Metric+"_window", strconv.FormatFloat(p, 'f', -1, 64), seriesSamples, sampleMessage(t.converted(h.Float(h.ValueAtPercentile(p))), end))
		}
		r.appendSeries(tag, o.Metric+"_window_max", "", seriesSamples, sampleMessage(t.converted(h.Float(h.Max())), end))
	}
	_, err = r.w.Write(r.row)
	return err
}

// appendSeries appends a series with one point to the encoded row. The point is the content of a
// field of the series. Labels are in the order of their names.
func (r *Remote) appendSeries(tag []byte, metric, percentile string, field protowire.Number, point []byte) {
	var series []byte
	label := func(name, value string) {
		var pair []byte
		pair = protowire.AppendTag(pair, labelName, protowire.BytesType)
		pair = protowire.AppendString(pair, name)
		pair = protowire.AppendTag(pair, labelValue, protowire.BytesType)
		pair = protowire.AppendString(pair, value)
		series = appendMessage(series, seriesLabels, pair)
	}
	label("__name__", metric)
	if percentile != "" {
		label("percentile", percentile)
	}
	if tag != nil {
		label("tag", tags.Text(tag))
	}
	series = appendMessage(series, field, point)
	r.row = appendMessage(r.row, requestSeries, series)
}

func sampleMessage(value float64, end int64) []byte {
	m := appendDouble(nil, sampleValue, value)
	return appendVarint(m, sampleTime, uint64(end))
}

func nativeMessage(h *dto.Histogram, end int64) []byte {
	m := appendVarint(nil, histogramCount, h.GetSampleCount())
	m = appendDouble(m, histogramSum, h.GetSampleSum())
	m = appendVarint(m, histogramSchema, protowire.EncodeZigZag(int64(h.GetSchema())))
	m = appendDouble(m, histogramThreshold, h.GetZeroThreshold())
	m = appendVarint(m, histogramZero, h.GetZeroCount())
	for _, s := range h.PositiveSpan {
		sm := appendVarint(nil, spanOffset, protowire.EncodeZigZag(int64(s.GetOffset())))
		m = appendMessage(m, histogramSpans, appendVarint(sm, spanLength, uint64(s.GetLength())))
	}
	var deltas []byte
	for _, d := range h.PositiveDelta {
		deltas = protowire.AppendVarint(deltas, protowire.EncodeZigZag(d))
	}
	m = appendMessage(m, histogramDeltas, deltas)
	return appendVarint(m, histogramTime, uint64(end))
}

func appendVarint(m []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
}

func appendDouble(m []byte, field protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(m, field, protowire.Fixed64Type), math.Float64bits(v))
}

func appendMessage(m []byte, field protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), message)
}
