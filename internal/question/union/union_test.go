package union_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
	"hdrkit/internal/dump"
	"hdrkit/internal/question/split"
	"hdrkit/internal/question/union"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

const testdata = "../../../testdata/"

// newScan returns a scan of inputs, which skips malformed lines.
func newScan(inputs ...scan.Input) *scan.Scan {
	return &scan.Scan{Inputs: inputs, Workers: 2, Report: func(*hdrlog.SyntaxError, bool) error { return nil }}
}

// ignoringTags has a scan put all tags together.
func ignoringTags(t testing.TB, s *scan.Scan) *scan.Scan {
	t.Helper()
	var err error
	if s.Rows.By, err = tags.ParseBy("all"); err != nil {
		t.Fatal(err)
	}
	return s
}

// file returns the input in a file.
func file(t testing.TB, path, tag string) scan.Input {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	input := scan.File(path, info.Size())
	input.Tag = tag
	return input
}

// text returns an input of text, as from a pipe.
func text(name, log string) scan.Input {
	return scan.Input{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(log)), nil }}
}

// write returns the union of a scan.
func write(t testing.TB, s *scan.Scan, o union.Options) string {
	t.Helper()
	var b strings.Builder
	count, err := union.Write(&b, s, o)
	if err != nil {
		t.Fatal(err)
	}
	if lines := len(intervals(t, b.String())); int64(lines) != count {
		t.Errorf("%d intervals are written and %d returned", lines, count)
	}
	return b.String()
}

