package prom

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/output"
)

// TestOTLPBuckets counts values by the definition of the buckets, (base^i, base^(i+1)] with the
// base 2^(2^-scale), at all scales.
func TestOTLPBuckets(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 120 {
		digits := n % 6
		highest := MinSchema + random.IntN(MaxScale-MinSchema+1)
		ratio := math.Pow10(random.IntN(10))
		var values []int64
		for range 1 + random.IntN(300) {
			values = append(values, random.Int64N(1<<(1+random.IntN(1+random.IntN(40)))))
		}
		h := counted(t, histogram.Layout{Digits: digits}, values...)
		p := point(h, ratio, highest)
		base, zero := math.Exp2(math.Exp2(-float64(p.Scale))), uint64(0)
		want := map[int]uint64{}
		for slot := range h.Recorded() {
			v := h.Float(slot.High) / ratio
			if v == 0 {
				zero += uint64(slot.Count)
				continue
			}
			// The logarithm finds the bucket nearly. The bounds decide.
			index := int(math.Floor(math.Log(v) / math.Log(base)))
			for math.Pow(base, float64(index+1)) < v*(1-1e-11) {
				index++
			}
			for math.Pow(base, float64(index)) >= v*(1-1e-11) {
				index--
			}
			want[index] += uint64(slot.Count)
		}
		got, sum := map[int]uint64{}, p.ZeroCount
		for n, count := range p.GetPositive().GetBucketCounts() {
			if sum += count; count > 0 {
				got[n+int(p.Positive.Offset)] = count
			}
		}
		if p.ZeroCount != zero || sum != p.Count || p.Count != uint64(h.TotalCount()) || len(p.GetPositive().GetBucketCounts()) > maxBuckets || int(p.Scale) > highest {
			t.Fatalf("%d digits, scale %d of %d: %d zeros of %d, %d of %d values, %d buckets", digits, p.Scale, highest, p.ZeroCount, zero, sum, p.Count, len(p.Positive.BucketCounts))
		}
		if p.Scale <= 12 && fmt.Sprint(got) != fmt.Sprint(want) { // beyond that the definition itself needs more than doubles
			t.Fatalf("%d digits, scale %d: %v, want %v", digits, p.Scale, got, want)
		}
		if p.GetMin() != h.Float(h.Min())/ratio || p.GetMax() != h.Float(h.Max())/ratio || math.Abs(p.GetSum()*ratio-h.Mean()*float64(h.TotalCount())) > 1e-9*p.GetSum()*ratio {
			t.Errorf("min %v, max %v, sum %v", p.GetMin(), p.GetMax(), p.GetSum())
		}
	}
}

