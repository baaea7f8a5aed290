package histogram

// MaxAndCount returns the highest value that the payload counts, as [Histogram.Max] of the decoded
// histogram does, 0 if it counts none, and the number of values. It does not store the counts.
// After [Payload.AddTo] it mostly takes no time, and otherwise about that of [Payload.Check]. The
// errors are those of [Payload.AddTo].
func (p *Payload) MaxAndCount() (highest, count int64, err error) {
	last := p.next - 1
	if count = p.counted; last < 0 && p.version >= 2 {
		if last, count, err = p.lastSlot(); err != nil {
			return 0, 0, err
		}
	}
	if last < 0 {
		if count, err = p.each(func(index int, _ int64) { last = index }); err != nil || last < 0 {
			return 0, 0, err
		}
	}
	return p.layout.HighestAt(last), count, nil
}

// lastSlot returns the index of the last slot with a count, and the sum of all counts. It reads the
// counts at the end one by one and those before in words. The index is -1 if all counts that it
// read one by one at the end are empty.
func (p *Payload) lastSlot() (last int, total int64, err error) {
	index, encoded, seen := 0, p.counts, int64(0)
	for last = -1; len(encoded) > 0; {
		done, next, sum := checkEights(encoded[:max(len(encoded)-maxWordV2, 0)], index, p.slots)
		if done > 0 {
			last = -1
		}
		encoded, index, total = encoded[done:], next, total+sum
		n, step, size, err := p.one(encoded, index)
		if err != nil {
			return 0, 0, err
		}
		if n > 0 {
			last = index
		}
		encoded, index, total = encoded[size:], index+step, total+n
		seen |= total
	}
	if seen < 0 {
		return 0, 0, ErrOverflow
	}
	return last, total, nil
}

// ended keeps what [Payload.MaxAndCount] returns, once all counts were added, and the last one
// stood for the slot before next. It keeps nothing if that one is no count of one byte.
func (p *Payload) ended(next int, total int64) {
	if n := len(p.counts); n > 1 && p.counts[n-1] < 0x80 && p.counts[n-2] < 0x80 && p.counts[n-1] > 0 && p.counts[n-1]&1 == 0 {
		p.next, p.counted = next, total
	}
}
