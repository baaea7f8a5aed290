package unit

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"hdrkit/hdrlog"

	"hdrkit/internal/clitest"
)

// TestDialects finds the unit of logs as their writers begin them.
func TestDialects(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]hdrlog.Unit{
		"cassandra-stress.hdr": hdrlog.Nanosecond,
		"scylla-bench.hdr":     0,
		"jhiccup.hlog":         hdrlog.Nanosecond,
		"jhiccup-v0.hlog":      hdrlog.Nanosecond,
		"ycsb-read.hdr":        hdrlog.Microsecond,
		"nosqlbench.hdr":       hdrlog.Nanosecond,
		"go-1.4.0.hlog":        0,
	} {
		text, err := os.ReadFile(filepath.Join(clitest.Root(), "testdata", "dialects", name))
		if err != nil {
			t.Fatal(err)
		}
		var f Finder
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if bytes.HasPrefix(lines.Bytes(), []byte("#")) {
				f.Comment(name, lines.Bytes())
			}
		}
		if got, err := f.Unit(); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}

func TestComment(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]hdrlog.Unit{
		"#UNITS:MILLISECONDS":   hdrlog.Millisecond,
		"#Units: microseconds":  hdrlog.Microsecond,
		"# units: s ":           hdrlog.Second,
		"#UNITS:furlongs":       0,
		"#UNITS":                0,
		"#[Logging for: READ]":  hdrlog.Microsecond,
		"#the unit is ns":       0,
		"#[MaxValueDivisor: 1]": 0,
	} {
		if got := hdrlog.UnitOf([]byte(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestCommentOf checks that the comment of a unit states it.
func TestCommentOf(t *testing.T) {
	t.Parallel()
	for _, u := range units {
		if got := hdrlog.UnitOf([]byte("#" + u.Comment())); got != u {
			t.Errorf("%s: %s states %q", u, u.Comment(), got)
		}
	}
}

func TestFinder(t *testing.T) {
	t.Parallel()
	ns, us := []byte("#UNITS:NANOSECONDS"), []byte("#[Logging for: READ]")
	var f Finder
	f.Comment("a.hdr", []byte("#a comment"))
	if got, err := f.Unit(); got != 0 || err != nil {
		t.Errorf("nothing states the unit: %q, %v", got, err)
	}
	f.Comment("a.hdr", ns)
	f.Comment("a.hdr", ns)
	f.Comment("b.hdr", ns)
	if got, err := f.Unit(); got != hdrlog.Nanosecond || err != nil {
		t.Errorf("both logs state their unit: %q, %v", got, err)
	}
	f.Comment("c.hdr", us)
	const want = "the values of a.hdr are in ns, those of c.hdr in us"
	if _, err := f.Unit(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestTags finds the units of tags, and logs that do not add up.
func TestTags(t *testing.T) {
	t.Parallel()
	var f, other Finder
	f.Comment("a.hdr", []byte("#UNITS:NANOSECONDS"))
	f.Comment("b.hdr", []byte("#UNITS:us"))
	for tag, logs := range map[string]string{"a": "a", "b": "b", "both": "ca", "none": "cd"} {
		for _, log := range logs {
			f.Uses([]byte(tag), string(log)+".hdr")
		}
	}
	for tag, want := range map[string]hdrlog.Unit{"a": hdrlog.Nanosecond, "b": hdrlog.Microsecond, "both": hdrlog.Nanosecond, "none": 0, "other": 0} {
		if got, err := f.Of([]byte(tag)); got != want || err != nil {
			t.Errorf("%s: %q, %v", tag, got, err)
		}
	}
	const differ = "the values of a.hdr are in ns, those of b.hdr in us"
	if found, err := Find(&f, &other); found.Unit != hdrlog.Nanosecond || found.UnstatedText() != "c.hdr and d.hdr do not state their units" || found.Differ == nil || found.Differ.Error() != differ || err != nil {
		t.Errorf("%+v, %v", found, err)
	}
	// Logs of a program that writes several units may not add up.
	var bench Finder
	for _, name := range []string{"c.hdr", "a.hdr", "b.hdr", "d.hdr"} {
		bench.Comment(name, []byte("#Logging op latencies for Cassandra Stress"))
		if name != "a.hdr" {
			bench.Comment(name, []byte("#[Basetime: 1795524495 (seconds since epoch)]"))
		}
		tag := []byte("raw")
		if name == "d.hdr" {
			tag = []byte("other")
		}
		bench.Uses(tag, name)
		bench.Uses(tag, name)
	}
	const doubt = "b.hdr and c.hdr do not state their units, and the program that wrote them chooses it"
	if found, err := Find(&bench); err != nil || found.Doubt == nil || found.Doubt.Error() != doubt || found.Unit != hdrlog.Nanosecond {
		t.Errorf("%+v, %v", found, err)
	}
	// Finders do not add up with each other.
	other.Comment("z.hdr", []byte("#UNITS:ms"))
	other.Uses([]byte("a"), "z.hdr")
	if found, err := Find(&other); found.Unit != hdrlog.Millisecond || found.Differ != nil || found.Unstated != nil || found.Doubt != nil || err != nil {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := Find(&f, &other); err != nil {
		t.Error(err)
	}
	f.Uses([]byte("a"), "b.hdr")
	if _, err := Find(&other, &f); err == nil || err.Error() != differ {
		t.Error(err)
	}
	if _, err := f.Of([]byte("a")); err == nil || err.Error() != differ {
		t.Error(err)
	}
	var one Finder
	one.Comment("a.hdr", []byte("#UNITS:ns"))
	one.Comment("a.hdr", []byte("#UNITS:ms"))
	if _, err := Find(&one); err == nil || err.Error() != "a.hdr states that its values are in ns, and in ms" {
		t.Error(err)
	}
}

// TestAnyOrder: what is found does not depend on the order in which logs are read.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	comments := map[string]string{"a": "#UNITS:us", "b": "", "c": "", "d": "#UNITS:us", "e": "", "f": ""}
	for _, test := range []struct{ logs, want string }{
		{"ab", "b does not state its unit"},
		{"abc", "b and c do not state their units"},
		{"abce", "b, c and e do not state their units"},
		{"abcdef", "b and 3 more do not state their units"},
	} {
		for seed := range uint64(20) {
			logs := []byte(test.logs)
			random := rand.New(rand.NewPCG(seed, 0))
			random.Shuffle(len(logs), func(a, b int) { logs[a], logs[b] = logs[b], logs[a] })
			var f, several Finder
			for _, log := range logs {
				name := string(log)
				f.Comment(name, []byte(comments[name]))
				f.Uses([]byte("tag"), name)
				several.Comment(name, []byte(cmp.Or(comments[name], "#UNITS:ms")))
				several.Uses([]byte("tag"), name)
			}
			found, err := Find(&f)
			if got := found.UnstatedText(); got != test.want || found.TakenAs != hdrlog.Microsecond || err != nil {
				t.Errorf("%s: %s, %v, want %s", logs, got, err, test.want)
			}
			const clash = "the values of a are in us, those of b in ms"
			if _, err := Find(&several); err == nil || err.Error() != clash {
				t.Errorf("%s: %v, want %s", logs, err, clash)
			}
		}
	}
}

// TestDivide proves that values in another unit are exact where a float64 can hold them.
func TestDivide(t *testing.T) {
	t.Parallel()
	for _, from := range units {
		for _, to := range units {
			for _, v := range []float64{0, 1, 3, 7, 999, 1234567} {
				want := v * (float64(from) / float64(to))
				if float64(to) > float64(from) {
					want = v / (float64(to) / float64(from))
				}
				if got := Divide(v, from.Per(to)); got != want {
					t.Errorf("%v %s are %v %s, want %v", v, from, got, to, want)
				}
			}
		}
	}
	third := 0.3
	for ratio, want := range map[float64]float64{third: 7 / third, 0.001: 7000, 1: 7, 2: 3.5, 1.5: 7 / 1.5} {
		if got := Divide(7, ratio); got != want {
			t.Errorf("7 / %v is %v, want %v", ratio, got, want)
		}
	}
}

func TestScale(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		o     Options
		found hdrlog.Unit
		ratio float64
		unit  string
		in    float64 // nanoseconds; 0 if unknown
		told  bool
	}{
		{"raw", Options{}, 0, 1, "", 0, false},
		{"known", Options{}, hdrlog.Microsecond, 1, "us", 1e3, false},
		{"converted", Options{Unit: "ms"}, hdrlog.Microsecond, 1e3, "ms", 1e3, false},
		{"to a smaller unit", Options{Unit: "ns"}, hdrlog.Microsecond, 1e-3, "ns", 1e3, false},
		{"-in, which is found of all logs but those of rows", Options{Unit: "ms", In: hdrlog.Nanosecond}, hdrlog.Microsecond, 1e3, "ms", 1e3, false},
		{"-in, and no log", Options{Unit: "ms", In: hdrlog.Microsecond}, 0, 1e3, "ms", 1e3, false},
		{"assumed", Options{Unit: "us"}, 0, 1e3, "us", 1, true},
		{"-ovr is raw", Options{Unit: "ms", Ratio: 5}, hdrlog.Microsecond, 5, "ms", 1e3, false},
		{"-ovr and -unit say what the log has", Options{Unit: "ms", Ratio: 1e6}, 0, 1e6, "ms", 1, false},
		{"any name", Options{Unit: "MB", Ratio: 1 << 20}, 0, 1 << 20, "MB", 0, false},
		{"-ovr alone", Options{Ratio: 10}, hdrlog.Nanosecond, 10, "", 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := test.o.Scale(test.found)
			if s.Ratio != test.ratio || s.Unit != test.unit || float64(s.In) != test.in || s.Assumed != test.told {
				t.Errorf("%+v", s)
			}
		})
	}
	for name, want := range map[string]string{"msec": "ms", "Millis": "ms", "usecs": "us", "sec": "s"} {
		if _, err := ParseOption(name); err == nil || err.Error() != fmt.Sprintf("%q is spelt %s", name, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := Options{Unit: "MB"}
	const want = `"MB" is not a unit of time, which is one of ns, us, ms, s`
	if err := o.Validate(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestReadable(t *testing.T) {
	t.Parallel()
	o := &Options{}
	for _, test := range []struct {
		in      hdrlog.Unit
		typical float64
		ratio   float64
		unit    string
	}{
		{hdrlog.Nanosecond, 1.2e6, 1e6, "ms"},
		{hdrlog.Nanosecond, 80e3, 1e6, "ms"},
		{hdrlog.Nanosecond, 20e3, 1e3, "us"},
		{hdrlog.Nanosecond, 0, 1, "ns"},
		{hdrlog.Microsecond, 5e6, 1e6, "s"},
		{hdrlog.Microsecond, 0.5, 1, "us"},
		{0, 5e6, 1, ""},
	} {
		s := o.Readable(o.Scale(test.in), Typical{test.typical, 1})
		if s.Ratio != test.ratio || s.Unit != test.unit {
			t.Errorf("%v %s: %+v", test.typical, test.in, s)
		}
	}
	// zeros choose nothing, and a row counts as often as it has values
	for want, rows := range map[string][]Typical{
		"ms": {{0, 0}, {150e6, 1}},
		"us": {{3e3, 1000}, {2e9, 10}},
		"s":  {{3e3, 10}, {2e9, 1000}},
		"ns": {{0, 0}},
	} {
		if s := o.Readable(o.Scale(hdrlog.Nanosecond), rows...); s.Unit != want {
			t.Errorf("%v: %s, want %s", rows, s.Unit, want)
		}
	}
	asked := &Options{Unit: "s"}
	if s := asked.Readable(asked.Scale(hdrlog.Nanosecond), Typical{5, 1}); s.Unit != "s" {
		t.Errorf("-unit s: %+v", s)
	}
}

// TestManyTags: what is found of one log takes as much work for 1,000 tags as for one.
func TestManyTags(t *testing.T) {
	work := func(tags int) float64 {
		var f Finder
		f.Comment("log", []byte("#UNITS:MICROSECONDS"))
		for n := range tags {
			f.Uses(strconv.AppendInt(nil, int64(n), 10), "log")
		}
		if found, err := Find(&f); err != nil || found.Unit != hdrlog.Microsecond {
			t.Errorf("%+v, %v", found, err)
		}
		return testing.AllocsPerRun(10, func() { Find(&f) })
	}
	if one, many := work(1), work(1000); many > one {
		t.Errorf("%v allocations, %v for one tag", many, one)
	}
}

// TestScyllaBench has the comments of scylla-bench, whose unit is unknown, and of cassandra-stress.
func TestScyllaBench(t *testing.T) {
	for base, want := range map[string]hdrlog.Unit{"#[Basetime: 1795524495 (seconds since epoch)]": 0, "#[BaseTime: 1795523537.000 (seconds since epoch)]": hdrlog.Nanosecond} {
		var f Finder
		f.Comment("log", []byte("#Logging op latencies for Cassandra Stress"))
		f.Comment("log", []byte(base))
		f.Uses([]byte("raw"), "log")
		if got := f.OfLog("log"); got != want {
			t.Errorf("%s: the unit is %q, want %q", base, got, want)
		}
	}
}

// TestFindAgain: what a finder remembers is what one finds that remembers nothing.
func TestFindAgain(t *testing.T) {
	t.Parallel()
	comments := []string{"#UNITS:NANOSECONDS", "#UNITS:MILLISECONDS", "#[Logging for: READ]", "#Logging op latencies for Cassandra Stress"}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		var f Finder
		for range 20 {
			name := string(rune('a' + random.IntN(4)))
			switch random.IntN(3) {
			case 0:
				f.Add(name)
			case 1:
				f.Comment(name, []byte(comments[random.IntN(len(comments))]))
			default:
				f.Uses([]byte{byte('x' + random.IntN(3))}, name)
			}
			got, err := Find(&f)
			want, wantErr := find([]*Finder{&f})
			if fmt.Sprint(got, err) != fmt.Sprint(want, wantErr) {
				t.Fatalf("seed %d: %v, %v; want %v, %v", seed, got, err, want, wantErr)
			}
		}
	}
}

// TestRowsComment: the unit that the user gives rows is not that of the log which was made of them.
func TestRowsComment(t *testing.T) {
	o := Options{In: hdrlog.Millisecond}
	f := Finder{Given: o.Given}
	f.Comment("rows", []byte("#"+RowsComment(hdrlog.Millisecond)))
	f.Comment("rows", []byte("#UNITS:NANOSECONDS"))
	f.Comment("log", []byte("#UNITS:NANOSECONDS"))
	if f.OfLog("rows") != hdrlog.Nanosecond || f.OfLog("log") != hdrlog.Millisecond {
		t.Errorf("%v %v", f.OfLog("rows"), f.OfLog("log"))
	}
}
