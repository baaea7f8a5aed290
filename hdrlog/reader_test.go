package hdrlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unsafe"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
)

var shortKinds = map[Kind]string{
	IntervalRecord: "interval", Comment: "comment", StartTime: "start", BaseTime: "base", Legend: "legend", Malformed: "malformed", Notice: "notice",
}

// say describes a record in one line.
func say(rec *Record) string {
	text := fmt.Sprintf("%d %s", rec.Line, shortKinds[rec.Kind])
	switch rec.Kind {
	case IntervalRecord:
		i := &rec.Interval
		if i.Tag != nil {
			text += fmt.Sprintf(" tag=%s", i.Tag)
		}
		return text + fmt.Sprintf(" start=%v length=%v max=%v log=%v base=%v payload=%s", i.Start, i.Length, i.MaxHint, i.LogStart, i.Base, i.Payload)
	case StartTime, BaseTime:
		return text + fmt.Sprintf(" %v", rec.Seconds)
	case Malformed, Notice:
		return text + " " + rec.Err.Error()
	}
	return text + " " + string(rec.Text)
}

// scan returns the description of each record of r.
func scan(r *Reader) []string {
	var said []string
	for r.Scan() {
		said = append(said, say(r.Record()))
	}
	return said
}

// batches is scan, batch by batch.
func batches(r *Reader) []string {
	var said []string
	for b := new(Batch); r.ReadBatch(b); {
		for i := range b.Records {
			said = append(said, say(&b.Records[i]))
		}
	}
	return said
}

