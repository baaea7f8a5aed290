package scan

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/tags"
)

// three is the payload of a histogram that counts three values.
const three = "HISTFAAAACB42pNpmSzMwMDAxAABzFCaEULx/7f/AGExsQAASwQDkA=="

const head = "#[BaseTime: 1000.000 (seconds since epoch)]\n#[StartTime: 1000.000 (seconds since epoch)]\n"

// line returns a line of a log.
func line(tag string, start float64) string {
	if tag != "" {
		tag = "Tag=" + tag + ","
	}
	return fmt.Sprintf("%s%.3f,1.000,0.000,%s\n", tag, start, three)
}

// text returns an input of text.
func text(name, log string) Input {
	return Input{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(log)), nil }}
}

// run returns what a scan hands over, and its error. Each interval must count three values.
func run(t *testing.T, s *Scan) (got []string, err error) {
	t.Helper()
	if s.Report == nil {
		s.Report = func(err *hdrlog.SyntaxError, malformed bool) error {
			got = append(got, fmt.Sprintf("%t %s:%d %s", malformed, err.File, err.Line, err.Field))
			return nil
		}
	}
	err = Run(s, func(d *Decoder, v Visit, count *int64) error {
		if err := d.Open(v.Interval); err != nil {
			return err
		}
		h, err := d.Counts()
		if err == nil {
			*count = h.TotalCount()
		}
		return err
	}, func(v Visit, count *int64) error {
		if *count != 3 {
			t.Errorf("%s: %d values", v.Place, *count)
		}
		got = append(got, v.String())
		return nil
	})
	return got, err
}

// TestOrder: inputs follow each other, or are merged by time. What is reported stays in the order
// of each log.
func TestOrder(t *testing.T) {
	t.Parallel()
	a := head + line("x", 0) + "rubbish,\n" + line("x", 2) + line("x", 1) + line("x", 4)
	b := head + line("y", 1) + line("y", 3) + "Tag=z,1,1,1,HISTFAAA\n" + line("y", 5)
	for _, workers := range []int{1, 3} {
		for _, test := range []struct {
			name   string
			byTime bool
			want   string
		}{
			{"in turn", false, "a:3 true a:4 length a:5 a:6 a:7 b:3 b:4 true b:5 payload b:6"},
			{"by time", true, "a:3 true a:4 length b:3 a:5 a:6 b:4 true b:5 payload a:7 b:6"},
		} {
			t.Run(fmt.Sprintf("%s/%d", test.name, workers), func(t *testing.T) {
				t.Parallel()
				s := &Scan{Inputs: []Input{text("a", a), text("b", b)}, Workers: workers, ByTime: test.byTime}
				got, err := run(t, s)
				if err != nil || strings.Join(got, " ") != test.want {
					t.Errorf("%v: %s, want %s", err, strings.Join(got, " "), test.want)
				}
				if s.Seen.Intervals != 8 {
					t.Errorf("%d intervals seen", s.Seen.Intervals)
				}
			})
		}
	}
}

// TestSelection: a tag of the input counts before tags are chosen.
func TestSelection(t *testing.T) {
	t.Parallel()
	log := head + line("", 0) + line("x", 1) + line("y", 2)
	for _, test := range []struct {
		name, own string
		include   []string
		want      int
	}{
		{"all", "", nil, 3},
		{"own tags", "", []string{"x"}, 1},
		{"untagged", "", []string{"default"}, 1},
		{"the input's tag", "in", []string{"in"}, 1},
		{"both tags", "in", []string{"in::x", "in::y"}, 2},
		{"the own tag alone", "in", []string{"x"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			input := text("a", log)
			input.Tag = test.own
			filter, err := tags.NewFilter(test.include, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := &Scan{Inputs: []Input{input}, Workers: 2, Selection: Selection{Tags: filter}}
			got, err := run(t, s)
			if err != nil || len(got) != test.want || s.Seen.Intervals != 3 {
				t.Errorf("%v: %q of %d", err, got, s.Seen.Intervals)
			}
		})
	}
}

// pipes returns a file and some pipes, and their writers. Each pipe opens once all are opened, as
// FIFOs do whose writer opens all of them before it writes.
func pipes(count int) (inputs []Input, writers []*io.PipeWriter) {
	inputs = []Input{text("file", head+line("", 0))}
	var opened sync.WaitGroup
	opened.Add(count)
	for n := range count {
		r, w := io.Pipe()
		writers = append(writers, w)
		inputs = append(inputs, Input{Name: fmt.Sprint("pipe", n), Once: true, Open: func() (io.ReadCloser, error) {
			opened.Done()
			opened.Wait()
			return r, nil
		}})
	}
	return inputs, writers
}

// TestPipes: a writer that fills several pipes, and waits for each, is not held up: neither if it
// fills them by turns nor, where the order does not matter, if it fills the last one first.
func TestPipes(t *testing.T) {
	t.Parallel()
	const count, lines = 5, 200
	byTurns := func(writers []*io.PipeWriter) {
		for n := range lines {
			for _, w := range writers {
				io.WriteString(w, line("", float64(n)))
			}
		}
		for _, w := range writers {
			w.Close()
		}
	}
	lastFirst := func(writers []*io.PipeWriter) {
		for _, w := range slices.Backward(writers) {
			for n := range lines {
				io.WriteString(w, "#"+strings.Repeat("x", 10_000)+"\n"+line("", float64(n)))
			}
			w.Close()
		}
	}
	for _, test := range []struct {
		name   string
		byTime bool
		write  func([]*io.PipeWriter)
	}{
		{"by turns", false, byTurns},
		{"by turns, by time", true, byTurns},
		{"last first", false, lastFirst},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inputs, writers := pipes(count)
			go test.write(writers)
			s := &Scan{Inputs: inputs, Workers: 1, ByTime: test.byTime}
			got, err := run(t, s)
			if err != nil || len(got) != 1+count*lines || s.Seen.Intervals != 1+count*lines {
				t.Errorf("%v: %d intervals", err, len(got))
			}
		})
	}
}