// intervals returns what is in a log.
func intervals(t testing.TB, log string) []dump.Line {
	t.Helper()
	lines, err := dump.Log(strings.NewReader(log), "log")
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// readable returns the intervals of a log file that can be read.
func readable(t testing.TB, path string) []dump.Line {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []dump.Line
	r := hdrlog.NewReader(f, path)
	for r.Scan() {
		if r.Record().Kind == hdrlog.IntervalRecord {
			if line, _, err := dump.Of(&r.Record().Interval); err == nil {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

func sortLines(lines []dump.Line) []dump.Line {
	slices.SortFunc(lines, func(a, b dump.Line) int { return strings.Compare(a.String(), b.String()) })
	return lines
}

func same(t *testing.T, got, want []dump.Line) {
	t.Helper()
	sortLines(got)
	sortLines(want)
	if slices.Equal(got, want) {
		return
	}
	for _, l := range got {
		if !slices.Contains(want, l) {
			t.Errorf("too many: %v", l)
		}
	}
	for _, l := range want {
		if !slices.Contains(got, l) {
			t.Errorf("missing:  %v", l)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d intervals, want %d", len(got), len(want))
	}
}

func logs(t testing.TB) []string {
	t.Helper()
	own, err := filepath.Glob(testdata + "logs/*")
	if err != nil {
		t.Fatal(err)
	}
	dialects, err := filepath.Glob(testdata + "dialects/*.h*")
	if err != nil {
		t.Fatal(err)
	}
	if len(own) < 28 || len(dialects) < 50 {
		t.Fatalf("only %d and %d logs", len(own), len(dialects))
	}
	return append(own, dialects...)
}

// splitLog splits a log into a folder of its own and returns the parts as inputs, each tagged with
// its name.
func splitLog(t *testing.T, path string) []scan.Input {
	t.Helper()
	folder := t.TempDir()
	s := newScan(file(t, path, ""))
	parts := split.New(s.Inputs, split.Options{Folder: folder, Warn: t.Logf})
	defer parts.Close()
	s.Hooks.Comment = parts.Comment
	verify := func(d *scan.Decoder, v scan.Visit, _ *struct{}) error {
		if err := d.Open(v.Interval); err != nil {
			return err
		}
		return d.AddTo()
	}
	err := scan.Run(s, verify, func(v scan.Visit, _ *struct{}) error {
		_, err := parts.Add(v)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := parts.Commit(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(parts.Paths()) {
		t.Errorf("%d files of %d parts", len(entries), len(parts.Paths()))
	}
	var inputs []scan.Input
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), "."+strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".zst"))
		tag := "" // untagged, or the empty tag
		if name != tags.Default && name != "%" {
			if tag, err = url.PathUnescape(name); err != nil {
				t.Fatalf("%s names no tag", e.Name())
			}
		}
		inputs = append(inputs, file(t, filepath.Join(folder, e.Name()), tag))
	}
	return inputs
}

// TestRoundTrip splits each log and unites the parts.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, path := range logs(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			want := readable(t, path)
			inputs := splitLog(t, path)
			var parts []dump.Line
			for _, input := range inputs {
				for _, line := range readable(t, input.Name) {
					if input.Tag != "" {
						line.Tag = input.Tag
					}
					parts = append(parts, line)
				}
			}
			same(t, parts, slices.Clone(want))
			if len(inputs) == 0 {
				return
			}
			got := intervals(t, write(t, newScan(inputs...), union.Options{}))
			if overlap(want) {
				// Intervals of one tag that lie in one another are joined in the whole as in the
				// parts.
				want = intervals(t, write(t, newScan(file(t, path, "")), union.Options{}))
			}
			same(t, got, want)
		})
	}
}

// overlap reports whether any two intervals of a tag do.
func overlap(lines []dump.Line) bool {
	for n, a := range lines {
		for _, b := range lines[:n] {
			if a.Tag == b.Tag && a.Start < b.End && b.Start < a.End {
				return true
			}
		}
	}
	return false
}

// randomLog returns a log of intervals of a few tags, of all sorts of lengths and layouts, in order
// or not.
func randomLog(t testing.TB, random *rand.Rand, ordered bool) string {
	t.Helper()
	type moment struct {
		start, length int64
		tag           []byte
	}
	var moments []moment
	for range 1 + random.IntN(40) {
		m := moment{start: 1468800000000 + random.Int64N(60_000), length: random.Int64N([]int64{1, 10, 1000, 5000, 30000}[random.IntN(5)])}
		if n := random.IntN(4); n > 0 {
			m.tag = []byte{byte('A' + n)}
		}
		moments = append(moments, m)
	}
	if ordered {
		slices.SortFunc(moments, func(a, b moment) int { return int(a.start - b.start) })
	}
	var b strings.Builder
	w := hdrlog.NewWriter(&b)
	base := float64(random.Int64N(1468800000000)) / 1000
	w.BaseTime(base)
	for _, m := range moments {
		layout := histogram.Layout{Digits: random.IntN(4), Lowest: 1 << random.IntN(3)}
		if len(m.tag) > 0 && m.tag[0] == 'B' {
			layout = histogram.Layout{Digits: 1 + random.IntN(3), Lowest: 1, Ratio: 1.0 / float64(int(1)<<random.IntN(4))}
		}
		h, err := histogram.New(layout)
		if err != nil {
			t.Fatal(err)
		}
		for range random.IntN(30) {
			h.RecordN(4+random.Int64N(1<<random.IntN(20)), 1+random.Int64N(3))
		}
		if err := w.Interval(m.tag, float64(m.start)/1000-base+0.0001, float64(m.length)/1000+0.0001, h); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	return b.String()
}

// TestGridIsAssociative holds what -grid promises: the result is the same in whatever order the
// inputs are, and however they were united before.
func TestGridIsAssociative(t *testing.T) {
	t.Parallel()
	for seed := range uint64(clitest.Rounds(50)) {
		random := rand.New(rand.NewPCG(seed, 1))
		var inputs []scan.Input
		for n := range 2 + random.IntN(5) {
			inputs = append(inputs, text(fmt.Sprint("log", n), randomLog(t, random, random.IntN(2) == 0)))
		}
		o := union.Options{Grid: []int64{1, 7, 500, 1000, 10000, 3600000}[random.IntN(6)]}
		want := write(t, newScan(inputs...), o)

		random.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
		shuffled := newScan(inputs...)
		shuffled.Workers = 1
		if write(t, shuffled, o) != want {
			t.Errorf("seed %d: the result depends on the order of inputs", seed)
		}

		cut := 1 + random.IntN(len(inputs)-1)
		first := text("first", write(t, newScan(inputs[:cut]...), o))
		second := text("second", write(t, newScan(inputs[cut:]...), o))
		of := intervals(t, write(t, newScan(second, first), o))
		if !slices.Equal(of, intervals(t, want)) {
			t.Errorf("seed %d: a union of unions differs", seed)
		}
		if again := write(t, newScan(text("all", want)), o); !slices.Equal(payloads(again), payloads(want)) {
			t.Errorf("seed %d: what nothing joins does not stay as it is", seed)
		}
	}
}

// payloads returns the lines of a log that are no comments.
func payloads(log string) []string {
	return slices.DeleteFunc(strings.Split(log, "\n"), func(line string) bool { return strings.HasPrefix(line, "#") })
}

// TestGridWindows compares the result with the definition, computed one interval at a time.
func TestGridWindows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 2))
		log := randomLog(t, random, seed%2 == 0)
		size := []int64{1, 333, 1000, 20000}[random.IntN(4)]
		type key struct {
			window int64
			tag    string
		}
		want := make(map[key]dump.Line)
		for _, line := range intervals(t, log) {
			k := key{(line.Start + line.End) / 2 / size, line.Tag}
			sum, ok := want[k]
			if !ok {
				sum = line
			} else {
				sum.Count += line.Count
				sum.Digits = max(sum.Digits, line.Digits)
			}
			sum.Start, sum.End, sum.CRC = min(sum.Start, line.Start), max(sum.End, line.End), 0
			want[k] = sum
		}
		var all []dump.Line
		for _, line := range want {
			all = append(all, line)
		}
		got := intervals(t, write(t, newScan(text("log", log)), union.Options{Grid: size}))
		for n := range got {
			got[n].CRC = 0
		}
		same(t, got, all)
	}
}

