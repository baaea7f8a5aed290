//go:build unix

package cmd

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
)

// logs has the files of testdata that the names in examples stand for.
var logs = map[string]string{
	"throughput.hdr":    "logs/node1.hdr",
	"insert-rt.run.hdr": "logs/digits3.hdr",
	"node1.hdr":         "logs/node1.hdr",
	"node2.hdr":         "logs/node2.hdr",
	"node3.hdr":         "logs/node3.hdr",
	"insert-rt.hdr":     "logs/digits3.hdr",
	"run1.hdr":          "logs/straddle-a.hdr",
	"run2.hdr":          "logs/later-run.hdr",
	"rate1.hdr":         "logs/node1.hdr",
	"rate2.hdr":         "logs/node2.hdr",
	"before.hdr":        "logs/node1.hdr",
	"after.hdr":         "logs/node2.hdr",
	"load-gen1.hdr":     "logs/straddle-a.hdr",
	"load-gen2.hdr":     "logs/straddle-b.hdr",
	"load-gen3.hdr":     "logs/straddle-c.hdr",
	"run.hdr":           "logs/node3.hdr",
	"a.hdr":             "logs/node1.hdr",
	"b.hdr":             "logs/node2.hdr",
	"service.hdr":       "logs/node1.hdr",
	"stress.hdr":        "dialects/cassandra-stress.hdr",
	"READ.hdr":          "dialects/ycsb-read.hdr",
	"UPDATE.hdr":        "dialects/ycsb-update.hdr",
	"hiccup.hlog":       "dialects/jhiccup.hlog",
	"nb.hdr":            "dialects/nosqlbench.hdr",
	"throttle-st.hgrm":  "expected/node1.it-hgrm.out",
	"throttle-rt.hgrm":  "expected/node1.it-hgrm.out",
	"wrk2.txt":          "../output/hgrm/testdata/wrk2.txt",
	"slower.txt":        "../output/hgrm/testdata/wrk2.txt",
	"hdrplot.txt":       "../output/hgrm/testdata/vegeta.txt",
	"results.jtl":       "measurements/jmeter.jtl",
	"k6.csv":            "measurements/k6.csv",
	"pod1.csv":          "measurements/k6.csv",
	"pod2.csv":          "measurements/k6-nano.csv",
	"engine1.jtl":       "measurements/jmeter.jtl",
	"engine2.jtl":       "measurements/jmeter-transaction.jtl",
	"injector1.log":     "measurements/gatling.log",
	"injector2.log":     "measurements/gatling-3.2.log",
	"vegeta.csv":        "measurements/vegeta.csv",
	"access.log":        "measurements/nginx.log",
	"table.csv":         "measurements/jmeter-bare.jtl",
	"requests.ndjson":   "measurements/nginx.ndjson",
	"app.log":           "recipes/app.log",
	"ops.csv":           "recipes/ops.csv",
	"memtier.json":      "measurements/memtier.json",
	"gc.log":            "measurements/jvm-safepoints.log",
}

// compressedLogs are read by examples, too. No regular expression of an example matches them.
var compressedLogs = []string{"run.hdr.zst", "a.hdr.zst", "b.hdr.gz", "k6.csv.gz"}

// folder returns a folder with the files that the examples read, below that of the commands.
var folder = sync.OnceValues(func() (string, error) {
	folder := filepath.Join(bin, "logs")
	if err := os.Mkdir(folder, 0o777); err != nil {
		return "", err
	}
	all := make(map[string][]byte)
	for name, log := range logs {
		text, err := os.ReadFile(filepath.Join(clitest.Root(), "testdata", log))
		if err != nil {
			return "", err
		}
		all[name] = text
	}
	for _, name := range compressedLogs {
		var out bytes.Buffer
		var w io.WriteCloser = gzip.NewWriter(&out)
		if filepath.Ext(name) == ".zst" {
			w, _ = zstd.NewWriter(&out)
		}
		w.Write(all[strings.TrimSuffix(name, filepath.Ext(name))])
		w.Close()
		all[name] = out.Bytes()
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o666); err != nil {
			return "", err
		}
	}
	return folder, writeNights(filepath.Join(folder, "nightly"))
})

