package scan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/base/people"
)

// Outside is the name of the time that no phase has.
const Outside = "outside"

// A Phase is a range with a name. The start belongs to it, the end does not. Without an end, it
// goes on. Neither bound is the end of a log, or where it is steady.
type Phase struct {
	Name string
	Range
}

// Phases say in which of some phases an interval is: those that its middle lies in and that have at
// least half of it, or else in [Outside]. An interval in several is in each. Workers of a scan use
// them at once. What ran is known after the scan.
type Phases struct {
	// Files are the names of the files. Of LOG>VALUE it is LOG.
	Files []string
	// Zone is that of times that state none.
	Zone *time.Location
	// Whole says that logs are read from start to end.
	Whole bool

	all   []Phase
	dated bool // a bound is the time of a clock
	fixed bool // no bound depends on the start of a log

	mu      sync.Mutex
	tables  map[float64]*timetable // by the start of a log
	account *ledger.Account
}

// NewPhases returns phases, of which several may have the same name. Memory is charged for what
// logs with different starts take.
func NewPhases(all []Phase, memory *ledger.Ledger) *Phases {
	p := &Phases{
		all:     all,
		fixed:   true,
		tables:  make(map[float64]*timetable),
		account: memory.Open("phases in logs with different starts", "give fewer with -phases"),
	}
	for n := range all {
		r := &all[n].Range
		p.dated = p.dated || r.From.Origin != LogStart
		p.fixed = p.fixed && r.From.Origin == Epoch
		if r.To == nil {
			r.To = &Bound{Origin: r.From.Origin, Seconds: endless}
		}
		if r.To.Origin == Midnight && r.To.Seconds >= epochSeconds {
			r.To = &Bound{Origin: Epoch, Seconds: endless}
		}
		r.From.Seconds, r.To.Seconds = min(r.From.Seconds, endless), min(r.To.Seconds, endless)
		r.settle()
	}
	return p
}

// endless is after all logs, in seconds: in the year 5138. To add two such times does not overflow.
const endless = 1e11

// spanBytes is about what a span of a timetable takes.
const spanBytes = 60

// Dated reports whether a phase is at a time of a clock.
func (p *Phases) Dated() bool { return p.dated }

// A NamedSpan is when a phase of a log is.
type NamedSpan struct {
	merge.Span
	Name string
}

// In returns when the phases are in a log that starts at a time in seconds since the epoch, in the
// order of their starts. Spans of the same name are apart from one another.
func (p *Phases) In(logStart float64) ([]NamedSpan, error) {
	t, err := p.table(logStart)
	if err != nil {
		return nil, err
	}
	return t.spans, nil
}

// A timetable has the phases of a log.
type timetable struct {
	spans []NamedSpan
	until []int64 // the latest end of the spans up to each
	taken []bool  // by span, whether an interval is in it
	ran   merge.Span
	twice bool // an interval is in several
}

// table returns the timetable of a log with a start.
func (p *Phases) table(logStart float64) (*timetable, error) {
	if p.fixed {
		logStart = 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tables[logStart]
	if t == nil {
		if err := p.account.Add(1, spanBytes*len(p.all)); err != nil {
			return nil, err
		}
		t = newTimetable(p.all, logStart)
		p.tables[logStart] = t
	}
	return t, nil
}

func newTimetable(all []Phase, logStart float64) *timetable {
	t := new(timetable)
	for _, phase := range all {
		span := merge.Span{Start: phase.From.At(logStart), End: phase.To.At(logStart)}
		t.spans = append(t.spans, NamedSpan{span, phase.Name})
	}
	slices.SortStableFunc(t.spans, func(a, b NamedSpan) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Start, b.Start))
	})
	apart := t.spans[:0]
	for _, s := range t.spans {
		last := len(apart) - 1
		if last >= 0 && apart[last].Name == s.Name && s.Start <= apart[last].End {
			apart[last].End = max(apart[last].End, s.End)
			continue
		}
		apart = append(apart, s)
	}
	t.spans = apart
	slices.SortStableFunc(t.spans, func(a, b NamedSpan) int { return cmp.Compare(a.Start, b.Start) })
	for n, s := range t.spans {
		until := s.End
		if n > 0 {
			until = max(until, t.until[n-1])
		}
		t.until = append(t.until, until)
	}
	t.taken = make([]bool, len(t.spans))
	return t
}

// A part of the time of a log is a span of its timetable, or the time between some. Spans have odd
// numbers.
type part struct {
	of     *timetable
	number int
}

// nameOr returns the name of the phase of the part, or the name of the input if there are no phases.
func (p part) nameOr(input string) string {
	switch {
	case p.of == nil:
		return input
	case p.number%2 == 0:
		return Outside
	}
	return p.of.spans[p.number/2].Name
}

// parts appends the parts that an interval is in, at least one.
func (t *timetable) parts(to []part, start, end int64) []part {
	begun := sort.Search(len(t.spans), func(n int) bool { return 2*t.spans[n].Start > start+end })
	before := len(to)
	for n := begun - 1; n >= 0 && 2*t.until[n] > start+end; n-- {
		s := &t.spans[n]
		common := min(end, s.End) - max(start, s.Start)
		if 2*s.End > start+end && 2*common >= end-start {
			to = append(to, part{t, 2*n + 1})
		}
	}
	if len(to) == before {
		to = append(to, part{t, 2 * begun})
	}
	return to
}