// TestCounts compares what is joined with what adding up the histograms gives.
func TestCounts(t *testing.T) {
	path := testdata + "logs/mixed-precision.hdr"
	var sum *histogram.Histogram
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := hdrlog.NewReader(f, path)
	for r.Scan() {
		if r.Record().Kind != hdrlog.IntervalRecord {
			continue
		}
		_, h, err := dump.Of(&r.Record().Interval)
		if err != nil {
			t.Fatal(err)
		}
		if sum == nil {
			sum = h
		} else if err := sum.Add(h); err != nil {
			t.Fatal(err)
		}
	}
	log := write(t, newScan(file(t, path, "")), union.Options{Grid: 3_600_000})
	united := hdrlog.NewReader(strings.NewReader(log), "union")
	for united.Scan() {
		if united.Record().Kind != hdrlog.IntervalRecord {
			continue
		}
		_, h, err := dump.Of(&united.Record().Interval)
		if err != nil {
			t.Fatal(err)
		}
		if h.Layout() != sum.Layout() || !slices.Equal(slices.Collect(h.Recorded()), slices.Collect(sum.Recorded())) {
			t.Errorf("%v with %d values, want %v with %d", h.Layout(), h.TotalCount(), sum.Layout(), sum.TotalCount())
		}
		return
	}
	t.Error("no interval")
}

// TestOutOfOrder shuffles a log that is longer than what is looked ahead and compares the result
// with that of the log in order, from a file and from a pipe.
func TestOutOfOrder(t *testing.T) {
	t.Parallel()
	h, err := histogram.New(histogram.Layout{Digits: 1, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 3))
	log := func(shuffle bool) string {
		var b strings.Builder
		w := hdrlog.NewWriter(&b)
		w.BaseTime(1468800000)
		order := random.Perm(6000)
		if !shuffle {
			slices.Sort(order)
		}
		for _, n := range order {
			h.Reset(h.Layout())
			h.Record(int64(n))
			if err := w.Interval([]byte{byte('A' + n%3)}, float64(n/3)+0.0001, 1, h); err != nil {
				t.Fatal(err)
			}
		}
		w.Flush()
		return b.String()
	}
	folder := t.TempDir()
	put := func(name, log string) scan.Input {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(log), 0o666); err != nil {
			t.Fatal(err)
		}
		return file(t, path, "")
	}
	ordered, shuffled := log(false), log(true)
	var warnings []string
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	options := []union.Options{{Warn: warn}, {Grid: 10000, Warn: warn}}
	if clitest.Rounds(1) == 0 {
		options = options[1:]
	}
	for _, o := range options {
		want := payloads(write(t, newScan(put("ordered", ordered), put("ordered2", ordered)), o))
		if len(warnings) > 0 {
			t.Errorf("warnings of a log in order: %q", warnings)
		}
		for _, s := range []*scan.Scan{
			newScan(put("shuffled", shuffled), put("shuffled2", shuffled)),
			newScan(put("shuffled", shuffled), put("ordered", ordered)),
			newScan(text("pipe", shuffled), put("ordered", ordered)),
			newScan(text("pipe", shuffled), text("pipe2", ordered)),
		} {
			warnings = nil
			if got := payloads(write(t, s, o)); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %d lines, want %d", s.Inputs[0].Name, s.Inputs[1].Name, len(got), len(want))
			}
			var want []string
			if s.Inputs[0].Size > 0 {
				others := ""
				if strings.HasSuffix(s.Inputs[1].Name, "shuffled2") {
					others = " and 1 more"
				}
				want = []string{s.Inputs[0].Name + others + ": lines are far from in order of time, so all intervals are held in memory"}
			}
			if !slices.Equal(warnings, want) {
				t.Errorf("warnings %q, want %q", warnings, want)
			}
		}
		warnings = nil
	}
}

