package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/chart"
	"hdrkit/internal/chart/page"
	"hdrkit/internal/chart/page/pagetest"
	"hdrkit/internal/cli"
	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
)

// hdrplot runs the command and returns what it printed.
func hdrplot(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	var out, err bytes.Buffer
	app := app()
	app.Streams.In, app.Streams.Out, app.Streams.Err = strings.NewReader(stdin), &out, &err
	if status := cli.Run(app, args); status != 0 || err.Len() > 0 {
		t.Fatalf("%v: exit status %d: %s", args, status, err.String())
	}
	return out.String()
}

// copies puts files of testdata under other names into a folder, and goes there.
func copies(t testing.TB, names map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, from := range names {
		text, err := os.ReadFile(filepath.Join(clitest.Root(), "testdata", from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// paged are the types of charts that a page has: a chart of runs is a picture.
var paged = slices.DeleteFunc(slices.Clone(chart.Types), func(t *chart.Type) bool { return t.Chart.Marks == chart.Dots })

// TestExamples runs the examples of the help and reads back what they draw.
func TestExamples(t *testing.T) {
	copies(t, map[string]string{
		"run.hdr": "logs/node1.hdr", "before.hdr": "logs/node1.hdr", "after.hdr": "logs/node2.hdr", "insert-rt.hdr": "logs/digits3.hdr",
		"throttle-st.hgrm": "expected/node1.it-hgrm-ms.out", "throttle-rt.hgrm": "expected/node2.it-hgrm-ms.out",
	})
	six := []string{"insert-rt", "insert-st", "insert-wt", "simple1-rt", "simple1-st", "simple1-wt"}
	found := regexp.MustCompile(`(?m)^ {3}hdrplot (.*?)(?: +# .*)?$`).FindAllStringSubmatch(examples, -1)
	if len(found) < 9 {
		t.Errorf("the help has %d examples", len(found))
	}
	for _, example := range found {
		args := strings.Fields(strings.ReplaceAll(example[1], "'", "") + " -in ns")
		path := strings.TrimSpace(hdrplot(t, "", args...))
		if n := slices.Index(args, "-of"); n >= 0 && path != args[n+1] {
			t.Errorf("%v printed %q", args, path)
		}
		switch height := 600; filepath.Ext(path) {
		case ".png":
			if slices.Contains(args, "report") {
				height = 900
			}
			checkPNG(t, path, 1200, height)
		case ".svg":
			checkSVG(t, path, append(six, "max", "p99.9", "p50", "maximum, p99.9 and p50 of each interval (ms)")...)
		case ".pdf":
			checkPDF(t, path, 900, 450)
		case ".html":
			readPage(t, read(t, path))
		default:
			t.Errorf("%v printed %q", args, path)
		}
	}

	hdrplot(t, "", strings.Fields("-if run.hdr -ovr 1000000 -unit ms -p max,99.9,50 -of run.svg")...)
	checkSVG(t, "run.svg", append(six, "max", "p99.9", "p50", "maximum, p99.9 and p50 of each interval (ms)", "100")...)
	hdrplot(t, "", strings.Fields("-if before.hdr -if after.hdr -compare -it -incT .*-rt -type percentiles -of ba.svg")...)
	checkSVG(t, "ba.svg", "before, 44,110 values", "after, 43,293 values", "99.9%")
	hdrplot(t, "", strings.Fields("-if throttle-st.hgrm -if throttle-rt.hgrm -type percentiles -in ms -unit ms -sla 99<=5,99.9<=20 -of co.svg")...)
	checkSVG(t, "co.svg", "throttle-st, 132,330 values", "throttle-rt, 129,879 values", "value (ms)", "SLA: p99 ≤ 5 ms", "SLA: p99.9 ≤ 20 ms")
	hdrplot(t, "", strings.Fields("-if run.hdr -facet tag -mark 26=deploy -mark 2016-07-18T00:08:00Z=clock -of facets.svg")...)
	checkSVG(t, "facets.svg", append(six, "deploy", "clock")...)

	hdrplot(t, string(read(t, "run.hdr")), strings.Fields("-if - -of all.html")...)
	page := readPage(t, read(t, "all.html"))
	var labels []string
	for _, s := range page.Series {
		labels = append(labels, s.Label)
	}
	if !slices.Equal(labels, six) {
		t.Errorf("series %v", labels)
	}
}

func checkPNG(t *testing.T, path string, width, height int) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	if img.Bounds().Size() != image.Pt(width, height) {
		t.Errorf("%s: %v, want %d by %d", path, img.Bounds(), width, height)
	}
	colours := map[string]bool{}
	for y := 0; y < height; y += 3 {
		for x := 0; x < width; x += 3 {
			colours[fmt.Sprint(img.At(x, y))] = true
		}
	}
	if len(colours) < 10 {
		t.Errorf("%s: %d colours only", path, len(colours))
	}
}

func checkSVG(t *testing.T, path string, texts ...string) {
	t.Helper()
	found := map[string]bool{}
	decoder := xml.NewDecoder(bytes.NewReader(read(t, path)))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if text, ok := token.(xml.CharData); ok {
			found[string(text)] = true
		}
	}
	for _, text := range texts {
		if !found[text] {
			t.Errorf("%s: no text %q", path, text)
		}
	}
}

// checkPDF reads the file's table of objects and the size of its page, in points.
func checkPDF(t *testing.T, path string, width, height float64) {
	t.Helper()
	file := read(t, path)
	end := regexp.MustCompile(`startxref\s+(\d+)\s+%%EOF\s*$`).FindSubmatch(file)
	if end == nil {
		t.Fatalf("%s: no end", path)
	}
	at, _ := strconv.Atoi(string(end[1]))
	if !bytes.HasPrefix(file[at:], []byte("xref")) {
		t.Fatalf("%s: no table of objects at %d", path, at)
	}
	objects := regexp.MustCompile(`(?m)^(\d{10}) 00000 n`).FindAllSubmatch(file[at:], -1)
	for n, object := range objects {
		offset, _ := strconv.Atoi(string(object[1]))
		if !bytes.HasPrefix(file[offset:], fmt.Appendf(nil, "%d 0 obj", n+1)) {
			t.Errorf("%s: no object %d at %d", path, n+1, offset)
		}
	}
	box := regexp.MustCompile(`/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]`).FindSubmatch(file)
	if len(objects) < 5 || box == nil {
		t.Fatalf("%s: %d objects, page %q", path, len(objects), box)
	}
	w, _ := strconv.ParseFloat(string(box[1]), 64)
	h, _ := strconv.ParseFloat(string(box[2]), 64)
	if w != width || h != height {
		t.Errorf("%s: page of %v by %v", path, w, h)
	}
}

func readPage(t testing.TB, file []byte) *pagetest.Page {
	t.Helper()
	return pagetest.Read(t, file)
}

// TestPageNumbers compares the table of a page with what the reference printed, and its lines with
// the intervals of the log.
func TestPageNumbers(t *testing.T) {
	copies(t, map[string]string{"node1.hdr": "logs/node1.hdr", "want": "expected/node1.default.out"})
	hdrplot(t, "", strings.Fields("-p 99,max -of page.html node1.hdr")...)
	p := readPage(t, read(t, "page.html"))

	want := map[string]string{}
	for line := range strings.Lines(string(read(t, "want"))) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		want[key] = value
	}
	for _, s := range p.Summary {
		for key, got := range map[string]float64{
			"TotalCount": float64(s.Count), "Min": s.Min, "Max": s.Max, "50.000ptile": s.Percentiles[0], "90.000ptile": s.Percentiles[1],
			"99.000ptile": s.Percentiles[2], "99.900ptile": s.Percentiles[3], "99.990ptile": s.Percentiles[4],
		} {
			if text := want[s.Label+"."+key]; text != strconv.FormatFloat(got, 'f', -1, 64) {
				t.Errorf("%s.%s: %v, the reference says %q", s.Label, key, got, text)
			}
		}
		if mean := want[s.Label+".Mean"]; mean != strconv.FormatFloat(s.Mean, 'f', 2, 64) {
			t.Errorf("%s.Mean: %v, the reference says %q", s.Label, s.Mean, mean)
		}
	}
	if len(p.Summary) != 6 || len(p.Series) != 6 {
		t.Fatalf("%d rows, %d series", len(p.Summary), len(p.Series))
	}

	points := make([]int, 6) // by series
	r := hdrlog.NewReader(bytes.NewReader(read(t, "node1.hdr")), "")
	for r.Scan() {
		rec := r.Record()
		if rec.Kind != hdrlog.IntervalRecord {
			continue
		}
		h, err := rec.Interval.Histogram()
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(p.Series, func(s page.Series) bool { return s.Label == string(rec.Interval.Tag) })
		n, lines := points[i], p.Lines[i]
		points[i]++
		if p99, most := float64(h.ValueAtPercentile(99)), float64(h.Max()); lines[0].V[n] != p99 || lines[1].V[n] != most {
			t.Errorf("%s, interval %d: 99%% %v, maximum %v, not %v and %v", p.Series[i].Label, n, lines[0].V[n], lines[1].V[n], p99, most)
		}
	}
	for i, lines := range p.Lines {
		if points[i] < 10 || len(lines[0].V) != points[i] || len(lines[1].V) != points[i] {
			t.Errorf("%s: %d points of %d", p.Series[i].Label, len(lines[0].V), points[i])
		}
	}
}

// TestLogs draws every log in testdata in every way, or in a fifth of all ways. What differs
// between PNG, SVG and PDF is tested with the drawing.
func TestLogs(t *testing.T) {
	logs, err := filepath.Glob("../../testdata/logs/*.hdr")
	if err != nil || len(logs) < 28 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	for n, log := range logs {
		if strings.HasSuffix(log, "header-only.hdr") {
			continue // nothing to draw, as a script shows
		}
		for m, chosen := range paged {
			kind := chosen.Name
			if (n+m)%5 >= clitest.Rounds(5) {
				continue
			}
			if kind == "report" && strings.HasSuffix(log, "double.hdr") {
				continue // it adds up tags, which cannot be added up there
			}
			for _, format := range []string{"svg", "html"} {
				if out := hdrplot(t, "", "-q", "-type", kind, "-format", format, "-of", "-", "-log", log); len(out) < 1000 {
					t.Errorf("%s, %s, %s: %d bytes", log, kind, format, len(out))
				}
			}
		}
	}
}

// TestWindows proves that a long log is drawn in about 500 windows, as -agg draws them, and that
// the picture says how long they are.
func TestWindows(t *testing.T) {
	log := hour(t, 30)
	args := []string{"-q", "-incT", "insert-rt", "-format", "svg", "-of", "-", "-if", log}
	got := hdrplot(t, "", args...)
	if want := hdrplot(t, "", append(args, "-agg", "10")...); got != want || !strings.Contains(got, ">p99 and maximum of 10 s windows (") {
		t.Error("not the picture of 10 s windows")
	}
	if got := hdrplot(t, "", append(args, "-agg", "0")...); !strings.Contains(got, ">p99 and maximum of each interval (") {
		t.Error("-agg 0: not each interval")
	}
	if got := hdrplot(t, "", append(args, "-e", "100")...); !strings.Contains(got, ">p99 and maximum of each interval (") {
		t.Error("-e 100: not each interval")
	}
}

// TestUnion proves that logs that ran side by side are drawn as one, by the interval.
func TestUnion(t *testing.T) {
	dir := "../../testdata/logs/"
	var each []*pagetest.Page
	for _, name := range []string{"node1", "node2", "node3"} {
		each = append(each, readPage(t, []byte(hdrplot(t, "", "-of", "-", "-format", "html", dir+name+".hdr"))))
	}
	all := readPage(t, []byte(hdrplot(t, "", "-q", "-of", "-", "-format", "html", dir+"node1.hdr", dir+"node2.hdr", dir+"node3.hdr")))
	if len(all.Series) != 6 {
		t.Fatalf("%d series", len(all.Series))
	}
	for n, s := range all.Series {
		highest, points := 0.0, 0
		for _, p := range each {
			highest = math.Max(highest, slices.Max(p.Lines[n][0].V))
			points = max(points, len(p.Lines[n][0].V))
		}
		got := all.Lines[n][0].V
		if slices.Max(got) != highest || len(got) > points+2 {
			t.Errorf("%s: %d points up to %v, want about %d up to %v", s.Label, len(got), slices.Max(got), points, highest)
		}
	}
	together := readPage(t, []byte(hdrplot(t, "", "-it", "-incT", ".*-rt", "-of", "-", "-format", "html", dir+"node1.hdr")))
	if len(together.Series) != 1 || len(together.Lines[0][0].V) != len(each[0].Lines[0][0].V) {
		t.Errorf("all tags together: %d series, %d points", len(together.Series), len(together.Lines[0][0].V))
	}
}

// TestManyTags proves that of 150 tags twelve have a line, and that this is said.
func TestManyTags(t *testing.T) {
	p := readPage(t, []byte(hdrplot(t, "", "-of", "-", "-format", "html", "../../testdata/logs/many-tags.hdr")))
	lowest, lines := math.Inf(1), 0
	for n, s := range p.Series {
		if !s.Rest {
			lines++
			lowest = math.Min(lowest, slices.Max(p.Lines[n][0].V))
		}
	}
	if len(p.Series) != 150 || lines != 12 || len(p.Summary) != 150 {
		t.Errorf("%d series, %d lines, %d rows", len(p.Series), lines, len(p.Summary))
	}
	above, atLeast := 0, 0
	for _, s := range p.Summary {
		if s.Max > lowest {
			above++
		}
		if s.Max >= lowest {
			atLeast++
		}
	}
	if above > 11 || atLeast < 12 {
		t.Errorf("%d tags have a higher maximum than the lowest shown, %d at least that", above, atLeast)
	}
	if len(p.Notes) != 2 || p.Notes[0] != "unit unknown: add -in ns, us, ms or s" || !strings.HasPrefix(p.Notes[1], "Of 150 series") {
		t.Errorf("notes %q", p.Notes)
	}
}

// TestPictures draws the pictures of the documents again, with the commands of bench/pictures.md.
func TestPictures(t *testing.T) {
	t.Chdir(clitest.Root())
	commands := regexp.MustCompile(`(?m)^    hdrplot (.*) -of (docs/.*\.png)$`).FindAllStringSubmatch(string(read(t, "bench/pictures.md")), -1)
	if len(commands) != 8 {
		t.Fatalf("%d commands", len(commands))
	}
	pages := string(read(t, "docs/hdrplot.md")) + string(read(t, "docs/statistics.md"))
	pages = string(read(t, "README.md")) + strings.ReplaceAll(pages, "](", "](docs/")
	for _, command := range commands {
		args, path := command[1], command[2]
		var words []string
		for _, word := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(args, -1) {
			words = append(words, strings.Trim(word, `"`))
		}
		got, err := png.Decode(strings.NewReader(hdrplot(t, "", append(words, "-q", "-of", "-", "-format", "png")...)))
		if err != nil {
			t.Fatal(err)
		}
		want, err := png.Decode(bytes.NewReader(read(t, path)))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is not what its command draws", path)
		}
		if !strings.Contains(pages, "]("+path+")") {
			t.Errorf("%s is in no document", path)
		}
	}
}

