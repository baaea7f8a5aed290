package histogram

// CorrectSlots counts the missing values of h in into slot by slot, however few they are.
func (h *Histogram) CorrectSlots(into *Histogram, step int64) error {
	into.reset(h.layout)
	if err := into.Add(h); err != nil {
		return err
	}
	return h.correctSlots(into, step)
}

// Slots makes unexported slots known to the tests of the public API.
func (h *Histogram) Slots(low, high int) []int64 { return h.slots(low, high) }