// TestPipesInFile reads pipes that do not stay in memory.
func TestPipesInFile(t *testing.T) {
	defer union.SetPipeMemory(1000)()
	random := rand.New(rand.NewPCG(1, 4))
	for range 10 {
		log, other := randomLog(t, random, false), randomLog(t, random, false)
		o := union.Options{Grid: 100}
		got := write(t, newScan(text("a", log), text("b", other)), o)
		restore := union.SetPipeMemory(1 << 20)
		want := write(t, newScan(text("a", log), text("b", other)), o)
		restore()
		if got != want {
			t.Error("pipes in a file differ from pipes in memory")
		}
	}
	union.SetPipeMemory(10)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "gone"))
	_, err := union.Write(io.Discard, newScan(text("log", randomLog(t, random, false))), union.Options{})
	if want := "log: a pipe needs a temporary file (TMPDIR): "; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("no room for a temporary file: %v, want %s", err, want)
	}
}

// TestEndlessPipes: what is no log is refused once its beginning is read, and a log that goes on
// and on when the file that it is copied to has enough.
func TestEndlessPipes(t *testing.T) {
	defer union.SetPipeMemory(64 << 10)()
	comment, lines := "#"+strings.Repeat("c", 999)+"\n", randomLog(t, rand.New(rand.NewPCG(1, 4)), false)
	comments := strings.Repeat(comment, 70)
	const copies = "log: pipes have more than the 16 MiB that are copied to a temporary file: write them to files first"
	for _, test := range []struct {
		name, begin, repeated string
		most                  int // bytes that may be read
		want                  string
	}{
		{"lines", "", "yes\n", 1, `log is no log: its first 64 KiB have no interval: log:1: start: not a number: "yes"`},
		{"no lines", "", "yes", 1, `log is no log: its first 64 KiB have no interval: log:1: start: not a number: "yesyesyes` +
			`yesyesyesyesyesyesyesyesyesyesy"...`},
		{"a log", "", lines, 17, copies},
		{"a log that begins with text and comments", "text\n" + lines + comments, comment, 17, copies},
		{"a log that begins with comments", comments, lines, 17, copies},
	} {
		pipe := &endless{text: test.repeated}
		in := io.MultiReader(strings.NewReader(test.begin), pipe)
		input := scan.Input{Name: "log", Once: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(in), nil }}
		_, err := union.Write(io.Discard, newScan(input), union.Options{})
		if fmt.Sprint(err) != test.want || pipe.read > test.most<<20 {
			t.Errorf("%s: after %d MiB %v, want %s", test.name, pipe.read>>20, err, test.want)
		}
	}
}

// An endless reader repeats a text for ever.
type endless struct {
	text string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.read%len(e.text):])
	e.read += n
	return n, nil
}

