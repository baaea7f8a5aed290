package hdrlog

import (
	"bytes"
	"errors"
	"math"
	"slices"
)

// dialect is what a reader has found out about how its log differs from the reference's, and has said.
type dialect struct {
	saidCommas, saidMillis, saidEnds, saidBackwards, saidExtra bool

	// endTimes is set once it is settled that the second number is the interval's end.
	endTimes bool
}

const (
	year = 365 * 24 * 3600 // seconds

	// impossibleLength is three years in one interval: a time since the epoch, that is an end.
	impossibleLength = 1e8

	// millisStart is what a START in seconds never reaches (the year 5138) and one in milliseconds since the epoch has
	// since 1973.
	millisStart = 1e11

	// maxTime is the latest time taken, in seconds, some 35,000 years from the epoch: a float64 still tells one millisecond
	// from the next there, and twice the sum of two in milliseconds does not overflow an int64.
	maxTime = (1 << 50) / 1000.0
)

// noteOnce says something of the line at hand, the first time that it happens in a log.
func (r *Reader) noteOnce(said *bool, field, text string) {
	if !*said {
		*said = true
		r.note(r.line, field, text)
	}
}

func (r *Reader) note(line int, field, text string) {
	r.notes = append(r.notes, Record{Kind: Notice, Line: line, Err: &SyntaxError{r.name, line, field, errors.New(text)}})
}

// decimalCommas reads the fields of a line whose numbers have decimal commas, as .NET writes them in many countries:
// 0,127,1,007,2,769,HIST. After what would be START, LENGTH and MAX come three more whole numbers; a payload is never
// one.
func decimalCommas(fields, rest []byte) (numbers [3][]byte, payload []byte, ok bool) {
	for range 3 {
		end := bytes.IndexByte(rest, ',')
		if end <= 0 || end > maxNumber {
			return numbers, nil, false
		}
		rest = rest[end+1:]
	}
	payload = rest
	digits := fields
	for n := range numbers {
		whole := bytes.IndexByte(digits, ',')
		end := whole + 1 + bytes.IndexByte(digits[whole+1:], ',')
		if !isDigits(bytes.TrimPrefix(digits[:whole], []byte("-"))) || !isDigits(digits[whole+1:end]) {
			return numbers, nil, false
		}
		numbers[n] = append(append(append([]byte(nil), digits[:whole]...), '.'), digits[whole+1:end]...)
		digits = digits[end+1:]
	}
	return numbers, payload, true
}

func isDigits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0
}

// settleTime turns the interval's start and length into seconds and tells it the start time of the log and the base, which
// it infers if this is the first interval and no comment told them. It returns the field that no time can be made of, if
// there is one, and has learnt nothing from the interval then.
func (r *Reader) settleTime(i *Interval) (tooFar string) {
	var millis, ends bool
	switch {
	case i.Start+r.base >= millisStart:
		millis, ends = true, r.settleMillis(i)
	case r.dialect.endTimes:
		i.endToLength()
	case i.Length >= impossibleLength && i.Length >= i.Start:
		ends = true
		i.endToLength()
	}
	base := r.base
	if !r.hasBase && r.hasStart && i.Start < r.start-year {
		base = r.start
	}
	switch start := i.Start + base; {
	case math.Abs(start) > maxTime:
		return "start"
	case math.Abs(i.Length) > maxTime || start+i.Length > maxTime:
		return "length"
	}

	if millis {
		r.noteOnce(&r.dialect.saidMillis, "start", "times are read as milliseconds")
	}
	if ends {
		r.noteOnce(&r.dialect.saidEnds, "length", "the second number is read as the interval's end")
	}
	r.base, r.hasBase = base, true
	if !r.hasStart {
		r.start, r.hasStart = i.Start+r.base, true
	}
	i.LogStart, i.Base = r.start, r.base
	return ""
}

