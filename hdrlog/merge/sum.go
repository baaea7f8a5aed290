package merge

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/internal/base64x"
)

// A SumError is the error for intervals that do not add up. It wraps [histogram.ErrKind],
// [histogram.ErrSpan] or [histogram.ErrOverflow].
type SumError struct{ Err error }

// Error returns the text of the cause.
func (e *SumError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SumError) Unwrap() error { return e.Err }

// A Sum is what intervals of one tag add up to. The zero value is empty and ready to use. A Sum
// must not be copied after its first use, and it is not safe for concurrent use.
//
// A Sum holds the encoded payloads of its intervals until a histogram takes about as little memory.
// So its memory is at most a small multiple of the text that it was given, even if each payload has
// only two values that lie far apart, or is a great many zeros, compressed.
type Sum struct {
	// Start is when the interval that starts first starts, and End when the one that ends last
	// ends, in milliseconds since the epoch. They may be changed, to move a sum in time.
	Start, End int64

	intervals int64
	shape
	spare int // bytes that a histogram may take whatever the payloads take

	// Held are the payloads that are not in counts, as members of memory.
	memory []byte
	held   []member
	// If there is one interval, max is its MAX and pass its payload if that may stay as it is:
	// views of memory.
	max, pass []byte
	// If s was decoded from its encoding and not changed since, packed is its compressed payload: a
	// view of memory, from its start.
	packed []byte

	dense  bool // all payloads are added up in counts
	counts histogram.Histogram
}

// shape is what is known of payloads before they are decoded.
type shape struct {
	layout  histogram.Layout // the finest of all
	highest float64          // the highest value that one may have
	weight  int              // the bytes of all, as text
	largest int              // the bytes of the largest, inflated
}

func shapeOf(p *histogram.Payload, weight int) shape {
	return shape{p.Layout(), float64(p.Highest()) * unit(p.Layout()), weight, p.BinarySize()}
}

// plus returns the shape of the payloads of both.
func (a shape) plus(b shape) shape {
	return shape{finest(a.layout, b.layout), max(a.highest, b.highest), a.weight + b.weight, max(a.largest, b.largest)}
}

// slots returns the number of slots that the sum of all may take, of doubles too.
func (a shape) slots() int {
	if units := a.highest / unit(a.layout); units < 1<<63 {
		return a.layout.SlotsFor(int64(units))
	}
	return a.layout.SlotsFor(math.MaxInt64)
}

// fits reports whether a histogram takes about as little memory as the text, or spare bytes more.
func (a shape) fits(spare int) bool { return denseTimes*a.weight+spare >= 8*a.slots() }

// member is a payload in memory[from:to].
type member struct {
	from, to int
	text     bool    // in base64
	expected float64 // see [Sum.AddCorrected]; 0 if it is not to be corrected
}

const (
	// A histogram may take this many times the bytes of the payloads that are added up in it.
	denseTimes = 8
	// spareBytes is enough for a histogram of three digits, whatever it counts.
	spareBytes = 1 << 19
	// A payload is held inflated if that takes at most this many times its text, and slack bytes.
	// Those of load tests take twice their text.
	plainTimes, slack = 4, 256
)

// codec has the decoder and the encoder of sums.
type codec struct {
	decoder             histogram.Decoder
	encoder             histogram.Encoder
	scratch             histogram.Histogram
	recorded, corrected histogram.Histogram // of a member
	plain               []byte
}

var codecs = sync.Pool{New: func() any { return new(codec) }}

// big is the memory of all goroutines that decode or encode big sums.
var big = histogram.NewBudget(64 << 20)

// claim waits until c may take the memory that it takes to add up s. Call release after that.
func (s *Sum) claim(c *codec) (release func()) {
	size := s.largest + 8*s.slots()
	if !big.Take(size) {
		return func() {}
	}
	return func() {
		freed := c.decoder.Memory() + c.encoder.Memory() + c.scratch.Memory() + c.recorded.Memory() + c.corrected.Memory() + cap(c.plain)
		if freed > mostKept {
			*c = codec{}
		} else {
			freed = 0
		}
		big.Give(size, freed)
	}
}

