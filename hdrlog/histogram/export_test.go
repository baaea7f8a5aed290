package histogram

// CorrectSlots is CorrectInto that always counts slot by slot.
func (h *Histogram) CorrectSlots(into *Histogram, step int64) error {
	into.reset(h.layout)
	if err := into.Add(h); err != nil {
		return err
	}
	return h.correctSlots(into, step)
}

// Count returns the count of a slot.
func (h *Histogram) Count(index int) int64 { return h.count(index) }

// Len returns the number of slots that h has room for.
func (h *Histogram) Len() int { return len(h.counts) }

// Shards returns the number of different shards that r gives out.
func (r *Recorder) Shards() int {
	shards := make(map[any]bool)
	for range 10 * len(r.shards) {
		shards[r.assigned.New()] = true
	}
	return len(shards)
}