// TestPipeErrors: an error in one pipe ends the scan, although others go on, and nothing is handed
// over after that.
func TestPipeErrors(t *testing.T) {
	t.Parallel()
	inputs, writers := pipes(3)
	go io.WriteString(writers[0], head+strings.Repeat(line("", 1), 100))
	go writers[1].CloseWithError(errors.New("it broke"))
	defer writers[0].Close()
	defer writers[2].Close()
	s := &Scan{Inputs: inputs, Workers: 2}
	if _, err := run(t, s); err == nil || err.Error() != "pipe1: it broke" {
		t.Error(err)
	}
}

// blocked is a log that nothing can be read of before it is released.
type blocked struct {
	released chan struct{}
	closed   bool
}

func (b *blocked) Read([]byte) (int, error) {
	<-b.released
	return 0, io.EOF
}

func (b *blocked) Close() error {
	b.closed = true
	return nil
}

// TestStop: stop waits until no goroutine reads a file any more. It does not wait for a pipe.
func TestStop(t *testing.T) {
	for _, once := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			log := &blocked{released: make(chan struct{})}
			s := &Scan{
				Inputs:  []Input{{Name: "log", Once: once, Open: func() (io.ReadCloser, error) { return log, nil }}},
				Workers: 1,
			}
			_, stop := start(s, lanesOf(s.Inputs), largestBatch, func(*Decoder, Visit, *int) error { return nil }, nil)
			synctest.Wait()
			stopped := false
			go func() {
				stop()
				stopped = true
			}()
			synctest.Wait()
			if stopped != once {
				t.Errorf("a pipe: %v; stop has returned: %v", once, stopped)
			}
			close(log.released)
			synctest.Wait()
			if !stopped || !log.closed {
				t.Errorf("stopped: %v, closed: %v", stopped, log.closed)
			}
		})
	}
}

// TestManyInputs: a few thousand inputs are read, one after another and at the same time.
func TestManyInputs(t *testing.T) {
	t.Parallel()
	for _, byTime := range []bool{false, true} {
		s := &Scan{Workers: 2, ByTime: byTime}
		for n := range 2000 {
			s.Inputs = append(s.Inputs, text(fmt.Sprint(n), head+line("", float64(2000-n))))
		}
		got, err := run(t, s)
		if err != nil || len(got) != 2000 {
			t.Fatalf("%v: %d intervals", err, len(got))
		}
		if first := map[bool]string{false: "0:3", true: "1999:3"}[byTime]; got[0] != first {
			t.Errorf("by time %t, the first is %s", byTime, got[0])
		}
	}
}

