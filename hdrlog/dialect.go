package hdrlog

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"sync"
)

// dialect is how the log differs from a log of the reference, as far as the reader knows.
type dialect struct {
	// These report that the reader has given the notice.
	saidCommas, saidMillis, saidEnds, saidBackwards, saidChange, saidSpace, saidPrefix, saidTurn bool

	// written reports that hdrkit wrote the log, so that its numbers mean what they say.
	written  bool
	second   SecondField
	sure     bool // second was not found out, but set or stated
	evidence evidence
	turn     turn
	// applied is the index of the first record of the batch that applySecond has not seen, and
	// waiting that of the first one that waits for a decision or comes after it.
	applied, waiting int
}

const (
	year = 365 * day

	// impossibleLength is three years in seconds. A longer interval is a time since the epoch,
	// which is an end.
	impossibleLength = 1e8

	// millisStart is more than any START in seconds (it is the year 5138), and less than any START
	// in milliseconds since 1973.
	millisStart = 1e11

	// maxTime is the latest time in seconds that a reader takes, some 35,000 years from the epoch.
	// A float64 still distinguishes one millisecond from the next there, and twice the sum of two
	// in milliseconds does not overflow an int64.
	maxTime = (1 << 50) / 1000.0
)

// union begins the comment of a union that HdrLogProcessing wrote, which has lengths.
const union = "#Union of:["

// noteOnce adds a notice about the current line, unless said is set already.
func (r *Reader) noteOnce(said *bool, field string, cause error) {
	if !*said {
		*said = true
		r.note(r.line, field, cause)
	}
}

func (r *Reader) note(line int, field string, cause error) {
	r.aside.notes = append(r.aside.notes, Record{Kind: Notice, Line: line, Err: &SyntaxError{r.name, line, field, cause}})
}