// writeNights fills a folder with the logs of eight nights.
func writeNights(folder string) error {
	if err := os.Mkdir(folder, 0o777); err != nil {
		return err
	}
	for night := range int64(8) {
		var log bytes.Buffer
		if err := loggen.Write(&log, loggen.Options{Seconds: 20, Rate: 200, Seed: uint64(night), Start: loggen.ScenarioStart + night*24*3600*1000}); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("n%d.hdr", night)), log.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// prepare fills a folder with the files that the examples read. The files are links: a command that
// changes one in its place fails the examples that follow.
func prepare(t *testing.T, dir string) {
	t.Helper()
	from, err := folder()
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(from, func(path string, file os.DirEntry, err error) error {
		to := filepath.Join(dir, strings.TrimPrefix(path, from))
		switch {
		case err != nil || path == from:
			return err
		case file.IsDir():
			return os.Mkdir(to, 0o777)
		}
		return os.Link(path, to)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// recorded are logs that examples read, which hdrrec makes of measurements.
var recorded = map[string]string{"jmeter.hdr": "results.jtl", "k6.hdr": "k6.csv", "vegeta.hdr": "vegeta.csv"}

// example finds commands in indented lines. Text after two spaces or after a # is not part of a
// command.
var example = regexp.MustCompile(`(?m)^(?:    |   )((?:hdr|zstdcat|grep |go run ).*?)(?:  +.*| +# .*)?$`)

// matches finds the notices about a regular expression that matches several files, about logs that
// are added up, about measurements, about failed requests, about units, and about the files that
// were written.
var matches = regexp.MustCompile(`(?m)^hdr\w+: (-st percentiles has |(-\w+ )?'.*' matches \d+ files: |(\S+: )?all times are whole seconds, |adds up \d+ logs, |(\S+: )?\d+ of \d+ requests failed |\S+ is read as |\S+ (and \d+ more )?taken as [nu]s: |` +
	`\d+ of \d+ limits? (is|are) undecided|values are in \w+; |the log does not state its unit, |wrote |\S+ has \d+ logs: |steady from |no warm-up found ).*\n`)

// otherTests are the pages whose commands other tests run: TestScale and
// the tests of dashboards and of operation of hdrsum.
var otherTests = map[string]bool{"scale.md": true, "dashboards.md": true, "operate.md": true}

// TestExamples runs the commands in the README, in the pages of docs and in the help.
func TestExamples(t *testing.T) {
	build(t)
	texts := map[string]string{}
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../README.md", "../llms.txt") {
		name := filepath.Base(page)
		if otherTests[name] {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	commands, err := filepath.Glob("hdr*")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range commands {
		if command == "hdrplot" {
			continue // its own tests run its examples, and read the pictures
		}
		out, err := exec.Command(command, "--help").Output()
		if err != nil {
			t.Fatal(err)
		}
		texts[command] = string(out)
	}
	ran := map[string]bool{}
	for source, text := range texts {
		examples := example.FindAllStringSubmatch(text, -1)
		if len(examples) < 3 && (source == "README.md" || strings.HasPrefix(source, "hdr")) {
			t.Errorf("%s has %d examples only", source, len(examples))
		}
		for n, found := range examples {
			if ran[found[1]] {
				continue
			}
			ran[found[1]] = true
			t.Run(fmt.Sprintf("%s/%d", source, n), func(t *testing.T) {
				t.Parallel()
				run(t, found[1])
			})
		}
	}
}

// TestReadmeTable compares the tables in the README with the output of the commands above them.
func TestReadmeTable(t *testing.T) {
	build(t)
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	tables := regexp.MustCompile("(?s)\n    (go run ./cmd/hdr[^\n]*)\n\n```text\n(.*?)```").FindAllSubmatch(readme, -1)
	if len(tables) < 2 {
		t.Fatalf("the README has %d tables", len(tables))
	}
	for _, found := range tables {
		shell := exec.Command("sh", "-c", string(found[1]))
		shell.Dir = clitest.Root()
		out, err := shell.Output()
		if err != nil {
			t.Fatal(err)
		}
		if string(out) != string(found[2]) {
			t.Errorf("%s prints\n%s\nand the README shows\n%s", found[1], out, found[2])
		}
	}
}

// run runs an example. It must succeed and print no message.
func run(t *testing.T, command string) {
	dir := t.TempDir()
	prepare(t, dir)
	if strings.HasPrefix(command, "go run") {
		dir = clitest.Root() // a newcomer's first command, in a clone
	} else {
		command = strings.ReplaceAll(command, "testdata/", clitest.Root()+"/testdata/")
	}
	for _, tool := range []string{"zstdcat", "jq"} {
		if strings.Contains(command, tool+" ") {
			clitest.RequireTools(t, tool)
		}
	}
	if strings.Contains(command, "warm.hdr") {
		var log strings.Builder
		if err := loggen.Write(&log, loggen.Options{Seconds: 60, Rate: 100, Seed: 1, Start: 1468800000000}); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "warm.hdr"), log.String())
	}
	for log, file := range recorded {
		record := exec.Command("hdrrec", file, "-of", log)
		record.Dir = dir
		if strings.Contains(command, " "+log) && record.Dir != clitest.Root() && record.Run() != nil {
			t.Fatal(record)
		}
	}
	address, url := "", ""
	for listen, path := range listenAddresses {
		if !strings.Contains(command, listen) {
			continue
		}
		clitest.RequireTools(t)
		address = clitest.Address(t)
		command, url = strings.ReplaceAll(command, listen, address), "http://"+address+path
	}
	lives := url == "" && strings.Contains(command, "hdrlive ")
	if lives { // it would not end
		command = strings.NewReplacer("tail -n +1 -F ", "cat ", " -for 10m", "").Replace(command)
		command = strings.Replace(command, "hdrlive ", "hdrlive -for 1s ", 1)
	}
	shell := exec.Command("sh", "-c", command)
	shell.Dir = dir
	if url != "" {
		runUntilAnswer(t, shell, url)
		return
	}
	var stdout, stderr strings.Builder
	shell.Stdout, shell.Stderr = &stdout, &stderr
	if err := shell.Run(); err != nil && !(lives && shell.ProcessState.ExitCode() == 4) {
		t.Errorf("%s: %v\n%s", command, err, stderr.String())
	}
	if lives { // its messages have the time of day
		return
	}
	if messages := matches.ReplaceAllString(stderr.String(), ""); messages != "" {
		t.Errorf("%s: on standard error:\n%s", command, messages)
	}
}

// recipes are the lines of the cookbook that have a command, by how they begin.
var recipes = map[string]recipe{
	"lines of an application":    {counts: "GET.TotalCount=1 POST.TotalCount=1"},
	"Postgres":                   {counts: "TotalCount=2"},
	"garbage collectors":         {from: "gc.log", to: "../measurements/jvm-parallel.log", counts: "Full.TotalCount=1 Young.TotalCount=48"},
	"AWS ALB":                    {counts: "TotalCount=2"},
	"journald":                   {from: "journalctl -o short-unix -u app", to: "cat journal.txt", counts: "TotalCount=2"},
	"any other format":           {from: "FILE", to: "../measurements/jmeter.jtl", counts: "Home_Page.TotalCount=40 item__\"slow\".TotalCount=40 missing.TotalCount=40"},
	"CockroachDB":                {from: "stats", to: "../measurements/cockroach-workload-stats", counts: "newOrder.TotalCount=1100 payment.TotalCount=1136"},
	"ping":                       {counts: "TotalCount=10"},
	"YCSB":                       {counts: "READ.TotalCount=2 UPDATE.TotalCount=1"},
	"fio":                        {counts: "a.TotalCount=7 b.TotalCount=1"},
	"redis-benchmark":            {counts: "GET.TotalCount=20000 SET.TotalCount=20000"},
	"Prometheus":                 {from: "sed", to: "cat scrape.txt | sed", counts: "TotalCount=8"},
	"latencies and nothing else": {from: "latencies.txt", to: "../measurements/latencies-only.txt", counts: "TotalCount=200"},
	"OTLP":                       {tool: "jq", counts: "GET_/a.TotalCount=2 GET_/b.TotalCount=1"},
	// These have no file of their own: the formats have samples, and two such files compare
	// elsewhere.
	"memtier_benchmark": {},
	"vLLM":              {},
}

// A recipe is run in testdata/recipes, with a part of it replaced. Counts are those of its tags.
type recipe struct{ tool, from, to, counts string }

// recipeLine finds recipes: how they begin, and their last command.
var recipeLine = regexp.MustCompile("(?m)^- \\[?([^:`,('\\]]*).*`((?:hdr|[^`]*\\| hdr)[^`]*)`.*$")

// TestRecipes runs recipes of the cookbook.
func TestRecipes(t *testing.T) {
	build(t)
	page, err := os.ReadFile("../docs/cookbook.md")
	if err != nil {
		t.Fatal(err)
	}
	missing := maps.Clone(recipes)
	for _, found := range recipeLine.FindAllStringSubmatch(string(page), -1) {
		name, command := found[1], found[2]
		r, ok := recipes[name]
		delete(missing, name)
		switch {
		case !ok:
			t.Errorf("no test runs the recipe of %q", name)
		case r.counts != "":
			t.Run(name, func(t *testing.T) { r.run(t, command) })
		}
	}
	for name := range missing {
		t.Errorf("the cookbook has no recipe of %q", name)
	}
}

// run runs a recipe and compares the counts of its tags.
func (r recipe) run(t *testing.T, command string) {
	if r.tool != "" {
		clitest.RequireTools(t, r.tool)
	}
	command = strings.Replace(command, r.from, r.to, 1)
	if !strings.Contains(command, "hdrsum") {
		command += " | hdrsum"
	}
	shell := exec.Command("sh", "-c", command+" -st percentiles -p max")
	shell.Dir = filepath.Join(clitest.Root(), "testdata", "recipes")
	out, err := shell.Output()
	if err != nil {
		t.Fatal(err)
	}
	counts := regexp.MustCompile(`(?m)^.*TotalCount=.*$`).FindAllString(string(out), -1)
	if got := strings.Join(counts, " "); got != r.counts {
		t.Errorf("%s: %s, want %s", command, got, r.counts)
	}
}

// listenAddresses are the addresses at which examples listen, each with a path that answers.
var listenAddresses = map[string]string{"127.0.0.1:9103": "/-/healthy", "127.0.0.1:8080": "/"}

// runUntilAnswer runs a command until it answers a request. Then it interrupts the command.
func runUntilAnswer(t *testing.T, shell *exec.Cmd, url string) {
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	defer shell.Wait()
	defer syscall.Kill(-shell.Process.Pid, syscall.SIGINT)
	clitest.Await(t, shell.Args[2], nil, func() bool {
		answer, err := http.Get(url)
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}