// TestErrors: what ends a scan.
func TestErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("it broke")
	log := head + strings.Repeat(line("x", 1), 100)
	good := text("good", log)
	failing := Input{Name: "failing", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(log), brokenReader{broken})), nil
	}}
	closed := Input{Name: "closed", Open: func() (io.ReadCloser, error) { return nil, broken }}
	ok := func(*Decoder, Visit, *int) error { return nil }
	none := func(Visit, *int) error { return nil }
	for _, test := range []struct {
		name    string
		inputs  []Input
		decode  func(*Decoder, Visit, *int) error
		consume func(Visit, *int) error
		batch   func() error
		want    string
	}{
		{"none", []Input{good, good}, ok, none, nil, "<nil>"},
		{"opening", []Input{good, closed}, ok, none, nil, "it broke"},
		{"reading", []Input{failing, good}, ok, none, nil, "failing: it broke"},
		{"fatal", []Input{good, good}, func(_ *Decoder, v Visit, _ *int) error {
			if v.Line == 50 {
				return Fatal{broken}
			}
			return nil
		}, none, nil, "good:50: it broke"},
		{"consuming", []Input{good, good}, ok, func(v Visit, _ *int) error {
			if v.Line == 50 {
				return broken
			}
			return nil
		}, nil, "it broke"},
		{"flushing", []Input{good, good}, ok, none, func() error { return broken }, "it broke"},
		{"reporting", []Input{good, good}, func(*Decoder, Visit, *int) error { return broken }, none, nil, "good:3: payload: it broke"},
		{"another field", []Input{good, good}, func(*Decoder, Visit, *int) error { return &hdrlog.SyntaxError{Field: "tag", Err: broken} }, none, nil, "good:3: tag: it broke"},
	} {
		for _, byTime := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, by time %t", test.name, byTime), func(t *testing.T) {
				t.Parallel()
				s := &Scan{
					Inputs: test.inputs, Workers: 3, ByTime: byTime, BatchDone: test.batch,
					Report: func(err *hdrlog.SyntaxError, _ bool) error { return err },
				}
				if err := Run(s, test.decode, test.consume); fmt.Sprint(err) != test.want {
					t.Errorf("%v, want %s", err, test.want)
				}
			})
		}
	}
}

type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

// TestDecode: what an interval comes to where it is corrected for coordinated omission, and where
// it is not.
func TestDecode(t *testing.T) {
	t.Parallel()
	h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	h.Record(1000)
	payload, err := new(histogram.Encoder).AppendBase64(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name     string
		expected float64
		want     int64
		err      string
	}{
		{"as recorded", 0, 1, "<nil>"},
		{"corrected", 100, 10, "<nil>"},
		{"expected below one unit", 0.5, 0, "a:1: -co: expected interval must be positive: at least 1 where values are integers, not 0.5"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &Scan{Inputs: []Input{text("a", "0,1,1,"+string(payload)+"\n")}, Workers: 1, Correction: Correction{Expected: test.expected}}
			err := Run(s, func(d *Decoder, v Visit, sum *merge.Sum) error {
				if err := d.Open(v.Interval); err != nil {
					return err
				}
				counts, err := d.Counts()
				if err != nil {
					return err
				}
				if counts.TotalCount() != test.want || d.Double() {
					t.Errorf("%d values, double: %t", counts.TotalCount(), d.Double())
				}
				return d.AddTo(sum)
			}, func(_ Visit, sum *merge.Sum) error {
				total, err := sum.Histogram(new(histogram.Histogram))
				if err != nil || total.TotalCount() != test.want {
					t.Errorf("%v", err)
				}
				return nil
			})
			if fmt.Sprint(err) != test.err {
				t.Errorf("%v, want %s", err, test.err)
			}
		})
	}
}

