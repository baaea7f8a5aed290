package cmd

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/loggen"
)

// A model is a run whose figures are known: in each of its seconds, rate values, as many of each of
// level, 2 level and so on up to 100 level. So its p50 is 50 level, its p99 99 level and its
// maximum 100 level, and slots of three digits are exact up to 2,047.
type model struct{ level, rate int64 }

// seconds is the length of the runs of models.
const seconds = 20

// write writes the run as a log that starts on a day.
func (m model) write(t *testing.T, path string, day int) {
	t.Helper()
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	for n := range int64(100) {
		err = cmp.Or(err, h.RecordN((n+1)*m.level, m.rate/100))
	}
	var log bytes.Buffer
	w := hdrlog.NewWriter(&log)
	start := 1468800000 + float64(day)*24*3600
	err = cmp.Or(err, w.BaseTime(start), w.StartTime(start))
	for n := range seconds {
		err = cmp.Or(err, w.Interval([]byte("op"), float64(n), 1, h))
	}
	if err := cmp.Or(err, w.Flush(), os.WriteFile(path, log.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// writeModels writes a folder of runs, a day each.
func writeModels(t *testing.T, folder string, models ...model) string {
	t.Helper()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for n, m := range models {
		m.write(t, filepath.Join(folder, fmt.Sprintf("run%02d.hdr", n)), n)
	}
	return folder
}

// printedBy returns what a command prints to standard output. It must end with a status.
func printedBy(t *testing.T, status int, command ...string) string {
	t.Helper()
	c := exec.Command(command[0], command[1:]...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); c.ProcessState.ExitCode() != status {
		t.Fatalf("%q: %v, want status %d\n%s%s", command, err, status, out.Bytes(), errs.Bytes())
	}
	return out.String()
}

// near reports whether two numbers differ by less than a billionth.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// TestModelsCompared compares runs whose change is known. The intervals are those of Welch's test
// on logarithms, computed in Python from the figures of the model, with the distribution of t as an
// incomplete beta function. The variance of a slot is its width squared, divided by 12.
func TestModelsCompared(t *testing.T) {
	t.Parallel()
	build(t)
	dir := t.TempDir()
	before := writeModels(t, filepath.Join(dir, "before"), model{10, 100}, model{11, 200}, model{12, 100})
	after := writeModels(t, filepath.Join(dir, "after"), model{15, 200}, model{16, 100}, model{18, 300})
	type change struct{ Percentile, Ratio, Low, High, P float64 }
	var doc struct {
		Sentence  string
		Summaries []struct {
			TotalCount                 int64
			Throughput, Min, Max, Mean float64
			Percentiles                []struct{ Percentile, Value float64 }
		}
		Changes []struct {
			Percentiles      []change
			Throughput, Mean change
		}
	}
	out := printedBy(t, 0, "hdrdiff", "-in", "ns", "-unit", "ns", "-p", "50,99", "-st", "json", before, after)
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if want := "SLOWER: p99 of op by 48% (21..83): 1,090 to 1,610 ns; p50 by 48%, and 1 more."; doc.Sentence != want {
		t.Errorf("%q, want %q", doc.Sentence, want)
	}
	c := doc.Changes[0]
	for n, want := range []change{
		{50, 1.4846928094798573, 1.2056675835813364, 1.8282922826650627, 0.006209809770640165},
		{99, 1.4846928094798586, 1.2056698219321147, 1.828288888402906, 0.006209613274839315},
		{0, 1.4846928094798573, 1.205670588388914, 1.82828772614145, 0.0062095459919234205},
		{0, 1.4422495703074072, 0.460177982101209, 4.520172420145079, 0.4115417806441922},
	} {
		got := append(slices.Clone(c.Percentiles), c.Mean, c.Throughput)[n]
		if got.Percentile != want.Percentile || !near(got.Ratio, want.Ratio) || !near(got.Low, want.Low) || !near(got.High, want.High) || !near(got.P, want.P) {
			t.Errorf("%d: %+v, want %+v", n, got, want)
		}
	}
	// What the runs after add up to: 20 s each of 15, 16 and 18.
	var values []float64
	sum := 0.0
	for n := range 100 {
		for _, m := range []model{{15, 200}, {16, 100}, {18, 300}} {
			for range m.rate / 100 {
				values = append(values, float64(n+1)*float64(m.level))
				sum += values[len(values)-1]
			}
		}
	}
	slices.Sort(values)
	s, all := doc.Summaries[0], len(values)
	if s.TotalCount != int64(all*seconds) || !near(s.Throughput, float64(all)/3) || s.Min != 15 || s.Max != 1800 || !near(s.Mean, sum/float64(all)) {
		t.Errorf("%+v", s)
	}
	for _, p := range s.Percentiles {
		if want := values[int(math.Ceil(p.Percentile/100*float64(all)))-1]; p.Value != want {
			t.Errorf("p%v is %v, want %v", p.Percentile, p.Value, want)
		}
	}

	// A report has the sentence and the figures of the table.
	picture := filepath.Join(dir, "report.svg")
	printedBy(t, 0, "hdrplot", "-compare", "-type", "report", "-in", "ns", "-unit", "ns", "-of", picture, before, after)
	svg, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	table := printedBy(t, 0, "hdrdiff", "-in", "ns", "-unit", "ns", before, after)
	lines := strings.Split(table, "\n")
	wanted := append(lines[:1:1], regexp.MustCompile(`~?[+-][0-9.]+% \([^)]*\)`).FindAllString(table, -1)...)
	if len(wanted) < 6 {
		t.Errorf("%d changes in %s", len(wanted), table)
	}
	for _, text := range wanted {
		if !bytes.Contains(svg, []byte(">"+text+"<")) {
			t.Errorf("the report has no %q", text)
		}
	}
}

// TestModelsTrend has nights whose levels change at one night, by 10%.
func TestModelsTrend(t *testing.T) {
	t.Parallel()
	build(t)
	var models []model
	for n := range 12 {
		m := model{10, 300}
		if n >= 7 {
			m = model{11, 200}
		}
		models = append(models, m)
	}
	nights := writeModels(t, filepath.Join(t.TempDir(), "nights"), models...)
	rows, err := csv.NewReader(strings.NewReader(printedBy(t, 0, "hdrdiff", "-trend", "-in", "ns", "-unit", "ns", "-p", "50,99", "-st", "csv", nights))).ReadAll()
	if err != nil || len(rows) != 1+12*4 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		night, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(row[1]), "run"), ".hdr"))
		if err != nil {
			t.Fatal(err)
		}
		m, first := models[night], models[0]
		of := map[string][2]int64{"p50": {50 * m.level, 50 * first.level}, "p99": {99 * m.level, 99 * first.level}, "max": {100 * m.level, 100 * first.level}, "throughput": {m.rate, first.rate}}
		value := of[row[3]]
		number := func(text string) float64 { v, _ := strconv.ParseFloat(text, 64); return v }
		if number(row[5]) != float64(value[0]) || !near(number(row[6]), float64(value[0])) {
			t.Errorf("%q, want %v", row, value[0])
		}
		if (row[7] != "") != (night == 7) || night == 7 && math.Abs(number(row[7])-(float64(value[0])/float64(value[1])-1)) > 1e-6 {
			t.Errorf("%q: a change", row)
		}
	}
	table := printedBy(t, 0, "hdrdiff", "-trend", "-in", "ns", "-unit", "ns", "-p", "50,99", "-sla", "p50<=+10%", nights)
	for _, want := range []string{
		"throughput of op fell by 33% from 2016-07-25 (run07.hdr) on: 300 to 200/s, 7 runs before, 5 after.",
		"max of op rose by 10% from 2016-07-25 (run07.hdr) on: 1,000 to 1,100 ns, 7 runs before, 5 after.",
		"p99 of op rose by 10% from 2016-07-25 (run07.hdr) on: 990 to 1,090 ns, 7 runs before, 5 after.",
		"p50 of op rose by 10% from 2016-07-25 (run07.hdr) on: 500 to 550 ns, 7 runs before, 5 after.",
		"Of 4 figures 4 changed in 12 runs.\nNext: hdrplot -type trend " + nights + " -unit ns -in ns",
	} {
		if !strings.Contains(table, want+"\n") {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	// The newest two nights are 36% slower than the five before, and 50% slower than the best
	// level.
	model{15, 200}.write(t, filepath.Join(nights, "run12.hdr"), 12)
	printedBy(t, 5, "hdrdiff", "-trend", "-in", "ns", "-unit", "ns", "-sla", "p50<=+10%", nights)
	model{15, 200}.write(t, filepath.Join(nights, "run13.hdr"), 13)
	out := printedBy(t, 4, "hdrdiff", "-trend", "-in", "ns", "-unit", "ns", "-sla", "p50<=+10%", nights)
	want := "FAILS: p50 of op rose by 50%: 500 to 750 ns, limit +10%; above its level until 2016-07-24 (run06.hdr). To accept it: -accept run12.hdr."
	if !strings.HasPrefix(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}

// TestModelsLoad has runs at known rates, also of a server that has too much load.
func TestModelsLoad(t *testing.T) {
	t.Parallel()
	build(t)
	dir := t.TempDir()
	runs := writeModels(t, filepath.Join(dir, "runs"), model{2, 100}, model{2, 200}, model{3, 400}, model{8, 900}, model{20, 600})
	command := []string{"hdrplot", "-type", "load", "-in", "ns", "-unit", "ns", "-of", filepath.Join(dir, "load.svg"), runs}
	want := []string{"the highest rate of op is 900/s (run03)"}
	if got := strings.Split(printedBy(t, 0, command...), "\n"); !slices.Equal(got[:len(want)], want) {
		t.Errorf("%q, want %q", got, want)
	}
	command, want = append(command, "-sla", "p99<=198ns,p99<=197ns,p50<=150ns,max<=800ns,max<=2us"), []string{
		"p99 of op ≤ 198 ns holds up to 200/s (run01) and fails from 400/s (run02) on",
		"p99 of op ≤ 197 ns holds at no rate, from 100/s (run00) on",
		"p50 of op ≤ 150 ns holds up to 400/s (run02) and fails from 600/s (run04) on",
		"max of op ≤ 800 ns holds up to 400/s (run02) and fails from 600/s (run04), but holds again at 900/s (run03)",
		"max of op ≤ 2,000 ns holds at all rates, up to 900/s (run03)",
	}
	if got := strings.Split(printedBy(t, 0, command...), "\n"); !slices.Equal(got[:len(want)], want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPageChanges proves that a page of two logs has the changes that hdrdiff prints.
func TestPageChanges(t *testing.T) {
	t.Parallel()
	build(t)
	dir := t.TempDir()
	logs := make([]string, 2)
	for n := range logs {
		var log bytes.Buffer
		if err := loggen.Write(&log, loggen.Options{Seconds: 180, Rate: 200, Seed: uint64(n + 1), Factor: 1 + float64(n)/5, Start: loggen.ScenarioStart}); err != nil {
			t.Fatal(err)
		}
		logs[n] = filepath.Join(dir, []string{"before.hdr", "after.hdr"}[n])
		write(t, logs[n], log.String())
	}
	page := filepath.Join(dir, "page.html")
	printedBy(t, 0, "hdrplot", "-compare", "-in", "ns", "-unit", "ms", "-incT", ".*-rt", "-of", page, logs[0], logs[1])
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var data struct {
		Changed map[string]map[string]string
		Top     []string
	}
	if _, text, found := strings.Cut(string(html), `<script id="data" type="application/json">`); !found || json.NewDecoder(strings.NewReader(text)).Decode(&data) != nil {
		t.Fatal("the page has no data")
	}
	table := printedBy(t, 0, "hdrdiff", "-in", "ns", "-unit", "ms", "-incT", ".*-rt", "-st", "markdown", logs[0], logs[1])
	var heads []string
	tag, compared := "", 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.NewReplacer("**", "", `\`, "").Replace(line), "|\n"), "|")
		for n := range cells {
			cells[n] = strings.TrimSpace(cells[n])
		}
		switch {
		case cells[0] == "tag":
			heads = cells
		case len(cells) > 2 && cells[1] == "before":
			tag = cells[0]
		case len(cells) > 2 && cells[1] == "change":
			for n, head := range heads[2:] {
				if got := data.Changed["after "+tag][head]; got != cells[n+2] {
					t.Errorf("%s of %s: %q, want %q", head, tag, got, cells[n+2])
				} else if strings.HasSuffix(got, ")") {
					compared++
				}
			}
		}
	}
	if sentence, _, _ := strings.Cut(table, "\n"); compared < 5 || len(data.Top) != 1 || strings.Trim(sentence, "*") != data.Top[0] {
		t.Errorf("%d figures are the same, sentences %q\n%s", compared, data.Top, table)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
