package split

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/logline"
	"hdrkit/internal/clitest"
	"hdrkit/internal/scan"
)

const payload = "HISTFAAAACB42pNpmSzMwMDAxAABzFCaEULx/7f/AGExsQAASwQDkA=="

// split splits a log in memory, with small buffers. Every byte of a file costs one of budget: then
// writing fails, if budget is not negative. It returns the messages.
func split(t *testing.T, folder, log string, budget int) (warnings []string, err error) {
	t.Helper()
	input := scan.Input{Name: "x/log.hdr", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(log)), nil }}
	parts := New([]scan.Input{input}, Options{Folder: folder, Warn: func(format string, args ...any) {
		warnings = append(warnings, fmt.Sprintf(format, args...))
	}})
	defer parts.Close()
	parts.partBuffer, parts.allBuffers = 700, 1200
	failed := false
	parts.open = func(part *part) (io.WriteCloser, error) {
		if budget == 0 {
			failed = true
			return nil, errLimited
		}
		f, err := part.open()
		if err != nil || budget < 0 {
			return f, err
		}
		return &limited{f, &budget, &failed}, nil
	}
	s := &scan.Scan{Inputs: []scan.Input{input}, Workers: 1, Hooks: scan.Hooks{Comment: parts.Comment}, Report: func(err *hdrlog.SyntaxError, malformed bool) error {
		warnings = append(warnings, err.Error())
		return nil
	}}
	err = scan.Run(s, func(*scan.Decoder, scan.Visit, *struct{}) error { return nil }, func(v scan.Visit, _ *struct{}) error {
		_, err := parts.Add(v)
		if failed && err == nil {
			t.Error("an interval is added after writing has failed")
		}
		return err
	})
	if err == nil {
		err = parts.Commit()
	}
	return warnings, err
}

var errLimited = errors.New("no more")

// limited is a file that can be written while budget lasts.
type limited struct {
	io.WriteCloser
	budget *int
	failed *bool
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > *l.budget {
		n, _ := l.WriteCloser.Write(p[:*l.budget])
		*l.budget, *l.failed = 0, true
		return n, errLimited
	}
	*l.budget -= len(p)
	return l.WriteCloser.Write(p)
}

// Close fails when nothing may be written any more.
func (l *limited) Close() error {
	err := l.WriteCloser.Close()
	if *l.budget == 0 {
		*l.failed = true
		return errLimited
	}
	return err
}

// files returns the contents of the files in a folder by their names.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	contents := make(map[string]string)
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		contents[entry.Name()] = string(text)
	}
	return contents
}

// exampleLog is a log of some tags, with comments between the intervals.
func exampleLog() string {
	var b strings.Builder
	b.WriteString("#[StartTime: 1468800000.000 (seconds since epoch)]\n#a comment\n")
	for n := range 6 {
		fmt.Fprintf(&b, "Tag=%d,%d.000,1.000,0.000,%s\n", n%3, n, payload)
	}
	fmt.Fprintf(&b, "9.000,1.000,0.000,%s\n#the end\n#%s\n", payload, strings.Repeat("x", 300))
	return b.String()
}

// TestWriteFails lets the writing fail at every byte in turn. Then there is an error, and no file.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	if _, err := split(t, whole, exampleLog(), -1); err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, text := range files(t, whole) {
		size += len(text)
	}
	folder := t.TempDir()
	for budget := size; budget >= 0; budget -= 5 / clitest.Rounds(5) { // at the first one, closing fails
		_, err := split(t, folder, exampleLog(), budget)
		if left := files(t, folder); !errors.Is(err, errLimited) || len(left) > 0 {
			t.Fatalf("%d of %d bytes: %v, and there are files: %v", budget, size, err, left)
		}
	}
	if _, err := split(t, folder, exampleLog(), size+1); err != nil {
		t.Errorf("%d bytes: %v", size+1, err)
	}
	if got := files(t, folder); len(got) != 4 {
		t.Errorf("%d files, want 4", len(got))
	}
}

