package hdrlog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/internal/logtest"
	"hdrkit/internal/base/logline"
)

// A printed interval is what a writer means and what it prints.
type printed struct {
	tag           string
	start, length float64
}

// consecutive returns intervals of several tags. Those of one tag do not overlap.
func consecutive(random *rand.Rand) []printed {
	pick := func(from ...float64) float64 { return from[random.IntN(len(from))] }
	var all []printed
	for tag := range 1 + random.IntN(4) {
		start := pick(0, 0.0004, 0.001, 0.002, 0.004, 0.005, 0.006, 0.127, 0.5, 1, 5, 60, random.Float64(), 10*random.Float64(), 100*random.Float64(), -random.Float64(), 1468800003, 1468800003.25)
		period := pick(0.001, 0.01, 0.4, 1, 10, 60, 3600, 86400, 90000, random.Float64())
		jitter := pick(0, 0, 0.002, 0.1, 1)
		gaps := pick(0, 0, 0.2, 1)
		growth := pick(1, 1, 1, 2, 1.5)
		for range 1 + random.IntN(6) {
			length := period * (1 + jitter*random.Float64())
			if random.IntN(20) == 0 {
				length = 0
			}
			all = append(all, printed{fmt.Sprintf("Tag=%d,", tag), start, length})
			start += length
			if random.Float64() < gaps {
				start += pick(period, 0.001, length, start, random.Float64())
			}
			period *= growth
		}
	}
	switch random.IntN(3) {
	case 0:
		slices.SortStableFunc(all, func(a, b printed) int { return int(math.Copysign(1, a.start-b.start)) })
	case 1:
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return all
}

var roundings = map[string]func(float64) float64{
	"exact":     func(x float64) float64 { return x },
	"rounded":   func(x float64) float64 { return math.Round(x*1000) / 1000 },
	"truncated": func(x float64) float64 { return math.Floor(x*1000) / 1000 },
	"whole":     math.Floor,
}

// header returns a random way in which a log of lengths begins.
func header(random *rand.Rand) string {
	var text string
	if random.IntN(2) == 0 {
		text += "#[StartTime: 1468800003.000 (seconds since epoch), Mon Jul 18 00:00:03 UTC 2016]\n"
	}
	switch random.IntN(4) {
	case 0:
		text += "#[BaseTime: 1468800003.000 (seconds since epoch)]\n"
	case 1:
		text += "#[Basetime: 1468800003 (seconds since epoch)]\n"
	}
	switch random.IntN(3) {
	case 0:
		text += `"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"` + "\n"
	case 1:
		text += `"StartTimestamp","EndTimestamp","Interval_Max","Interval_Compressed_Histogram"` + "\n"
	}
	return text
}

// A log whose intervals do not overlap within a tag is never read as one of ends: for any first
// start, any lengths, gaps, several tags, lines in any order, and numbers of few decimals.
func TestLengthsAreNotEnds(t *testing.T) {
	for name, round := range roundings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			for range logtest.Rounds(5000) {
				intervals := consecutive(random)
				var log strings.Builder
				log.WriteString(header(random))
				long := true // only a guess is possible
				for _, i := range intervals {
					fmt.Fprintf(&log, "%s%v,%v,1,H\n", i.tag, round(i.start), round(i.length))
					long = long && i.length > day
				}
				if long {
					continue
				}
				n := 0
				for r := NewReader(strings.NewReader(log.String()), "log"); r.Scan(); {
					if r.Record().Kind != IntervalRecord {
						continue
					}
					if got := &r.Record().Interval; got.Start != round(intervals[n].start) || got.Length != round(intervals[n].length) {
						t.Fatalf("line %d: start %v and length %v of\n%s", r.Record().Line, got.Start, got.Length, log.String())
					}
					n++
				}
				if n != len(intervals) {
					t.Fatalf("%d intervals of\n%s", n, log.String())
				}
			}
		})
	}
}

// joined joins the intervals of a tag as HdrLogProcessing does. They are in order of their starts.
// Intervals of the result overlap.
func joined(all []printed) (union []printed) {
	open := make(map[string]int)
	for _, i := range all {
		if n, ok := open[i.tag]; ok {
			end := union[n].start + union[n].length
			if i.start+i.length <= end || (end-i.start)/i.length > 0.8 {
				continue
			}
		}
		open[i.tag] = len(union)
		union = append(union, i)
	}
	return union
}