// TestDifferenceAligned proves that logs of two days are laid over one another: a log and a later
// copy of it differ nowhere.
func TestDifferenceAligned(t *testing.T) {
	copies(t, map[string]string{"before.hdr": "logs/node1.hdr"})
	text := string(read(t, "before.hdr"))
	later := strings.ReplaceAll(text, "Time: 1468800401.074", "Time: 1469000000.500")
	if later == text {
		t.Fatal("no start in the log")
	}
	for n, after := range []string{later, strings.ReplaceAll(later, "\nTag=insert-st,", "\nTag=insert-rt,")} {
		if err := os.WriteFile("after.hdr", []byte(after), 0o666); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(strings.NewReader(hdrplot(t, "", strings.Fields("before.hdr after.hdr -compare -type heatmap -incT insert-rt -q -of - -format png")...)))
		if err != nil {
			t.Fatal(err)
		}
		colours := map[string]int{}
		for x := 100; x < 1000; x++ { // the chart of the difference, without the scale beside it
			for y := 600; y < 740; y++ {
				r, g, b, _ := img.At(x, y).RGBA()
				colours[fmt.Sprintf("%02x%02x%02x", r>>8, g>>8, b>>8)]++
			}
		}
		delete(colours, "e4e4e4") // the grid
		delete(colours, "ffffff")
		if same := colours["939393"]; n == 0 && (same < 10_000 || len(colours) > 1) || n == 1 && len(colours) < 20 {
			t.Errorf("%d dots have the colour of equal rates; %d colours", same, len(colours))
		}
	}
}

