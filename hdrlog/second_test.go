package hdrlog

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"hdrkit/hdrlog/histogram"
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
			for range 5000 {
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

// A log of consecutive ends is read as such if it has three intervals of a tag. If it starts after
// 0, two are enough.
func TestEndsAreEnds(t *testing.T) {
	for name, round := range roundings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(3, 4))
			for range 2000 {
				first := []float64{0, 1, 7, 1682.371, 627655.777, 60}[random.IntN(6)]
				period := []float64{1, 2, 10, 5.5}[random.IntN(4)]
				intervals := 3 + random.IntN(3)
				if first > 0 {
					intervals--
				}
				legend := random.IntN(3)
				var log strings.Builder
				switch legend {
				case 0:
					log.WriteString("#[Basetime: 1468800003 (seconds since epoch)]\n\"StartTimestamp\",\"Interval_Length\"\n")
				case 1:
					log.WriteString("\"StartTimestamp\",\"EndTimestamp\"\n")
				}
				tags := 1 + random.IntN(3)
				var want []float64
				start := first
				for range intervals {
					end := start + period*(0.9+random.Float64()*0.2)
					if name == "whole" {
						end = math.Ceil(end)
					}
					for tag := range tags {
						fmt.Fprintf(&log, "Tag=%d,%v,%v,1,H\n", tag, round(start), round(end))
						want = append(want, round(end)-round(start))
					}
					start = end
				}
				var got []float64
				for r := NewReader(strings.NewReader(log.String()), "log"); r.Scan(); {
					if r.Record().Kind == IntervalRecord {
						got = append(got, r.Record().Interval.Length)
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("lengths %v, want %v, of\n%s", got, want, log.String())
				}
			}
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
	ms := func(seconds float64) float64 { return math.Round(seconds*1000) / 1000 }
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
			if err := w.Interval([]byte(i.tag[4:len(i.tag)-1]), ms(i.start), ms(i.length), h); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r := NewReader(bytes.NewReader(log.Bytes()), "log")
		for _, want := range intervals {
			if got := nextInterval(r); got == nil || got.Start != ms(want.start) || got.Length != ms(want.length) || got.mended {
				t.Fatalf("got %+v, want %+v, of\n%s", got, want, log.String())
			}
		}
	}
}

// SetSecond decides, against what the log proves and what a Writer wrote.
func TestSetSecond(t *testing.T) {
	const (
		ends   = "5,6,1,H\n6,7,1,H\n"
		millis = "1441812279474,1441812280474,1,H\n"
		marked = "#[Written by hdrkit]\n5,6,1,H\n"
	)
	for _, test := range []struct {
		name, log string
		second    Second
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
			r := NewReader(strings.NewReader(test.log), "log")
			r.SetSecond(test.second)
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
// next line is there.
func TestStreaming(t *testing.T) {
	const (
		java  = "#[StartTime: 1441812279.474 (seconds since epoch), Wed]\n\"StartTimestamp\",\"Interval_Length\"\n"
		cJava = "\"StartTimestamp\",\"EndTimestamp\"\n"
	)
	for _, test := range []struct {
		name, log string
		records   int // that are read without reading beyond the log
	}{
		{"jHiccup", java + "0.133,0.998,1,H\n", 3},
		{"from 0", java + "0.000,1.000,1,H\n1.000,1.001,1,H\n", 4},
		{"from 0, jitter", java + "0.000,0.998,1,H\n0.998,1.003,1,H\n", 4},
		{"absolute", java + "1441812279.474,1.000,1,H\n", 3},
		{"no header, from 0", "0,1,1,H\n", 1},
		{"no header, absolute", "1441812279.474,1.000,1,H\n", 1},
		{"a jHiccup that writes lengths as EndTimestamp", cJava + "0.116,0.998,1,H\n1.114,0.999,1,H\n", 3},
		{"ends", cJava + "1682.371,1684.371,1,H\n1684.371,1686.371,1,H\n", 4},
		{"ends from 0", "#[Basetime: 1]\n0,1.0001,1,H\n1.0001,2.0002,1,H\n2.0002,3,1,H\n", 4},
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
		option       Second
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
			r := NewReader(unread{t, iotest.OneByteReader(strings.NewReader(interval))}, "log")
			r.SetSecond(test.option)
			r.Continue(before)
			if i := nextInterval(r); i == nil || i.Length != test.want {
				t.Errorf("got %+v, want a length of %v", i, test.want)
			}
		})
	}
}