// shuffled moves some of the intervals a few places.
func shuffled(random *rand.Rand, all []printed) {
	for n := range all {
		if random.IntN(4) == 0 {
			m := min(n+1+random.IntN(8), len(all)-1)
			all[n], all[m] = all[m], all[n]
		}
	}
}

// nodes returns the intervals of some logs of one period, with jitter and gaps, that begin at about
// the same time.
func nodes(random *rand.Rand, count int, from, shortest float64) (all []printed) {
	pick := func(from ...float64) float64 { return from[random.IntN(len(from))] }
	period := max(shortest, pick(0.1, 1, 1, 5, 10, 60))
	jitter, gaps, longest := pick(0, 0.001, 0.01, 0.01, 0.1, 0.3), pick(0, 0, 0.05, 0.3), pick(1, 1, 1, 10)
	tags, lines := 1+random.IntN(3), 1+random.IntN(40)
	if random.IntN(3) == 0 {
		lines = 1 + random.IntN(5)
	}
	for range count {
		start := from + pick(0, 0, 0.001, period, 3*period)*random.Float64()
		for n := range lines {
			length := period * (1 + jitter*(2*random.Float64()-1))
			if n == 0 {
				length *= longest
			}
			if random.Float64() >= gaps {
				for tag := range tags {
					all = append(all, printed{fmt.Sprintf("Tag=%d,", tag), start, length})
				}
			}
			start += length
			if random.IntN(30) == 0 {
				start += 50 * period * random.Float64()
			}
		}
	}
	slices.SortStableFunc(all, func(a, b printed) int { return cmp.Compare(a.start, b.start) })
	return all
}

// check reads a log. It returns what the second number was read as, which is the same for all
// intervals, and whether a notice says that it may be something else.
func check(t *testing.T, log string, want []printed, ends bool) (second SecondField, notice bool) {
	t.Helper()
	n, differ, asEnds, asLengths := 0, false, false, false
	r := NewReader(strings.NewReader(log), "log")
	for rec := range r.All() {
		switch {
		case rec.Kind == Notice:
			notice = notice || errors.Is(rec.Err, ErrSecondDoubt) || errors.Is(rec.Err, ErrSecondEnd)
		case rec.Kind == IntervalRecord:
			i := want[n]
			length, end := i.length, i.length-i.start
			if ends {
				length, end = i.start+i.length, i.length
			}
			n++
			if got := rec.Interval.Length; math.Abs(got-max(0, length)) < 1e-5 {
				asLengths = asLengths || math.Abs(length-max(0, end)) > 1e-5
				// As lengths. It matters if the readings differ by more than a tenth.
				differ = differ || math.Abs(length-end) > 0.1*math.Abs(end)+0.01
			} else if math.Abs(got-max(0, end)) < 1e-5 {
				asEnds = true
			} else {
				t.Fatalf("line %d: length %v of\n%s", rec.Line, got, log)
			}
		}
	}
	if r.Err() != nil {
		t.Fatalf("%v of\n%s", r.Err(), log)
	}
	switch {
	case asEnds && asLengths:
		t.Fatalf("some of the intervals are read as ends, and some as lengths:\n%s", log)
	case asEnds:
		return SecondEnd, notice
	case differ:
		return SecondLength, notice
	}
	return SecondUnknown, notice
}

// goodLogs returns how many logs of a kind to read in each of the roundings.
func goodLogs() int { return logtest.Rounds(20_000) / len(roundings) }

// TestUnionsAreNotEnds: a log of lengths is never read as one of ends, if it is a union by
// HdrLogProcessing's rules or the lines of several logs, with gaps, jitter and disorder.
func TestUnionsAreNotEnds(t *testing.T) {
	for name, round := range roundings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(7, 8))
			for range goodLogs() {
				from := []float64{0, 0, 0.03, 0.137, 1, 10, 1000, 1468800003.137}[random.IntN(8)]
				all := nodes(random, 1+random.IntN(6), from, 0)
				if random.IntN(3) > 0 {
					all = joined(all)
				}
				if random.IntN(2) == 0 {
					shuffled(random, all)
				}
				var log strings.Builder
				log.WriteString(header(random))
				for n, i := range all {
					all[n].start, all[n].length = round(i.start), round(i.length)
					fmt.Fprintf(&log, "%s%v,%v,1,H\n", i.tag, all[n].start, all[n].length)
				}
				if second, _ := check(t, log.String(), all, false); second == SecondEnd {
					t.Fatalf("read as ends:\n%s", log.String())
				}
			}
		})
	}
}