// TestOTLPScale asks for the scale that the digits of a log carry, and proves that quantiles of the
// buckets are as exact.
func TestOTLPScale(t *testing.T) {
	t.Parallel()
	for digits, want := range map[int]int32{0: 0, 1: 3, 2: 7, 3: 10, 4: 13, 5: 17} {
		h := counted(t, histogram.Layout{Digits: digits}, 1_000_000)
		if p := point(h, 1, MaxScale); p.Scale != want {
			t.Errorf("%d digits: scale %d, want %d", digits, p.Scale, want)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	var values []int64
	for range 5000 {
		values = append(values, int64(1e6*math.Exp(random.NormFloat64()/2)))
	}
	h := counted(t, histogram.Layout{Digits: 3}, values...)
	for _, schema := range []int{MaxScale, 8, 5, 0} {
		p := point(h, 1, schema)
		base := math.Exp2(math.Exp2(-float64(p.Scale)))
		for _, percentile := range []float64{50, 90, 99, 99.9, 100} {
			rank, exact := uint64(math.Ceil(percentile/100*float64(p.Count)-1e-9)), h.Float(h.ValueAtPercentile(percentile))
			n, seen := 0, p.ZeroCount
			for ; seen+p.Positive.BucketCounts[n] < rank; n++ {
				seen += p.Positive.BucketCounts[n]
			}
			upper := math.Pow(base, float64(n+1+int(p.Positive.Offset)))
			if upper < exact*(1-1e-11) || upper/base >= exact*(1+1e-11) {
				t.Errorf("schema %d, percentile %v: %v is not in (%v, %v]", schema, percentile, exact, upper/base, upper)
			}
		}
	}
}

// TestOTLPRows reads rows that follow one another, as protocol buffers and as JSON.
func TestOTLPRows(t *testing.T) {
	t.Parallel()
	environment := func(name string) string {
		return map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "host.name=n1, k=a%2Cb,service.name=other", "OTEL_SERVICE_NAME": "loadtest"}[name]
	}
	read := map[bool]func(text []byte) *metrics.MetricsData{
		false: func(text []byte) *metrics.MetricsData {
			unpacked, err := gzip.NewReader(bytes.NewReader(Gzip(text)))
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(unpacked)
			var data metrics.MetricsData
			if err := proto.Unmarshal(body, &data); err != nil {
				t.Fatal(err)
			}
			return &data
		},
		true: func(text []byte) *metrics.MetricsData {
			var all metrics.MetricsData
			for line := range bytes.Lines(text) {
				var data metrics.MetricsData
				if err := protojson.Unmarshal(line, &data); err != nil {
					t.Fatal(err)
				}
				all.ResourceMetrics = append(all.ResourceMetrics, data.ResourceMetrics...)
			}
			return &all
		},
	}
	for json, read := range read {
		var rows bytes.Buffer
		w, err := NewOTLP(&rows, Options{Metric: "latency", Scale: hdrlog.Scale{Unit: "ms"}}, environment, json)
		if err != nil {
			t.Fatal(err)
		}
		layout := histogram.Layout{Digits: 3}
		for second, h := range []*histogram.Histogram{counted(t, layout, 0, 3, 5), counted(t, layout)} {
			if err := w.Row(&output.Row{Tag: [][]byte{[]byte("rt"), nil}[second], Start: int64(1000 * second), End: int64(1000*second + 1000), Counts: h}); err != nil {
				t.Fatal(err)
			}
		}
		var all []string
		for _, r := range read(rows.Bytes()).ResourceMetrics {
			text := ""
			for _, a := range r.Resource.Attributes {
				text += a.Key + "=" + a.Value.GetStringValue() + " "
			}
			for _, m := range r.ScopeMetrics[0].Metrics {
				e := m.GetExponentialHistogram()
				p := e.DataPoints[0]
				text += fmt.Sprintf("%s %s %v %d-%d count=%d zero=%d scale=%d", m.Name, m.Unit, e.AggregationTemporality, p.StartTimeUnixNano/1e9, p.TimeUnixNano/1e9, p.Count, p.ZeroCount, p.Scale)
				for _, a := range p.Attributes {
					text += " " + a.Key + "=" + a.Value.GetStringValue()
				}
				if p.Sum != nil {
					text += fmt.Sprintf(" sum=%v min=%v max=%v", *p.Sum, *p.Min, *p.Max)
				}
			}
			all = append(all, text)
		}
		const resource = "host.name=n1 k=a,b service.name=loadtest latency ms AGGREGATION_TEMPORALITY_DELTA "
		want := []string{
			resource + "0-1 count=3 zero=1 scale=10 tag=rt sum=8 min=0 max=5",
			resource + "1-2 count=0 zero=0 scale=10",
		}
		if fmt.Sprint(all) != fmt.Sprint(want) {
			t.Errorf("JSON is %v:\n%s\nwant\n%s", json, strings.Join(all, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, wrong := range []string{"host", "=x", "a=%zz"} {
		if _, err := NewOTLP(io.Discard, Options{}, func(string) string { return wrong }, false); err == nil || !strings.Contains(err.Error(), "is not KEY=VALUE") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// TestRejected reads answers, also those that are cut off.
func TestRejected(t *testing.T) {
	t.Parallel()
	part := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 3)
	part = protowire.AppendString(protowire.AppendTag(part, 2, protowire.BytesType), "too old")
	answer := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), part)
	if rows, why := Rejected(answer); rows != 3 || why != "too old" {
		t.Errorf("%d %q", rows, why)
	}
	for n := range answer {
		Rejected(answer[:n])
	}
	for _, text := range []string{"", "{}", "\xff\xff\xff", "OK\n"} {
		if rows, why := Rejected([]byte(text)); rows != 0 || why != "" {
			t.Errorf("%q: %d %q", text, rows, why)
		}
	}
}
