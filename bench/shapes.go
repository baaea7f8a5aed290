package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A set is logs of one shape.
type set struct {
	name string
	logs []string
}

// A way is a question about logs, and what it is to cost in readings. What compares runs needs
// several logs.
type way struct {
	line string
	goal float64
	runs bool
}

var ways = []way{
	{"hdrsum -st json LOGS", 0.9, false},
	{"hdrsum -st table LOGS", 0.9, false},
	{"hdrsum -st timeline LOGS", 1.35, false},
	{"hdrsum -st timeline -agg 1m LOGS", 1.1, false},
	{"hdrsum -worst 10 LOGS", 1.05, false},
	{"hdrsum -st json -ci 95 LOGS", 1.3, false},
	{"hdrdiff -sum LOGS -- LOGS", 2.5, false}, // of twice as many logs
	{"hdrplot -of run.png LOGS", 1.4, false},
	{"hdrplot -type percentiles -of run.png LOGS", 1.3, false},
	{"hdrplot -type heatmap -of run.png LOGS", 1.7, false},
	{"hdrplot -type report -of run.png LOGS", 1.7, false},
	{"hdrplot -of run.html LOGS", 2.2, false},
	{"hdrunion -of union.hdr LOGS", 0, false},
	{"hdrdiff -trend LOGS", 1, true},
	{"hdrplot -type load -of run.png LOGS", 1, true},
}

// shapes prints what each way costs for logs of different shapes: CPU time in readings, which are
// that of a plain summary with one core of the same logs, and the peak of memory. With earlier
// commands, it prints their readings too, from runs in turn.
func (b *bench) shapes() error {
	sets, err := b.makeShapes()
	if err != nil {
		return err
	}
	if b.earlier != "" {
		if b.earlier, err = filepath.Abs(b.earlier); err != nil {
			return err
		}
	}
	fmt.Printf("\n**Shapes** of logs: readings, and peak in MiB\n\n| command | goal |")
	for _, s := range sets {
		fmt.Printf(" %s |", s.name)
	}
	fmt.Printf("\n| --- | --: |%s\n| CPU of a reading, s | |", strings.Repeat(" --: |", len(sets)))
	readings := make([]float64, len(sets))
	for n, s := range sets {
		c := &command{args: append([]string{cmp.Or(b.base, b.path("hdrsum")), "-q", "-st", "percentiles", "-j", "1"}, s.logs...)}
		if err := inTurn(b.rounds, c); err != nil {
			return err
		}
		readings[n] = c.least(cpu)
		fmt.Printf(" %.3g, %.0f |", readings[n], c.most(memory))
	}
	fmt.Println()
	for _, w := range ways {
		name := strings.NewReplacer(" LOGS", "", " --", "").Replace(w.line)
		fmt.Fprintf(os.Stderr, "bench: %s\n", name)
		fmt.Printf("| %s | %s |", name, unless0(int64(w.goal*100), w.goal))
		for n, s := range sets {
			if w.runs && len(s.logs) < 2 {
				fmt.Print(" |")
				continue
			}
			now := b.asks(w, s, b.dir)
			if b.earlier == "" {
				if err := inTurn(b.rounds, now); err != nil {
					return err
				}
				fmt.Printf(" %.2f, %.0f |", now.least(cpu)/readings[n], now.most(memory))
				continue
			}
			before := b.asks(w, s, b.earlier)
			if err := inTurn(b.rounds, now, before); err != nil {
				return err
			}
			fmt.Printf(" %.2f (%.2f), %.0f |", now.least(cpu)/readings[n], before.least(cpu)/readings[n], now.most(memory))
		}
		fmt.Println()
	}
	return nil
}

// asks returns the command of a folder that asks a question about logs.
func (b *bench) asks(w way, s set, folder string) *command {
	c := &command{dir: b.path("prices")}
	for _, word := range strings.Fields(w.line) {
		if word == "LOGS" {
			c.args = append(c.args, s.logs...)
		} else {
			c.args = append(c.args, word)
		}
	}
	c.args = slices.Insert(c.args, 1, "-q")
	if c.args[0] != "hdrunion" {
		c.args = slices.Insert(c.args, 1, "-in", "ns", "-unit", "ms")
	}
	c.args[0] = filepath.Join(folder, c.args[0])
	return c
}

// makeShapes makes the logs. An hour is what -seconds says.
func (b *bench) makeShapes() (sets []set, err error) {
	fmt.Fprintln(os.Stderr, "bench: making the logs")
	many := func(name, file string, count, seconds int, more ...string) {
		s := set{name: name}
		for n := range count {
			if err == nil {
				var log string
				log, err = b.makeLog(fmt.Sprintf("%s%02d.hdr", file, n+1), seconds, n+1, more...)
				s.logs = append(s.logs, log)
			}
		}
		sets = append(sets, s)
	}
	many("one hour", "hour", 1, b.seconds)
	many("ten of an hour", "ten", 10, b.seconds)
	many("forty of 15 minutes", "forty", 40, b.seconds/4, "-rate", "4000")
	many("one day", "day", 1, 24*b.seconds, "-rate", "500", "-distinct", "3600")
	many("120 tags in 20 minutes", "tags", 20, b.seconds/3, "-rate", "2000")
	if err != nil {
		return nil, err
	}
	last := &sets[len(sets)-1]
	joined, err := b.join("tags.hdr", last.logs)
	last.logs = []string{joined}
	return sets, err
}

// join makes one log of several that begin at about the same time, in which the tags of each have
// names of their own.
func (b *bench) join(name string, logs []string) (string, error) {
	readers := make([]*bufio.Reader, len(logs))
	for n, log := range logs {
		f, err := os.Open(log)
		if err != nil {
			return "", err
		}
		defer os.Remove(log)
		defer f.Close()
		readers[n] = bufio.NewReader(f)
	}
	var failed error
	err := write(b.path(name), func(w io.Writer) {
		for n, r := range readers { // the header of the first is that of all
			for failed == nil {
				start, err := r.Peek(len("Tag="))
				if err != nil {
					failed = fmt.Errorf("%s: no lines with tags: %w", logs[n], err)
				} else if string(start) == "Tag=" {
					break
				} else if line, _ := r.ReadBytes('\n'); n == 0 {
					w.Write(line)
				}
			}
		}
		for failed == nil {
			var second []byte
			for n, r := range readers {
				for range tagsOfLog {
					line, err := r.ReadBytes('\n')
					if err == io.EOF { // the shortest log ends
						return
					}
					failed = cmp.Or(failed, err)
					second = append(second, bytes.Replace(line, []byte(","), fmt.Appendf(nil, "-%02d,", n+1), 1)...)
				}
			}
			w.Write(second)
		}
	})
	return b.path(name), cmp.Or(err, failed)
}

// tagsOfLog is how many tags a log of genlog has. Each has an interval a second.
const tagsOfLog = 6