// settleMillis turns milliseconds into seconds. Old versions of hdrhistogram-go take the base from them in seconds, and have
// the interval's end in place of its length, which it reports.
func (r *Reader) settleMillis(i *Interval) (ends bool) {
	start, second := i.Start, i.Length
	i.Start, i.Length, i.Mended = (start+r.base)/1000-r.base, second/1000, true
	if second+r.base >= millisStart {
		i.Length = (second - start) / 1000
		return true
	}
	return false
}

// endToLength makes a length of what turned out to be the interval's end.
func (i *Interval) endToLength() {
	i.Length -= i.Start
	i.Mended = true
}

// settleLengths makes the lengths of intervals that end before they start zero: their histograms count, but no time was
// measured. Until it is settled whether the second number is the length there is no telling.
func (r *Reader) settleLengths(b *Batch) {
	for n := 0; n < len(b.Records); n++ {
		rec := &b.Records[n]
		if rec.Kind != IntervalRecord || rec.Interval.Length >= 0 {
			continue
		}
		rec.Interval.Length = 0
		if !r.dialect.saidBackwards {
			r.dialect.saidBackwards = true
			r.note(rec.Line, "length", "the interval ends before it starts; it is read as one of no length")
			b.Records = slices.Insert(b.Records, n+1, r.notes...)
			r.notes = r.notes[:0]
		}
	}
}

// ends finds out whether the second number of a log's intervals is their end, as scylla-bench, cql-stress and the C
// library's example write it, or their length. The legend does not tell: jHiccup's early versions and the C library also
// write lengths under "EndTimestamp". But an end is where the next interval of the same tag starts.
type ends struct {
	settled bool
	doubt   int             // the line of an interval that may have to be mended, so that none may be handed out yet; 0 if there is none
	last    map[string]span // by tag; untagged intervals under the empty one
}

// patience is how many lines an interval in doubt is kept for the next ones of its tag. There may be many tags.
const patience = 200

// await reports whether more lines must be read before those at hand can be handed out. It gives up when line is far from
// the interval in doubt.
func (e *ends) await(line int) bool {
	e.settled = e.settled || e.doubt > 0 && line-e.doubt >= patience
	return !e.settled && e.doubt > 0
}

func (e *ends) doubts(line int) {
	if e.doubt == 0 {
		e.doubt = line
	}
}

// A span is the first two numbers of an interval, the second perhaps an end.
type span struct {
	start, second float64
	links         int // how many intervals up to this one start where the one before would end
}

// length is the span's if its second number is its end.
func (s span) length() float64 { return s.second - s.start }

// settleEnds looks at one more interval, the last record of b. If the second numbers turn out to be ends, it mends the
// intervals in b.
func (r *Reader) settleEnds(b *Batch, i *Interval) {
	const close = 0.0015 // seconds: both numbers were rounded to three decimals
	e := &r.ends
	if e.last == nil {
		e.last = make(map[string]span)
	}
	last, seen := e.last[string(i.Tag)]
	now := span{start: i.Start, second: i.Length}
	switch {
	case seen:
		if last.length() <= 0 || math.Abs(now.start-last.second) > close || now.length() < last.length()/2 {
			e.settled = true
			break
		}
		// From zero, two lengths of which the second is twice the first look the same; then it takes a third.
		now.links = last.links + 1
		e.doubts(r.line)
		if last.start > 0 || now.links > 1 {
			e.settled, r.dialect.endTimes = true, true
			for n := range b.Records {
				if b.Records[n].Kind == IntervalRecord {
					b.Records[n].Interval.endToLength()
				}
			}
			r.noteOnce(&r.dialect.saidEnds, "length", "the second number is read as the interval's end")
		}
	case now.length() > 0 && (r.legendSaysEnd || now.start > now.second/4):
		// Otherwise the length is the same either way, or nearly, and the interval need not wait.
		e.doubts(r.line)
	}
	e.last[string(i.Tag)] = now
	e.settled = e.settled || len(e.last) > patience
	if e.settled {
		e.last = nil
	}
}