// TestHeader checks the header of a union, and what it warns of.
func TestHeader(t *testing.T) {
	t.Parallel()
	h, err := histogram.New(histogram.Layout{Digits: 1, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	empty, err := new(histogram.Encoder).AppendBase64(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	log := func(name, unit, tag string) scan.Input {
		return text(name, unit+"#[BaseTime: 1468800000.0]\nTag="+tag+",0.000,1.000,5.000,"+string(empty)+"\n")
	}
	ns, us := "#UNITS:NANOSECONDS\n", "#UNITS:MICROSECONDS\n"
	for _, test := range []struct {
		inputs        []scan.Input
		unit, warning string
	}{
		{[]scan.Input{log("b", ns, "A"), log("a", ns, "A")}, ns, ""},
		{[]scan.Input{log("b", ns, "A"), log("a", "", "A")}, "", "a does not state its unit as others do, so the result states none: -in a=ns would"},
		{[]scan.Input{log("b", ns, "A"), log("a", "#[Logging for: x]\n", "A")}, "", "a does not state its unit as others do, so the result states none: -in a=ns would"},
		{[]scan.Input{log("b", "", "A"), log("a", "", "A"), log("c", us, "A")}, "", "a and b do not state their units as others do, so the result states none: -in us would"},
		{[]scan.Input{log("b", us, "A"), log("a", "#[Logging for: READ]\n", "A")}, us, "a taken as us: `Logging for: READ`, as YCSB writes"},
		{[]scan.Input{log("b", us, "A"), log("given", ns, "A")}, us, "given taken as us, as -in says, not as ns: `UNITS:NANOSECONDS`, as it states"},
	} {
		warning := ""
		given := func(name string) (hdrlog.Unit, bool) { return hdrlog.Microsecond, name == "given" }
		warn := func(format string, args ...any) { warning += fmt.Sprintf(format, args...) }
		got, _, _ := strings.Cut(write(t, newScan(test.inputs...), union.Options{Given: given, Warn: warn}), "\"")
		sources := "#[Source: a]\n#[Source: b]\n"
		switch {
		case len(test.inputs) == 3:
			sources += "#[Source: c]\n"
		case test.inputs[1].Name == "given":
			sources = "#[Source: b]\n#[Source: given]\n"
		}
		want := "#[Histogram log format version 1.3]\n#[Written by hdrkit: START and LENGTH are seconds]\n" +
			fmt.Sprintf("#[Union of %d logs]\n", len(test.inputs)) + sources + test.unit +
			"#[BaseTime: 1468800000.000 (seconds since epoch)]\n#[StartTime: 1468800000.000 (seconds since epoch), Mon Jul 18 00:00:00 UTC 2016]\n"
		if got != want || test.warning == "" && warning != "" || !strings.Contains(warning, test.warning) {
			t.Errorf("got\n%s\nand warning %q, want\n%s\nand %q", got, warning, want, test.warning)
		}
	}
	// Values of different units do not go into one log, whatever their tags.
	for _, tag := range []string{"A", "B"} {
		_, err := union.Write(io.Discard, newScan(log("b", ns, "A"), log("a", us, tag)), union.Options{})
		if want := " in ns: a log has one unit; hdrsum and hdrplot read logs of several units"; tag == "B" && (err == nil || err.Error() != "the values of a are in us, those of b"+want) || err == nil {
			t.Errorf("%v", err)
		}
	}
}

// TestFirstSecond proves that a union of a union is the same, for any first second of a window.
func TestFirstSecond(t *testing.T) {
	t.Parallel()
	o := union.Options{Grid: 60_000}
	for second := range 60 {
		log := fmt.Sprintf("#[StartTime: %d.000]\n", 1468800000+second)
		for at := range 21 {
			log += fmt.Sprintf("%d.001,10.000,0.003,HISTFAAAACB42pNpmSzMwMDAxAABzFCaEULx/7f/AGExsQAASwQDkA==\n", 10*at)
		}
		want := write(t, newScan(text("log", log)), o)
		if got := write(t, newScan(text("log", want)), o); got != want || len(payloads(want)) < 4 {
			t.Errorf("second %d:\n%s\nof\n%s", second, got, want)
		}
	}
}

// TestTimes writes intervals at every millisecond around some and reads the same back.
func TestTimes(t *testing.T) {
	t.Parallel()
	for _, base := range []float64{0, 1, 1e6, 1099511627.775, 1468800000.137, 1999999999.999, 2147483648} {
		var b strings.Builder
		w := hdrlog.NewWriter(&b)
		w.BaseTime(base)
		h, err := histogram.New(histogram.Layout{Digits: 1, Lowest: 1})
		if err != nil {
			t.Fatal(err)
		}
		for n := range clitest.Rounds(700) {
			if err := w.Interval(nil, float64(n)/1000, 5+float64(n%7)/1000+0.0001, h); err != nil {
				t.Fatal(err)
			}
		}
		w.Flush()
		o := union.Options{Grid: 1}
		want := write(t, newScan(text("log", b.String())), o)
		got := write(t, newScan(text("union", want)), o)
		if !slices.Equal(payloads(got), payloads(want)) {
			t.Errorf("base %v: times move", base)
		}
		lines := intervals(t, want)
		for _, line := range intervals(t, b.String()) {
			at := slices.IndexFunc(lines, func(l dump.Line) bool { return l.Start <= line.Start && l.End >= line.End })
			if at < 0 {
				t.Fatalf("base %v: no interval at %d to %d", base, line.Start, line.End)
			}
		}
	}
}

// TestErrors runs into what cannot be joined.
func TestErrors(t *testing.T) {
	double := testdata + "logs/double.hdr"
	_, err := union.Write(io.Discard, ignoringTags(t, newScan(file(t, double, ""))), union.Options{})
	if want := "integers at " + double + ":7, doubles at " + double + ":6"; !errors.Is(err, histogram.ErrKind) || !strings.Contains(err.Error(), want) {
		t.Errorf("doubles and integers together: %v", err)
	}

	var b strings.Builder
	w := hdrlog.NewWriter(&b)
	h, _ := histogram.New(histogram.Layout{Digits: 1, Lowest: 1})
	h.RecordN(1, 1<<62)
	for range 2 {
		if err := w.Interval([]byte("A"), 1, 1, h); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	_, err = union.Write(io.Discard, newScan(text("huge", b.String())), union.Options{})
	if !errors.Is(err, histogram.ErrOverflow) || !strings.Contains(err.Error(), "tag A: the intervals joined with huge:2") {
		t.Errorf("counts past an int64: %v", err)
	}

	far := text("far", strings.Replace(b.String(), "1.000,", "1e300,", 1))
	var reports []string
	s := newScan(far)
	s.Report = func(err *hdrlog.SyntaxError, malformed bool) error {
		reports = append(reports, err.Error())
		return nil
	}
	if count, err := union.Write(io.Discard, s, union.Options{}); err != nil || count != 1 || len(reports) == 0 || !strings.HasPrefix(reports[0], "far:2: start: time is more than") {
		t.Errorf("a time that is too far: %d intervals, %v, %q", count, err, reports)
	}
	failing := scan.Input{Name: "failing", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(b.String()[:20]), iotestErr{})), nil
	}}
	if _, err := union.Write(io.Discard, newScan(failing), union.Options{}); err == nil {
		t.Error("an input that cannot be read on is no error")
	}
	if _, err := union.Write(fullWriter{}, newScan(file(t, double, "")), union.Options{}); err == nil {
		t.Error("an output that cannot be written is no error")
	}
}

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, errors.New("broken") }

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errors.New("full") }