// TestErrors has errors that are not those of writing a file.
func TestErrors(t *testing.T) {
	// A negative count: this payload can be opened, but not decoded.
	const negative = "HISTIgAAACF42pNpmazIwMDAwgABzFCaEULx/7f/ABVh/f8XAFeiBZs="
	add := func(folder string) error {
		parts := New([]scan.Input{{Name: "log.hdr"}}, Options{Folder: folder})
		defer parts.Close()
		i := &hdrlog.Interval{Payload: []byte(negative), Start: 1, Length: 1}
		_, err := parts.Add(scan.Visit{Interval: i})
		return err
	}
	folder := t.TempDir()
	if err := os.Symlink("default.log.hdr", filepath.Join(folder, "default.log.hdr")); err != nil {
		t.Skipf("skipped, since there are no symbolic links: %v", err)
	}
	if err := add(folder); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a place that is a link to itself: %v", err)
	}
}

// TestRecode checks that payloads that are not compressed are, with the same counts, and that the
// others stay as they are.
func TestRecode(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"jhiccup-v0", "jhiccup-v1", "jhiccup-v2", "payload-v1-words", "payload-plain", "payload-double", "rust-plain"} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(clitest.Root(), "testdata", "dialects", name+".hlog"))
			if err != nil {
				t.Fatal(err)
			}
			var decoder histogram.Decoder
			r := hdrlog.NewReader(bytes.NewReader(text), name)
			p := New(nil, Options{})
			for r.Scan() {
				if r.Record().Kind != hdrlog.IntervalRecord {
					continue
				}
				i := r.Record().Interval
				fields, err := p.appendStandard(nil, scan.Visit{Interval: &i})
				if err != nil {
					t.Fatal(err)
				}
				recoded := fields[bytes.LastIndexByte(fields, ',')+1:]
				var before, after histogram.Histogram
				if err := errors.Join(decoder.Decode(&before, i.Payload), decoder.Decode(&after, recoded)); err != nil {
					t.Fatal(err)
				}
				if _, compressed, _ := histogram.Peek(recoded); !compressed {
					t.Errorf("%s is not compressed", recoded)
				}
				if _, compressed, _ := histogram.Peek(i.Payload); compressed && string(recoded) != string(i.Payload) {
					t.Error("a compressed payload is not what it was")
				}
				if !slices.Equal(slices.Collect(before.Recorded()), slices.Collect(after.Recorded())) {
					t.Error("the counts are not what they were")
				}
			}
			if err := r.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestParts checks that each part has the comments, the times and the intervals of its tag,
// unchanged and in order.
func TestParts(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := split(t, folder, exampleLog(), -1); err != nil {
		t.Fatal(err)
	}
	got := files(t, folder)
	for name, starts := range map[string][]int{"0": {0, 3}, "1": {1, 4}, "2": {2, 5}, "default": {9}} {
		text := got[name+".log.hdr"]
		var intervals []string
		for line := range strings.Lines(text) {
			if strings.Contains(line, ",HIST") {
				intervals = append(intervals, strings.TrimSpace(line))
			}
		}
		var want []string
		for _, start := range starts {
			want = append(want, fmt.Sprintf("%d.000,1.000,0.000,%s", start, payload))
		}
		if strings.Join(intervals, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s has the intervals\n%s", name, strings.Join(intervals, "\n"))
		}
		for _, comment := range []string{"#[StartTime: 1468800000.000 ", "#a comment\n", "#[Split from x/log.hdr: tag " + name + "]\n", "#the end\n"} {
			if strings.Count(text, comment) != 1 {
				t.Errorf("%s has %q %d times", name, comment, strings.Count(text, comment))
			}
		}
	}
}