// TestEndsAreEnds: a log of ends is read as such, with gaps, jitter and disorder, or a notice says
// that it may be one.
func TestEndsAreEnds(t *testing.T) {
	for name, round := range roundings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(9, 10))
			var long, proved int
			for range goodLogs() {
				from := []float64{0, 0, 0.03, 0.137, 1, 10, 1682.371, 627655.777, 1468800003.137}[random.IntN(9)]
				shortest := 0.0
				if name == "whole" {
					shortest = 2
				}
				all := nodes(random, 1, from, shortest)
				if random.IntN(2) == 0 {
					shuffled(random, all)
				}
				var log strings.Builder
				log.WriteString(header(random))
				for n, i := range all {
					end := round(i.start + i.length)
					all[n].start = round(i.start)
					all[n].length = end - all[n].start
					fmt.Fprintf(&log, "%s%v,%v,1,H\n", i.tag, all[n].start, end)
				}
				second, notice := check(t, log.String(), all, true)
				if second == SecondLength && !notice {
					t.Fatalf("silently read as lengths:\n%s", log.String())
				}
				if len(all) > 40 {
					long++
					if second == SecondEnd {
						proved++
					}
				}
			}
			t.Logf("%d of %d long logs are read as ends", proved, long)
		})
	}
}

// Both readings of the second interval fit the first one of this log. The third one decides.
func TestBothReadingsFit(t *testing.T) {
	const log = "#[StartTime: 1468800003.000]\n0.001,0.400,0.003,P\n0.401,1.000,0.003,P\n1.401,1.000,0.003,P\n2.401,1.000,0.003,P\n"
	expect(t, "log", scan(NewReader(strings.NewReader(log), "log"))[1:], []string{
		"2 interval start=0.001 length=0.4 max=0.003 log=1.468800003e+09 base=1.468800003e+09 payload=P",
		"3 interval start=0.401 length=1 max=0.003 log=1.468800003e+09 base=1.468800003e+09 payload=P",
		"4 interval start=1.401 length=1 max=0.003 log=1.468800003e+09 base=1.468800003e+09 payload=P",
		"5 interval start=2.401 length=1 max=0.003 log=1.468800003e+09 base=1.468800003e+09 payload=P",
	})
}