// errClock is the error of a log without times of a clock.
var errClock = errors.New("-phases has times of a clock, and those of the log count from its start: " +
	"give lengths of time since the start, such as 90s")

// spread finds the phases of the intervals of a batch. An interval in several phases gets a record
// and an outcome for each of them.
func (b *batch[R]) spread(s *Scan) {
	b.read = append(b.read[:0], b.Records...)
	b.Records = b.Records[:0]
	b.outcomes = b.outcomes[:0]
	t := new(timetable)
	logStart := math.NaN()
	var err error
	var parts []part
	for _, r := range b.read {
		if r.Kind != hdrlog.IntervalRecord {
			b.Records = append(b.Records, r)
			b.addOutcome()
			continue
		}
		begin := r.Interval.LogStart
		if given := s.Inputs[b.input].Start; given != nil {
			begin = *given
		}
		if begin != logStart && err == nil {
			logStart = begin
			if t, err = s.Rows.Phases.table(begin); err != nil {
				err = Fatal{err}
				t = new(timetable)
			}
		}
		start, end := Visit{Interval: &r.Interval}.Span()
		parts = t.parts(parts[:0], start, end)
		for n, part := range parts {
			b.Records = append(b.Records, r)
			o := b.addOutcome()
			o.part = part
			o.visit.Part = b.input + len(s.Inputs)*part.number
			o.visit.Again = n > 0
			o.err = err
			if s.Rows.Phases.dated && !people.Dated(start) {
				o.err = Fatal{errClock}
			}
		}
	}
}

// add notes that a visited interval of the selection lies in the part. One goroutine calls it.
func (p part) add(v Visit) {
	t := p.of
	start, end := v.Span()
	if t.ran == (merge.Span{}) {
		t.ran = merge.Span{Start: start, End: end}
	}
	t.ran = merge.Span{Start: min(t.ran.Start, start), End: max(t.ran.End, end)}
	t.twice = t.twice || v.Again
	if p.number%2 == 1 {
		t.taken[p.number/2] = true
	}
}

// Overlap reports whether an interval of the selection was in several phases.
func (p *Phases) Overlap() bool {
	for _, t := range p.tables {
		if t.twice {
			return true
		}
	}
	return false
}

// Short reports whether a phase in the time of the logs has no interval.
func (p *Phases) Short() bool {
	for _, t := range p.tables {
		for n := range t.spans {
			if t.lacks(n) {
				return true
			}
		}
	}
	return false
}

// lacks reports whether a span in the time of the log has no interval.
func (t *timetable) lacks(n int) bool {
	s := &t.spans[n]
	return !t.taken[n] && s.Start >= t.ran.Start && s.End <= t.ran.End
}

// Elsewhere says when the phases and the logs are if no phase is in the time of the logs, and
// nothing otherwise.
func (p *Phases) Elsewhere() string {
	var spans []NamedSpan
	var ran merge.Span
	for _, t := range p.tables {
		spans = append(spans, t.spans...)
		if ran == (merge.Span{}) {
			ran = t.ran
		}
		if t.ran != (merge.Span{}) {
			ran = merge.Span{Start: min(ran.Start, t.ran.Start), End: max(ran.End, t.ran.End)}
		}
	}
	return p.ElsewhereThan(ran, spans)
}

// mostOffset is the longest time by which a zone is off UTC, in milliseconds.
const mostOffset = 14 * 3600 * 1000

// ElsewhereThan is [Phases.Elsewhere] for spans of phases, and a time of logs. Of a part of their
// time it says nothing.
func (p *Phases) ElsewhereThan(ran merge.Span, spans []NamedSpan) string {
	if !p.Whole || !people.Dated(ran.Start) {
		return ""
	}
	all := merge.Span{Start: math.MaxInt64, End: math.MinInt64}
	for _, s := range spans {
		if s.Start < ran.End && s.End > ran.Start {
			return ""
		}
		all = merge.Span{Start: min(all.Start, s.Start), End: max(all.End, s.End)}
	}
	zone := cmp.Or(p.Zone, time.UTC)
	date := ""
	at := func(ms int64) string {
		clock := time.UnixMilli(ms).In(zone)
		before := date
		if date = clock.Format(time.DateOnly); date == before {
			return clock.Format(time.TimeOnly)
		}
		return clock.Format(time.DateTime)
	}
	text := "the phases are from " + at(all.Start)
	if all.End < 1000*endless {
		text += " to " + at(all.End)
	}
	text += fmt.Sprintf(" %s, and the logs from %s to %s", zone, at(ran.Start), at(ran.End))
	if p.dated && max(all.Start-ran.End, ran.Start-all.End) <= mostOffset {
		text += ": -tz may be missing or wrong"
	}
	return text
}

// Missing returns the names of phases without any interval of the selection. Short counts, for the
// others, the spans inside the time of the logs without one.
func (p *Phases) Missing() (none []string, short map[string]int) {
	short = make(map[string]int)
	some := make(map[string]bool)
	for _, t := range p.tables {
		for n, s := range t.spans {
			some[s.Name] = some[s.Name] || t.taken[n]
			if t.lacks(n) {
				short[s.Name]++
			}
		}
	}
	for name, is := range some {
		if !is {
			none = append(none, name)
			delete(short, name)
		}
	}
	slices.Sort(none)
	return none, short
}