// TestJobs has the same result come out of any number of workers.
func TestJobs(t *testing.T) {
	t.Parallel()
	var inputs []scan.Input
	for n := 1; n <= 3; n++ {
		inputs = append(inputs, file(t, fmt.Sprintf("%slogs/node%d.hdr", testdata, n), ""))
	}
	for _, o := range []union.Options{{}, {Grid: 10000}, {Grid: 3_600_000}, {Target: 60000}, {Relative: true}, {Grid: 60000}} {
		var want string
		for _, workers := range []int{1, 2, 3, 8} {
			s := newScan(inputs...)
			s.Workers = workers
			if o.Grid == 60000 {
				s = ignoringTags(t, s)
			}
			var b bytes.Buffer
			if _, err := union.Write(&b, s, o); err != nil {
				t.Fatal(err)
			}
			if want == "" {
				want = b.String()
			}
			if b.String() != want {
				t.Errorf("%+v: %d workers write something else", o, workers)
			}
		}
	}
}

// TestFirstError has a window whose counts overflow, and later a tag whose intervals do not add up.
// The first error is reported, whatever the number of workers is.
func TestFirstError(t *testing.T) {
	line := func(start int, layout histogram.Layout, n int64) string {
		h, err := histogram.New(layout)
		if err != nil {
			t.Fatal(err)
		}
		h.RecordN(1, n)
		payload, err := new(histogram.Encoder).AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d,1,1,%s\n", start, payload)
	}
	whole, double := histogram.Layout{Digits: 3, Lowest: 1}, histogram.Layout{Digits: 3, Lowest: 1, Ratio: 1}
	var log strings.Builder
	log.WriteString(line(0, whole, 1<<62) + line(0, whole, 1<<62))
	for n := range 100 {
		log.WriteString(line(n+1, whole, 1))
	}
	log.WriteString(line(101, double, 1))
	for _, workers := range []int{1, 2, 16} {
		s := newScan(text("log", log.String()))
		s.Workers = workers
		_, err := union.Write(io.Discard, s, union.Options{Grid: 1000})
		if err == nil || !strings.Contains(err.Error(), "joined with log:1") {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}
