package flow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/scan"
	"hdrkit/output"
)

// A wire carries what a worker makes from one process to another of the same program. Each method
// appends what its argument points to, or, if the wire reads, sets that. So one function describes
// a type for both sides. After an error a wire does nothing.
type wire struct {
	data  []byte
	reads bool
	names []scan.Input // for the names of inputs, which are not sent
	err   error
}

var errCut = errors.New("a message between workers is cut off")

// next returns the next bytes of the message that is read.
func (w *wire) next(count int) []byte {
	if w.err != nil || count < 0 || count > len(w.data) {
		w.fail(errCut)
		return nil
	}
	taken := w.data[:count:count]
	w.data = w.data[count:]
	return taken
}

func (w *wire) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *wire) int64(n *int64) {
	if !w.reads {
		w.data = binary.AppendVarint(w.data, *n)
		return
	}
	v, size := binary.Varint(w.data)
	if size <= 0 {
		w.fail(errCut)
		return
	}
	*n = v
	w.data = w.data[size:]
}

func (w *wire) int(n *int) {
	v := int64(*n)
	w.int64(&v)
	*n = int(v)
}

func (w *wire) bool(b *bool) {
	v := int64(0)
	if *b {
		v = 1
	}
	w.int64(&v)
	*b = v == 1
}

func (w *wire) float(f *float64) {
	if !w.reads {
		w.data = binary.LittleEndian.AppendUint64(w.data, math.Float64bits(*f))
	} else if bits := w.next(8); bits != nil {
		*f = math.Float64frombits(binary.LittleEndian.Uint64(bits))
	}
}

// bytes reads a view of the message. Nil stays nil.
func (w *wire) bytes(b *[]byte) {
	size := len(*b)
	if *b == nil {
		size = -1
	}
	w.int(&size)
	switch {
	case !w.reads:
		w.data = append(w.data, *b...)
	case size < 0:
		*b = nil
	default:
		*b = w.next(size)
	}
}

// count carries a number of things, and returns it: 0 if the message cannot have so many.
func (w *wire) count(n int) int {
	w.int(&n)
	if w.reads && (w.err != nil || n < 0 || n > len(w.data)) {
		w.fail(errCut)
		return 0
	}
	return n
}

func (w *wire) sum(s *merge.Sum) {
	if w.reads {
		if size := w.next(4); size != nil {
			w.fail(s.SetPacked(w.next(int(binary.LittleEndian.Uint32(size)))))
		}
		return
	}
	begin := len(w.data)
	data, err := s.AppendPacked(append(w.data, 0, 0, 0, 0))
	if err != nil {
		w.fail(err)
		return
	}
	w.data = data
	binary.LittleEndian.PutUint32(w.data[begin:], uint32(len(w.data)-begin-4))
}

// error carries the text of an error that is only printed.
func (w *wire) error(err *error) {
	var text []byte
	if *err != nil {
		text = []byte((*err).Error())
	}
	w.bytes(&text)
	if !w.reads {
		return
	}
	*err = nil
	if text != nil {
		*err = errors.New(string(text))
	}
}

func (w *wire) place(p *scan.Place) {
	w.int(&p.Line)
	if p.Line > 0 {
		w.input(&p.Input, &p.Name)
	}
}

// input carries the number of an input. The other side knows its name.
func (w *wire) input(number *int, name *string) {
	w.int(number)
	switch {
	case !w.reads:
	case *number < 0 || *number >= len(w.names):
		w.fail(errCut)
	default:
		*name = w.names[*number].Name
	}
}

func (w *wire) value(v *output.Value) {
	float := v.Float()
	integer, whole := v.Integer()
	w.bool(&whole)
	w.float(&float)
	if !whole {
		*v = output.FloatValue(float)
		return
	}
	w.int64(&integer)
	*v = output.IntegerValue(float, integer)
}

func (w *wire) stats(s *output.Stats) {
	w.int64(&s.Count)
	w.value(&s.Min)
	w.value(&s.Max)
	w.float(&s.Mean)
	count := w.count(len(s.Percentiles))
	if w.reads {
		s.Percentiles = s.Percentiles[:0]
		for range count {
			s.Percentiles = append(s.Percentiles, output.PercentileValue{})
		}
	}
	for n := range s.Percentiles {
		w.float(&s.Percentiles[n].Percentile)
		w.value(&s.Percentiles[n].Value)
	}
}

func (w *wire) total(t *Total) {
	w.bytes(&t.Row)
	w.bytes(&t.Tag)
	w.input(&t.Input, &t.Name)
	w.sum(&t.Sum)
	w.int64(&t.Lengths)
	integer, double := t.Kinds.Places()
	w.place(integer)
	w.place(double)
	w.error(&t.err)
}

func (w *wire) window(window *Window) {
	w.total(&window.Total)
	w.float(&window.First)
	w.stats(&window.Stats)
	w.sum(&window.Coarse)
	w.int64(&window.Window.Start)
	w.int64(&window.Window.End)
	w.float(&window.highest)
}

func (w *wire) merged(m *merge.Merged) {
	w.bytes(&m.Tag)
	w.sum(&m.Sum)
	if w.reads {
		m.Tag = bytes.Clone(m.Tag) // it outlives the message
	}
}

// made carries what a part makes of an interval.
func (w *wire) made(m *made) {
	hasOne := m.one != nil
	hasWindow := m.window != nil
	isOne := hasWindow && m.window == m.one
	hasMerged := m.merged != nil
	w.bool(&hasOne)
	w.bool(&hasWindow)
	w.bool(&isOne)
	w.bool(&hasMerged)
	w.int64(&m.count)
	if w.reads {
		m.window = nil
		m.merged = nil
	}
	if hasOne {
		if w.reads && m.one == nil {
			m.one = &Window{alone: true}
		}
		w.window(m.one)
	}
	switch {
	case !w.reads:
	case isOne:
		m.window = m.one
	case hasWindow:
		m.window = windowPool.Get().(*Window)
	}
	if hasWindow && !isOne {
		w.window(m.window)
	}
	if hasMerged {
		if w.reads {
			m.merged = new(merge.Merged)
		}
		w.merged(m.merged)
	}
}

func (w *wire) row(r *Row) {
	w.total(&r.Total)
	w.maxima(&r.Maxima)
	count := w.count(len(r.Spans.All))
	if w.reads {
		r.Row = bytes.Clone(r.Row)
		r.Tag = bytes.Clone(r.Tag)
		r.Spans.All = make([]merge.InputSpan, count)
	}
	for n := range r.Spans.All {
		s := &r.Spans.All[n]
		w.int(&s.Input)
		w.int64(&s.Start)
		w.int64(&s.End)
	}
}

func (w *wire) maxima(m *Maxima) {
	w.int64(&m.step)
	w.int64(&m.first)
	w.int64(&m.last)
	w.int64(&m.lengths)
	w.int64(&m.intervals)
	w.int64(&m.peak)
	w.float(&m.highest)
	count := w.count(len(m.values))
	if !w.reads {
		for at, v := range m.values {
			w.int64(&at)
			w.float(&v)
		}
		return
	}
	if count > 0 {
		m.values = make(map[int64]float64, count)
	}
	for range count {
		var at int64
		var v float64
		w.int64(&at)
		w.float(&v)
		m.values[at] = v
	}
}