// hour writes a log of an hour, one-second intervals and six tags.
func hour(t *testing.T, rate int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hour.hdr")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := loggen.Write(file, loggen.Options{Seconds: 3600, Rate: rate, Seed: 7, Start: 1468800000137, Distinct: 40}); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWaited proves that a picture and a report of a recorder that waited have a dashed curve with
// the values that were due, and that its figure is the one that the sentence says and that -co
// makes.
func TestWaited(t *testing.T) {
	var log bytes.Buffer
	w := hdrlog.NewWriter(&log)
	random := rand.New(rand.NewPCG(1, 2))
	for second := range 120 {
		h, err := histogram.New(histogram.Layout{Lowest: 1, Digits: 3})
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if second < 60 || second >= 70 {
				h.Record(int64(1e6 + random.Float64()*1e6))
			}
		}
		if second == 70 {
			h.Record(10e9)
		}
		w.Interval(nil, float64(second), 1, h)
	}
	w.Flush()
	file := filepath.Join(t.TempDir(), "waited.hdr")
	if err := os.WriteFile(file, log.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	sentence := regexp.MustCompile(`>Requests waited for an answer while nothing was recorded: p99 with those that were due is ([0-9,]+ ms) if [^<]* \(-co ([0-9.a-z]+)\)`)
	for _, kind := range []string{"percentiles", "report"} {
		got := hdrplot(t, "", "-q", "-in", "ns", "-unit", "ms", "-type", kind, "-format", "svg", "-of", "-", file)
		found := sentence.FindStringSubmatch(got)
		if found == nil {
			t.Fatalf("%s: no sentence", kind)
		}
		for _, text := range []string{">" + found[1] + "<", ">with those that were due<"} {
			if !strings.Contains(got, text) {
				t.Errorf("%s has no %s", kind, text)
			}
		}
		got = hdrplot(t, "", "-q", "-in", "ns", "-unit", "ms", "-type", "report", "-co", found[2], "-format", "svg", "-of", "-", file)
		if !strings.Contains(got, ">"+found[1]+"<") || strings.Contains(got, "Requests waited") {
			t.Errorf("-co %s has another figure than %s, or a sentence", found[2], found[1])
		}
	}
}

// TestTypeOptions: each option that a type of chart lists exists, and is for that type.
func TestTypeOptions(t *testing.T) {
	_, c := commandLine()
	for _, kind := range chart.Types {
		for name := range strings.FieldsSeq(kind.Options) {
			n := slices.IndexFunc(c.Options, func(o cli.Option) bool { return o.Name == name })
			if n < 0 || !slices.Contains(c.Options[n].Rules.Only, "type "+kind.Name) {
				t.Errorf("type %s lists -%s, which is no option for it", kind.Name, name)
			}
		}
	}
}
