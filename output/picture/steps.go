package picture

import (
	"cmp"
	"fmt"
	"slices"

	"hdrkit/hdrlog/merge"
)

// A step is what is measured at once, if Aggregate or Moving is set: a window of Aggregate, or an
// interval.
type step struct {
	of     *gathered
	key    int64 // the start of the window of Aggregate
	window Window
	sum    merge.Sum
}

// stepBytes is the memory that steps may take until half of them are measured. It is enough for
// ten minutes of six tags with an interval a second, so lines may be out of order by as much. An
// interval that comes later opens its window again, which gives that window another point.
const stepBytes = 32 << 20

// addStep adds an interval to its step.
func (c *Collector) addStep(g *gathered, i *Interval) error {
	key := merge.WindowOf(i.window.Begin, i.window.End, max(c.Aggregate, 1)).Start
	s, before := g.open[key], 0
	if s == nil || c.Aggregate == 0 {
		s = &step{of: g, key: key, window: i.window}
		c.steps = append(c.steps, s)
		if c.Aggregate > 0 {
			g.open[key] = s
		}
	} else {
		before = s.sum.Memory()
		if err := s.window.include(&i.window); err != nil {
			return err
		}
	}
	if err := s.sum.Merge(&i.sum); err != nil {
		return err
	}
	c.stepBytes += s.sum.Memory() - before
	if c.stepBytes > cmp.Or(c.stepLimit, stepBytes) {
		return c.measureSteps(len(c.steps) / 2)
	}
	return nil
}

// measureSteps measures some steps: those that end first for a moving window, and otherwise those
// that were opened first. Logs may follow each other in any order.
func (c *Collector) measureSteps(count int) error {
	if c.Moving > 0 {
		slices.SortStableFunc(c.steps, func(a, b *step) int { return cmp.Compare(a.window.End, b.window.End) })
	}
	steps := c.steps[:count]
	c.steps = slices.Clone(c.steps[count:])
	for _, s := range steps {
		delete(s.of.open, s.key)
		c.stepBytes -= s.sum.Memory()
		if err := c.measureStep(s); err != nil {
			return fmt.Errorf("%s: %w", named(s.of.label), err)
		}
	}
	return nil
}

func (c *Collector) measureStep(s *step) error {
	w := s.window
	start, end, seconds := w.Start, w.End, float64(w.length())/1000
	if c.Aggregate > 0 {
		start, end = max(start, s.key), min(end, s.key+c.Aggregate)
	}
	h, err := s.sum.Histogram(&c.scratch)
	if c.Moving > 0 {
		if err = s.of.moving.Add(w.End, &s.sum); err == nil {
			h, err = s.of.moving.Histogram(&c.scratch)
		}
		seconds = float64(c.Moving) / 1000
	}
	if err != nil {
		return err
	}
	for n, m := range c.Measures {
		s.of.add(n, Point{float64(start), float64(end), m.of(h, seconds, c.Ratio)})
	}
	return nil
}
