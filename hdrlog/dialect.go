package hdrlog

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"sync"
)

// dialect has the differences of the log from a log of the reference, as far as the reader knows
// them.
type dialect struct {
	// noted has the kinds of notices that the log has had, since each kind comes once.
	noted []error

	// byHdrkit reports that the log has the comment of a [Writer], so START and LENGTH are seconds.
	byHdrkit     bool
	second       SecondField
	secondGiven  bool // an option or a comment gives second, so the reader looks for no evidence
	evidence     evidence
	switchToEnds endsDetector
	// applied is the index of the first record of the batch that applySecond has not seen. waiting
	// is the index of the first interval of the batch that waits until second is decided.
	applied, waiting int
}

const (
	year = 365 * day

	// impossibleLength is three years in seconds. A larger second number is a time since the epoch,
	// so an end.
	impossibleLength = 1e8

	// millisStart is larger than any START in seconds (it is the year 5138), and smaller than any
	// START in milliseconds since 1973.
	millisStart = 1e11

	// maxTime is the latest time in seconds that a reader accepts, some 35,000 years from the
	// epoch. At this distance, a float64 still distinguishes milliseconds, and twice the sum of two
	// such times in milliseconds does not overflow an int64.
	maxTime = (1 << 50) / 1000.0
)

// unionComment begins the comment that HdrLogProcessing writes into a union. Second numbers of a
// union are lengths.
const unionComment = "#Union of:["

// noteOnce adds a notice about the current line, unless the log has had one of this kind. detail
// follows the text of kind in the notice.
func (r *Reader) noteOnce(field string, kind error, detail string) {
	if !r.dialect.markNoted(kind) {
		return
	}
	cause := kind
	if detail != "" {
		cause = fmt.Errorf("%w%s", kind, detail)
	}
	r.note(r.line, field, cause)
}

// markNoted adds a kind of notices to noted, and reports whether it is new.
func (d *dialect) markNoted(kind error) bool {
	if slices.Contains(d.noted, kind) {
		return false
	}
	d.noted = append(d.noted, kind)
	return true
}

func (r *Reader) note(line int, field string, cause error) {
	r.extras.notes = append(r.extras.notes, Record{Kind: Notice, Line: line, Err: &SyntaxError{r.name, line, field, cause}})
}