// Reset empties s and keeps its memory for another use, unless that is much.
func (s *Sum) Reset() {
	if cap(s.memory) > mostKept {
		s.memory = nil
	}
	if s.counts.Memory() > mostKept {
		s.counts = histogram.Histogram{}
	}
	s.Start, s.End, s.intervals, s.shape, s.dense = 0, 0, 0, shape{}, false
	s.memory, s.held, s.max, s.pass, s.packed = s.memory[:0], s.held[:0], nil, nil, nil
}

// A Sum takes about sumBytes beside what it refers to, and a member takes memberBytes.
const sumBytes, memberBytes = 400, 32

// mostKept is the number of bytes that are kept for another use.
const mostKept = 8 << 20

// Memory returns about how many bytes s takes.
func (s *Sum) Memory() int {
	return sumBytes + cap(s.memory) + memberBytes*cap(s.held) + s.counts.Memory()
}

// Intervals returns how many intervals were added.
func (s *Sum) Intervals() int64 { return s.intervals }

// Layout returns the layout of the sum of all counts. It means nothing if s is empty.
func (s *Sum) Layout() histogram.Layout { return s.layout }

// Add adds an interval. The error is that of decoding its payload, or a [SumError]; s is then
// unchanged. Some intervals that do not add up are found only by [Sum.Histogram] and the methods
// that encode s. Nothing of the interval is kept.
func (s *Sum) Add(i *hdrlog.Interval) error {
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	p, err := c.decoder.Open(i.Payload)
	if err != nil {
		return err
	}
	return s.AddPayload(i, p)
}

// AddPayload is [Sum.Add] for an interval whose payload is open already.
func (s *Sum) AddPayload(i *hdrlog.Interval, p *histogram.Payload) error {
	if err := s.checkKind(p.Layout()); err != nil {
		return err
	}
	if !s.roomFor(shapeOf(p, len(i.Payload))) {
		if err := p.Check(); err != nil {
			return err
		}
		return s.hold(i, p, 0)
	}
	if err := p.AddTo(&s.counts); err != nil {
		return sumError(err, p)
	}
	s.include(i.StartMillis(), i.EndMillis(), 1, shapeOf(p, len(i.Payload)))
	return nil
}

// AddCorrected adds an interval whose payload is p, corrected with
// [histogram.Histogram.CorrectInto]: h is the outcome. S may hold p and correct it again, since no
// text bounds the memory of h: a value of 2^62 becomes many. Neither is kept. The error is a
// [SumError]; s is then unchanged.
func (s *Sum) AddCorrected(i *hdrlog.Interval, p *histogram.Payload, expected float64, h *histogram.Histogram) error {
	if err := s.checkKind(p.Layout()); err != nil {
		return err
	}
	if !s.roomFor(shapeOf(p, len(i.Payload))) {
		return s.hold(i, p, expected)
	}
	if err := s.counts.Add(h); err != nil {
		return &SumError{err}
	}
	s.include(i.StartMillis(), i.EndMillis(), 1, shapeOf(p, len(i.Payload)))
	return nil
}

// unit returns what a count at 1 stands for.
func unit(l histogram.Layout) float64 {
	if l.Ratio == 0 {
		return 1
	}
	return l.Ratio
}

// roomFor reports whether s is dense and may stay so if payloads of a shape are added.
func (s *Sum) roomFor(more shape) bool { return s.dense && s.with(more).fits(s.spare) }

// with returns the shape of s once payloads of another are added.
func (s *Sum) with(more shape) shape {
	if s.intervals == 0 {
		return more
	}
	return s.shape.plus(more)
}

// finest returns the layout of the sum of two histograms.
func finest(a, b histogram.Layout) histogram.Layout {
	return histogram.Layout{Digits: max(a.Digits, b.Digits), Lowest: min(a.Lowest, b.Lowest), Ratio: min(a.Ratio, b.Ratio)}
}