// What a Writer wrote is read back, whatever the numbers look like.
func TestWrittenIsReadBack(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	h := newHistogram(t, histogram.Layout{Digits: 1, Lowest: 1}, 1)
	for range 1000 {
		intervals := consecutive(random)
		if random.IntN(4) == 0 {
			// Ends and milliseconds, if they were not what they say.
			intervals = append(intervals, printed{"Tag=0,", 7, 8}, printed{"Tag=0,", 8, 9}, printed{"Tag=0,", 2e11, 3}, printed{"Tag=0,", 5, 2e8})
		}
		var log bytes.Buffer
		w := NewWriter(&log)
		w.Version()
		for _, i := range intervals {
			if err := w.Interval([]byte(i.tag[4:len(i.tag)-1]), i.start, i.length, h); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r := NewReader(bytes.NewReader(log.Bytes()), "log")
		for _, want := range intervals {
			if got := nextInterval(r); got == nil || got.StartMillis() != logline.Millis(want.start) || got.EndMillis()-got.StartMillis() != logline.Millis(want.length) || got.head == nil {
				t.Fatalf("got %+v, want %+v, of\n%s", got, want, log.String())
			}
		}
	}
}

// TestSecondOf reads logs that begin as logs of the other kind do.
func TestSecondOf(t *testing.T) {
	rest := func(from int, line func(n int) string) (text string) {
		for n := range 40 {
			text += line(from + n)
		}
		return text
	}
	ends := func(n int) string { return fmt.Sprintf("%d,%d,1,H\n", n, n+1) }
	lengths := func(n int) string { return fmt.Sprintf("%d,1,1,H\n", n) }
	for _, test := range []struct {
		name, log string
		want      []float64 // the first lengths
		notice    error
		err       error
	}{
		{"a union of HdrLogProcessing", "0,1.009,1,H\n.794,1.009,1,H\n1.009,1.019,1,H\n1.803,1.013,1,H\n", []float64{1.009, 1.009, 1.019, 1.013}, nil, nil},
		{"its first three lines", "0,1.009,1,H\n.794,1.009,1,H\n1.009,1.019,1,H\n", []float64{1.009, 1.009, 1.019}, ErrSecondDoubt, nil},
		{"a comment says that it is one", "#Union of:[a, b]\n5,6,1,H\n6,7,1,H\n7,8,1,H\n8,9,1,H\n", []float64{6, 7, 8, 9}, nil, nil},
		{"the comment comes later", "5,6,1,H\n6,7,1,H\n#Union of:[a, b]\n7,8,1,H\n", []float64{1, 1, 8}, ErrSecondEnd, nil},
		{"ends with a gap", "0,1,1,H\n1,2,1,H\n3,4,1,H\n4,5,1,H\n5,6,1,H\n", []float64{1, 1, 1, 1, 1}, ErrSecondEnd, nil},
		{"ends with an early gap", "0,1,1,H\n1,2,1,H\n3,4,1,H\n", []float64{1, 2, 4}, ErrSecondDoubt, nil},
		{"ends with a long first interval", "0,10,1,H\n10,11,1,H\n" + rest(11, ends), []float64{10, 1, 1, 1}, ErrSecondEnd, nil},
		{"two ends with a long first one", "0,10,1,H\n10,11,1,H\n", []float64{10, 11}, ErrSecondDoubt, nil},
		{"two lengths, adjacent as ends, but one is far longer", "0.029,0.108,1,H\n0.109,0.116,1,H\n", []float64{0.108, 0.116}, ErrSecondDoubt, nil},
		{"ends that are never adjacent", rest(1, func(n int) string { return fmt.Sprintf("%d.5,%d,1,H\n", 3*n, 3*n+2) }), []float64{1.5, 1.5}, ErrSecondEnd, nil},
		{"ends out of order", "7,8,1,H\n5,6,1,H\n6,7,1,H\n9,10,1,H\n8,9,1,H\n", []float64{1, 1, 1, 1, 1}, ErrSecondEnd, nil},
		{"ends after a restart at another time", "0,1,1,H\n1,2,1,H\n#[StartTime: 5]\n0,1,1,H\n" + rest(1, ends), []float64{1, 1, 1, 1}, ErrSecondEnd, nil},
		{"ends, and a clock that is set back while they wait", "5,6,1,H\n8,7,1,H\n" + rest(7, ends), []float64{6, 7}, ErrSecondDoubt, nil},
		{"ends, and a clock that is set back", rest(1, ends) + "41,39,1,H\n" + rest(39, ends), []float64{1, 1, 1}, ErrSecondEnd, nil},
		{"lengths that begin as ends", rest(1, ends) + rest(41, lengths), []float64{1, 1}, ErrSecondEnd, nil},
		{"ends that begin as lengths", rest(1, lengths) + rest(41, ends), []float64{1, 1}, ErrSecondDoubt, nil},
		{"one interval with monotonic times", "5231.163,5241.216,1,H\n", []float64{5241.216}, ErrSecondDoubt, nil},
		{"lengths that are a tenth longer than the ends say", "0.09,1.09,1,H\n", []float64{1.09}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []float64
			var notice error
			r := NewReader(strings.NewReader(test.log), "log")
			for rec := range r.All() {
				switch {
				case rec.Kind == IntervalRecord:
					got = append(got, math.Round(rec.Interval.Length*1e6)/1e6)
				case errors.Is(rec.Err, ErrSecondEnd), errors.Is(rec.Err, ErrSecondDoubt):
					notice = rec.Err
				}
			}
			if len(got) < len(test.want) || !slices.Equal(got[:len(test.want)], test.want) {
				t.Errorf("lengths %v, want %v", got, test.want)
			}
			if !errors.Is(notice, test.notice) || notice != nil && test.notice == nil {
				t.Errorf("notice %v, want %v", notice, test.notice)
			}
			if !errors.Is(r.Err(), test.err) || r.Err() != nil && test.err == nil {
				t.Errorf("error %v, want %v", r.Err(), test.err)
			}
			if r.Scan() {
				t.Error("more after the end")
			}
		})
	}
}