// TestAddAllocates checks that an interval of a known part allocates nothing, but for the buffer of
// the part, which grows.
func TestAddAllocates(t *testing.T) {
	r := hdrlog.NewReader(strings.NewReader("1.000,1.000,0.000,"+payload+"\n"), "log.hdr")
	if !r.Scan() {
		t.Fatal(r.Err())
	}
	input := scan.Input{Name: "log.hdr"}
	parts := New([]scan.Input{input}, Options{Folder: t.TempDir()})
	defer parts.Close()
	add := func() {
		if _, err := parts.Add(scan.Visit{Interval: &r.Record().Interval}); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(100, add); n != 0 {
		t.Errorf("an interval takes %v allocations", n)
	}
}

// TestComments splits a log with many comments: what each part gets of them is limited.
func TestComments(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	log := strings.Repeat("#"+strings.Repeat("x", 1023)+"\n", 3*maxComments>>10) + "0.000,1.000,0.000," + payload + "\n#last\n"
	warnings, err := split(t, folder, log, -1)
	if err != nil || len(warnings) != 1 || warnings[0] != "x/log.hdr: comments after the first 16 kB are left out" {
		t.Errorf("%v, %q", err, warnings)
	}
	if size := len(files(t, folder)["default.log.hdr"]); size < maxComments || size > maxComments+1<<10 {
		t.Errorf("the part has %d bytes", size)
	}
}

// TestName splits a log whose name has a line break, which must not become a line of the parts.
func TestName(t *testing.T) {
	folder := t.TempDir()
	input := scan.Input{Name: "a\n0.000,1.000,0.000," + payload}
	parts := New([]scan.Input{input}, Options{Folder: folder})
	defer parts.Close()
	i := &hdrlog.Interval{Payload: []byte(payload), Start: 1, Length: 1}
	if _, err := parts.Add(scan.Visit{Interval: i}); err != nil {
		t.Fatal(err)
	}
	if text := string(parts.parts[0].buf); strings.Count(text, "\n0.000,") > 0 || !strings.Contains(text, `#[Split from a%0A0.000`) {
		t.Error(text)
	}
}

// TestRevoked: a comment that states the unit of a log goes to its parts, unless a later comment
// shows that it does not state it. Parts have not that later comment.
func TestRevoked(t *testing.T) {
	t.Parallel()
	stress := "#" + logline.Stress + " latency\n"
	for basetime, states := range map[string]bool{"#[BaseTime: 5.000 (seconds since epoch)]\n": true, "#[Basetime: 5.000 (seconds since epoch)]\n": false} {
		folder := t.TempDir()
		if _, err := split(t, folder, "#before\n"+stress+"#behind\n"+basetime+"0.000,1.000,0.000,"+payload+"\n", -1); err != nil {
			t.Fatal(err)
		}
		text := files(t, folder)["default.log.hdr"]
		if strings.Contains(text, stress) != states || strings.Count(text, "#before\n#") != 1 || strings.Count(text, "#behind\n") != 1 {
			t.Errorf("behind %s\n%s", basetime, text)
		}
	}
}

// TestOneFile: a part is no input, and no file of another part, by whatever link.
func TestOneFile(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	if err := os.WriteFile("input.log.hdr", []byte(exampleLog()), 0o666); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat("input.log.hdr")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(folder, "linked.log.hdr"), "link.log.hdr"); err != nil {
		t.Skipf("skipped, since there are no symbolic links: %v", err)
	}
	parts := New([]scan.Input{{Name: "log.hdr", Info: info}}, Options{Folder: "."})
	defer parts.Close()
	for _, test := range []struct{ tag, want string }{
		{"other", ""},
		{"input", "output input.log.hdr is also an input"},
		{"link", ""},
		{"linked", "tag link of log.hdr and tag linked of log.hdr would both go to linked.log.hdr; split the two logs into different folders (-od)"},
	} {
		i := &hdrlog.Interval{Tag: []byte(test.tag), Payload: []byte(payload), Start: 1, Length: 1}
		if _, err := parts.Add(scan.Visit{Interval: i}); (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
			t.Errorf("%s: %v, want %s", test.tag, err, test.want)
		}
	}
}

// TestGiven: a part has the unit that the user gives its log, and no comment that states another
// one. What a program writes stays, since it says more than the unit.
func TestGiven(t *testing.T) {
	t.Parallel()
	const ours = "#UNITS:MICROSECONDS\n"
	for comment, stays := range map[string]bool{"#UNITS:ns": false, "#UNITS:ms": false, "#" + logline.Stress: true, "#anything": true} {
		given := func(string) (hdrlog.Unit, bool) { return hdrlog.Microsecond, true }
		parts := New([]scan.Input{{Name: "log.hdr"}}, Options{Folder: t.TempDir(), Given: given})
		defer parts.Close()
		if err := parts.Comment(0, []byte(comment)); err != nil {
			t.Fatal(err)
		}
		i := &hdrlog.Interval{Payload: []byte(payload), Start: 1, Length: 1}
		if _, err := parts.Add(scan.Visit{Interval: i}); err != nil {
			t.Fatal(err)
		}
		text := string(parts.parts[0].buf)
		if strings.Contains(text, comment+"\n") != stays || strings.Count(text, ours) != 1 {
			t.Errorf("%s stays: %v\n%s", comment, !stays, text)
		}
	}
}