// commaNumbers matches START,LENGTH,MAX, with decimal commas.
var commaNumbers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-?[0-9]+,[0-9]+),(-?[0-9]+,[0-9]+),(-?[0-9]+,[0-9]+),`)
})

// decimalCommas returns the numbers and the payload of an interval whose numbers have decimal
// commas, as .NET writes them in many countries: 0,127,1,007,2,769,HIST. fields is the text from
// START on, and rest the text after its third comma. With decimal commas, rest begins with a digit,
// as no payload does. ok is false if there are no decimal commas.
func decimalCommas(fields, rest []byte) (numbers [3][]byte, payload []byte, ok bool) {
	if len(rest) == 0 || rest[0] < '0' || rest[0] > '9' {
		return numbers, nil, false
	}
	match := commaNumbers().FindSubmatch(fields)
	if match == nil {
		return numbers, nil, false
	}
	for n := range numbers {
		numbers[n] = bytes.Replace(match[1+n], []byte(","), []byte("."), 1)
	}
	return numbers, fields[len(match[0]):], true
}

// setTimes converts the start and the length of the interval to seconds, and sets its LogStart and
// Base. In a log without time comments, the first interval determines both. If the interval is too
// far from the epoch, setTimes returns the field at fault, start or length, and the interval
// determines nothing.
func (r *Reader) setTimes(i *Interval) (field string) {
	if r.inherited != nil && !r.times.hasStart && !r.times.hasBase {
		r.times = *r.inherited
		r.note(r.line, "line", ErrTimesKept)
	}
	r.inherited = nil
	var millis, ends bool
	onlyLengths := r.dialect.byHdrkit || r.settings.second == SecondLength
	switch {
	case i.Start+r.times.base >= millisStart && !r.dialect.byHdrkit:
		millis, ends = true, r.convertMillis(i)
	case r.settings.second == SecondEnd:
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
		r.noteOnce("start", ErrMilliseconds, "")
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

// convertMillis converts the times of the interval from milliseconds to seconds, and reports
// whether it read the second number as an end. Old versions of hdrhistogram-go subtract the base in
// seconds from a start in milliseconds, and write the end instead of the length.
func (r *Reader) convertMillis(i *Interval) (ends bool) {
	start, second := i.Start, i.Length
	i.Start = (start+r.times.base)/1000 - r.times.base
	i.Length = second / 1000
	i.head = nil
	if r.settings.second == SecondEnd || r.settings.second == SecondUnknown && second+r.times.base >= millisStart {
		i.Length = (second - start) / 1000
		return true
	}
	return false
}

// endToLength replaces the end of the interval, which Length holds, by the length.
func (i *Interval) endToLength() {
	i.Length -= i.Start
	i.head = nil
}

// applySecond completes the intervals of the batch from index applied on, once second is decided.
// If second numbers are ends, it converts those of waiting intervals to lengths. It sets a negative
// length to 0: the histogram counts, but no time was measured.
func (r *Reader) applySecond(b *Batch) {
	d := &r.dialect
	for n := d.applied; n < len(b.Records); n++ {
		rec := &b.Records[n]
		if rec.Kind != IntervalRecord {
			continue
		}
		i := &rec.Interval
		if d.second == SecondEnd && !d.secondGiven && n >= d.waiting && i.head != nil {
			i.endToLength()
		}
		if i.Length >= 0 {
			continue
		}
		i.Length, i.head = 0, nil
		if d.markNoted(ErrBackwards) {
			r.note(rec.Line, "length", ErrBackwards)
			b.Records = slices.Insert(b.Records, n+1, r.extras.notes...)
			r.extras.notes = r.extras.notes[:0]
		}
	}
	d.applied = len(b.Records)
}

// weighSecond adds the interval at index to the evidence about second numbers. The interval waits
// if the log proves nothing yet and the two readings differ. In a log that is read as lengths,
// weighSecond adds a notice if the log continues with ends.
func (r *Reader) weighSecond(b *Batch, index int) {
	d := &r.dialect
	i := &b.Records[index].Interval
	switch d.second {
	case SecondEnd:
		return
	case SecondLength:
		if d.switchToEnds.add(span{i.Start, i.Length}) {
			r.noteOnce("length", ErrSecondDoubt, ": here an interval begins at the second number of the one before")
		}
		return
	}
	if !d.evidence.waits {
		d.waiting = index
	}
	current := span{i.Start, i.Length}
	proved := d.evidence.add(i.Tag, current, r.line)
	switch {
	case proved == SecondEnd:
		r.decideSecond(SecondEnd)
	case proved == SecondLength || d.evidence.full():
		r.guessSecond()
	case current.start != 0:
		d.evidence.waits = true
	}
}

// guessSecond decides between lengths and ends in a log that did not prove ends. It adds a notice
// if it chooses lengths and may be wrong.
func (r *Reader) guessSecond() {
	e := &r.dialect.evidence
	guess, doubt := e.guess()
	if guess == SecondLength && doubt && e.doubtLine > 0 {
		r.note(e.doubtLine, "length", fmt.Errorf("%w: %s s, not %s s", ErrSecondDoubt,
			formatSeconds(e.doubt.second), formatSeconds(math.Round(e.doubt.duration()*1e6)/1e6)))
	}
	r.decideSecond(guess)
}

// decideSecond sets the meaning of the second number, for waiting intervals and for later ones.
func (r *Reader) decideSecond(second SecondField) {
	d := &r.dialect
	if second == SecondEnd {
		r.noteEnds()
	}
	d.second = second
	d.evidence = evidence{}
}

// noteEnds adds the notice that the second number is read as an end, unless an option says so.
func (r *Reader) noteEnds() {
	if r.settings.second == SecondUnknown {
		r.noteOnce("length", ErrSecondEnd, "")
	}
}

// noteChange adds a notice if a time comment, StartTime or BaseTime, changes a known time after
// intervals were read.
func (r *Reader) noteChange(field string, known bool, from, to float64) {
	if r.intervals && known && from != to {
		r.noteOnce(field, ErrTimesChange, fmt.Sprintf(" from %s to %s; if this log was "+
			"joined from several, give each as its own input", formatSeconds(from), formatSeconds(to)))
	}
}