// ReaderOptions.Second decides, against what the log proves and what a Writer wrote.
func TestOptionSecond(t *testing.T) {
	const (
		ends   = "5,6,1,H\n6,7,1,H\n"
		millis = "1441812279474,1441812280474,1,H\n"
		marked = "#[Written by hdrkit]\n5,6,1,H\n"
	)
	for _, test := range []struct {
		name, log string
		second    SecondField
		want      []float64
	}{
		{"ends", ends, SecondUnknown, []float64{1, 1}},
		{"ends as lengths", ends, SecondLength, []float64{6, 7}},
		{"ends as ends", ends, SecondEnd, []float64{1, 1}},
		{"a lone end", "5,6,1,H\n", SecondEnd, []float64{1}},
		{"a lone length", "5,6,1,H\n", SecondUnknown, []float64{6}},
		{"a length of years", "5,2e8,1,H\n", SecondLength, []float64{2e8}},
		{"absolute ends", "1441812279,1441812280,1,H\n", SecondUnknown, []float64{1}},
		{"milliseconds", millis, SecondUnknown, []float64{1}},
		{"milliseconds as ends", millis, SecondEnd, []float64{1}},
		{"milliseconds as lengths", millis, SecondLength, []float64{1441812280.474}},
		{"written by hdrkit", marked + "6,7,1,H\n", SecondUnknown, []float64{6, 7}},
		{"written by hdrkit, as ends", marked, SecondEnd, []float64{1}},
		{"a lone end that would be a length of days", "627655.777,627686.902,1,H\n", SecondUnknown, []float64{31.125}},
		{"the same as length", "627655.777,627686.902,1,H\n", SecondLength, []float64{627686.902}},
		{"a lone length of days that is no end", "7,627686.902,1,H\n", SecondUnknown, []float64{627686.902}},
		{"a lone length of less than a day", "80000,86000,1,H\n", SecondUnknown, []float64{86000}},
		{"decimal commas as ends", "5,0,6,0,1,0,H\n", SecondEnd, []float64{1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := ReaderOptions{Second: test.second}.NewReader(strings.NewReader(test.log), "log")
			var got []float64
			for rec := range r.All() {
				if rec.Kind == IntervalRecord {
					got = append(got, math.Round(rec.Interval.Length*1e6)/1e6)
				} else if rec.Kind == Notice && test.second != SecondUnknown && rec.Err.(*SyntaxError).Field == "length" {
					t.Error(rec.Err)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("lengths %v, want %v", got, test.want)
			}
		})
	}
}

// unread is a source that fails the test if it is read beyond its text.
type unread struct {
	t    *testing.T
	text io.Reader
}

func (u unread) Read(p []byte) (int, error) {
	n, err := u.text.Read(p)
	if err == io.EOF {
		u.t.Error("the reader waits for more")
	}
	return n, err
}

// From a live pipe, the intervals of common logs come at once. Those that may be ends come when the
// next lines decide.
func TestStreaming(t *testing.T) {
	const (
		java  = "#[StartTime: 1441812279.474 (seconds since epoch), Wed]\n\"StartTimestamp\",\"Interval_Length\"\n"
		cJava = "\"StartTimestamp\",\"EndTimestamp\"\n"
	)
	for _, test := range []struct {
		name, log string
		records   int // that are read without reading beyond the log
	}{
		{"jHiccup", java + "0.133,0.998,1,H\n1.131,1.001,1,H\n", 4},
		{"jHiccup that begins at once", java + "0.033,0.998,1,H\n1.031,1.001,1,H\n", 4},
		{"from 0", java + "0.000,1.000,1,H\n1.000,1.001,1,H\n2.001,1.000,1,H\n", 5},
		{"from 0, jitter", java + "0.000,0.998,1,H\n0.998,1.003,1,H\n2.001,1.000,1,H\n", 5},
		{"absolute", java + "1441812279.474,1.000,1,H\n", 3},
		{"no header, from 0", "0,1,1,H\n", 1},
		{"no header, absolute", "1441812279.474,1.000,1,H\n", 1},
		{"a jHiccup that writes lengths as EndTimestamp", cJava + "0.116,0.998,1,H\n1.114,0.999,1,H\n", 3},
		{"ends", cJava + "1682.371,1684.371,1,H\n1684.371,1686.371,1,H\n", 4},
		{"ends from 0", "#[Basetime: 1]\n0,1.0001,1,H\n1.0001,2.0002,1,H\n2.0002,3,1,H\n3,4,1,H\n4,5,1,H\n", 6},
		{"ends from 0, with gaps", "0,1,1,H\n2.5,3.5,1,H\n4,5,1,H\n5.5,6.5,1,H\n7,8,1,H\n10,11,1,H\n", 6},
		{"a late start", java + "6.2,10,1,H\n16.2,10,1,H\n", 4},
		{"written by hdrkit", "#[Written by hdrkit]\n5,6,1,H\n", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := NewReader(unread{t, iotest.OneByteReader(strings.NewReader(test.log))}, "log")
			for n := range test.records {
				if !r.Scan() {
					t.Fatalf("only %d records, %v", n, r.Err())
				}
			}
		})
	}
}