// commas matches START,LENGTH,MAX, with decimal commas.
var commas = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-?[0-9]+,[0-9]+),(-?[0-9]+,[0-9]+),(-?[0-9]+,[0-9]+),`)
})

// decimalCommas reads the fields of a line whose numbers have decimal commas, as .NET writes them
// in many countries: 0,127,1,007,2,769,HIST. What seems to be the payload then begins with a digit,
// as no payload does.
func decimalCommas(fields, rest []byte) (numbers [3][]byte, payload []byte, ok bool) {
	if len(rest) == 0 || rest[0] < '0' || rest[0] > '9' {
		return numbers, nil, false
	}
	found := commas().FindSubmatch(fields)
	if found == nil {
		return numbers, nil, false
	}
	for n := range numbers {
		numbers[n] = bytes.Replace(found[1+n], []byte(","), []byte("."), 1)
	}
	return numbers, fields[len(found[0]):], true
}

// setTimes turns the interval's start and length into seconds, and sets its start of the log and
// its base. The first interval settles those of a log without time comments. If the interval is too
// far from the epoch, setTimes returns the field at fault and changes nothing in the reader.
func (r *Reader) setTimes(i *Interval) (tooFar string) {
	if r.before != nil && !r.times.hasStart && !r.times.hasBase {
		r.times = *r.before
		r.note(r.line, "line", ErrTimesKept)
	}
	r.before = nil
	var millis, ends bool
	onlyLengths := r.dialect.written || r.reading.second == SecondLength
	switch {
	case i.Start+r.times.base >= millisStart && !r.dialect.written:
		millis, ends = true, r.fromMillis(i)
	case r.reading.second == SecondEnd:
		i.endToLength()
	case i.Length >= impossibleLength && i.Length >= i.Start && !onlyLengths:
		ends = true
		i.endToLength()
	}
	base := r.times.base
	if !r.times.hasBase && r.times.hasStart && i.Start < r.times.start-year {
		base = r.times.start
	}
	start := i.Start + base
	switch {
	case math.Abs(start) > maxTime:
		return "start"
	case math.Abs(i.Length) > maxTime || start+i.Length > maxTime:
		return "length"
	}

	if millis {
		r.noteOnce(&r.dialect.saidMillis, "start", ErrMilliseconds)
	}
	if ends {
		r.noteEnds()
	}
	r.times.base, r.times.hasBase = base, true
	if !r.times.hasStart {
		r.times.start, r.times.hasStart = i.Start+r.times.base, true
	}
	i.LogStart, i.Base = r.times.start, r.times.base
	return ""
}

// fromMillis turns milliseconds into seconds. Old versions of hdrhistogram-go subtract the base
// in seconds from a start in milliseconds, and write the end instead of the length. fromMillis
// reports whether the second number is an end.
func (r *Reader) fromMillis(i *Interval) (ends bool) {
	start, second := i.Start, i.Length
	i.Start = (start+r.times.base)/1000 - r.times.base
	i.Length = second / 1000
	i.head = nil
	if r.reading.second == SecondEnd || r.reading.second == SecondUnknown && second+r.times.base >= millisStart {
		i.Length = (second - start) / 1000
		return true
	}
	return false
}

// endToLength replaces the end of the interval by its length.
func (i *Interval) endToLength() {
	i.Length -= i.Start
	i.head = nil
}

// applySecond reads the intervals of the batch that wait as was decided. It sets the lengths of
// intervals that end before they start to 0: their histograms count, but no time was measured.
func (r *Reader) applySecond(b *Batch) {
	d := &r.dialect
	for n := d.applied; n < len(b.Records); n++ {
		rec := &b.Records[n]
		if rec.Kind != IntervalRecord {
			continue
		}
		i := &rec.Interval
		if d.second == SecondEnd && !d.sure && n >= d.waiting && i.head != nil {
			i.endToLength()
		}
		if i.Length >= 0 {
			continue
		}
		i.Length, i.head = 0, nil
		if !d.saidBackwards {
			d.saidBackwards = true
			r.note(rec.Line, "length", ErrBackwards)
			b.Records = slices.Insert(b.Records, n+1, r.aside.notes...)
			r.aside.notes = r.aside.notes[:0]
		}
	}
	d.applied = len(b.Records)
}

// weighSecond weighs what the interval at index proves about the second number of the log. If it
// proves nothing and the reading matters, the interval waits. Once the log is read as one of
// lengths, it says if the log goes on with ends.
func (r *Reader) weighSecond(b *Batch, index int) {
	d := &r.dialect
	i := &b.Records[index].Interval
	switch d.second {
	case SecondEnd:
		return
	case SecondLength:
		if d.turn.add(span{i.Start, i.Length}) {
			r.noteOnce(&d.saidTurn, "length",
				fmt.Errorf("%w: here an interval begins at the second number of the one before", ErrSecondDoubt))
		}
		return
	}
	if !d.evidence.held {
		d.waiting = index
	}
	now := span{i.Start, i.Length}
	proved := d.evidence.add(i.Tag, now, r.line)
	switch {
	case proved == SecondEnd:
		r.decideSecond(SecondEnd)
	case proved == SecondLength || d.evidence.full():
		r.guessSecond()
	case now.start != 0:
		d.evidence.held = true
	}
}

// guessSecond decides about a log that did not prove ends.
func (r *Reader) guessSecond() {
	e := &r.dialect.evidence
	guess, doubt := e.guess()
	if guess == SecondLength && doubt && e.doubtLine > 0 {
		r.note(e.doubtLine, "length", fmt.Errorf("%w: %s s, not %s s", ErrSecondDoubt,
			formatSeconds(e.doubt.second), formatSeconds(math.Round(e.doubt.duration()*1e6)/1e6)))
	}
	r.decideSecond(guess)
}

// decideSecond sets what the second number is, for the intervals that wait and those that come.
func (r *Reader) decideSecond(second SecondField) {
	d := &r.dialect
	if second == SecondEnd {
		r.noteEnds()
	}
	d.second = second
	d.evidence = evidence{}
}

// noteEnds says once that the second number is read as the end.
func (r *Reader) noteEnds() {
	if r.reading.second == SecondUnknown {
		r.noteOnce(&r.dialect.saidEnds, "length", ErrSecondEnd)
	}
}

// noteChange says once that a time comment changed a time after intervals were read.
func (r *Reader) noteChange(what string, known bool, from, to float64) {
	if r.intervals && known && from != to {
		r.noteOnce(&r.dialect.saidChange, what, fmt.Errorf("%w from %s to %s; if this log was "+
			"joined from several, give each as its own input",
			ErrTimesChange, formatSeconds(from), formatSeconds(to)))
	}
}