// hold adds an interval whose payload is all right. It is corrected if expected is not 0.
func (s *Sum) hold(i *hdrlog.Interval, p *histogram.Payload, expected float64) error {
	text, more := i.Payload, shapeOf(p, len(i.Payload))
	if err := s.thin(); err != nil {
		return err
	}
	size := len(s.memory)
	if s.intervals == 0 {
		s.memory = hdrlog.AppendMax(s.memory, i)
		s.max = s.memory[size:len(s.memory):len(s.memory)]
		s.layout = p.Layout()
	}
	passes := s.intervals == 0 && expected == 0 && p.Version() == 2 && p.Compressed()
	inflated := p.BinarySize() <= plainTimes*len(text)+slack
	from := len(s.memory)
	if passes || !inflated {
		s.memory = append(s.memory, text...)
		if passes {
			s.pass = s.memory[from:len(s.memory):len(s.memory)]
		}
	}
	if inflated {
		from = len(s.memory)
		s.memory = p.AppendBinary(s.memory)
	}
	s.held = append(s.held, member{from, len(s.memory), !inflated, expected})
	if err := s.settle(more); err != nil {
		s.held, s.memory = s.held[:len(s.held)-1], s.memory[:size]
		return err
	}
	s.include(i.StartMillis(), i.EndMillis(), 1, more)
	return nil
}

// settle adds up the payloads held if that is worth it, once payloads of a shape are among them
// that are not included yet. If it fails, s is unchanged.
func (s *Sum) settle(more shape) error {
	if len(s.held) < 2 || !s.with(more).fits(s.spare) {
		return nil
	}
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	return s.thicken(c)
}

// thicken makes s dense. If it fails, s is unchanged.
func (s *Sum) thicken(c *codec) error {
	if s.dense {
		return nil
	}
	defer s.claim(c)()
	if err := s.addHeld(c, &s.counts); err != nil {
		return err
	}
	s.dense = true
	s.memory, s.held, s.max, s.pass, s.packed = s.memory[:0], s.held[:0], nil, nil, nil
	return nil
}

// thin makes s hold its counts as a payload, if it is dense.
func (s *Sum) thin() error {
	if !s.dense {
		return nil
	}
	memory, err := s.counts.AppendBinary(s.memory[:0])
	if err != nil {
		return &SumError{err}
	}
	s.memory, s.held = memory, append(s.held[:0], member{to: len(memory)})
	s.dense, s.counts = false, histogram.Histogram{}
	return nil
}

// addHeld makes h the sum of the payloads held.
func (s *Sum) addHeld(c *codec, h *histogram.Histogram) error {
	h.Reset(s.layout)
	for _, m := range s.held {
		if err := s.addMember(c, m, h); err != nil {
			return err
		}
	}
	return nil
}

// addMember adds a payload held to h, or nothing if that fails.
func (s *Sum) addMember(c *codec, m member, h *histogram.Histogram) error {
	open := c.decoder.OpenBinary
	if m.text {
		open = c.decoder.Open
	}
	p, err := open(s.memory[m.from:m.to])
	if err != nil {
		return err
	}
	if m.expected == 0 {
		if err := p.AddTo(h); err != nil {
			return sumError(err, p)
		}
		return nil
	}
	if err := p.Decode(&c.recorded); err != nil {
		return err
	}
	if err := c.recorded.CorrectInto(&c.corrected, m.expected); err != nil {
		return err
	}
	if err := h.Add(&c.corrected); err != nil {
		return &SumError{err}
	}
	return nil
}

// include takes in what is known of intervals that were added.
func (s *Sum) include(start, end, intervals int64, more shape) {
	end = max(start, end)
	if s.intervals == 0 {
		s.Start, s.End = start, end
	} else {
		s.Start, s.End = min(s.Start, start), max(s.End, end)
	}
	s.shape = s.with(more)
	s.intervals += intervals
	if s.intervals > 1 {
		s.max, s.pass, s.packed = nil, nil, nil
	}
}

// checkKind returns an error if a layout is of doubles and those of s are not, or the other way
// round.
func (s *Sum) checkKind(l histogram.Layout) error {
	if s.intervals > 0 && (s.layout.Ratio != 0) != (l.Ratio != 0) {
		return &SumError{histogram.ErrKind}
	}
	return nil
}

// sumError returns an error of adding p to a sum: a [SumError] if p is all right by itself.
func sumError(err error, p *histogram.Payload) error {
	if errors.Is(err, histogram.ErrOverflow) && p.Check() != nil {
		return err
	}
	if errors.Is(err, histogram.ErrOverflow) || errors.Is(err, histogram.ErrSpan) || errors.Is(err, histogram.ErrKind) {
		return &SumError{err}
	}
	return err
}