// A log that continues another one keeps the meaning of the second number.
func TestContinueSecond(t *testing.T) {
	const interval = "2.000,3.000,1,H\n"
	for _, test := range []struct {
		name, before string
		option       SecondField
		want         float64
	}{
		{"ends", "1,2,1,H\n2,3,1,H\n", SecondUnknown, 1},
		{"ends, but the option says lengths", "1,2,1,H\n2,3,1,H\n", SecondLength, 3},
		{"written by hdrkit", "#[Written by hdrkit]\n", SecondUnknown, 3},
		{"written by hdrkit, but the option says ends", "#[Written by hdrkit]\n", SecondEnd, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := NewReader(strings.NewReader(test.before), "before")
			for before.Scan() {
			}
			o := ReaderOptions{Second: test.option, Continues: before}
			r := o.NewReader(unread{t, iotest.OneByteReader(strings.NewReader(interval))}, "log")
			if i := nextInterval(r); i == nil || i.Length != test.want {
				t.Errorf("got %+v, want a length of %v", i, test.want)
			}
		})
	}
}

// TestTurn: a log that begins with lengths and goes on with ends gets one notice, and one of
// lengths gets none, also if its intervals overlap, have gaps, or are as long as their starts.
func TestTurn(t *testing.T) {
	t.Parallel()
	const payload = ",1,HISTFAAAABV42pNpmSzMwMDAxQABMJqRAQAhXwFA\n"
	lengths := "10,1" + payload + "11,1" + payload
	ends := ""
	for n := range 6 {
		for _, tag := range []string{"", "Tag=a,"} {
			ends += fmt.Sprintf("%s%d,%d%s", tag, 20+n, 21+n, payload)
		}
	}
	for _, test := range []struct {
		name, log string
		notices   int
	}{
		{"turns", lengths + ends, 1},
		{"few", lengths + "20,21" + payload + "21,22" + payload, 0},
		{"lengths", lengths + strings.Repeat("1,1"+payload+"2,2"+payload+"4,4"+payload+"8,8"+payload, 3), 0},
		{"overlaps", lengths + strings.Repeat("10,60"+payload+"11,60"+payload+"60,60"+payload+"70,10"+payload, 3), 0},
	} {
		r := NewReader(strings.NewReader(test.log), "log")
		notices := 0
		for record := range r.All() {
			if record.Kind == Notice && errors.Is(record.Err, ErrSecondDoubt) {
				notices++
			} else if record.Kind != IntervalRecord {
				t.Errorf("%s: %v %v", test.name, record.Kind, record.Err)
			}
		}
		if notices != test.notices || r.Err() != nil {
			t.Errorf("%s: %d notices, want %d, %v", test.name, notices, test.notices, r.Err())
		}
	}
}
