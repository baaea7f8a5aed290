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

// Outside is the name of the rows of intervals that are in no phase.
const Outside = "outside"

// A Phase is a range of time with a name, from a file of -phases. The start belongs to the phase,
// the end does not. A phase without an end never ends. No bound has the origin [LogEnd] or
// [Steady].
type Phase struct {
	Name string
	Range
}

// Phases find the phases of intervals. An interval is in each phase that has its middle and at
// least half of its length, and in [Outside] if there is no such phase. During a scan they note
// which phases have intervals, for messages after the scan. Workers of a scan use them at the same
// time.
type Phases struct {
	// Files are the names of the files of -phases. For LOG>VALUE that is LOG.
	Files []string
	// Zone is the zone of times that state none.
	Zone *time.Location
	// Whole reports that logs are read from start to end, without -s and -e.
	Whole bool

	all      []Phase
	dated    bool // a bound is a date or a time of day
	absolute bool // no bound depends on the start of a log

	mu      sync.Mutex
	tables  map[float64]*timetable // by the start of a log
	account *ledger.Account
}

// NewPhases returns phases. Several may have the same name. Memory is charged for the phases of
// each start of a log.
func NewPhases(all []Phase, memory *ledger.Ledger) *Phases {
	p := &Phases{
		all:      all,
		absolute: true,
		tables:   make(map[float64]*timetable),
		account:  memory.Open("phases in logs with different starts", "give fewer with -phases"),
	}
	for n := range all {
		r := &all[n].Range
		p.dated = p.dated || r.From.Origin != LogStart
		p.absolute = p.absolute && r.From.Origin == Epoch
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

// endless stands for the missing end of a phase, in seconds since the epoch: the year 5138. The sum
// of two such times does not overflow.
const endless = 1e11

// spanBytes is about how many bytes a span of a timetable takes.
const spanBytes = 60

// Dated reports whether a phase begins or ends at a date or a time of day.
func (p *Phases) Dated() bool { return p.dated }

// A NamedSpan is one span of time of a phase in a log.
type NamedSpan struct {
	merge.Span
	Name string
}

// In returns the spans of all phases in a log, in the order of their starts. The start of the log
// is in seconds since the epoch. Spans of the same name do not touch.
func (p *Phases) In(logStart float64) ([]NamedSpan, error) {
	t, err := p.table(logStart)
	if err != nil {
		return nil, err
	}
	return t.spans, nil
}

// A timetable has the spans of all phases in logs that start at the same time.
type timetable struct {
	spans     []NamedSpan
	latestEnd []int64    // by span, the latest end of this span and those before it
	used      []bool     // by span, whether an interval of the selection is in it
	ran       merge.Span // from the first to the last interval of the selection
	overlap   bool       // an interval of the selection is in several spans
}

// table returns the timetable of logs that start at a time in seconds since the epoch.
func (p *Phases) table(logStart float64) (*timetable, error) {
	if p.absolute {
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
	joined := t.spans[:0]
	for _, s := range t.spans {
		last := len(joined) - 1
		if last >= 0 && joined[last].Name == s.Name && s.Start <= joined[last].End {
			joined[last].End = max(joined[last].End, s.End)
			continue
		}
		joined = append(joined, s)
	}
	t.spans = joined
	slices.SortStableFunc(t.spans, func(a, b NamedSpan) int { return cmp.Compare(a.Start, b.Start) })
	for n, s := range t.spans {
		latest := s.End
		if n > 0 {
			latest = max(latest, t.latestEnd[n-1])
		}
		t.latestEnd = append(t.latestEnd, latest)
	}
	t.used = make([]bool, len(t.spans))
	return t
}

// A part of the time of a log is a span of its timetable, or the time between two spans. The number
// of span n is 2n+1, and that of the time before span n is 2n.
type part struct {
	of     *timetable
	number int
}

// nameOr returns the name of the phase of the part, or the name of the input if there are no
// phases.
func (p part) nameOr(input string) string {
	switch {
	case p.of == nil:
		return input
	case p.number%2 == 0:
		return Outside
	}
	return p.of.spans[p.number/2].Name
}

// parts appends the parts that an interval is in, at least one, to a slice.
func (t *timetable) parts(to []part, start, end int64) []part {
	next := sort.Search(len(t.spans), func(n int) bool { return 2*t.spans[n].Start > start+end })
	before := len(to)
	for n := next - 1; n >= 0 && 2*t.latestEnd[n] > start+end; n-- {
		s := &t.spans[n]
		common := min(end, s.End) - max(start, s.Start)
		if 2*s.End > start+end && 2*common >= end-start {
			to = append(to, part{t, 2*n + 1})
		}
	}
	if len(to) == before {
		to = append(to, part{t, 2 * next})
	}
	return to
}

// errClock is the error for a log whose times are relative, if phases are at dates.
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
	t.overlap = t.overlap || v.Again
	if p.number%2 == 1 {
		t.used[p.number/2] = true
	}
}

// Overlap reports whether an interval of the selection was in several phases.
func (p *Phases) Overlap() bool {
	for _, t := range p.tables {
		if t.overlap {
			return true
		}
	}
	return false
}

// Short reports whether a span of a phase has no interval although logs ran before and after it: it
// is shorter than half an interval.
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

// lacks reports whether a span lies in the time of the logs and has no interval.
func (t *timetable) lacks(n int) bool {
	s := &t.spans[n]
	return !t.used[n] && s.Start >= t.ran.Start && s.End <= t.ran.End
}

// Elsewhere returns a sentence that says when the phases and the logs are, if no phase is in the
// time of the logs. Otherwise it returns an empty text.
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

// maxOffset is the largest offset of a zone from UTC, in milliseconds.
const maxOffset = 14 * 3600 * 1000

// ElsewhereThan does what [Phases.Elsewhere] does for spans of phases and the time in which logs
// ran. It returns an empty text if only a part of the logs is read.
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
	if p.dated && max(all.Start-ran.End, ran.Start-all.End) <= maxOffset {
		text += ": -tz may be missing or wrong"
	}
	return text
}

// Missing returns the names of phases that have no interval of the selection. Short has the other
// phases of which some spans in the time of the logs have no interval: the number of these spans.
func (p *Phases) Missing() (none []string, short map[string]int) {
	short = make(map[string]int)
	used := make(map[string]bool)
	for _, t := range p.tables {
		for n, s := range t.spans {
			used[s.Name] = used[s.Name] || t.used[n]
			if t.lacks(n) {
				short[s.Name]++
			}
		}
	}
	for name, isUsed := range used {
		if !isUsed {
			none = append(none, name)
			delete(short, name)
		}
	}
	slices.Sort(none)
	return none, short
}
