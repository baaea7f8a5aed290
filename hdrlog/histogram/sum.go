package histogram

import "errors"

// A Sum adds up histograms in memory in proportion to the input, however far apart the values lie:
// about 16 bytes for each encoded byte that was added, plus Spare. A [Histogram] has room for every
// slot between its lowest and its highest value: with five digits up to 49 MB. Use a Sum to keep
// many sums, or sums of histograms of unknown origin.
//
// A Sum is a [Packed] or, if its memory allows that, a [Histogram], to which it adds payloads eight
// times as fast (BenchmarkSum). The zero value is empty and takes the layout of the first histogram
// that is added. A Sum is not safe for concurrent use.
type Sum struct {
	// Spare is how many more bytes the sum may take. Half a megabyte is enough for any
	// histogram of three digits. Set it for the first hundred sums or so, and leave it 0 in all
	// others.
	Spare int

	packed Packed
	dense  Histogram
	// isDense reports whether dense holds the sum. Otherwise packed does.
	isDense bool
	// spent is the number of bytes of all payloads and packed counts that were added.
	spent int
}

// room returns the number of slots that the sum may have room for. A second of cassandra-stress
// takes 2 KB, for values below slot 17,000.
func (s *Sum) room() int { return 2*s.spent + s.Spare/8 }

// AddPayload adds the counts of a payload. It returns the errors of [Payload.AddTo]; s is then
// unchanged.
func (s *Sum) AddPayload(p *Payload) error {
	if s.Layout().Lowest == 0 {
		s.dense.reset(p.layout)
		s.isDense = true
		err := s.addPayload(p)
		if err != nil {
			s.Reset()
		}
		return err
	}
	return s.addPayload(p)
}

func (s *Sum) addPayload(p *Payload) error {
	s.spent += len(p.counts)
	err := errBeyond
	if s.isDense && s.dense.layout.Shares(p.layout) {
		if err = p.addBelow(&s.dense, s.room()); err == nil {
			s.dense.layout.Lowest = min(s.dense.layout.Lowest, p.layout.Lowest)
		}
	}
	if errors.Is(err, errBeyond) {
		in := &p.decoder.sparse
		if err = p.Pack(in); err == nil {
			err = s.add(*in)
		}
	}
	if err != nil {
		s.spent -= len(p.counts)
	}
	return err
}

// Add adds the counts of h. It returns the errors of [Histogram.Add]; s is then unchanged.
func (s *Sum) Add(h *Histogram) error {
	if h.layout.Lowest == 0 {
		return nil
	}
	if s.isDense && h.total > 0 && s.dense.layout.Shares(h.layout) && s.dense.spanWith(h.firstIndex(), h.lastIndex()) <= max(len(s.dense.counts), s.room()) {
		return s.dense.Add(h)
	}
	var in Packed
	in.Pack(h, MaxDigits)
	return s.AddPacked(in)
}

// AddPacked adds packed counts. It returns the errors of [Histogram.Add]; s is then unchanged.
func (s *Sum) AddPacked(p Packed) error {
	s.spent += len(p.bytes)
	err := s.add(p)
	if err != nil {
		s.spent -= len(p.bytes)
	}
	return err
}

// add adds packed counts. Their size is already in spent.
func (s *Sum) add(p Packed) error {
	if p.layout.Lowest == 0 {
		return nil
	}
	if s.isDense && s.dense.layout.Shares(p.layout) && p.spanWith(&s.dense) <= max(len(s.dense.counts), s.room()) {
		return p.AddTo(&s.dense)
	}
	own := s.packed
	if s.isDense {
		own.Pack(&s.dense, MaxDigits)
	}
	sum, err := own.Plus(p)
	if err != nil {
		return err
	}
	s.hold(sum)
	return nil
}

// hold makes s hold the same as p, packed or dense.
func (s *Sum) hold(p Packed) {
	s.isDense = p.spanWith(new(Histogram)) <= s.room()
	if s.isDense {
		p.Unpack(&s.dense)
		s.packed = Packed{}
		return
	}
	s.packed, s.dense = p, Histogram{}
}

// Reset empties s, so that it can take another layout. It keeps some of the memory.
func (s *Sum) Reset() {
	if len(s.dense.counts) > 1<<16 {
		s.dense = Histogram{}
	}
	s.dense.reset(Layout{})
	s.packed = Packed{}
	s.isDense, s.spent = false, 0
}

// Layout returns the layout of the sum, or the zero Layout if nothing was added.
func (s *Sum) Layout() Layout {
	if s.isDense {
		return s.dense.layout
	}
	return s.packed.layout
}

// Double reports whether the sum is a double histogram.
func (s *Sum) Double() bool { return s.Layout().Ratio != 0 }

// TotalCount returns the number of recorded values.
func (s *Sum) TotalCount() int64 {
	if s.isDense {
		return s.dense.total
	}
	return s.packed.total
}

// Histogram returns the sum as a histogram: one that s owns, or scratch. The caller must not change
// it. It is valid until s or scratch changes.
func (s *Sum) Histogram(scratch *Histogram) *Histogram {
	if s.isDense {
		return &s.dense
	}
	s.packed.Unpack(scratch)
	return scratch
}

// Pack makes p hold the sum, in the memory of p.
func (s *Sum) Pack(p *Packed) {
	if s.isDense {
		p.Pack(&s.dense, MaxDigits)
		return
	}
	p.Copy(s.packed)
}