func expect(t *testing.T, name string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot\n\t%s\nwant\n\t%s", name, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// TestRecords reads small logs, above all malformed ones. The records do not depend on how the log
// is cut into reads.
func TestRecords(t *testing.T) {
	for _, test := range []struct {
		name, log string
		want      []string
	}{
		{"nothing", "", nil},
		{"blank lines", "\n\r\n  \n\n", nil},
		{"one interval", "3,2,1,H\n", []string{"1 interval start=3 length=2 max=1 log=3 base=0 payload=H"}},
		{"no final newline", "3,2,1,H", []string{"1 interval start=3 length=2 max=1 log=3 base=0 payload=H"}},
		{"carriage returns and blank lines", "#c\r\n\r\nTag=A,3,2,1,H\r\n", []string{"1 comment #c", "3 interval tag=A start=3 length=2 max=1 log=3 base=0 payload=H"}},
		{"spaces", "3 2 1 H  \nTag=A 1, 2,3,H\nTag=A 3 2 1 H\n", []string{
			"1 interval start=3 length=2 max=1 log=3 base=0 payload=H",
			`2 malformed log:2: start: not a number: ""`,
			"3 interval tag=A start=3 length=2 max=1 log=3 base=0 payload=H",
		}},
		{"spaces and carriage returns that the reference takes for ends of fields", "Tag=a b,3,2,1,H\r,\nTag=c d,3,2,1,H\r\t,x\n", []string{
			"1 interval tag=a b start=3 length=2 max=1 log=3 base=0 payload=H",
			"1 notice log:1: tag: the tag contains a space; the reference does not read it, and a union writes %20",
			"2 interval tag=c d start=3 length=2 max=1 log=3 base=0 payload=H",
			`2 malformed log:2: line: text follows the interval: "x"`,
		}},
		{"what follows the payload", "3,2,1,H, ,\n3,2,1,H,more,of it\n3,2,1,H more\n", []string{
			"1 interval start=3 length=2 max=1 log=3 base=0 payload=H",
			"2 interval start=3 length=2 max=1 log=3 base=0 payload=H",
			`2 malformed log:2: line: text follows the interval: "more,of it"`,
			"3 interval start=3 length=2 max=1 log=3 base=0 payload=H",
			`3 malformed log:3: line: text follows the interval: "more"`,
		}},
		{"lengths below zero", "5,1,3,H\n6,-0.5,3,H\n7,-1,3,H\nTag=A,8,1,3,H\n", []string{
			"1 interval start=5 length=1 max=3 log=5 base=0 payload=H",
			"2 interval start=6 length=0 max=3 log=5 base=0 payload=H",
			"2 notice log:2: length: the interval ends before it starts; it is read as one of no length",
			"3 interval start=7 length=0 max=3 log=5 base=0 payload=H",
			"4 interval tag=A start=8 length=1 max=3 log=5 base=0 payload=H",
		}},
		{"an end before the start", "Tag=A,1000,1001,3,H\nTag=A,1001,1002,3,H\nTag=A,1003,1002,3,H\n", []string{
			"1 interval tag=A start=1000 length=1 max=3 log=1000 base=0 payload=H",
			"2 interval tag=A start=1001 length=1 max=3 log=1000 base=0 payload=H",
			"2 notice log:2: length: the second number is read as the interval's end",
			"3 interval tag=A start=1003 length=0 max=3 log=1000 base=0 payload=H",
			"3 notice log:3: length: the interval ends before it starts; it is read as one of no length",
		}},
		{"times that are too far away", strings.Join([]string{
			"1e300,2,3,H", "-1e13,2,3,H", "5,1e300,3,H", "5,-1e300,3,H", "-1e300,1e300,3,H", "#[StartTime: 1e14 (s)]", "#[BaseTime: -1e14]",
			"#[BaseTime: -1e12]", "-2e11,2,3,H", "#[BaseTime: 0]", "3,2,1,H",
		}, "\n"), []string{
			`1 malformed log:1: start: time is more than 35,000 years from the epoch: "1e300"`,
			`2 malformed log:2: start: time is more than 35,000 years from the epoch: "-1e13"`,
			`3 malformed log:3: length: time is more than 35,000 years from the epoch: "1e300"`,
			`4 malformed log:4: length: time is more than 35,000 years from the epoch: "-1e300"`,
			`5 malformed log:5: start: time is more than 35,000 years from the epoch: "-1e300"`,
			`6 malformed log:6: StartTime: time is more than 35,000 years from the epoch: "1e14"`,
			`7 malformed log:7: BaseTime: time is more than 35,000 years from the epoch: "-1e14"`,
			"8 base -1e+12",
			`9 malformed log:9: start: time is more than 35,000 years from the epoch: "-2e11"`,
			"10 base 0",
			"11 interval start=3 length=2 max=1 log=3 base=0 payload=H",
		}},
		{"byte-order mark", "\ufeff#c\n", []string{"1 comment #c"}},
		{"legend", "\"StartTimestamp\",\"x\"\n", []string{`1 legend "StartTimestamp","x"`}},
		{"tags", "Tag=,3,2,1,H\nTag=ä/b,3,2,1,H\nTag=a=b,3,2,1,H\n", []string{
			"1 interval tag= start=3 length=2 max=1 log=3 base=0 payload=H",
			"2 interval tag=ä/b start=3 length=2 max=1 log=3 base=0 payload=H",
			"3 interval tag=a=b start=3 length=2 max=1 log=3 base=0 payload=H",
		}},
		{"numbers", "1e3,2.5E-1,+3,H\n-1.5,.5,0x10,H\n-1.5,.5,0x1p4,H\n-1.5,.5,1_0,H\n1,0,Infinity,H\n1,0,1e999,H\n", []string{
			"1 interval start=1000 length=0.25 max=3 log=1000 base=0 payload=H",
			`2 malformed log:2: max: not a number: "0x10"`,
			`3 malformed log:3: max: not a number: "0x1p4"`,
			`4 malformed log:4: max: not a number: "1_0"`,
			"5 interval start=1 length=0 max=+Inf log=1000 base=0 payload=H",
			"6 interval start=1 length=0 max=+Inf log=1000 base=0 payload=H",
		}},
		{"malformed, and none stops the log", strings.Join([]string{
			"x,2,3,H", "1,x,3,H", "1,2,x,H", "3,2,1,", "1,2,3", "1,2,", "1,2", "1,", "1", "x", ",", "1,,3,H", "Tag=A", "Tag=A,", "Tag=A,x",
			"0x10,2,3,H", "1_0,2,3,H", "NaN,2,3,H", "Inf,2,3,H", "1,1e999,3,H", "1d,2,3,H", " 3,2,1,H",
			"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz,2,3,H", "\x00\xff,1,2,3", "#[StartTime: x]", "#[StartTime:]", "#[BaseTime: NaN (s)]", "Tag=A\rB,3,2,1,H", "3,2,1,H",
		}, "\n"), []string{
			`1 malformed log:1: start: not a number: "x"`,
			`2 malformed log:2: length: not a number: "x"`,
			`3 malformed log:3: max: not a number: "x"`,
			"4 malformed log:4: payload: field is missing",
			"5 malformed log:5: payload: field is missing",
			"6 malformed log:6: max: field is missing",
			"7 malformed log:7: max: field is missing",
			"8 malformed log:8: length: field is missing",
			"9 malformed log:9: length: field is missing",
			`10 malformed log:10: start: not a number: "x"`,
			"11 malformed log:11: length: field is missing",
			`12 malformed log:12: length: not a number: ""`,
			"13 malformed log:13: start: field is missing",
			"14 malformed log:14: start: field is missing",
			`15 malformed log:15: start: not a number: "x"`,
			`16 malformed log:16: start: not a number: "0x10"`,
			`17 malformed log:17: start: not a number: "1_0"`,
			`18 malformed log:18: start: not a number: "NaN"`,
			`19 malformed log:19: start: not a number: "Inf"`,
			`20 malformed log:20: length: not a number: "1e999"`,
			`21 malformed log:21: start: not a number: "1d"`,
			`22 malformed log:22: start: not a number: ""`,
			`23 malformed log:23: start: not a number: "abcdefghijklmnopqrstuvwxyzabcdefghijklmn"...`,
			`24 malformed log:24: start: not a number: "\x00\xff"`,
			`25 malformed log:25: StartTime: not a number: "x"`,
			`26 malformed log:26: StartTime: not a number: ""`,
			`27 malformed log:27: BaseTime: not a number: "NaN"`,
			`28 malformed log:28: tag: tag contains a comma, a space or a line break: "A\rB"`,
			"29 interval start=3 length=2 max=1 log=3 base=0 payload=H",
		}},
		{"time comments", "#[StartTime: 1441812279.474 (seconds since epoch), Wed]\n#[Basetime: 5]\n#[StartTime:7,5 (s)]\n#[BaseTime: 1,\n#[StartTime 1]\n# [BaseTime: 1]\n", []string{
			"1 start 1.441812279474e+09", "2 base 5", "3 start 7.5", "4 base 1", "5 comment #[StartTime 1]", "6 comment # [BaseTime: 1]",
		}},

		{"fields behind other text", strings.Join([]string{
			"2024-05-01T10:00:00Z #Logging op latencies for Cassandra Stress", "app_1  | #[BaseTime: 100 (seconds)]", "x \"StartTimestamp\",\"Interval_Length\",\"MAX\"",
			"2024-05-01T10:00:00Z Tag=A b,0.5,1.000,2.0,HISTx", "1700000000 1.5,1,2e3,HISTx", `{"log":"Tag=C,2.5,1,Infinity,HISTx+/\n","stream":"stdout"}`, "[3] 3.5,1,0,HISTx rest",
			"INFO request #5 [x]", "GET,/a#[b", "x 1,2,3", "x 1,1,1,HISTx 2,1,1,HISTx", "x1,1,1,HISTx", "x 1,1e999,1,HISTx",
		}, "\n"), []string{
			"1 comment #Logging op latencies for Cassandra Stress",
			"1 notice log:1: line: lines begin with other text; they are read from where their fields begin",
			"2 base 100",
			`3 legend "StartTimestamp","Interval_Length"`,
			"4 interval tag=A b start=0.5 length=1 max=2 log=100.5 base=100 payload=HISTx",
			"4 notice log:4: tag: the tag contains a space; the reference does not read it, and a union writes %20",
			"5 interval start=1.5 length=1 max=2000 log=100.5 base=100 payload=HISTx",
			"6 interval tag=C start=2.5 length=1 max=+Inf log=100.5 base=100 payload=HISTx+/",
			"7 interval start=3.5 length=1 max=0 log=100.5 base=100 payload=HISTx",
			`8 malformed log:8: start: not a number: "INFO"`,
			`9 malformed log:9: length: not a number: "/a#[b"`,
			`10 malformed log:10: start: not a number: "x"`,
			`11 malformed log:11: start: not a number: "x"`,
			`12 malformed log:12: start: not a number: "x1"`,
			`13 malformed log:13: length: the line is cut off: not a number: "1e999"`,
		}},
		{"an interval that is cut off before another line", strings.Join([]string{
			`Tag=A,1.1"StartTimestamp","Interval_Length","MAX"`, `12"StartTimestamp","Interval_Length"`,
			`Tag="StartTimestamp","Interval_Length"`, "Tag=a:#[BaseTime: 100 (seconds)]", "Tag=a,1 #[BaseTime: 100 (seconds)]",
			`1.5,2,"StartTimestamp","Interval_Length"`, "1,1,1,HISTx",
		}, "\n"), []string{
			`1 malformed log:1: max: the line is cut off: not a number: "\"MAX\""`,
			`2 malformed log:2: length: the line is cut off: not a number: "\"Interval_Length\""`,
			`3 malformed log:3: start: the line is cut off: not a number: "\"Interval_Length\""`,
			`4 malformed log:4: length: not a number: "(seconds)]"`,
			`5 malformed log:5: length: not a number: "#[BaseTime:"`,
			`6 malformed log:6: max: the line is cut off: not a number: "\"StartTimestamp\""`,
			"7 interval start=1 length=1 max=1 log=1 base=0 payload=HISTx",
		}},
		{"neither start nor base", "5,1,0,H\n3,1,0,H\n", []string{
			"1 interval start=5 length=1 max=0 log=5 base=0 payload=H",
			"2 interval start=3 length=1 max=0 log=5 base=0 payload=H",
		}},
		{"start, relative", "#[StartTime: 1441812279.5\n0.5,1,0,H\n1441812280,1,0,H\n", []string{
			"1 start 1.4418122795e+09",
			"2 interval start=0.5 length=1 max=0 log=1.4418122795e+09 base=1.4418122795e+09 payload=H",
			"3 interval start=1.44181228e+09 length=1 max=0 log=1.4418122795e+09 base=1.4418122795e+09 payload=H",
		}},
		{"start, absolute", "#[StartTime: 1441812279\n1441812280,1,0,H\n0.5,1,0,H\n", []string{
			"1 start 1.441812279e+09",
			"2 interval start=1.44181228e+09 length=1 max=0 log=1.441812279e+09 base=0 payload=H",
			"3 interval start=0.5 length=1 max=0 log=1.441812279e+09 base=0 payload=H",
		}},
		{"start, a year before", "#[StartTime: 31536001\n1,1,0,H\n", []string{
			"1 start 3.1536001e+07", "2 interval start=1 length=1 max=0 log=3.1536001e+07 base=0 payload=H",
		}},
		{"start, more than a year before", "#[StartTime: 31536001\n0.999,1,0,H\n", []string{
			"1 start 3.1536001e+07", "2 interval start=0.999 length=1 max=0 log=3.1536001e+07 base=3.1536001e+07 payload=H",
		}},
		{"base, and no start", "#[BaseTime: 1000\n5,1,0,H\n", []string{
			"1 base 1000", "2 interval start=5 length=1 max=0 log=1005 base=1000 payload=H",
		}},
		{"start and base", "#[BaseTime: 1000\n#[StartTime: 1003\n5,1,0,H\n", []string{
			"1 base 1000", "2 start 1003", "3 interval start=5 length=1 max=0 log=1003 base=1000 payload=H",
		}},
		{"a later comment overrides", "#[StartTime: 1441812279\n0,1,0,H\n#[StartTime: 1441812280\n1,1,0,H\n#[BaseTime: 7\n2,1,0,H\n", []string{
			"1 start 1.441812279e+09",
			"2 interval start=0 length=1 max=0 log=1.441812279e+09 base=1.441812279e+09 payload=H",
			"3 start 1.44181228e+09",
			"3 notice log:3: StartTime: the time changes from 1441812279.000 to 1441812280.000; if this log was joined from several, give each as its own input",
			"4 interval start=1 length=1 max=0 log=1.44181228e+09 base=1.441812279e+09 payload=H",
			"5 base 7",
			"6 interval start=2 length=1 max=0 log=1.44181228e+09 base=7 payload=H",
		}},
		{"a malformed line settles no time", "#[StartTime: 1441812279\nx,1,0,H\n1441812280,1,0,H\n", []string{
			"1 start 1.441812279e+09",
			`2 malformed log:2: start: not a number: "x"`,
			"3 interval start=1.44181228e+09 length=1 max=0 log=1.441812279e+09 base=0 payload=H",
		}},

		{"decimal commas", "Tag=A,0,127,1,007,2,769,HIST\n1,127,1,007,2,769,HIST\n-0,5,1,0,2,0,H\n", []string{
			"1 interval tag=A start=0.127 length=1.007 max=2.769 log=0.127 base=0 payload=HIST",
			"1 notice log:1: start: numbers are read with decimal commas",
			"2 interval start=1.127 length=1.007 max=2.769 log=0.127 base=0 payload=HIST",
			"3 interval start=-0.5 length=1 max=2 log=0.127 base=0 payload=H",
		}},
		{"decimal commas without a payload", "0,127,1,007,2,769,\n0,127,1,007,2,769,H\n", []string{
			"1 malformed log:1: payload: field is missing",
			"2 interval start=0.127 length=1.007 max=2.769 log=0.127 base=0 payload=H",
			"2 notice log:2: start: numbers are read with decimal commas",
		}},
		{"not decimal commas", "3,2,1,4,5,6\n3 2,1,4,5,6,7,8\n3,2 1,4,5,6,7,8\n", []string{
			"1 interval start=3 length=2 max=1 log=3 base=0 payload=4",
			`1 malformed log:1: line: text follows the interval: "5,6"`,
			"2 interval start=3 length=2 max=1 log=3 base=0 payload=4",
			`2 malformed log:2: line: text follows the interval: "5,6,7,8"`,
			"3 interval start=3 length=2 max=1 log=3 base=0 payload=4",
			`3 malformed log:3: line: text follows the interval: "5,6,7,8"`,
		}},
		{"milliseconds", "1441812279474,1000,3,H\n1441812280474,1500,3,H\n", []string{
			"1 interval start=1.441812279474e+09 length=1 max=3 log=1.441812279474e+09 base=0 payload=H",
			"1 notice log:1: start: times are read as milliseconds",
			"2 interval start=1.441812280474e+09 length=1.5 max=3 log=1.441812279474e+09 base=0 payload=H",
		}},
		{"milliseconds and ends", "1441812279474,1441812280474,3,H\n1441812280474,1441812281974,3,H\n", []string{
			"1 interval start=1.441812279474e+09 length=1 max=3 log=1.441812279474e+09 base=0 payload=H",
			"1 notice log:1: start: times are read as milliseconds",
			"1 notice log:1: length: the second number is read as the interval's end",
			"2 interval start=1.441812280474e+09 length=1.5 max=3 log=1.441812279474e+09 base=0 payload=H",
		}},
		{"a quote begins a legend, not everything", "\"0.0\",1,3,H\n0,1,3,H\n", []string{
			`1 malformed log:1: line: neither an interval nor a legend: "\"0.0\",1,3,H"`,
			"2 interval start=0 length=1 max=3 log=0 base=0 payload=H",
		}},
		{"one start in milliseconds changes no other", "0,1,3,H\n1441812279474,1441812280474,3,H\n2,1,3,H\n", []string{
			"1 interval start=0 length=1 max=3 log=0 base=0 payload=H",
			"2 interval start=1.441812279474e+09 length=1 max=3 log=0 base=0 payload=H",
			"2 notice log:2: start: times are read as milliseconds",
			"2 notice log:2: length: the second number is read as the interval's end",
			"3 interval start=2 length=1 max=3 log=0 base=0 payload=H",
		}},
		{"absolute ends", "1441812279,1441812280,3,H\n1441812280,1441812282,3,H\n", []string{
			"1 interval start=1.441812279e+09 length=1 max=3 log=1.441812279e+09 base=0 payload=H",
			"1 notice log:1: length: the second number is read as the interval's end",
			"2 interval start=1.44181228e+09 length=2 max=3 log=1.441812279e+09 base=0 payload=H",
		}},
		{"EndTimestamp that is the end", "\"StartTimestamp\",\"EndTimestamp\"\n0,1,3,H\n1,2,3,H\n2,3.5,3,H\n", []string{
			`1 legend "StartTimestamp","EndTimestamp"`,
			"2 interval start=0 length=1 max=3 log=0 base=0 payload=H",
			"3 interval start=1 length=1 max=3 log=0 base=0 payload=H",
			"4 interval start=2 length=1.5 max=3 log=0 base=0 payload=H",
			"4 notice log:4: length: the second number is read as the interval's end",
		}},
		{"ends of two tags under Interval_Length", "Tag=a,1,2,3,H\nTag=b,1,2,3,H\nTag=a,2,3,3,H\nTag=b,2,4,3,H\n", []string{
			"1 interval tag=a start=1 length=1 max=3 log=1 base=0 payload=H",
			"2 interval tag=b start=1 length=1 max=3 log=1 base=0 payload=H",
			"3 interval tag=a start=2 length=1 max=3 log=1 base=0 payload=H",
			"4 interval tag=b start=2 length=2 max=3 log=1 base=0 payload=H",
			"4 notice log:4: length: the second number is read as the interval's end",
		}},
		{"ends that begin a little after zero", "\"StartTimestamp\",\"Interval_Length\"\n0.0625,1.0625,3,H\n1.0625,2.0625,3,H\n2.0625,3.0625,3,H\n3.0625,4.0625,3,H\n4.0625,5.0625,3,H\n", []string{
			`1 legend "StartTimestamp","Interval_Length"`,
			"2 interval start=0.0625 length=1 max=3 log=0.0625 base=0 payload=H",
			"3 interval start=1.0625 length=1 max=3 log=0.0625 base=0 payload=H",
			"4 interval start=2.0625 length=1 max=3 log=0.0625 base=0 payload=H",
			"5 interval start=3.0625 length=1 max=3 log=0.0625 base=0 payload=H",
			"5 notice log:5: length: the second number is read as the interval's end",
			"6 interval start=4.0625 length=1 max=3 log=0.0625 base=0 payload=H",
		}},
		{"other dialects among ends", "1000,1001,3,H\n1001,5,2,5,1,0,H\n1441812279474,1000,3,H\n1001,1002,3,H\n", []string{
			"1 interval start=1000 length=1 max=3 log=1000 base=0 payload=H",
			"2 interval start=1001.5 length=2.5 max=1 log=1000 base=0 payload=H",
			"2 notice log:2: start: numbers are read with decimal commas",
			"3 interval start=1.441812279474e+09 length=1 max=3 log=1000 base=0 payload=H",
			"3 notice log:3: start: times are read as milliseconds",
			"4 interval start=1001 length=1 max=3 log=1000 base=0 payload=H",
			"4 notice log:4: length: the second number is read as the interval's end",
		}},
		{"lengths that double look like ends from zero, twice", "0,1,3,H\n1,2,3,H\n3,4,3,H\n", []string{
			"1 interval start=0 length=1 max=3 log=0 base=0 payload=H",
			"2 interval start=1 length=2 max=3 log=0 base=0 payload=H",
			"3 interval start=3 length=4 max=3 log=0 base=0 payload=H",
			"2 notice log:2: length: the second number may be the interval's end; it is read as the length: 2.000 s, not 1.000 s",
		}},
		{"EndTimestamp that is the length", "\"StartTimestamp\",\"EndTimestamp\"\n0,1,3,H\n1,1,3,H\n2,1,3,H\n", []string{
			`1 legend "StartTimestamp","EndTimestamp"`,
			"2 interval start=0 length=1 max=3 log=0 base=0 payload=H",
			"3 interval start=1 length=1 max=3 log=0 base=0 payload=H",
			"4 interval start=2 length=1 max=3 log=0 base=0 payload=H",
		}},
		{"EndTimestamp, late start", "\"StartTimestamp\",\"EndTimestamp\"\n0.127,1.007,3,H\n1.134,0.999,3,H\n", []string{
			`1 legend "StartTimestamp","EndTimestamp"`,
			"2 interval start=0.127 length=1.007 max=3 log=0.127 base=0 payload=H",
			"3 interval start=1.134 length=0.999 max=3 log=0.127 base=0 payload=H",
		}},
		{"EndTimestamp, a single interval", "\"StartTimestamp\",\"EndTimestamp\"\n5,6,3,H\n", []string{
			`1 legend "StartTimestamp","EndTimestamp"`,
			"2 interval start=5 length=6 max=3 log=5 base=0 payload=H",
			"2 notice log:2: length: the second number may be the interval's end; it is read as the length: 6.000 s, not 1.000 s",
		}},
		{"EndTimestamp, the second interval late", "\"StartTimestamp\",\"EndTimestamp\"\n1,2,3,H\n#1\nx\n#3\n2,3,3,H\n", []string{
			`1 legend "StartTimestamp","EndTimestamp"`,
			"2 interval start=1 length=1 max=3 log=1 base=0 payload=H",
			"3 comment #1", `4 malformed log:4: start: not a number: "x"`, "5 comment #3",
			"6 interval start=2 length=1 max=3 log=1 base=0 payload=H",
			"6 notice log:6: length: the second number is read as the interval's end",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			expect(t, "whole", scan(NewReader(strings.NewReader(test.log), "log")), test.want)
			expect(t, "in batches", batches(NewReader(strings.NewReader(test.log), "log")), test.want)
			expect(t, "byte by byte", scan(NewReader(iotest.OneByteReader(strings.NewReader(test.log)), "log")), test.want)
			expect(t, "the end with the data", scan(NewReader(iotest.DataErrReader(strings.NewReader(test.log)), "log")), test.want)
		})
	}
}

func TestSentinels(t *testing.T) {
	r := NewReader(strings.NewReader("1,2\nx,1,1,H\nTag=AAAAAAAAAAAAAAAAAAAAAAA,3,2,1,H\n"), "a log")
	r.settings.maxLine = 20
	for _, want := range []error{ErrMissing, ErrNumber, ErrLineTooLong} {
		if !r.Scan() || r.Record().Kind != Malformed {
			t.Fatalf("no malformed record for %v", want)
		}
		var syntax *SyntaxError
		if err := r.Record().Err; !errors.Is(err, want) || !errors.As(err, &syntax) || syntax.File != "a log" || syntax.Line != r.Record().Line {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	if r.Scan() || r.Err() != nil || r.Name() != "a log" {
		t.Errorf("the log goes on, %v", r.Err())
	}
}

// encodings returns a log in each way that a reader can find out about.
func encodings(t testing.TB, text []byte) map[string][]byte {
	t.Helper()
	zipped := func(parts ...[]byte) []byte {
		var out bytes.Buffer
		for _, part := range parts {
			w := gzip.NewWriter(&out)
			w.Write(part)
			w.Close()
		}
		return out.Bytes()
	}
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer encoder.Close()
	encoded := map[string][]byte{"utf-8": text, "utf-8 with mark": append([]byte("\xef\xbb\xbf"), text...)}
	for name, encoding := range map[string]struct {
		order unicode.Endianness
		mark  unicode.BOMPolicy
	}{
		"utf-16le": {unicode.LittleEndian, unicode.IgnoreBOM}, "utf-16be": {unicode.BigEndian, unicode.IgnoreBOM},
		"utf-16le with mark": {unicode.LittleEndian, unicode.UseBOM}, "utf-16be with mark": {unicode.BigEndian, unicode.UseBOM},
	} {
		wide, err := unicode.UTF16(encoding.order, encoding.mark).NewEncoder().Bytes(text)
		if err != nil {
			t.Fatal(err)
		}
		encoded[name] = wide
	}
	half := len(text) / 2
	encoded["gzip"] = zipped(text)
	encoded["gzip of two members"] = zipped(text[:half], text[half:])
	encoded["gzip with an empty member"] = zipped(nil, text, nil)
	encoded["gzip after many empty members"] = zipped(append(make([][]byte, 200), text)...)
	encoded["gzip of utf-16"] = zipped(encoded["utf-16le with mark"])
	encoded["zstd"] = encoder.EncodeAll(text, nil)
	encoded["zstd of two frames"] = encoder.EncodeAll(text[half:], encoder.EncodeAll(text[:half], nil))
	encoded["zstd of utf-8 with mark"] = encoder.EncodeAll(encoded["utf-8 with mark"], nil)
	return encoded
}

func readLog(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestEncodings checks that the encoding of a log and the sizes of reads do not change its records.
func TestEncodings(t *testing.T) {
	for _, name := range []string{"logs/odd-tags.hdr", "dialects/js-writer.hlog", "dialects/c-hiccup.hlog"} {
		text := readLog(t, name)
		want := scan(NewReader(bytes.NewReader(text), "log"))
		if len(want) < 5 {
			t.Fatalf("%s: %d records", name, len(want))
		}
		for encoding, encoded := range encodings(t, text) {
			for chunking, chunked := range map[string]func(io.Reader) io.Reader{
				"whole":        func(r io.Reader) io.Reader { return r },
				"byte by byte": iotest.OneByteReader,
				"halves":       iotest.HalfReader,
				"end and data": iotest.DataErrReader,
			} {
				r := NewReader(chunked(bytes.NewReader(encoded)), "log")
				got := scan(r)
				if r.Err() != nil {
					t.Errorf("%s in %s, %s: %v", name, encoding, chunking, r.Err())
				}
				expect(t, fmt.Sprintf("%s in %s, %s", name, encoding, chunking), got, want)
			}
		}
	}
}

// TestCutShort cuts compressed logs. The records before the cut come first, then a malformed one.
// Err stays nil.
func TestCutShort(t *testing.T) {
	// Zstd decodes nothing of a block that is not whole, and there are two in the three logs.
	text := slices.Concat(readLog(t, "logs/node1.hdr"), readLog(t, "logs/node2.hdr"), readLog(t, "logs/node3.hdr"))
	want := scan(NewReader(bytes.NewReader(text), "log"))
	for _, encoding := range []string{"gzip", "zstd", "gzip of two members"} {
		encoded := encodings(t, text)[encoding]
		most := 0
		for n := 2; n < len(encoded); n += 1 + len(encoded)/60 {
			if encoding == "zstd" {
				n = max(n, 4)
			}
			r := NewReader(bytes.NewReader(encoded[:n]), "log")
			var last Record
			var got []string
			notices := 0
			for r.Scan() {
				last = *r.Record()
				got = append(got, say(&last))
				if last.Kind == Notice {
					notices++
				}
			}
			if r.Err() != nil {
				t.Errorf("%s, %d bytes: %v", encoding, n, r.Err())
			}
			if encoding == "gzip of two members" && last.Kind != Malformed {
				continue // it was cut between the two
			}
			if last.Kind != Malformed || !errors.Is(last.Err, ErrCutShort) || last.Line != len(got)-notices {
				t.Fatalf("%s, %d bytes: %d records, the last is %s", encoding, n, len(got), say(&last))
			}
			if prefix := fmt.Sprintf("log:%d: line: compressed file is cut short or damaged: ", last.Line); !strings.HasPrefix(last.Err.Error(), prefix) {
				t.Errorf("%s, %d bytes: %v", encoding, n, last.Err)
			}
			expect(t, fmt.Sprintf("%s, %d bytes", encoding, n), got[:len(got)-1], want[:len(got)-1])
			most = max(most, len(got))
		}
		if most < len(want)/4 {
			t.Errorf("%s: no more than %d of %d records are kept", encoding, most, len(want))
		}

		damaged := bytes.Clone(encoded)
		damaged[len(damaged)-6] ^= 0x55
		r := NewReader(bytes.NewReader(damaged), "log")
		said := scan(r)
		if last := said[len(said)-1]; r.Err() != nil || !strings.Contains(last, "cut short or damaged") {
			t.Errorf("%s, damaged: %s, %v", encoding, last, r.Err())
		}
	}
}

// TestReadError checks that a failing source ends the log with Err, after the lines before.
func TestReadError(t *testing.T) {
	broken := errors.New("broken disk")
	text := readLog(t, "logs/digits2.hdr")
	want := scan(NewReader(bytes.NewReader(text), "log"))
	for encoding, encoded := range encodings(t, text) {
		for n := 0; n < len(encoded); n += 1 + n {
			r := NewReader(io.MultiReader(bytes.NewReader(encoded[:n]), iotest.ErrReader(broken)), "log")
			got := scan(r)
			if !errors.Is(r.Err(), broken) || r.Err().Error() != "log: broken disk" {
				t.Errorf("%s, %d bytes: Err is %v, records %s", encoding, n, r.Err(), got)
			}
			if len(got) > len(want) {
				t.Fatalf("%s, %d bytes: %s", encoding, n, got)
			}
			expect(t, fmt.Sprintf("%s, %d bytes", encoding, n), got, want[:len(got)])
			if r.Scan() {
				t.Errorf("%s, %d bytes: the log goes on after its end", encoding, n)
			}
		}
	}
}

// TestMaxLine checks that a line that is too long takes little memory, and that the next one is
// read.
func TestMaxLine(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	log := "#0123456789\n#012345678\n#" + long + "\n#next\n1,2,3," + long + "\r\n#" + strings.Repeat("y", 9) + "\r\n\n#last\n" + long
	want := []string{
		"1 malformed log:1: line: line is too long: over 10 bytes",
		"2 comment #012345678",
		"3 malformed log:3: line: line is too long: over 10 bytes",
		"4 comment #next",
		"5 malformed log:5: line: line is too long: over 10 bytes",
		"6 malformed log:6: line: line is too long: over 10 bytes",
		"8 comment #last",
		"9 malformed log:9: line: line is too long: over 10 bytes",
	}
	for name, chunked := range map[string]func(io.Reader) io.Reader{
		"whole":        func(r io.Reader) io.Reader { return r },
		"byte by byte": iotest.OneByteReader,
		"end and data": iotest.DataErrReader,
	} {
		r := NewReader(chunked(strings.NewReader(log)), "log")
		r.settings.maxLine = 10
		expect(t, name, scan(r), want)
	}

	r := NewReader(io.MultiReader(iotest.HalfReader(io.LimitReader(zeros{}, 512<<20)), strings.NewReader("\n#next\n")), "log")
	r.settings.maxLine = 1 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := scan(r)
	runtime.ReadMemStats(&after)
	expect(t, "512 MB", got, []string{"1 malformed log:1: line: line is too long: over 1048576 bytes", "2 comment #next"})
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 16<<20 {
		t.Errorf("%d bytes taken", taken)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

// TestBoundedMemory checks that the length of a log does not matter: for intervals, for blank
// lines, and for comments while an interval waits.
func TestBoundedMemory(t *testing.T) {
	for _, log := range []io.Reader{
		bytes.NewReader(bytes.Repeat(readLog(t, "logs/node1.hdr"), 200)), // 20 MB
		io.LimitReader(blanks{}, 16<<20),
		io.MultiReader(strings.NewReader("\"EndTimestamp\"\n1,2,3,H\n"), strings.NewReader(strings.Repeat("#"+strings.Repeat("c", 1000)+"\n", 1000)), io.LimitReader(blanks{}, 16<<20)),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := NewReader(log, "log")
		for r.Scan() {
		}
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 8<<20 {
			t.Errorf("%d bytes taken", taken)
		}
	}
}

// The lines that wait for an interval that decides what the second numbers are take bounded memory:
// however long they are, however many, and however many tags they have.
func TestWaitingLinesMemory(t *testing.T) {
	repeat := func(line string, bytes int) io.Reader {
		return strings.NewReader(strings.Repeat(line, bytes/len(line)))
	}
	tags := func(lines int, tag, rest string) io.Reader {
		var readers []io.Reader
		for n := range lines {
			readers = append(readers, strings.NewReader(fmt.Sprintf("Tag=%d%s,%s\n", n, tag, rest)))
		}
		return io.MultiReader(readers...)
	}
	for _, test := range []struct {
		name string
		log  io.Reader
	}{
		{"long comments", repeat("#"+strings.Repeat("c", 1<<20)+"\n", 40<<20)},
		{"comments", repeat("#"+strings.Repeat("c", 4900)+"\n", 16<<20)},
		{"short lines", repeat("x\n", 1<<20)},
		{"blank lines", repeat("\n", 8<<20)},
		{"tags in doubt", tags(50_000, "", "5,6,1,H")},
		{"tags that prove nothing", tags(50_000, "", "0,6,1,H")},
		{"long tags that prove nothing", tags(5000, strings.Repeat("t", MaxTag-4), "0,6,1,H")},
		{"tags that are too long", tags(20, strings.Repeat("t", 2<<20), "0,6,1,H")},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := NewReader(io.MultiReader(strings.NewReader("\"EndTimestamp\"\n1,2,3,H\n"), test.log), "log")
			var b Batch
			for r.ReadBatch(&b) {
				records := len(b.Records)*int(unsafe.Sizeof(Record{})) + 200*len(b.Records) // and their errors
				if size := b.Size() + records; size > 14<<20 {
					t.Fatalf("a batch of %d MB: %d of text, %d records", size>>20, b.Size(), len(b.Records))
				}
				if tags := r.dialect.evidence.bytes; tags > 2*maxWaitingBytes {
					t.Fatalf("%d bytes of tags", tags)
				}
			}
		})
	}
}

// TestLongLineMemory checks that a very long line takes little more than its length, and that the
// reader does not keep this memory.
func TestLongLineMemory(t *testing.T) {
	long := strings.Repeat("9", 15<<20)
	for _, line := range []string{long, "1," + long + ",3,H", "1,2," + long + ",H", "3,2,1," + long, "#[StartTime: " + long + "]"} {
		var before, after runtime.MemStats
		r := NewReader(strings.NewReader(line+"\n#next\n"), "log")
		var b Batch
		runtime.ReadMemStats(&before)
		if !r.ReadBatch(&b) {
			t.Fatal(r.Err())
		}
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 28<<20 {
			t.Errorf("%.20s...: %d MB taken", line, taken>>20)
		}
		for r.ReadBatch(&b) {
		}
		if cap(b.text) > 2<<20 {
			t.Errorf("%.20s...: %d bytes kept", line, cap(b.text))
		}
	}
}

// TestLongLineInPieces reads one long line byte by byte.
func TestLongLineInPieces(t *testing.T) {
	line := "3,2,1," + strings.Repeat("x", 2<<20)
	// The square of the length takes minutes.
	got := scan(NewReader(iotest.OneByteReader(strings.NewReader(line)), "log"))
	if len(got) != 1 || !strings.HasSuffix(got[0], line[6:]) {
		t.Errorf("%d records", len(got))
	}
}

// TestLive checks that a record of a live pipe comes as soon as its line is whole.
func TestLive(t *testing.T) {
	in, out := io.Pipe()
	r := NewReader(in, "pipe")
	wrote := make(chan bool)
	read := make(chan string)
	go func() {
		for r.Scan() {
			read <- say(r.Record())
		}
		close(read)
	}()
	go func() {
		io.WriteString(out, "#[StartTime: 1 (s)]\n0,2,3,H")
		wrote <- true
		io.WriteString(out, "\n2,2")
		wrote <- true
		io.WriteString(out, ",3,H\n4,2,3,H\n#half")
		out.Close()
	}()
	next := func(want string) {
		t.Helper()
		select {
		case got := <-read:
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%q does not come", want)
		}
	}
	next("1 start 1")
	<-wrote
	next("2 interval start=0 length=2 max=3 log=1 base=0 payload=H")
	<-wrote
	next("3 interval start=2 length=2 max=3 log=1 base=0 payload=H")
	next("4 interval start=4 length=2 max=3 log=1 base=0 payload=H")
	next("5 comment #half")
	next("")
}

// TestViews checks that the views of a batch stay valid while other batches are filled.
func TestViews(t *testing.T) {
	text := readLog(t, "logs/odd-tags.hdr")
	lines := strings.Split(string(text), "\n")
	r := NewReader(iotest.OneByteReader(bytes.NewReader(text)), "log")
	var kept []*Batch
	for {
		b := new(Batch)
		if !r.ReadBatch(b) {
			break
		}
		kept = append(kept, b)
	}
	n := 0
	for _, b := range kept {
		for _, rec := range b.Records {
			line := lines[rec.Line-1]
			_ = append(rec.Interval.Tag, "not in the line"...)
			if string(rec.Text) != line {
				t.Errorf("line %d is %q, want %q", rec.Line, rec.Text, line)
			}
			if rec.Kind == IntervalRecord {
				i := rec.Interval
				want := string(fieldsOf(&i))
				if i.Tag != nil {
					want = "Tag=" + string(i.Tag) + "," + want
				}
				if want != line {
					t.Errorf("line %d: tag %q and fields %q", rec.Line, i.Tag, fieldsOf(&i))
				}
				n++
			}
		}
	}
	if n == 0 {
		t.Error("no intervals")
	}
}

func TestMillis(t *testing.T) {
	for _, test := range []struct {
		start, base, length float64
		from, to            int64
	}{
		{0.127, 1441812279.474, 1.007, 1441812279601, 1441812280608},
		{2.133, 0, 0, 2133, 2133},
		{1.0009, 0, 0.0005, 1000, 1001}, // truncated
		{-1.0009, 0, 0, -1000, -1000},
		{1e300, 0, 0, math.MaxInt64, math.MaxInt64},
		{-1e300, 0, 0, math.MinInt64, math.MinInt64},
	} {
		i := Interval{Start: test.start, Base: test.base, Length: test.length, LogStart: 1}
		if i.StartMillis() != test.from || i.EndMillis() != test.to || i.Absolute() != test.start+test.base || i.Relative() != test.start+test.base-1 {
			t.Errorf("%+v: from %d to %d", test, i.StartMillis(), i.EndMillis())
		}
	}
}

// TestReferenceTimes compares the intervals of testdata, to the millisecond, with what the
// reference reads.
func TestReferenceTimes(t *testing.T) {
	n := 0
	for line := range strings.Lines(string(mustRead(t, "testdata/intervals.tsv"))) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 2 {
			t.Fatalf("%q", line)
		}
		var got strings.Builder
		r := NewReader(bytes.NewReader(readLog(t, fields[0])), fields[0])
		for r.Scan() {
			if i := &r.Record().Interval; r.Record().Kind == IntervalRecord {
				tag := "-"
				if i.Tag != nil {
					tag = string(i.Tag)
				}
				fmt.Fprintf(&got, "%s %d %d,", tag, i.StartMillis(), i.EndMillis())
				n++
			}
		}
		if got.String() != fields[1] {
			t.Errorf("%s:\ngot  %s\nwant %s", fields[0], got.String(), fields[1])
		}
	}
	if n < 890 {
		t.Errorf("%d intervals", n)
	}
}

// TestReferenceTimeRules compares the times of the logs in times.tsv with those that the reference
// reads. The logs have all kinds of time comments, with relative and absolute starts. A | ends a
// line.
func TestReferenceTimeRules(t *testing.T) {
	n := 0
	for line := range strings.Lines(string(mustRead(t, "testdata/times.tsv"))) {
		log, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			t.Fatalf("%q", line)
		}
		var got strings.Builder
		for r := NewReader(strings.NewReader(strings.ReplaceAll(log, "|", "\n")), "log"); ; {
			i := nextInterval(r)
			if i == nil {
				break
			}
			fmt.Fprintf(&got, "%d %d,", i.StartMillis(), i.EndMillis())
		}
		if got.String() != want {
			t.Errorf("%s\ngot  %s\nwant %s", log, got.String(), want)
		}
		n++
	}
	if n < 100 {
		t.Errorf("%d logs", n)
	}
}

func mustRead(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestBefore reads logs that continue others.
func TestBefore(t *testing.T) {
	const interval = "1.000,1.000,0.000,HISTFAAAABx42pNpmSzMwMBgyQABzFCaEUwpMsIEAP4CASs=\n"
	const start, base = "#[StartTime: 2000000000.500 (seconds since epoch)]\n", "#[BaseTime: 1900000000.000 (seconds since epoch)]\n"
	for _, test := range []struct {
		name   string
		logs   []string
		want   []float64 // the absolute start of the interval of each log
		starts []float64 // the start of each log
		kept   []bool
	}{
		{"without times", []string{start + interval, interval}, []float64{2000000001.5, 2000000001.5}, []float64{2000000000.5, 2000000000.5}, []bool{false, true}},
		{"with a base time", []string{start + base + interval, "# comment\n" + interval}, []float64{1900000001, 1900000001}, []float64{2000000000.5, 2000000000.5}, []bool{false, true}},
		{"with own times", []string{base + start + interval, "#[StartTime: 2000000100]\n" + interval}, []float64{1900000001, 2000000101}, []float64{2000000000.5, 2000000100}, []bool{false, false}},
		{"after a log without intervals", []string{start + interval, "# comment\n", interval}, []float64{2000000001.5, 0, 2000000001.5}, []float64{2000000000.5, 0, 2000000000.5}, []bool{false, false, true}},
		{"after a log with a time only", []string{start, interval}, []float64{0, 2000000001.5}, []float64{0, 2000000000.5}, []bool{false, true}},
		{"after an empty log", []string{"", interval}, []float64{0, 1}, []float64{0, 1}, []bool{false, false}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var before *Reader
			for n, text := range test.logs {
				r := ReaderOptions{Continues: before}.NewReader(strings.NewReader(text), "log")
				before = r
				var at, start float64
				kept := false
				for rec := range r.All() {
					switch rec.Kind {
					case IntervalRecord:
						at, start = rec.Interval.Absolute(), rec.Interval.LogStart
					case Notice:
						kept = kept || errors.Is(rec.Err, ErrTimesKept)
					case Malformed:
						t.Error(rec.Err)
					}
				}
				if at != test.want[n] || start != test.starts[n] || kept != test.kept[n] {
					t.Errorf("log %d: start %.1f of a log that starts at %.1f, kept %v", n, at, start, kept)
				}
			}
		})
	}
}

// Values that were not made by their function return errors.
func TestZeroValues(t *testing.T) {
	for name, r := range map[string]*Reader{"zero": new(Reader), "no input": NewReader(nil, "log")} {
		if r.Scan() || r.ReadBatch(new(Batch)) || !errors.Is(r.Err(), errNoInput) {
			t.Errorf("%s: Err is %v", name, r.Err())
		}
	}
	r := NewReader(strings.NewReader("3,2,1,H\n"), "log")
	for _, when := range []string{"before Scan", "after the end"} {
		if rec := r.Record(); rec.Kind != Malformed || !errors.Is(rec.Err, ErrNoRecord) || !strings.HasPrefix(rec.Err.Error(), "log:") {
			t.Errorf("%s: %+v", when, rec)
		}
		for r.Scan() {
		}
	}
	var i Interval
	if i.Duration() != 0 || !i.StartTime().Equal(time.Unix(0, 0)) || string(i.AppendFields(nil)) != "0.000,0.000,0.000," {
		t.Errorf("%v, %v, %s", i.Duration(), i.StartTime(), i.AppendFields(nil))
	}
	if rec := new(Record).Clone(); rec.Err != nil || rec.Text != nil || rec.Interval.Tag != nil || rec.Interval.Payload != nil {
		t.Errorf("%+v", rec)
	}
	byHand := &Record{Interval: Interval{Payload: []byte("HISTF")}}
	if got := byHand.Clone().Interval.Payload; string(got) != "HISTF" {
		t.Errorf("payload %q", got)
	}
}

// A clone stays as it is when the reader reuses its memory.
func TestClone(t *testing.T) {
	text := readLog(t, "dialects/malformed.hlog")
	var clones []*Record
	var said []string
	for rec := range NewReader(iotest.OneByteReader(bytes.NewReader(text)), "log").All() {
		clones = append(clones, rec.Clone())
		said = append(said, say(rec)+string(rec.Text)+string(fieldsOf(&rec.Interval)))
	}
	for n, rec := range clones {
		if got := say(rec) + string(rec.Text) + string(fieldsOf(&rec.Interval)); got != said[n] {
			t.Errorf("got %s, want %s", got, said[n])
		}
	}
	if len(clones) < 10 {
		t.Errorf("%d records", len(clones))
	}
}

// All returns the records that were not read yet, and stops when the loop does.
func TestAll(t *testing.T) {
	r := NewReader(strings.NewReader("#1\n#2\n#3\n#4\n"), "log")
	r.Scan()
	var lines []int
	for rec := range r.All() {
		lines = append(lines, rec.Line)
		if rec.Line == 3 {
			break
		}
	}
	for rec := range r.All() {
		lines = append(lines, rec.Line)
	}
	if !slices.Equal(lines, []int{2, 3, 4}) {
		t.Errorf("lines %v", lines)
	}
}

func TestKinds(t *testing.T) {
	for kind, want := range map[Kind]string{IntervalRecord: "interval", Malformed: "malformed line", Notice: "notice", 200: "Kind(200)"} {
		if kind.String() != want {
			t.Errorf("%d is %s, want %s", kind, kind, want)
		}
	}
}

// Times are to the microsecond, whatever binary fractions make of them.
func TestTimes(t *testing.T) {
	at := func(text string) time.Time {
		t.Helper()
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, test := range []struct {
		start, base, length float64
		from, to            time.Time
		duration            time.Duration
	}{
		{0.127, 1441812279.474, 1.007, at("2015-09-09T15:24:39.601Z"), at("2015-09-09T15:24:40.608Z"), 1007 * time.Millisecond},
		{2.133, 0, 0.000001, at("1970-01-01T00:00:02.133Z"), at("1970-01-01T00:00:02.133001Z"), time.Microsecond},
		{-0.25, 0, 0.5, at("1969-12-31T23:59:59.75Z"), at("1970-01-01T00:00:00.25Z"), 500 * time.Millisecond},
		{0, 1441812279.9999999, 0, at("2015-09-09T15:24:40Z"), at("2015-09-09T15:24:40Z"), 0},
		{0, 0, 1e10, at("1970-01-01T00:00:00Z"), time.Unix(1e10, 0), math.MaxInt64},
	} {
		i := Interval{Start: test.start, Base: test.base, Length: test.length}
		if !i.StartTime().Equal(test.from) || !i.EndTime().Equal(test.to) || i.Duration() != test.duration {
			t.Errorf("%+v: from %v to %v, %v", test, i.StartTime().UTC(), i.EndTime().UTC(), i.Duration())
		}
		if rec := (Record{Kind: StartTime, Seconds: test.start + test.base}); !rec.Time().Equal(test.from) {
			t.Errorf("%+v: %v", test, rec.Time())
		}
	}
}

// AppendFields copies what makes sense in any log, and rewrites the rest. Times keep the
// milliseconds that the reference makes of them.
func TestAppendFields(t *testing.T) {
	for _, test := range []struct{ log, want string }{
		{"3,2,1,H\n", "3,2,1,"},
		{"Tag=a 1.5 2 3e0 H\n", "1.5 2 3e0 "},
		{"1,2,+Inf,H\n", "1.000,2.000,0.000,"},
		{"0,127,1,007,2,769,H\n", "0.127,1.007,2.769,"},
		{"1441812279474,1441812280475,3,H\n", "1441812279.474,1.001,3.000,"},
		{"5,6.1,3,H\n6.1,7,3,H\n", "5.000,1.1,3.000,"},
		{"#[BaseTime: 1700000000]\n1682.371,1684.371,580.0,H\n1684.371,1686.3719997,1,H\n", "1682.371,2.000,580.000,"},
	} {
		i := nextInterval(NewReader(strings.NewReader(test.log), "log"))
		if got := string(i.AppendFields([]byte("x"))); got != "x"+strings.ReplaceAll(test.want, "1.1,", "1.100,") {
			t.Errorf("%q: got %s, want %s", test.log, got, test.want)
		}
	}

	// All milliseconds, of ends that are printed in six decimals.
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		base := float64(random.IntN(2)) * 1700000000.137
		i := Interval{Base: base, Start: random.Float64() * 1e4, MaxHint: 1}
		end := i.Start + random.Float64()*10
		if random.IntN(2) == 0 {
			i.Start, end = math.Round(i.Start*1000)/1000, math.Round(end*1000)/1000
		}
		i.Length = end - i.Start
		text := "#[BaseTime: " + formatSeconds(base) + "]\n" + string(i.AppendFields(nil)) + "H\n"
		got := nextInterval(NewReader(strings.NewReader(text), "log"))
		if got.StartMillis() != i.StartMillis() || got.EndMillis() != i.EndMillis() {
			t.Fatalf("%+v is written as %s, which is from %d to %d", i, text, got.StartMillis(), got.EndMillis())
		}
	}
}

// A payload ends where its header says, whatever follows: payloads of all versions, integer and
// double, compressed and plain, with padding and without.
func TestPayloadEnd(t *testing.T) {
	seen := make(map[string]bool)
	for _, log := range []string{"logs/odd-tags.hdr", "logs/double.hdr", "dialects/payload-double.hlog", "dialects/payload-plain.hlog", "dialects/payload-v1-words.hlog", "dialects/python.hlog", "dialects/jhiccup-v0.hlog"} {
		r := NewReader(bytes.NewReader(readLog(t, log)), log)
		for i := nextInterval(r); i != nil; i = nextInterval(r) {
			for _, next := range []string{"", "3", "Tag=a", `"StartTimestamp"`, "#comment"} {
				text := string(i.Payload) + next
				want := len(i.Payload)
				if strings.HasPrefix(text, "HISTiA") { // plain payloads of version 0 have no length
					want = len(text)
				}
				if got := payloadEnd([]byte(text)); got != want {
					t.Errorf("%s: a payload of %d bytes ends at %d: %.40s...%s", log, want, got, text, next)
				}
			}
			seen[string(i.Payload[:7])] = true
		}
	}
	if len(seen) < 7 {
		t.Errorf("only payloads that begin with %v", seen)
	}
	for _, text := range []string{"", "H", "HISTFAAAA", "HISTF////////////////////////////////////////", strings.Repeat("A", 40)} {
		if got := payloadEnd([]byte(text)); got != len(text) {
			t.Errorf("%q ends at %d", text, got)
		}
	}
}

// TestIntervals: intervals and errors come in the order of the lines, and comments and notices not.
func TestIntervals(t *testing.T) {
	failed := errors.New("failed")
	text := "#comment\nTag=a b,1,1,1,HIST\nwrong\n2,1,1,HIST\n"
	r := NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(failed)), "log")
	var got []string
	for interval, err := range r.Intervals() {
		if err != nil {
			got = append(got, err.Error())
		} else {
			got = append(got, string(interval.Tag)+" "+formatSeconds(interval.Start))
		}
	}
	if want := `["a b 1.000" "log:3: start: not a number: \"wrong\"" " 2.000" "log: failed"]`; fmt.Sprintf("%q", got) != want {
		t.Errorf("got  %q\nwant %s", got, want)
	}
	for range NewReader(strings.NewReader(text), "log").Intervals() {
		break
	}
}

// TestLinesBefore: lines have their numbers in the whole log.
func TestLinesBefore(t *testing.T) {
	r := ReaderOptions{LinesBefore: 41}.NewReader(strings.NewReader("#a\nb\n"), "log")
	for line := 42; r.Scan(); line++ {
		if err := r.Record().Err; r.Record().Line != line || err != nil && !strings.HasPrefix(err.Error(), "log:43: ") {
			t.Errorf("line %d: %+v", line, r.Record())
		}
	}
}
