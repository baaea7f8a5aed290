package histogram

// Max returns the highest value that the payload counts, as [Histogram.Max] of the decoded
// histogram does, 0 if it counts none. It does not store the counts, so it takes about as long as
// [Payload.Check]. The errors are those of [Payload.AddTo].
func (p *Payload) Max() (int64, error) {
	last := -1
	if p.version >= 2 {
		found := false
		var err error
		if last, found, err = p.lastSlot(); err != nil {
			return 0, err
		} else if !found {
			last = -1
		}
	}
	if last < 0 {
		if _, err := p.each(func(index int, _ int64) { last = index }); err != nil {
			return 0, err
		}
	}
	if last < 0 {
		return 0, nil
	}
	return p.layout.HighestAt(last), nil
}

// lastSlot returns the index of the last slot with a count. It reads the counts at the end one by
// one and those before in words. It reports false if all counts that it read one by one at the end
// are empty.
func (p *Payload) lastSlot() (last int, found bool, err error) {
	index, encoded := 0, p.counts
	for len(encoded) > 0 {
		done, next, _ := checkEights(encoded[:max(len(encoded)-maxWordV2, 0)], index, p.slots)
		if done > 0 {
			found = false
		}
		encoded, index = encoded[done:], next
		n, step, size, err := p.one(encoded, index)
		if err != nil {
			return 0, false, err
		}
		if n > 0 {
			last, found = index, true
		}
		encoded, index = encoded[size:], index+step
	}
	return last, found, nil
}
