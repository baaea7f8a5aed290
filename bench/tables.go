package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// others returns the tables that compare the commands with other programs. All programs of a table
// read the same logs, of an hour of cassandra-stress (21,600 intervals with six tags), and must
// find the same number of values.
func (b *bench) others() []*table {
	hour := []input{{"an hour", func(dir string) error { return b.genlog(filepath.Join(dir, "node1.hdr"), b.seconds, 1) }}}
	three := []input{{"three hours", func(dir string) error {
		for n := range 3 {
			if err := b.genlog(filepath.Join(dir, fmt.Sprintf("node%d.hdr", n+1)), b.seconds, n+1); err != nil {
				return err
			}
		}
		return nil
	}}}
	sum := []row{{line: "hdrsum -q -st percentiles -j 1 LOGS"}, {line: "hdrsum -q -st percentiles LOGS"}}
	sum = append(sum, b.needs("the peer in Go", row{name: "hdrhistogram-go, its log reader and Merge", line: b.path("hdrhistogram-go") + " LOGS"},
		"go", "build", "-o", b.dir, "./hdrhistogram-go")...)
	sum = append(sum, b.needs("the lower bound", row{name: "C and libdeflate, one thread, no tags", line: b.path("floor") + " LOGS"},
		"cc", "-O3", "-march=native", b.floor, "-o", b.path("floor"), "-ldeflate")...)
	one := []row{{line: "hdrsum -q -st percentiles -incT insert-rt LOGS"}}
	one = append(one, b.needs("HistogramLogProcessor", row{
		name: "HistogramLogProcessor, Java",
		line: "java -cp " + b.jar + " org.HdrHistogram.HistogramLogProcessor -i LOGS -tag insert-rt",
	}, "ls", b.jar)...)
	union := []row{{line: "hdrunion -q -of OUT/all.hdr LOGS"}}
	split := []row{{line: "hdrsplit -q -od OUT LOGS"}}
	if b.processing != "" {
		java := "java -cp " + b.processing
		sum = append(sum, row{name: "SummarizeHistogramLogs, Java", line: java + " SummarizeHistogramLogs -ifp LOGS"})
		split = append(split, row{name: "SplitHistogramLogs, Java", line: java + " SplitHistogramLogs -ip DIR -if node1.hdr"})
		union = append(union, row{
			name: "UnionHistogramLogs, Java",
			line: java + " UnionHistogramLogs -of OUT/all.hdr -ifp DIR/node1.hdr -ifp DIR/node2.hdr -ifp DIR/node3.hdr",
		})
	}
	return []*table{
		{title: "Summary of a log", inputs: hour, rows: sum, sameCount: true},
		{title: "Summary of one tag", inputs: hour, rows: one, sameCount: true},
		{title: "Union of three logs", inputs: three, rows: union, sameCount: true},
		{title: "Split of a log by tag", inputs: hour, rows: split, sameCount: true},
	}
}

// needs returns the row if the command succeeds, and no row otherwise. The command builds the
// program of the row, or looks for it.
func (b *bench) needs(what string, r row, command ...string) []row {
	if err := execute(command...); err != nil {
		fmt.Fprintf(os.Stderr, "bench: without %s: %v\n", what, err)
		return nil
	}
	return []row{r}
}

// shapes returns the table of what questions cost for logs of several shapes. The unit of its
// figures is one reading: the CPU time of the plain summary on one core.
func (b *bench) shapes() []*table {
	many := func(name string, count, seconds int, more ...string) input {
		return input{name, func(dir string) error {
			for n := range count {
				if err := b.genlog(filepath.Join(dir, fmt.Sprintf("in%02d.hdr", n+1)), seconds, n+1, more...); err != nil {
					return err
				}
			}
			return nil
		}}
	}
	ask := func(line string, bound float64) row {
		command, rest, _ := strings.Cut(line, " ")
		units := " -in ns -unit ms "
		if command == "hdrunion" {
			units = " "
		}
		return row{line: command + " -q" + units + rest, bound: bound}
	}
	return []*table{{
		title: "Shapes of logs",
		inputs: []input{
			many("one hour", 1, b.seconds),
			many("ten of an hour", 10, b.seconds),
			many("forty of 15 minutes", 40, b.seconds/4, "-rate", "4000"),
			many("one day", 1, 24*b.seconds, "-rate", "500", "-distinct", "3600"),
		},
		rows: []row{
			ask("hdrsum -st percentiles -j 1 LOGS", 0),
			ask("hdrsum -st json LOGS", 1.25),
			ask("hdrsum -st table LOGS", 1.3),
			ask("hdrsum -st timeline LOGS", 2),
			ask("hdrsum -st timeline -agg 1m LOGS", 1.6),
			ask("hdrsum -worst 10 LOGS", 1.6),
			ask("hdrsum -st json -ci 95 LOGS", 1.9),
			ask("hdrdiff -sum LOGS -- LOGS", 3.5), // of twice as many logs
			ask("hdrplot -of OUT/run.png LOGS", 2),
			ask("hdrplot -type percentiles -of OUT/run.png LOGS", 2),
			ask("hdrplot -type heatmap -of OUT/run.png LOGS", 2.2),
			ask("hdrplot -type report -of OUT/run.png LOGS", 2),
			ask("hdrplot -of OUT/run.html LOGS", 3.5),
			ask("hdrunion -of OUT/union.hdr LOGS", 2.2),
		},
	}}
}

