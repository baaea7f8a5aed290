package prom

import (
	"cmp"
	"slices"

	"hdrkit/tags"
)

// A Total is what a state file keeps of a tag.
type Total struct {
	Tag           []byte
	Tagged        bool
	All           []byte // empty if there is nothing, see [merge.Sum.AppendBinary]
	Values, Ratio float64
}

// Name returns the tag, nil if there is none.
func (t *Total) Name() []byte {
	if t.Tagged && t.Tag == nil {
		return []byte{}
	}
	return t.Tag
}

// save returns the totals, in order of tags.
func (ts *totals) save() ([]Total, error) {
	all := make([]Total, 0, len(ts.tags))
	for _, t := range ts.tags {
		sum, err := t.all.AppendBinary(nil)
		if err != nil {
			return nil, err
		}
		all = append(all, Total{t.tag, t.tag != nil, sum, t.sum, t.ratio})
	}
	slices.SortFunc(all, func(a, b Total) int { return cmp.Compare(string(a.Tag), string(b.Tag)) })
	return all, nil
}

// load adds totals of an earlier run.
func (ts *totals) load(all []Total) error {
	for _, saved := range all {
		t := &total{tag: saved.Name(), sum: saved.Values, ratio: saved.Ratio}
		if len(saved.All) > 0 {
			if err := t.all.UnmarshalBinary(saved.All); err != nil {
				return err
			}
		}
		if err := t.charge.Set(ts.account, 1, tagBytes+t.all.Size()); err != nil {
			return err
		}
		ts.tags[tags.Text(t.tag)] = t
	}
	return nil
}

// Save returns the totals.
func (c *Collector) Save() ([]Total, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.totals.save()
}

// Load adds totals of an earlier run.
func (c *Collector) Load(all []Total) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.totals.load(all)
}

// Save returns the totals.
func (r *Remote) Save() ([]Total, error) { return r.totals.save() }

// Load adds totals of an earlier run.
func (r *Remote) Load(all []Total) error { return r.totals.load(all) }
