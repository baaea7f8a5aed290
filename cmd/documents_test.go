package cmd

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hdrkit/internal/clitest"
	results "hdrkit/output"
)

// TestDocuments reads the JSON of commands and writes it again: it stays byte for byte. So package
// output reads all that the commands print.
func TestDocuments(t *testing.T) {
	t.Parallel()
	build(t)
	logs, err := filepath.Glob(filepath.Join(clitest.Root(), "testdata", "logs", "*.hdr"))
	if err != nil || len(logs) < 20 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	var nodes []string
	for n, name := range logs {
		if logs[n] = filepath.Base(name); strings.HasPrefix(logs[n], "node") {
			nodes = append(nodes, logs[n])
		}
	}
	document := func(text []byte) (any, error) { return results.ReadDocument(bytes.NewReader(text)) }
	trend := func(text []byte) (any, error) {
		d := new(results.TrendDocument)
		return d, json.Unmarshal(text, d)
	}
	documents := 0
	try := func(read func([]byte) (any, error), logs []string, command ...string) {
		t.Helper()
		run := exec.Command(command[0], append(append(command[1:], "-st", "json", "-q"), logs...)...)
		run.Dir = filepath.Join(clitest.Root(), "testdata", "logs")
		text, _ := run.Output()
		if len(text) == 0 {
			return // the log has no intervals, or those of a tag do not add up
		}
		documents++
		d, err := read(text)
		var again bytes.Buffer
		if err == nil {
			err = results.JSON(&again, d)
		}
		if err != nil || !bytes.Equal(again.Bytes(), text) {
			t.Errorf("%q: %v, read\n%s\nand not\n%s", run.Args, err, again.Bytes(), text)
		}
	}
	for _, log := range logs {
		try(document, []string{log}, "hdrsum")
		try(document, []string{log}, "hdrsum", "-ci", "95", "-worst", "3", "-sla", "p99<=20ms,max<=1s in 99% of 10s,over(1ms)<=1%", "-p", "p50,over(100ms)", "-in", "ns")
	}
	try(document, nodes, "hdrsum", "-by", "input,tag", "-in", "ns", "-unit", "ms", "-who", "99")
	try(document, nodes[:2], "hdrdiff", "-in", "ns", "-sla", "p99<=+10%,mean<=1s")
	try(document, []string{nodes[0], nodes[1], "--", nodes[1], nodes[2]}, "hdrdiff")
	try(trend, nodes, "hdrdiff", "-trend", "-sla", "p99<=+10%")
	if documents < 50 {
		t.Errorf("only %d documents", documents)
	}

	for _, text := range []string{"", "{}", `{"unitRatio": 1}`, "[1]", `{"unitRatio": "x", "summaries": []}`} {
		if d, err := results.ReadDocument(strings.NewReader(text)); d != nil || err == nil {
			t.Errorf("%q is %+v, %v", text, d, err)
		}
	}
}
