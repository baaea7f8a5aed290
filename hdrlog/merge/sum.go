package merge

import (
	"errors"
	"fmt"
	"strconv"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
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
// So its memory is at most a small multiple of the payloads that it was given, even if each has
// only two values that lie far apart.
type Sum struct {
	// Start is when the interval that starts first starts, and End when the one that ends last
	// ends, in milliseconds since the epoch. They may be changed, to move a sum in time.
	Start, End int64

	intervals int64
	layout    histogram.Layout // the finest of all

	// Held are the payloads that are not in counts, as members of memory. Weight is how many bytes
	// of input they came from.
	memory []byte
	held   []member
	weight int
	// If there is one interval, max is its MAX and pass its payload if that may stay as it is:
	// views of memory.
	max, pass []byte

	dense  bool // the payloads are added up in counts
	counts histogram.Histogram
}

// member is a payload in memory[from:to].
type member struct {
	from, to int
	text     bool // in base64
}

const (
	// A histogram may take this many times the bytes of the payloads that are added up in it.
	denseTimes = 16
	// A payload is held inflated if that takes at most this many times its text, and slack bytes.
	plainTimes, slack = 8, 1 << 10
	// bigSlots is how many slots make a histogram too big to keep for another use: 8 MB.
	bigSlots = 1 << 20
)

// codec is what it takes to decode and encode.
type codec struct {
	decoder histogram.Decoder
	encoder histogram.Encoder
	scratch histogram.Histogram
	used    bool // scratch is
	plain   []byte
}

var codecs = sync.Pool{New: func() any { return new(codec) }}

// release gives the codec back, without memory that only an unusual histogram needs.
func (c *codec) release() {
	if c.used && big(&c.scratch) {
		c.scratch = histogram.Histogram{}
	}
	c.used = false
	codecs.Put(c)
}

func big(h *histogram.Histogram) bool {
	return h.TotalCount() > 0 && h.Layout().SlotsFor(h.Max()) > bigSlots
}

// Reset empties s and keeps its memory for another use.
func (s *Sum) Reset() {
	if s.dense && big(&s.counts) {
		s.counts = histogram.Histogram{}
	}
	*s = Sum{memory: s.memory[:0], held: s.held[:0], counts: s.counts}
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
	defer c.release()
	p, err := c.decoder.Open(i.Payload)
	if err != nil {
		return err
	}
	return s.addPayload(c, i, p)
}

// AddPayload is [Sum.Add] for an interval whose payload is open already.
func (s *Sum) AddPayload(i *hdrlog.Interval, p *histogram.Payload) error {
	c := codecs.Get().(*codec)
	defer c.release()
	return s.addPayload(c, i, p)
}

func (s *Sum) addPayload(c *codec, i *hdrlog.Interval, p *histogram.Payload) error {
	if err := s.checkKind(p.Layout()); err != nil {
		return err
	}
	if s.dense {
		if err := p.AddTo(&s.counts); err != nil {
			return sumError(err, p)
		}
		s.include(i.StartMillis(), i.EndMillis(), 1, p.Layout())
		return nil
	}
	if err := p.Check(); err != nil {
		return err
	}
	return s.hold(c, i, p, i.Payload)
}

// AddCounts adds the counts of h as those of an interval, whose payload is not used: for an
// interval that was corrected. H is not kept. The error is that of encoding h, or a [SumError]; s
// is then unchanged.
func (s *Sum) AddCounts(i *hdrlog.Interval, h *histogram.Histogram) error {
	c := codecs.Get().(*codec)
	defer c.release()
	if err := s.checkKind(h.Layout()); err != nil {
		return err
	}
	if s.dense {
		if err := s.counts.Add(h); err != nil {
			return &SumError{err}
		}
		s.include(i.StartMillis(), i.EndMillis(), 1, h.Layout())
		return nil
	}
	var err error
	if c.plain, err = h.AppendBinary(c.plain[:0]); err != nil {
		return err
	}
	p, err := c.decoder.OpenBinary(c.plain)
	if err != nil {
		return err
	}
	return s.hold(c, i, p, nil)
}

// hold adds an interval whose payload is all right. Text is the payload as it stands in the log,
// nil if it was corrected.
func (s *Sum) hold(c *codec, i *hdrlog.Interval, p *histogram.Payload, text []byte) error {
	first := s.intervals == 0
	size := len(s.memory)
	if first {
		s.memory = hdrlog.AppendMax(s.memory, i)
		s.max = s.memory[size:len(s.memory):len(s.memory)]
	}
	m := member{text: true}
	_, compressed := histogram.Peek(text)
	passes := first && compressed && p.Version() == 2
	inflated := text == nil || p.BinarySize() <= plainTimes*len(text)+slack
	if passes || !inflated {
		m.from = len(s.memory)
		s.memory = append(s.memory, text...)
		m.to = len(s.memory)
		if passes {
			s.pass = s.memory[m.from:m.to:m.to]
		}
	}
	if inflated {
		m = member{from: len(s.memory)}
		s.memory = p.AppendBinary(s.memory)
		m.to = len(s.memory)
	}
	weight := len(text)
	if text == nil {
		weight = m.to - m.from
	}
	if first {
		s.layout = p.Layout()
	}
	return s.keep(c, m, size, weight, 8*p.Layout().SlotsFor(p.Highest()), func() {
		s.include(i.StartMillis(), i.EndMillis(), 1, p.Layout())
	})
}

// keep takes in a member, which is in memory from size on, and makes s dense once a histogram,
// which takes about so many bytes, is worth it. If that fails, it undoes all. It calls include if
// all went well.
func (s *Sum) keep(c *codec, m member, size, weight, bytes int, include func()) error {
	s.held = append(s.held, m)
	s.weight += weight
	if len(s.held) > 1 && denseTimes*s.weight >= bytes {
		if err := s.addUp(c); err != nil {
			s.held, s.weight, s.memory = s.held[:len(s.held)-1], s.weight-weight, s.memory[:size]
			return err
		}
	}
	include()
	return nil
}

// addUp makes s dense. If it fails, s is unchanged.
func (s *Sum) addUp(c *codec) error {
	if err := s.addHeld(c, &s.counts); err != nil {
		return err
	}
	s.dense = true
	s.memory, s.held, s.max, s.pass, s.weight = s.memory[:0], s.held[:0], nil, nil, 0
	return nil
}

// addHeld makes h the sum of the payloads held.
func (s *Sum) addHeld(c *codec, h *histogram.Histogram) error {
	c.used = c.used || h == &c.scratch
	h.Reset(s.layout)
	for _, m := range s.held {
		p, err := s.open(c, m)
		if err != nil {
			return err
		}
		if err := p.AddTo(h); err != nil {
			return sumError(err, p)
		}
	}
	return nil
}

// open opens a payload held.
func (s *Sum) open(c *codec, m member) (*histogram.Payload, error) {
	data := s.memory[m.from:m.to]
	if m.text {
		return c.decoder.Open(data)
	}
	return c.decoder.OpenBinary(data)
}

// include takes in the times and the layout of intervals.
func (s *Sum) include(start, end, intervals int64, l histogram.Layout) {
	end = max(start, end)
	if s.intervals == 0 {
		s.Start, s.End, s.layout = start, end, l
	} else {
		s.Start, s.End = min(s.Start, start), max(s.End, end)
		s.layout.Digits, s.layout.Lowest, s.layout.Ratio = max(s.layout.Digits, l.Digits), min(s.layout.Lowest, l.Lowest), min(s.layout.Ratio, l.Ratio)
	}
	s.intervals += intervals
	if s.intervals > 1 {
		s.max, s.pass = nil, nil
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
// [SumError]; s is then unchanged. Some intervals that do not add up are found only by
// [Sum.Histogram] and the methods that encode s.
func (s *Sum) Merge(t *Sum) error {
	if t.intervals == 0 {
		return nil
	}
	if err := s.checkKind(t.layout); err != nil {
		return err
	}
	c := codecs.Get().(*codec)
	defer c.release()
	switch {
	case s.intervals == 0:
		s.copy(t)
		return nil
	case t.dense:
		if !s.dense {
			// The sum of the few payloads of s and the counts of t.
			if err := s.addUp(c); err != nil {
				return err
			}
		}
		if err := s.counts.Add(&t.counts); err != nil {
			return &SumError{err}
		}
	case s.dense:
		if err := t.addTo(c, &s.counts); err != nil {
			return err
		}
	default:
		if err := s.mergeHeld(c, t); err != nil {
			return err
		}
	}
	s.include(t.Start, t.End, t.intervals, t.layout)
	return nil
}

// copy makes s, which is empty, the same as t.
func (s *Sum) copy(t *Sum) {
	s.Start, s.End, s.intervals, s.layout, s.weight, s.dense = t.Start, t.End, t.intervals, t.layout, t.weight, t.dense
	if t.dense {
		s.counts.Reset(t.counts.Layout())
		s.counts.Add(&t.counts) // cannot fail: the layouts are the same
		return
	}
	s.memory = append(s.memory[:0], t.memory...)
	s.held = append(s.held[:0], t.held...)
	if t.max != nil || t.pass != nil {
		begin, end := len(t.max), len(t.max)+len(t.pass)
		s.max = s.memory[:begin:begin]
		if t.pass != nil {
			s.pass = s.memory[begin:end:end]
		}
	}
}

// addTo adds the payloads that t holds to h, or none if they do not all fit.
func (t *Sum) addTo(c *codec, h *histogram.Histogram) error {
	if len(t.held) > 1 {
		if err := t.addHeld(c, &c.scratch); err != nil {
			return err
		}
		if err := h.Add(&c.scratch); err != nil {
			return &SumError{err}
		}
		return nil
	}
	p, err := t.open(c, t.held[0])
	if err != nil {
		return err
	}
	if err := p.AddTo(h); err != nil {
		return sumError(err, p)
	}
	return nil
}

// mergeHeld adds the payloads that t holds to those that s holds.
func (s *Sum) mergeHeld(c *codec, t *Sum) error {
	size, held, weight := len(s.memory), len(s.held), s.weight
	bytes := 0
	for _, m := range t.held {
		p, err := t.open(c, m)
		if err != nil {
			return err
		}
		bytes = max(bytes, 8*p.Layout().SlotsFor(p.Highest()))
		from := len(s.memory)
		s.memory = append(s.memory, t.memory[m.from:m.to]...)
		s.held = append(s.held, member{from, len(s.memory), m.text})
	}
	s.weight += t.weight
	if denseTimes*s.weight >= bytes {
		if err := s.addUp(c); err != nil {
			s.memory, s.held, s.weight = s.memory[:size], s.held[:held], weight
			return err
		}
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
	defer c.release()
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
	defer c.release()
	fields := append(appendTimes(text, base, s.Start, s.End), ',')
	if s.pass != nil {
		fields = append(append(fields, s.max...), ',')
		return append(fields, s.pass...), nil
	}
	h := &s.counts
	if !s.dense {
		h = &c.scratch
		if err := s.addHeld(c, h); err != nil {
			return text, err
		}
	}
	if s.max != nil {
		fields = append(fields, s.max...)
	} else {
		fields = fmt.Appendf(fields, "%.3f", h.Float(h.Max())/hdrlog.MaxRatio)
	}
	fields, err := c.encoder.AppendBase64(append(fields, ','), h)
	if err != nil {
		return text, err
	}
	return fields, nil
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
