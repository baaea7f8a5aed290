package measure

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/clitest"
)

// filesOf returns texts as files at rest, and counts how often they are opened.
func filesOf(opened *int, texts ...string) *Files {
	o := UsualRecording()
	o.Report = func(err *hdrlog.SyntaxError) error { return err }
	return &Files{
		Recording: o,
		Open: func() (readers []*Reader, _ io.Closer, err error) {
			*opened++
			for n, text := range texts {
				reader, err := NewReader(strings.NewReader(text), fmt.Sprint(n), "", Options{})
				if err != nil {
					return nil, nil, err
				}
				readers = append(readers, reader)
			}
			return readers, io.NopCloser(nil), nil
		},
	}
}

func logOf(t *testing.T, f *Files) string {
	t.Helper()
	text, err := f.Log()
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	log, err := io.ReadAll(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

// TestFilesInAnyOrder records rows in the order of their starts, of their ends, one operation after
// the other, in no order, and with one that comes two days late: the log is the same. A log without
// room is made again, and so is one of rows that come after their intervals.
func TestFilesInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	type row struct {
		start, elapsed int
		tag            string
	}
	var rows []row
	for n := range 3000 {
		r := row{n * 100, 5 + random.IntN(300), string(rune('a' + n%3))}
		if n%1000 == 999 {
			r.elapsed = 195_000
		}
		rows = append(rows, r)
	}
	rows[2999].start += 2 * 24 * 3600_000
	rows[2998].start += 2*24*3600_000 - 1000
	ordered := func(before func(a, b row) int) string {
		sorted := slices.Clone(rows)
		slices.SortStableFunc(sorted, before)
		var text strings.Builder
		text.WriteString(jtlHeader)
		for _, r := range sorted {
			fmt.Fprintf(&text, "%d,%d,%s,true\n", 1_700_000_000_000+int64(r.start), r.elapsed, r.tag)
		}
		return text.String()
	}
	start := func(a, b row) int { return a.start - b.start }
	orders := []string{
		ordered(start),
		ordered(func(a, b row) int { return a.start + a.elapsed - b.start - b.elapsed }),
		ordered(func(a, b row) int { return strings.Compare(a.tag, b.tag) }),
		ordered(func(a, b row) int { return b.start - a.start }),
		ordered(func(a, b row) int { return a.elapsed - b.elapsed }),
	}
	late := strings.SplitAfter(orders[0], "\n")
	late = append(late[:1:1], append(late[2:], late[1])...)
	orders = append(orders, strings.Join(late, ""))
	want := ""
	for n, text := range orders {
		rooms := []*LogBudget{NewLogBudget(nil), {left: 10_000}, nil}
		if n > 1 {
			rooms = rooms[:1] // the others differ no more
		}
		for _, room := range rooms {
			opened := 0
			f := filesOf(&opened, text)
			f.Budget = room
			left := 0
			if room != nil {
				left = room.left
			}
			log := logOf(t, f)
			if want == "" {
				want = log
			}
			if log != want {
				t.Errorf("order %d: the log differs", n)
			}
			times := 2
			if n == 0 && left > 10_000 {
				times = 1
			}
			if opened != times {
				t.Errorf("order %d with room for %d bytes is read %d times, want %d", n, left, opened, times)
			}
			if room != nil && times == 2 && room.left != left {
				t.Errorf("%d bytes of %d are left", room.left, left)
			}
			if again := logOf(t, f); again != want {
				t.Errorf("order %d: the second log differs", n)
			}
		}
	}
	total := int64(0)
	for _, h := range intervals(t, want) {
		total += h.TotalCount()
	}
	if total != 3000 {
		t.Errorf("%d values", total)
	}
}

// TestSlowRequest has requests of 95 s that are written at their ends, in a file and in a pipe.
func TestSlowRequest(t *testing.T) {
	for name, options := range map[string]Options{
		"jtl":        {},
		"vegeta.csv": {},
		"apache.log": {Pattern: `%h %l %u %t "%r" %>s %b %D`},
	} {
		text, err := os.ReadFile(filepath.Join(clitest.Root(), "testdata", "at-rest", "slow-request."+name))
		if err != nil {
			t.Fatal(err)
		}
		open := func() ([]*Reader, io.Closer, error) {
			r, err := NewReader(bytes.NewReader(text), name, "", options)
			return []*Reader{r}, io.NopCloser(nil), err
		}
		readers, _, err := open()
		if err != nil {
			t.Fatal(err)
		}
		o := UsualRecording()
		o.Report = func(err *hdrlog.SyntaxError) error { return err }
		pipe, err := io.ReadAll(NewText(o, readers))
		if err != nil {
			t.Fatal(err)
		}
		for where, log := range map[string]string{"pipe": string(pipe), "file": logOf(t, &Files{Recording: o, Open: open})} {
			total, highest := int64(0), int64(0)
			for _, h := range intervals(t, log) {
				total += h.TotalCount()
				highest = max(highest, h.Max())
			}
			if total != 243 || highest/1e9 != 95 {
				t.Errorf("%s in a %s: %d requests, the slowest of %d ns", name, where, total, highest)
			}
		}
	}
}

// TestSlowInPipe: a pipe records a slow request although its interval is written.
func TestSlowInPipe(t *testing.T) {
	var text strings.Builder
	text.WriteString(jtlHeader)
	for n := range 5000 {
		fmt.Fprintf(&text, "%d,5,a,true\n", 1_700_000_000_000+int64(n)*100)
	}
	fmt.Fprintf(&text, "%d,%d,a,true\n", int64(1_699_999_999_000), 501_000) // it began before the log
	fmt.Fprintf(&text, "%d,%d,a,true\n", int64(1_700_000_001_000), 1000)    // it ended long ago
	rec := recording{size: 1000, late: 60_000}
	log := rec.record(t, []byte(text.String()))
	if rec.counts.Recorded != 5001 || fmt.Sprint(rec.messages) != "[file0:5003: timeStamp: the row comes too late: it ended 8m18s before others]" {
		t.Errorf("%+v %v", rec.counts, rec.messages)
	}
	if h := intervals(t, log)["a 3399999998"]; h == nil || h.TotalCount() != 1 {
		t.Error("the slow request is not in its interval")
	}
}

// TestFilesInMemory: a file whose rows are in no order takes what -memory says, or a message.
func TestFilesInMemory(t *testing.T) {
	var text strings.Builder
	text.WriteString(jtlHeader)
	for n := range 20_000 {
		fmt.Fprintf(&text, "%d,%d,%d,true\n", 1_700_000_000_000+int64(n/2%1000*1000), n%1000, n%31)
	}
	opened := 0
	f := filesOf(&opened, text.String())
	f.Memory = ledger.New(1 << 20)
	log, err := f.Log()
	if err == nil {
		_, err = io.ReadAll(log)
	}
	if err == nil || !strings.Contains(err.Error(), "sort the rows by time, or raise -memory, which is 1 MiB") {
		t.Error(err)
	}
}

// TestSpellings: a tag that a file spells in many ways takes memory once, and is charged.
func TestSpellings(t *testing.T) {
	r := NewRecorder(hdrlog.NewWriter(nil), UsualRecording())
	spelling := make([]byte, 2*hdrlog.MaxTag)
	for n := range 1 << 12 {
		for at := range 12 {
			spelling[at] = " ,"[n>>at&1]
		}
		if _, err := r.intervals.entryOf(spelling); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.intervals.tags) != 1 || r.intervals.memory.bytes < hdrlog.MaxTag || r.intervals.memory.bytes > 4*hdrlog.MaxTag || r.intervals.memory.charge.Bytes() != r.intervals.memory.bytes {
		t.Errorf("%d tags, %d bytes, %d charged", len(r.intervals.tags), r.intervals.memory.bytes, r.intervals.memory.charge.Bytes())
	}
}