// linear is the highest exponent that passes as linear time. Noise of the machine may raise an
// exponent of 1 by so much.
const linear = 1.1

// growth returns the tables of inputs that double three times. Commands must take linear time, for
// hostile input too, or refuse the input.
func (b *bench) growth() []*table {
	questions := func(lines ...string) (rows []row) {
		for _, line := range lines {
			command, rest, _ := strings.Cut(line, " ")
			rows = append(rows, row{line: command + " -q -memory 8GiB " + rest, bound: linear})
		}
		return rows
	}
	all := questions(
		"hdrsum -st table -in ns LOGS", "hdrsum -st json LOGS", "hdrdiff -sum DIR/in0.hdr -- LOGS", "hdrsum -worst 10 LOGS",
		"hdrsum -sla p99<=1e15+in+99%+of+10s LOGS", "hdrsum -st breaches -sla count>=30 LOGS", "hdrsum -st timeline -agg 10s LOGS",
		"hdrunion -of OUT/union.hdr LOGS", "hdrsplit -od OUT LOGS", "hdrplot -of OUT/page.html LOGS",
	)
	live := questions("hdrlive -for 1ms -s start -of OUT/live.hdr LOGS", "hdrlive -for 1ms -s start -serve 127.0.0.1:0 LOGS")
	record := questions("hdrrec -of OUT/rec.hdr TABLES")
	grow := func(what string, least int, rows []row, file func(dir string, n int) error) *table {
		t := &table{title: "Growth with " + what, growth: true, rows: rows, refusable: true}
		for double := range 4 {
			n := max(least/b.divisor, 1) << double
			t.inputs = append(t.inputs, input{fmt.Sprint(n), func(dir string) error { return file(dir, n) }})
		}
		return t
	}
	logs := func(inputs, seconds, tags func(n int) int) func(dir string, n int) error {
		return func(dir string, n int) error { return b.writeLogs(dir, inputs(n), seconds(n), tags(n)) }
	}
	size := func(n int) int { return n }
	is := func(k int) func(int) int { return func(int) int { return k } }
	return []*table{
		grow("tags", 10_000, all, logs(is(2), is(2), size)),
		grow("windows", 100_000, all, logs(is(1), size, is(1))),
		grow("inputs", 100, all, logs(size, is(300), is(1))),
		grow("live tags", 10_000, live, logs(is(2), is(2), size)),
		grow("live logs", 1_000, live, logs(size, is(10), is(1))),
		grow("gaps", 2_000, questions("hdrsum -st table -in ns LOGS"), oneFile("in0.hdr", gaps)),
		grow("rows", 1_000_000, record, oneFile("in0.csv", rows)),
		grow("rows backwards", 100_000, record, oneFile("in0.csv", rowsBackwards)),
		grow("payloads of version 1 that inflate to 8 MB each", 50, questions("hdrsum -st table LOGS"), oneFile("in0.hdr", inflating)),
		grow("compressed comments", 1_000_000, questions("hdrsum -st table LOGS"), oneFile("in0.hdr", compressedComments)),
		grow("comments between tags", 60_000, questions("hdrsplit -od OUT LOGS"), oneFile("in0.hdr", comments)),
		grow("an unclosed quote", 12_000, record, oneFile("in0.csv", unclosed)),
	}
}

// payload returns the end of a line, MAX,PAYLOAD, for an interval with 20 values.
func (b *bench) payload() (string, error) {
	text, err := exec.Command(b.path("genlog"), "-seconds", "1", "-rate", "20").Output()
	if err != nil {
		return "", err
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.SplitN(lines[len(lines)-1], []byte(","), 4)[3]), nil
}

// writeLogs writes equal logs. Each has one interval for each tag and second.
func (b *bench) writeLogs(dir string, inputs, seconds, tags int) error {
	payload, err := b.payload()
	if err != nil {
		return err
	}
	for input := range inputs {
		err := writeFile(filepath.Join(dir, fmt.Sprintf("in%d.hdr", input)), func(w io.Writer) {
			fmt.Fprint(w, header)
			for n := range seconds * tags {
				fmt.Fprintf(w, "Tag=tag%06d,%d.000,1.000,%s\n", n%tags, n/tags, payload)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