// Merge adds what t adds up to. T is unchanged, and shares nothing with s. The error is a
// [SumError]; s then adds up to the same as before. Some intervals that do not add up are found
// only by [Sum.Histogram] and the methods that encode s.
func (s *Sum) Merge(t *Sum) error {
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	return s.merge(c, t)
}

// MergeAll merges all of sums, which is quicker than one after another. The error is that of
// [Sum.Merge]; what s adds up to then is undefined.
func (s *Sum) MergeAll(sums []*Sum) error {
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	var all Sum // what is known of them together
	for _, t := range sums {
		if err := errors.Join(s.checkKind(t.layout), all.checkKind(t.layout)); err != nil && t.intervals > 0 {
			return err
		}
		if t.intervals > 0 {
			all.include(0, 0, t.intervals, t.shape)
		}
	}
	if all.intervals < 2 || !s.with(all.shape).fits(s.spare) {
		for _, t := range sums {
			if err := s.merge(c, t); err != nil {
				return err
			}
		}
		return nil
	}
	if s.intervals == 0 {
		s.layout = all.layout
	}
	if err := s.thicken(c); err != nil {
		return err
	}
	for _, t := range sums {
		if t.intervals == 0 {
			continue
		}
		if err := t.addTo(c, &s.counts); err != nil {
			return err
		}
		s.include(t.Start, t.End, t.intervals, t.shape)
	}
	return nil
}

func (s *Sum) merge(c *codec, t *Sum) error {
	if t.intervals == 0 {
		return nil
	}
	if err := s.checkKind(t.layout); err != nil {
		return err
	}
	if s.intervals == 0 {
		s.copy(t)
		return nil
	}
	room := (s.dense || t.dense) && s.with(t.shape).fits(s.spare)
	if room {
		if err := s.thicken(c); err != nil {
			return err
		}
		if err := t.addTo(c, &s.counts); err != nil {
			return err
		}
	} else if err := s.mergeHeld(t); err != nil {
		return err
	}
	s.include(t.Start, t.End, t.intervals, t.shape)
	return nil
}

// copy makes s, which is empty, the same as t.
func (s *Sum) copy(t *Sum) {
	s.include(t.Start, t.End, t.intervals, t.shape)
	if s.dense = t.dense; s.dense {
		s.counts.Reset(t.counts.Layout())
		s.counts.Add(&t.counts) // cannot fail: the layouts are the same
		return
	}
	s.memory = append(s.memory[:0], t.memory...)
	s.held = append(s.held[:0], t.held...)
	begin, end := len(t.max), len(t.max)+len(t.pass)
	if t.max != nil {
		s.max = s.memory[:begin:begin]
	}
	if t.pass != nil {
		s.pass = s.memory[begin:end:end]
	}
	if n := len(t.packed); n > 0 {
		s.packed = s.memory[:n:n]
	}
}

// addTo adds t to h, or nothing if that fails.
func (t *Sum) addTo(c *codec, h *histogram.Histogram) error {
	counts := &t.counts
	if !t.dense {
		defer t.claim(c)()
		if len(t.held) == 1 {
			return t.addMember(c, t.held[0], h)
		}
		counts = &c.scratch
		if err := t.addHeld(c, counts); err != nil {
			return err
		}
	}
	if err := h.Add(counts); err != nil {
		return &SumError{err}
	}
	return nil
}

// subtractFrom takes t away from h, to which it was added before.
func (t *Sum) subtractFrom(c *codec, h *histogram.Histogram) error {
	counts := &t.counts
	if !t.dense {
		defer t.claim(c)()
		counts = &c.scratch
		if err := t.addHeld(c, counts); err != nil {
			return err
		}
	}
	return h.Subtract(counts)
}

// mergeHeld adds the payloads of t to those that s holds.
func (s *Sum) mergeHeld(t *Sum) error {
	if err := s.thin(); err != nil {
		return err
	}
	size, held := len(s.memory), len(s.held)
	if t.dense {
		memory, err := t.counts.AppendBinary(s.memory)
		if err != nil {
			return &SumError{err}
		}
		s.memory = memory
		s.held = append(s.held, member{from: size, to: len(memory)})
	}
	for _, m := range t.held {
		from := len(s.memory)
		s.memory = append(s.memory, t.memory[m.from:m.to]...)
		s.held = append(s.held, member{from, len(s.memory), m.text, m.expected})
	}
	if err := s.settle(t.shape); err != nil {
		s.memory, s.held = s.memory[:size], s.held[:held]
		return err
	}
	return nil
}

