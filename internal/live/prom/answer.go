package prom

import (
	"bytes"
	"io"
	"iter"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// A family is a group of metrics of one name.
type family struct {
	name, help string
	kind       dto.MetricType
	metrics    iter.Seq[*dto.Metric]
}

// An answer writes the answer to a scrape in pieces, to save memory: the text of ten thousand tags
// with classic buckets has 31 MB, and the metrics in memory are larger. In the protocol buffer
// format, each family is one message, which is kept until its end. Such a message is a tenth of the
// text.
type answer struct {
	w       io.Writer
	format  expfmt.Format
	text    bytes.Buffer
	encoder expfmt.Encoder // to text
}

// pieceMetrics is the number of metrics in a piece.
const pieceMetrics = 64

func newAnswer(w io.Writer, format expfmt.Format) *answer {
	a := &answer{w: w, format: format}
	a.encoder = expfmt.NewEncoder(&a.text, format)
	return a
}

// native reports whether the format of the answer has native histograms.
func (a *answer) native() bool { return a.format.FormatType() == expfmt.TypeProtoDelim }

// family writes a family. A family without metrics is left out.
func (a *answer) family(f family) error {
	var message []byte
	piece := &dto.MetricFamily{Name: &f.name, Help: &f.help, Type: &f.kind}
	first := true
	write := func() (err error) {
		if len(piece.Metric) == 0 {
			return nil
		}
		if a.native() {
			message, err = a.appendPiece(message, piece, first)
		} else {
			err = a.writePiece(piece, first)
		}
		piece.Metric = piece.Metric[:0]
		first = false
		return err
	}
	for m := range f.metrics {
		piece.Metric = append(piece.Metric, m)
		if len(piece.Metric) < pieceMetrics {
			continue
		}
		if err := write(); err != nil {
			return err
		}
	}
	if err := write(); err != nil || message == nil {
		return err
	}
	if _, err := a.w.Write(protowire.AppendVarint(nil, uint64(len(message)))); err != nil {
		return err
	}
	_, err := a.w.Write(message)
	return err
}

// writePiece writes metrics as text. Only the first piece of a family has comments.
func (a *answer) writePiece(piece *dto.MetricFamily, first bool) error {
	a.text.Reset()
	if err := a.encoder.Encode(piece); err != nil {
		return err
	}
	text := a.text.Bytes()
	for !first && bytes.HasPrefix(text, []byte("#")) {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	_, err := a.w.Write(text)
	return err
}

// appendPiece appends metrics to the message of their family. Only the first piece has the fields
// with name, help and type.
func (a *answer) appendPiece(message []byte, piece *dto.MetricFamily, first bool) ([]byte, error) {
	escaped := model.EscapeMetricFamily(piece, a.format.ToEscapingScheme())
	if !first {
		escaped = &dto.MetricFamily{Metric: escaped.Metric}
	}
	return proto.MarshalOptions{}.MarshalAppend(message, escaped)
}

// end writes what the format needs after the last family.
func (a *answer) end() error {
	a.text.Reset()
	if closer, ok := a.encoder.(expfmt.Closer); ok {
		if err := closer.Close(); err != nil {
			return err
		}
	}
	_, err := a.w.Write(a.text.Bytes())
	return err
}

// families are groups of metrics, by name.
type families []*dto.MetricFamily

func (fs *families) counter(name, help string, v int64, label []*dto.LabelPair) {
	fs.add(name, help, dto.MetricType_COUNTER, &dto.Metric{Label: label, Counter: &dto.Counter{Value: proto.Float64(float64(v))}})
}

func (fs *families) gauge(name, help string, v float64, label []*dto.LabelPair) {
	fs.add(name, help, dto.MetricType_GAUGE, gauge(v, label))
}

func (fs *families) add(name, help string, kind dto.MetricType, m *dto.Metric) {
	n := slices.IndexFunc(*fs, func(f *dto.MetricFamily) bool { return f.GetName() == name })
	if n < 0 {
		n = len(*fs)
		*fs = append(*fs, &dto.MetricFamily{Name: &name, Type: &kind, Help: &help})
	}
	(*fs)[n].Metric = append((*fs)[n].Metric, m)
}

// list returns the families in the order in which they were added.
func (fs families) list() (all []family) {
	for _, f := range fs {
		all = append(all, family{f.GetName(), f.GetHelp(), f.GetType(), slices.Values(f.Metric)})
	}
	return all
}

func gauge(v float64, label []*dto.LabelPair) *dto.Metric {
	return &dto.Metric{Label: label, Gauge: &dto.Gauge{Value: &v}}
}

func pair(name, value string) []*dto.LabelPair {
	return []*dto.LabelPair{{Name: &name, Value: &value}}
}
