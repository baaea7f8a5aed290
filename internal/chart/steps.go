package chart

import (
	"cmp"
	"fmt"

	"hdrkit/hdrlog/merge"
)

// A step is what is measured at once if Aggregate is set: what a series has in a window.
type step struct {
	of      *gathered
	window  Window
	sum     merge.Sum
	covered merge.Covered
}

func (s *step) size() int { return s.sum.Size() + s.covered.Size() }

// stepBytes is the memory that steps may take until half of them are measured. It is enough for
// ten minutes of six tags with an interval a second, so lines may be out of order by as much. An
// interval that comes later opens its window again, which gives that window another point.
const stepBytes = 32 << 20

// addStep adds an interval to its step.
func (c *Collector) addStep(g *gathered, i *Interval) error {
	s := c.steps.At([]byte(g.label), i.window.Begin, i.window.End, func(merge.Window) *step { return &step{of: g} })
	if s.window.Intervals == 0 {
		s.window = i.window
	} else if err := s.window.include(&i.window); err != nil {
		return err
	} else {
		c.stepBytes -= s.size()
	}
	s.covered.Add(i.window.Begin, i.window.End)
	err := s.sum.Merge(&i.sum)
	if c.stepBytes += s.size(); err == nil && c.stepBytes > cmp.Or(c.stepLimit, stepBytes) {
		err = c.measureSteps(c.steps.Middle())
	}
	return err
}

// measureSteps measures the steps before a time. Logs may follow each other in any order.
func (c *Collector) measureSteps(time int64) error {
	for s := range c.steps.Before(time) {
		c.stepBytes -= s.size()
		if err := c.measureStep(s); err != nil {
			return fmt.Errorf("%s: %w", Named(s.of.label), err)
		}
	}
	return nil
}

func (c *Collector) measureStep(s *step) error {
	w := s.window
	seconds := float64(s.covered.Millis(s.sum.End-s.sum.Start, c.Aggregate)) / 1000
	h, err := s.sum.Histogram(&c.scratch)
	if err != nil {
		return err
	}
	for n, m := range c.Measures {
		if n < c.first() {
			continue
		}
		if line := s.of.lines[n]; len(line) > 0 { // logs may begin at different times
			if last := &line[len(line)-1]; last.Start < float64(w.Start) {
				last.End = min(last.End, float64(w.Start))
			}
		}
		s.of.add(n, Point{float64(w.Start), float64(w.End), m.of(h, seconds, s.of.ratio)})
	}
	return nil
}