// Histogram returns all counts. The histogram is scratch or one of s, which must not be changed; it
// is valid until either is used again. The error is a [SumError].
func (s *Sum) Histogram(scratch *histogram.Histogram) (*histogram.Histogram, error) {
	if s.dense {
		return &s.counts, nil
	}
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	defer s.claim(c)()
	if err := s.addHeld(c, scratch); err != nil {
		return nil, err
	}
	return scratch, nil
}

// AppendFields appends the fields START,LENGTH,MAX,PAYLOAD of a log whose base time is base
// milliseconds since the epoch. See [hdrlog.Writer.Fields]. A reader that truncates as the
// reference does reads Start and End exactly. The error is a [SumError], or [histogram.ErrSpan] for
// a double histogram that cannot be encoded.
func (s *Sum) AppendFields(text []byte, base int64) ([]byte, error) {
	if s.intervals == 0 {
		return text, errEmpty
	}
	c := codecs.Get().(*codec)
	defer codecs.Put(c)
	fields := append(appendTimes(text, base, s.Start, s.End), ',')
	if s.pass != nil {
		fields = append(append(fields, s.max...), ',')
		return append(fields, s.pass...), nil
	}
	err := s.use(c, func(h *histogram.Histogram) (err error) {
		if s.max != nil {
			fields = append(fields, s.max...)
		} else {
			fields = appendMax(fields, h.Float(h.Max()))
		}
		fields = append(fields, ',')
		if s.packed != nil {
			fields = base64x.AppendEncode(fields, s.packed)
			return nil
		}
		fields, err = c.encoder.AppendBase64(fields, h)
		return err
	})
	if err != nil {
		return text, err
	}
	return fields, nil
}

// use calls f with all counts.
func (s *Sum) use(c *codec, f func(h *histogram.Histogram) error) error {
	defer s.claim(c)()
	if s.dense {
		return f(&s.counts)
	}
	if err := s.addHeld(c, &c.scratch); err != nil {
		return err
	}
	if c.decoder.Memory() > mostKept {
		c.decoder = histogram.Decoder{}
	}
	return f(&c.scratch)
}

// appendMax appends the MAX of a sum with a highest value.
func appendMax(text []byte, highest float64) []byte {
	return fmt.Appendf(text, "%.3f", highest/hdrlog.MaxRatio)
}

var errEmpty = errors.New("no intervals were added")

// appendTimes appends START,LENGTH, from which a reader that truncates as the reference does gets
// exactly start and end, in milliseconds, if it counts from base. The reference truncates fractions
// that binary does not have: it reads 2.133 as 2132 ms. Such a number gets a microsecond more.
func appendTimes(text []byte, base, start, end int64) []byte {
	counted := hdrlog.Interval{Base: float64(base) / 1000}
	text, counted.Start = appendMillis(text, start-base, func(seconds float64) bool {
		counted.Start = seconds
		return counted.StartMillis() == start
	})
	text = append(text, ',')
	text, _ = appendMillis(text, end-start, func(seconds float64) bool {
		counted.Length = seconds
		return counted.EndMillis() == end
	})
	return text
}

// appendMillis appends milliseconds as seconds, with as much more than three decimals as it takes
// to be read right.
func appendMillis(text []byte, ms int64, right func(seconds float64) bool) ([]byte, float64) {
	begin := len(text)
	if ms < 0 {
		text = append(text, '-')
		ms = -ms
	}
	text = strconv.AppendInt(text, ms/1000, 10)
	text = append(text, '.', byte('0'+ms/100%10), byte('0'+ms/10%10), byte('0'+ms%10))
	exact := len(text)
	var seconds float64
	for _, more := range []string{"", "001", "01", "1"} {
		text = append(text[:exact], more...)
		if seconds, _ = strconv.ParseFloat(string(text[begin:]), 64); right(seconds) {
			break
		}
	}
	return text, seconds
}