// TestDecodeText proves that a sum keeps the text of a single interval only where it is wanted.
func TestDecodeText(t *testing.T) {
	t.Parallel()
	for _, wanted := range []bool{true, false} {
		s := &Scan{Inputs: []Input{text("a", "0,1,7.000,"+three+"\n")}, Workers: 1}
		err := Run(s, func(d *Decoder, v Visit, sum *merge.Sum) error {
			if err := d.Open(v.Interval); err != nil {
				return err
			}
			if wanted {
				return d.AddText(sum)
			}
			return d.AddTo(sum)
		}, func(_ Visit, sum *merge.Sum) error {
			fields, err := sum.AppendFields(nil, 0)
			if kept := strings.Contains(string(fields), ",7.000,"); kept != wanted {
				t.Errorf("text is wanted: %t; %s", wanted, fields)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDecodeFigures: each method gives the counts of the corrected interval, whichever is called
// first and whatever the payload is.
func TestDecodeFigures(t *testing.T) {
	t.Parallel()
	for _, ratio := range []float64{0, 0.5} {
		h, _ := histogram.New(histogram.Layout{Digits: 3, Lowest: 1, Ratio: ratio})
		h.RecordN(100, 2)
		h.Record(1000)
		payload, err := new(histogram.Encoder).AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		for _, expected := range []float64{0, 1, 100} {
			want := h
			if expected != 0 {
				want = new(histogram.Histogram)
				if err := h.CorrectInto(want, expected); err != nil {
					t.Fatal(err)
				}
			}
			for _, test := range []struct {
				name string
				got  func(d *Decoder) (string, error)
				want string
			}{
				{"Max", func(d *Decoder) (string, error) {
					highest, _, err := d.MaxAndCount()
					return fmt.Sprint(highest), err
				}, fmt.Sprint(want.Float(want.Max()))},
				{"Counts, Max", func(d *Decoder) (string, error) {
					h, err := d.Counts()
					if err != nil {
						return "", err
					}
					highest, count, err := d.MaxAndCount()
					if count != h.TotalCount() {
						t.Errorf("%d values of %d", count, h.TotalCount())
					}
					return fmt.Sprint(count, highest), err
				}, fmt.Sprint(want.TotalCount(), want.Float(want.Max()))},
				{"Sums", func(d *Decoder) (string, error) {
					var sum merge.Sum
					if err := d.AddTo(&sum); err != nil {
						return "", err
					}
					h, err := sum.Histogram(new(histogram.Histogram))
					if err != nil {
						return "", err
					}
					return fmt.Sprint(h.TotalCount(), h.Float(h.Max())), err
				}, fmt.Sprint(want.TotalCount(), want.Float(want.Max()))},
				{"Double", func(d *Decoder) (string, error) {
					return fmt.Sprint(d.Double()), d.AddTo()
				}, fmt.Sprint(ratio > 0)},
			} {
				got := func(payload []byte) (string, error) {
					d := NewDecoder(expected, NewPayloadLimits(nil))
					if err := d.Open(&hdrlog.Interval{Length: 1, Payload: payload}); err != nil {
						return "", err
					}
					return test.got(d)
				}
				if text, err := got(payload); err != nil || text != test.want {
					t.Errorf("%s of ratio %v, every %v: %s, %v, want %s", test.name, ratio, expected, text, err, test.want)
				}
				if _, err := got(payload[:20]); err == nil {
					t.Errorf("%s of a payload that is cut short is no error", test.name)
				}
			}
		}
	}
}

// TestKinds: which intervals are named does not depend on the order in which they come.
func TestKinds(t *testing.T) {
	t.Parallel()
	at := func(input, line int) Place { return Place{input, line, string(rune('a' + input))} }
	type one struct {
		double bool
		at     Place
	}
	doubles := []one{{true, at(0, 9)}, {true, at(0, 5)}, {true, at(1, 2)}, {true, at(2, 1)}, {true, at(0, 1)}}
	for want, all := range map[string][]one{
		"": doubles,
		"integer and double histograms do not add up: integers at b:8, doubles at a:1": append([]one{{false, at(2, 7)}, {false, at(1, 8)}}, doubles...),
	} {
		for range all {
			all = append(slices.Clone(all[1:]), all[0])
			var k, first, second Kinds
			for n, o := range all {
				k.Add(o.double, o.at)
				if n%2 == 0 {
					first.Add(o.double, o.at)
				} else {
					second.Add(o.double, o.at)
				}
			}
			first.Merge(second)
			err := k.Err()
			if want == "" && err != nil || want != "" && (!errors.Is(err, histogram.ErrKind) || err.Error() != want) {
				t.Errorf("%v, want %s", err, want)
			}
			if k != first {
				t.Errorf("%+v and merged %+v", k, first)
			}
		}
	}
}

// Lines that are very long are read one at a time, so that memory holds one of them.
func TestLongLines(t *testing.T) {
	const lines, size = 12, 3 << 20
	long := "1.000,1.000,0.000," + strings.Repeat("A", size) + "\n"
	var read atomic.Int64
	n := 0
	s := &Scan{Workers: 4, Inputs: []Input{text("long", strings.Repeat(long, lines))}, Progress: func(bytes int) { read.Add(int64(bytes)) }}
	s.Report = func(err *hdrlog.SyntaxError, malformed bool) error {
		n++
		if ahead := read.Load() - int64(n*len(long)); ahead > largestBatch {
			t.Errorf("line %d: %d bytes are read ahead", n, ahead)
		}
		return nil
	}
	if _, err := run(t, s); err != nil || n != lines {
		t.Errorf("%d lines, %v", n, err)
	}
}

// TestFatalEndsLanes ends a scan of several pipes with a fatal error. No goroutine waits on.
func TestFatalEndsLanes(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		s := &Scan{Workers: 2}
		for n := range 4 {
			in := text(fmt.Sprint(n), head+strings.Repeat(line("", 1), 3000))
			in.Once = true
			s.Inputs = append(s.Inputs, in)
		}
		s.Report = func(*hdrlog.SyntaxError, bool) error { return nil }
		err := Run(s, func(*Decoder, Visit, *int) error { return Fatal{errors.New("fatal")} }, func(Visit, *int) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "fatal") {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
