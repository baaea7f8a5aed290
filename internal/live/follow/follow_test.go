package follow

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hdrkit/internal/base/message"
	"hdrkit/internal/clitest"
)

// reading is all that a follower's inputs give, read as it comes.
type reading struct {
	*Follower
	t      *testing.T
	reader sync.WaitGroup

	mu      sync.Mutex
	inputs  map[string]*Input
	lines   map[string][]string // by input; a log begins with "--"
	errs    map[string]error    // how each input ended
	notices []string
}

// read starts a follower with what add adds, and reads it.
func read(t *testing.T, add func(f *Follower), marks ...Mark) *reading {
	r := &reading{t: t, inputs: map[string]*Input{}, lines: map[string][]string{}, errs: map[string]error{}}
	r.Follower = New(Options{Poll: time.Millisecond, Rescan: time.Millisecond, CloseAfter: time.Hour, Marks: marks, Notice: func(input, text string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.notices = append(r.notices, filepath.Base(input)+" "+text)
	}})
	add(r.Follower)
	r.Start(func(in *Input) { r.reader.Go(func() { r.read(in) }) }, func(time.Time) {})
	t.Cleanup(func() {
		r.Abort()
		r.Close()
		r.reader.Wait()
	})
	return r
}

func (r *reading) read(in *Input) {
	name := filepath.Base(in.Name())
	add := func(line string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.inputs[name] = in
		r.lines[name] = append(r.lines[name], line)
	}
	for {
		log, err := in.Next()
		if err == nil {
			add("--")
			lines := bufio.NewReaderSize(log, 16)
			for n := 1; ; n++ {
				var line string
				if line, err = lines.ReadString('\n'); line != "" {
					log.SetCounted(n, "", 1)
					add(strings.TrimSuffix(line, "\n"))
				}
				if err != nil {
					break
				}
			}
			if err == io.EOF {
				continue
			}
		}
		r.mu.Lock()
		r.errs[name] = err
		r.mu.Unlock()
		return
	}
}

// await waits until the condition holds.
func (r *reading) await(what string, holds func() bool) {
	r.t.Helper()
	clitest.Await(r.t, what, func() string {
		r.mu.Lock()
		defer r.mu.Unlock()
		return fmt.Sprintf("%.2000q %v %q", r.lines, r.errs, r.notices)
	}, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return holds()
	})
}

// awaitLines waits until an input has given exactly these lines.
func (r *reading) awaitLines(name string, lines ...string) {
	r.t.Helper()
	r.await(name, func() bool { return slices.Equal(r.lines[name], lines) })
}

func (r *reading) awaitLast(name, line string) {
	r.t.Helper()
	r.await(line, func() bool { return last(r.lines[name]) == line })
}

func (r *reading) awaitNotice(text string) {
	r.t.Helper()
	r.await(text, func() bool { return slices.Contains(r.notices, text) })
}

func extend(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// TestGone: a log of a pattern that was read to its end and is gone is closed and forgotten. A file
// that comes back is a new input. A log that was named stays one input.
func TestGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	named := file(t, filepath.Join(dir, "named"), "one\n")
	path := file(t, filepath.Join(dir, "node1"), "one\n")
	r := read(t, func(f *Follower) {
		f.options.CloseAfter = 10 * time.Millisecond
		f.AddFile(named)
		f.AddMatching(dir, regexp.MustCompile(`^node.*$`).MatchString, nil)
	})
	r.awaitLines("named", "--", "one")
	r.awaitLines("node1", "--", "one")
	open := func() int64 { return r.Follower.openCount.Load() }
	must(t, os.Remove(named))
	must(t, os.Remove(path))
	r.await("the end", func() bool { return r.errs["node1"] == ErrGone && open() == 0 })
	r.Follower.mu.Lock()
	if n := len(r.Follower.inputs); n != 1 {
		t.Errorf("%d inputs", n)
	}
	r.Follower.mu.Unlock()
	file(t, named, "two\n")
	file(t, path, "two\n")
	r.awaitLines("named", "--", "one", "--", "two")
	r.awaitLines("node1", "--", "one", "--", "two")
}

// TestFolders follows the files of folders that match a pattern. Folders come later and go.
func TestFolders(t *testing.T) {
	t.Parallel()
	pods := filepath.Join(t.TempDir(), "pods")
	log := func(folder, name, text string) {
		folder = filepath.Join(pods, folder)
		must(t, os.MkdirAll(folder, 0o777))
		file(t, filepath.Join(folder, name), text)
	}
	r := read(t, func(f *Follower) {
		f.AddMatching(filepath.Join(pods, "*", "[ab]"), regexp.MustCompile(`^.*hdr$`).MatchString, nil)
	})
	log("x/a", "a.hdr", "one\n")
	r.awaitLines("a.hdr", "--", "one")
	log("x/c", "c.hdr", "other\n")
	log("y/b", "b.hdr", "two\n")
	r.awaitLines("b.hdr", "--", "two")
	must(t, os.RemoveAll(filepath.Join(pods, "y")))
	log("z/b", "b2.hdr", "three\n")
	r.awaitLines("b2.hdr", "--", "three")
	r.awaitLines("c.hdr")
}

// TestUnreadableFolder: a folder that cannot be read for a while is named once.
func TestUnreadableFolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: a file is read as an empty folder there")
	}
	folder := file(t, filepath.Join(t.TempDir(), "logs"), "a file\n")
	r := read(t, func(f *Follower) { f.AddMatching(folder, func(string) bool { return true }, nil) })
	r.awaitNotice("logs cannot be read: not a directory; trying again")
	want := []Unread{{Path: folder, Why: "cannot be read: not a directory"}}
	if got := r.Unread(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	must(t, os.Remove(folder))
	must(t, os.Mkdir(folder, 0o777))
	file(t, filepath.Join(folder, "a.hdr"), "one\n")
	r.awaitLines("a.hdr", "--", "one")
	r.await("no folder to be named", func() bool { return len(r.Unread()) == 0 && len(r.notices) == 1 })
}

// TestCopies: what rotation copies or compresses counts once. Another log does not, whatever its
// name.
func TestCopies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := strings.Repeat("a line of the log\n", 50)
	zip := func(text string) string { return packed(t, text) }
	path := file(t, filepath.Join(dir, "node1.hdr"), text)
	file(t, path+".gz", zip(text)) // at the start
	r := read(t, func(f *Follower) { f.AddMatching(dir, regexp.MustCompile(`^node.*$`).MatchString, nil) })
	r.await("the log", func() bool { return len(r.lines["node1.hdr"]) == 51 })
	r.awaitNotice("node1.hdr.gz is a copy of " + path + "; it counts once")
	// copytruncate
	file(t, path+".1", text)
	r.awaitNotice("node1.hdr.1 is a copy of " + path + "; it counts once")
	r.await("the list of copies", func() bool {
		all := r.Unread()
		return len(all) == 2 && all[0] == Unread{Path: path + ".1", Copy: true}
	})
	file(t, path, "new\n")
	r.await("the new log", func() bool { return len(r.lines["node1.hdr"]) == 53 })
	must(t, os.Remove(path+".gz"))
	must(t, os.Rename(path+".1", path+".2"))
	extend(t, path+".2", "more\n")
	r.awaitNotice("node1.hdr.2 begins with all that was read of " + path + "; reading what follows")
	r.awaitLast("node1.hdr.2", "more")
	// A rename, and a compression of that.
	must(t, os.Rename(path, filepath.Join(dir, "node1.0.hdr")))
	file(t, path, "newest\n")
	r.await("the newest log", func() bool { return len(r.lines["node1.hdr"]) == 55 })
	file(t, filepath.Join(dir, "node1.0.hdr.gz"), zip("new\n"))
	r.awaitNotice("node1.0.hdr.gz is a copy of " + path + "; it counts once")
	// Other logs.
	file(t, filepath.Join(dir, "node1.hdr.3"), "new\nbut longer\n")
	file(t, filepath.Join(dir, "node10.hdr"), text)
	r.await("other logs", func() bool { return len(r.lines["node1.hdr.3"]) == 3 && len(r.lines["node10.hdr"]) == 51 })
	r.mu.Lock()
	defer r.mu.Unlock()
	isTruncated := func(notice string) bool { return strings.Contains(notice, "truncated") }
	if len(r.lines) != 4 || slices.ContainsFunc(r.notices, isTruncated) {
		t.Errorf("%q", r.notices)
	}
}

// TestTruncatedCopy: a log is replaced by a copy of itself, which is truncated. Nobody knows what
// it got before, unless rotation has made another copy.
func TestTruncatedCopy(t *testing.T) {
	t.Parallel()
	for _, rotated := range []bool{false, true} {
		path := file(t, filepath.Join(t.TempDir(), "a.hdr"), "one\n")
		var notices []string
		f := New(Options{Notice: func(_, text string) { notices = append(notices, text) }})
		in := f.AddFile(path)
		must(t, os.Rename(file(t, path+".new", "one\n"), path))
		in.look(new(message.Group))
		if rotated {
			f.AddFile(file(t, path+".1", "one\n"))
		}
		must(t, os.Truncate(path, 0))
		in.waiting = true
		f.switchFile(in)
		in.look(new(message.Group))
		f.Close()
		if got := slices.Contains(notices, truncated); got == rotated {
			t.Errorf("rotated %t: %q", rotated, notices)
		}
	}
}

// TestTruncatedTwice: each truncation may lose lines, so each is named.
func TestTruncatedTwice(t *testing.T) {
	t.Parallel()
	path := file(t, filepath.Join(t.TempDir(), "a.hdr"), "one\n")
	r := read(t, func(f *Follower) { f.AddFile(path) })
	lines := []string{"--", "one"}
	r.awaitLines("a.hdr", lines...)
	for _, line := range []string{"two", "three", "four"} {
		file(t, path, line+"\n")
		lines = append(lines, "--", line)
		r.awaitLines("a.hdr", lines...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if want := slices.Repeat([]string{"a.hdr " + truncated}, 3); !slices.Equal(r.notices, want) {
		t.Errorf("%q", r.notices)
	}
}

// TestTwoLogs: two logs of one process begin alike for long. Each counts, in any order of writing.
func TestTwoLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := strings.Repeat("0.0,1.0,0.0,empty\n", 60)
	run := file(t, filepath.Join(dir, "run.hdr"), empty)
	r := read(t, func(f *Follower) { f.AddMatching(dir, func(string) bool { return true }, nil) })
	r.await("the log", func() bool { return len(r.lines["run.hdr"]) == 61 })
	failed := file(t, filepath.Join(dir, "run-2.hdr"), empty)
	r.awaitNotice("run-2.hdr is a copy of " + run + "; it counts once")
	extend(t, run, "60.0,1.0,1.0,one\n")
	extend(t, failed, "60.0,1.0,1.0,two\n")
	r.await("the other log", func() bool { return len(r.lines["run-2.hdr"]) == 62 && len(r.lines["run.hdr"]) == 62 })
	r.awaitNotice("run-2.hdr is no copy of " + run + " any more; reading it")
}

// TestPoints: hashes do not depend on how a text is divided, and stay the same in a state.
func TestPoints(t *testing.T) {
	t.Parallel()
	var all []byte
	for n := range 3000 {
		all = append(all, strings.Repeat("x", n%37)+"\n"...)
	}
	var whole text
	whole.Write(all)
	for _, part := range []int{1, 7, 100, 5000} {
		var t2 text
		for rest := all; len(rest) > 0; {
			n := min(part, len(rest))
			t2.Write(rest[:n])
			rest = rest[n:]
		}
		if !slices.Equal(whole.points(), t2.points()) {
			t.Errorf("in parts of %d bytes: %v, not %v", part, t2.points(), whole.points())
		}
	}
	data := encode(whole.points())
	if again, ok := decode(data); !ok || !slices.Equal(again, whole.points()) || len(again) != 2*edgeLines {
		t.Errorf("%x: %v", data, again)
	}
	for _, bad := range [][]byte{data[1:], append(data, data...), make([]byte, 16)} {
		if again, ok := decode(bad); ok {
			t.Errorf("%x is read: %v", bad, again)
		}
	}
}

// TestFiles: no more files are open than allowed, which is said once. Another one is opened when
// one of them is gone.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for n := range 5 {
		file(t, filepath.Join(dir, fmt.Sprint("node", n)), "one\n")
	}
	r := read(t, func(f *Follower) {
		f.options.CloseAfter, f.options.MaxFiles = time.Millisecond, 2
		f.AddMatching(dir, regexp.MustCompile(`^node.*$`).MatchString, nil)
	})
	r.awaitLines("node0", "--", "one")
	r.awaitLines("node1", "--", "one")
	r.awaitNotice("node4 too many files are open: this machine allows logs only 2; allow more with ulimit -n; trying again")
	must(t, os.Remove(filepath.Join(dir, "node0")))
	r.await("one of the logs that wait", func() bool { return len(r.lines) == 3 })
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.notices) != 1 {
		t.Errorf("%q", r.notices)
	}
}

// TestFilesAfterRestart: there are more logs of an earlier run than files that may be open. Those
// that are not read are named, and none is gone.
func TestFilesAfterRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for n := range 3 {
		file(t, filepath.Join(dir, fmt.Sprint("node", n)), fmt.Sprintln(n))
	}
	matches := func(f *Follower) { f.AddMatching(dir, func(string) bool { return true }, nil) }
	r := read(t, matches)
	for n := range 3 {
		r.awaitLines(fmt.Sprint("node", n), "--", fmt.Sprint(n))
	}
	r.Stop()
	var notices []string
	f := New(Options{MaxFiles: 1, Marks: r.Marks(), Notice: func(input, text string) {
		notices = append(notices, strings.ReplaceAll(input, dir+string(filepath.Separator), "")+" "+text)
	}})
	defer f.Close()
	matches(f)
	f.handOverInputs(func(*Input) {})
	for range 2 * searchScans {
		f.lookAtInputs()
		f.match()
		f.tidy()
	}
	want := []string{"node1, node2 too many files are open: this machine allows logs only 1; allow more with ulimit -n; trying again"}
	if !slices.Equal(notices, want) {
		t.Errorf("%q", notices)
	}
	for _, in := range f.inputs[1:] {
		if !strings.HasPrefix(in.Unread(), "too many files are open") {
			t.Errorf("%s: %q", in.name, in.Unread())
		}
	}
}

func TestFile(t *testing.T) {
	t.Run("grows", func(t *testing.T) {
		t.Parallel()
		path := file(t, filepath.Join(t.TempDir(), "a"), "one\ntw")
		r := read(t, func(f *Follower) { f.AddFile(path) })
		r.awaitLines("a", "--", "one")
		extend(t, path, "o\nthree\n")
		r.awaitLines("a", "--", "one", "two", "three")
	})
	t.Run("is replaced", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		path := file(t, filepath.Join(dir, "a"), "one\n")
		r := read(t, func(f *Follower) { f.AddFile(path) })
		r.awaitLines("a", "--", "one")
		must(t, os.Rename(path, path+".1"))
		extend(t, path+".1", "two\n") // the writer has not noticed yet
		r.awaitLines("a", "--", "one", "two")
		r.awaitNotice("a is gone; waiting for it to come back")
		extend(t, path+".1", "three\n")
		file(t, path, "four\n")
		r.awaitLines("a", "--", "one", "two", "three", "--", "four")
	})
	t.Run("is truncated", func(t *testing.T) {
		t.Parallel()
		path := file(t, filepath.Join(t.TempDir(), "a"), "one\ntwo\n")
		r := read(t, func(f *Follower) { f.AddFile(path) })
		r.awaitLines("a", "--", "one", "two")
		file(t, path, "x\n")
		r.awaitLines("a", "--", "one", "two", "--", "x")
		r.awaitNotice("a was truncated; reading it again from its start")
	})
	t.Run("is truncated within a line", func(t *testing.T) {
		t.Parallel()
		path := file(t, filepath.Join(t.TempDir(), "a"), "one\ntw")
		r := read(t, func(f *Follower) { f.AddFile(path) })
		r.awaitLines("a", "--", "one")
		file(t, path, "x\n")
		r.awaitLines("a", "--", "one", "--", "x")
	})
	t.Run("is written again at the same length, or longer", func(t *testing.T) {
		t.Parallel()
		path := file(t, filepath.Join(t.TempDir(), "a"), "start 1\n")
		r := read(t, func(f *Follower) { f.AddFile(path) })
		r.awaitLines("a", "--", "start 1")
		// A time that no clock tick hides.
		again := func(text string, at int64) {
			file(t, path, text)
			must(t, os.Chtimes(path, time.Time{}, time.Unix(at, 0)))
		}
		again("start 2\n", 2e9)
		r.awaitLines("a", "--", "start 1", "--", "start 2")
		again("start 3\nmore\n", 2e9+1)
		r.awaitLines("a", "--", "start 1", "--", "start 2", "--", "start 3", "more")
	})
	t.Run("appears", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "a")
		r := read(t, func(f *Follower) { f.AddFile(path) })
		r.awaitNotice("a is not there yet; waiting for it")
		file(t, path, "one\n")
		r.awaitLines("a", "--", "one")
	})
	t.Run("becomes a folder", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		path := file(t, filepath.Join(dir, "a"), "one\n")
		folder := filepath.Join(dir, "folder")
		must(t, os.Mkdir(folder, 0o777))
		r := read(t, func(f *Follower) { f.AddFile(path) })
		r.awaitLines("a", "--", "one")
		must(t, os.Remove(path))
		must(t, os.Rename(folder, path))
		r.awaitNotice("a is a pipe, a folder or a device, and no file any more; trying again")
		must(t, os.Remove(path))
		file(t, path, "two\n")
		r.awaitLines("a", "--", "one", "--", "two")
	})
	t.Run("is added twice", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		path := file(t, filepath.Join(dir, "a"), "one\n")
		must(t, os.Link(path, path+"b"))
		f := New(Options{})
		defer f.Close()
		if f.AddFile(path) == nil || f.AddFile(path) != nil || f.AddFile(path+"b") != nil {
			t.Error("a file is two inputs")
		}
	})
}

func TestMatching(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := file(t, filepath.Join(dir, "node1.hdr"), "one\n")
	r := read(t, func(f *Follower) { f.AddMatching(dir, regexp.MustCompile(`^node.*$`).MatchString, nil) })
	r.awaitLines("node1.hdr", "--", "one")

	// A file that comes later is an input, other names of known files are none.
	must(t, os.Symlink(path, filepath.Join(dir, "node1.link")))
	file(t, filepath.Join(dir, "other.hdr"), "other\n")
	file(t, filepath.Join(dir, "node2.hdr"), "two\n")
	r.awaitLines("node2.hdr", "--", "two")

	// A renamed file matches too.
	for n := range 5 {
		must(t, os.Rename(path, fmt.Sprintf("%s.%d", path, n)))
		file(t, path, fmt.Sprintf("new%d\n", n))
		r.await("next", func() bool { return slices.Contains(r.lines["node1.hdr"], fmt.Sprint("new", n)) })
	}
	// A new file may have the inode of one that was read and removed.
	for n := range 5 {
		must(t, os.Remove(fmt.Sprintf("%s.%d", path, n)))
		name := fmt.Sprintf("node9%d.hdr", n)
		file(t, filepath.Join(dir, name), name+"\n")
		r.awaitLines(name, "--", name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) != 7 {
		t.Errorf("%d inputs: %q", len(r.lines), r.lines)
	}
}

// TestRotation follows a file that is renamed every 400 lines, 20,000 in all. The old names match
// too.
func TestRotation(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"log", "log.*"} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			const lines, rotations = 400, 50
			dir := t.TempDir()
			path := filepath.Join(dir, "log")
			r := read(t, func(f *Follower) { f.AddMatching(dir, regexp.MustCompile("^(?:"+pattern+")$").MatchString, nil) })
			var want []string
			for n := range rotations {
				log, err := os.Create(path)
				must(t, err)
				want = append(want, "--")
				for line := range lines {
					text := fmt.Sprintf("%d %d", n, line)
					want = append(want, text)
					_, err := log.WriteString(text + "\n")
					must(t, err)
				}
				// A rotation that is not seen is no new log. This one is.
				r.await("log", func() bool { return strings.HasPrefix(last(r.lines["log"]), fmt.Sprint(n, " ")) })
				must(t, os.Rename(path, fmt.Sprintf("%s.%d", path, n)))
				_, err = log.WriteString("last\n")
				want = append(want, "last")
				must(t, err)
				must(t, log.Close())
			}
			r.awaitLines("log", want...)
		})
	}
}

func last(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// TestExcluded checks that a follower does not read the output of its own command.
func TestExcluded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	info, err := os.Stat(file(t, filepath.Join(dir, "all.hdr"), "out\n"))
	must(t, err)
	file(t, filepath.Join(dir, "node.hdr"), "in\n")
	f := New(Options{Excluded: info})
	defer f.Close()
	f.AddMatching(dir, func(string) bool { return true }, nil)
	var now []*Input
	if more := f.Start(func(in *Input) { now = append(now, in) }, func(time.Time) {}); !more || len(now) != 1 || filepath.Base(now[0].Name()) != "node.hdr" {
		t.Errorf("%d inputs", len(now))
	}
}

func TestPipe(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	must(t, err)
	r := read(t, func(f *Follower) { f.AddReader("-", reader) })
	fmt.Fprint(writer, "one\n")
	r.awaitLines("-", "--", "one")
	r.await("end of data", func() bool { return r.inputs["-"].AtEnd() })
	fmt.Fprint(writer, "two\n")
	must(t, writer.Close())
	r.await("end", func() bool { return r.errs["-"] == io.EOF })
	r.awaitLines("-", "--", "one", "two")
}

func TestStop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := file(t, filepath.Join(dir, "a"), "one\n")
	reader, writer, err := os.Pipe()
	must(t, err)
	defer writer.Close()
	missing := filepath.Join(dir, "missing")
	r := read(t, func(f *Follower) {
		f.AddFile(path)
		f.AddFile(missing)
		f.AddReader("-", reader)
	})
	r.awaitLines("a", "--", "one")
	extend(t, path, strings.Repeat("two\n", 10000))
	r.Stop()
	r.await("stop", func() bool { return r.errs["a"] == ErrStopped && r.errs["missing"] == ErrStopped })
	r.mu.Lock() // the pipe is still read
	a, n := r.inputs["a"], len(r.lines["a"])
	r.mu.Unlock()
	if _, err := a.Next(); err != ErrStopped {
		t.Errorf("after the stop: %v", err)
	}
	if n != 10002 {
		t.Errorf("%d lines were read before the stop", n)
	}
	fmt.Fprint(writer, "pipe\n") // it is read on
	r.awaitLines("-", "--", "pipe")
	r.Abort()
	r.await("abort", func() bool { return r.errs["-"] == ErrStopped })
}

// TestLastLook: what comes after the last look is read before a stop, unless a later run reads it.
func TestLastLook(t *testing.T) {
	t.Parallel()
	for _, continues := range []bool{false, true} {
		dir := t.TempDir()
		r := read(t, func(f *Follower) {
			f.options.Poll = time.Hour
			f.options.Continues = continues
			f.AddMatching(dir, func(string) bool { return true }, nil)
		})
		file(t, filepath.Join(dir, "a.hdr"), "one\n")
		r.Stop()
		r.reader.Wait()
		var want []string
		if !continues {
			want = []string{"--", "one"}
		}
		if got := r.lines["a.hdr"]; !slices.Equal(got, want) {
			t.Errorf("continues %t: %q", continues, got)
		}
	}
}

// TestLastLines checks that the end of a file is read that is written after the file was replaced,
// but before the next look.
func TestLastLines(t *testing.T) {
	t.Parallel()
	path := file(t, filepath.Join(t.TempDir(), "a"), "one\n")
	waits := make(chan bool, 100)
	f := New(Options{Poll: time.Hour})
	defer f.Close()
	in := f.AddFile(path)
	in.OnWait(func(waiting bool) {
		if waiting {
			waits <- true
		}
	})
	f.Start(func(*Input) {}, func(time.Time) {})
	log, err := in.Next()
	must(t, err)
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(log)
		text <- string(all)
	}()
	wait := func() {
		t.Helper()
		select {
		case <-waits:
		case all := <-text:
			t.Fatalf("the log ends with %q", all)
		case <-time.After(clitest.Patience):
			t.Fatal("it does not wait")
		}
	}
	wait()
	must(t, os.Rename(path, path+".1"))
	file(t, path, "")
	in.look(new(message.Group))
	wait()
	extend(t, path+".1", "last\n")
	file(t, path, "new\n")
	in.look(new(message.Group))
	if all := <-text; all != "one\nlast\n" {
		t.Errorf("%q", all)
	}
}

// TestKilledAfterIdle: a log is not written for long, and the command is killed. Then the log gets
// a line, and a name that is not followed. A start finds the line.
func TestKilledAfterIdle(t *testing.T) {
	t.Parallel()
	path := file(t, filepath.Join(t.TempDir(), "a.hdr"), "one\n")
	must(t, os.Chtimes(path, time.Time{}, time.Now().Add(-24*time.Hour)))
	add := func(f *Follower) { f.AddFile(path) }
	r := read(t, add)
	r.awaitLines("a.hdr", "--", "one")
	r.await("the end of the data", func() bool { return r.inputs["a.hdr"].AtEnd() })
	marks := r.Marks()
	r.Close()
	extend(t, path, "two\n")
	must(t, os.Rename(path, path+".1"))
	file(t, path, "three\n")
	r = read(t, add, marks...)
	r.awaitLines("a.hdr", "--", "one", "two", "--", "three")
}

// TestEnded: a log is over in a state if all of its lines count, also the last one, which has no
// end.
func TestEnded(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: an open file has no other name there")
	}
	path := file(t, filepath.Join(t.TempDir(), "a.hdr"), "one\ntwo")
	f := New(Options{})
	defer f.Close()
	in := f.AddFile(path)
	must(t, os.Rename(path, path+".1"))
	file(t, path, "three\n")
	in.look(new(message.Group))
	log, err := in.Next()
	must(t, err)
	text, err := io.ReadAll(log)
	if must(t, err); string(text) != "one\ntwo" {
		t.Fatalf("%q", text)
	}
	for n, want := range []bool{false, true} {
		log.SetCounted(n+1, "", 1)
		if m := f.Marks(); m[0].Ended != want {
			t.Errorf("after %d lines: %t", n+1, m[0].Ended)
		}
	}
}

// TestGivenAgain: the looker takes a file, closes it, and gives it again before its reader notices.
func TestGivenAgain(t *testing.T) {
	t.Parallel()
	path := file(t, filepath.Join(t.TempDir(), "a"), "one\n")
	r := read(t, func(f *Follower) {
		f.options.Poll = time.Hour
		f.AddFile(path)
	})
	r.awaitLines("a", "--", "one")
	in := r.inputs["a"]
	clitest.Await(t, "the end", nil, in.AtEnd)
	log := in.logs[0]
	s := log.current()
	s.state = spare
	r.closeFile(s)
	if isThere, err := r.reopen(s); !isThere {
		t.Fatalf("it has its name: %v", err)
	}
	log.giveFile(s)
	extend(t, path, "two\n")
	in.signal()
	r.awaitLines("a", "--", "one", "two")
}

// TestWrittenAgain: a log that is written again, longer than before and at any moment, gives no
// line among those of the text before it.
func TestWrittenAgain(t *testing.T) {
	t.Parallel()
	path := file(t, filepath.Join(t.TempDir(), "a"), "")
	r := read(t, func(f *Follower) { f.AddFile(path) })
	const times = 300
	text := func(n int) string { return fmt.Sprintf("text %d\n", 1000+n) }
	for n := range times {
		file(t, path, strings.Repeat(text(n), n+1))
	}
	r.await("the last text", func() bool { return last(r.lines["a"])+"\n" == text(times-1) })
	r.mu.Lock()
	defer r.mu.Unlock()
	before := "--"
	for _, line := range r.lines["a"] {
		if len(line) < len(text(0))-1 && line != "--" {
			continue // cut by the next text
		}
		if line != before && line != "--" && before != "--" {
			t.Fatalf("%s after %s", line, before)
		}
		before = line
	}
}

// TestAtEnd checks that data that were not read are never the end, without waiting for the next
// look.
func TestAtEnd(t *testing.T) {
	t.Parallel()
	path := file(t, filepath.Join(t.TempDir(), "a"), "one\n")
	f := New(Options{Poll: time.Hour})
	defer f.Close()
	in := f.AddFile(path)
	f.Start(func(*Input) {}, func(time.Time) {})
	log, err := in.Next()
	must(t, err)
	if in.AtEnd() {
		t.Error("at the end before the first read")
	}
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, log)
		done <- err
	}()
	clitest.Await(t, "the end", nil, in.AtEnd)
	extend(t, path, "two\n")
	if in.AtEnd() {
		t.Error("at the end with data that were not read")
	}
	f.Abort()
	if err := <-done; err != ErrStopped {
		t.Error(err)
	}
}

// TestRenamedWhileLooked renames a compressed log that was read, in each of a few looks in a row,
// after the folder was listed. No look finds a name of it. It counts once all the same.
func TestRenamedWhileLooked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var text bytes.Buffer
	w := gzip.NewWriter(&text)
	w.Write([]byte("1\n"))
	w.Close()
	path := file(t, filepath.Join(dir, "a.hdr"), text.String())
	var mu sync.Mutex
	part, renames, looks := 1, 0, 0
	r := read(t, func(f *Follower) {
		f.AddMatching(dir, func(name string) bool {
			mu.Lock()
			defer mu.Unlock()
			if now := fmt.Sprintf("a.hdr.%d", part); name == now {
				if looks++; renames > 0 {
					renames--
					part++
					if err := os.Rename(filepath.Join(dir, now), filepath.Join(dir, fmt.Sprintf("a.hdr.%d", part))); err != nil {
						t.Error(err)
					}
				}
			}
			return true
		}, nil)
	})
	r.await("the log", func() bool { return len(r.lines["a.hdr"]) > 0 })
	must(t, os.Rename(path, path+".1"))
	file(t, path, "2\n")
	r.await("the next log", func() bool { return slices.Contains(r.lines["a.hdr"], "2") })
	mu.Lock()
	renames, looks = 5, 0
	mu.Unlock()
	r.await("looks", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return looks > 20 || len(r.lines) > 1
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) != 1 {
		t.Errorf("read %q", r.lines)
	}
}

// TestCopiedWhileLooked writes a log and copies it, at each step of a look. The log counts once,
// also if a look finds the copy first, at a name that it knows or not.
func TestCopiedWhileLooked(t *testing.T) {
	t.Parallel()
	for at, known := 1, true; ; at++ {
		path := filepath.Join(t.TempDir(), "a.hdr")
		steps := -1 << 30
		f := New(Options{BeforeAccess: func() {
			if steps++; steps == at {
				must(t, os.Rename(path+".1", path+".2"))
				file(t, path, "new\n")
				file(t, path+".1", "new\n")
			}
		}})
		if known {
			file(t, path+".1", "old\n")
		}
		f.AddMatching(filepath.Dir(path), func(string) bool { return true }, nil)
		f.handOverInputs(func(*Input) {})
		file(t, path+".1", "old\n")
		steps = 0
		for range 5 {
			f.lookAtInputs()
			f.match()
			f.tidy()
		}
		read := 0
		for _, l := range f.logs {
			if l.files != nil && string(l.files[0].textHead) == "new\n" {
				read++
			}
		}
		f.Close()
		switch {
		case steps < at && !known:
			return
		case steps < at:
			at, known = 0, false
		case read != 1:
			t.Errorf("at step %d, %t: %d logs have the text", at, known, read)
		}
	}
}

// TestLink: a symbolic link leads to another file while no command runs. The rest of the file
// before is in another folder, and has another name.
func TestLink(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: files have no identity")
	}
	dir, target := t.TempDir(), t.TempDir()
	link, first := filepath.Join(dir, "a"), file(t, filepath.Join(target, "one.hdr"), "one\n")
	must(t, os.Symlink(first, link))
	r := read(t, func(f *Follower) { f.AddFile(link) })
	r.awaitLines("a", "--", "one")
	r.Stop()
	marks := r.Marks()
	if len(marks) != 1 || marks[0].Target == "" {
		t.Fatalf("%+v", marks)
	}
	extend(t, first, "two\n")
	must(t, os.Rename(first, filepath.Join(target, "one.hdr.1")))
	must(t, os.Remove(link))
	must(t, os.Symlink(file(t, filepath.Join(target, "other.hdr"), "three\n"), link))
	r = read(t, func(f *Follower) { f.AddFile(link) }, marks...)
	r.awaitLines("a", "--", "one", "two", "--", "three")
}

// TestNoFile: a name that stands for no file any more is named, also if a pattern found it.
func TestNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := file(t, filepath.Join(dir, "a"), "one\n")
	r := read(t, func(f *Follower) { f.AddMatching(dir, func(string) bool { return true }, nil) })
	r.awaitLines("a", "--", "one")
	must(t, os.Remove(path))
	must(t, os.Mkdir(path, 0o777))
	r.awaitNotice("a is a pipe, a folder or a device, and no file any more; trying again")
}

// TestOpensLater: a rotation renames a log and creates an empty one. The program writes to the
// renamed file until it opens its log again, at any time later.
func TestOpensLater(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: an open file has no other name there")
	}
	path := file(t, filepath.Join(t.TempDir(), "a"), "one\n")
	r := read(t, func(f *Follower) { f.AddFile(path) })
	r.awaitLines("a", "--", "one")
	must(t, os.Rename(path, path+".1"))
	file(t, path, "")
	r.mu.Lock()
	in := r.inputs["a"]
	r.mu.Unlock()
	time.Sleep(50 * time.Millisecond) // many looks
	extend(t, path+".1", "two\n")
	r.awaitLines("a", "--", "one", "two")
	r.await("the end of the data", in.AtEnd)
	extend(t, path, "three\n")
	r.awaitLines("a", "--", "one", "two", "--", "three")
}

// TestOlddir: a rotation moves a log into a folder below its own, or copies it there and truncates
// it. It counts once.
func TestOlddir(t *testing.T) {
	t.Parallel()
	for _, copies := range []bool{false, true} {
		dir := t.TempDir()
		old := filepath.Join(dir, "old")
		must(t, os.Mkdir(old, 0o777))
		text := strings.Repeat("a line of the log\n", 50)
		path, rotated := file(t, filepath.Join(dir, "a.hdr"), text), filepath.Join(old, "a.hdr.1")
		r := read(t, func(f *Follower) {
			f.AddMatching(dir, regexp.MustCompile("^a").MatchString, nil)
			f.AddMatching(old, regexp.MustCompile("^a").MatchString, nil)
		})
		r.await("the log", func() bool { return len(r.lines["a.hdr"]) == 51 })
		if copies {
			file(t, rotated, text)
			file(t, path, "new\n")
		} else {
			must(t, os.Rename(path, rotated))
			file(t, path, "new\n")
		}
		r.awaitLast("a.hdr", "new")
		looks := func() int {
			r.Follower.mu.Lock()
			defer r.Follower.mu.Unlock()
			return r.Follower.scans
		}
		now := looks()
		r.await("looks", func() bool { return looks() > now+2 })
		r.mu.Lock()
		if len(r.lines) != 1 {
			t.Errorf("copies %t: read %q", copies, r.lines)
		}
		r.mu.Unlock()
	}
}

// TestGrowsBesideCopy: a rotated log gets a line after it was compressed, before it is removed.
func TestGrowsBesideCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := file(t, filepath.Join(dir, "a.hdr"), "one\n")
	r := read(t, func(f *Follower) { f.AddMatching(dir, func(string) bool { return true }, nil) })
	r.awaitLines("a.hdr", "--", "one")
	must(t, os.Rename(path, path+".1"))
	file(t, path, "new\n")
	r.awaitLines("a.hdr", "--", "one", "--", "new")
	file(t, path+".1.gz", packed(t, "one\n"))
	r.awaitNotice("a.hdr.1.gz is a copy of " + path + "; it counts once")
	extend(t, path+".1", "two\n")
	r.awaitLines("a.hdr.1", "--", "two")
}

// TestDecompressed: a compressed log is decompressed, and counts once.
func TestDecompressed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.hdr")
	file(t, path+".gz", packed(t, "one\ntwo\n"))
	r := read(t, func(f *Follower) { f.AddMatching(dir, func(string) bool { return true }, nil) })
	r.awaitLines("a.hdr.gz", "--", "one", "two")
	file(t, path, "one\n")
	extend(t, path, "two\n")
	r.awaitNotice("a.hdr is a copy of " + path + ".gz; it counts once")
	must(t, os.Remove(path+".gz"))
	extend(t, path, "three\n")
	r.awaitLines("a.hdr.gz", "--", "one", "two", "three")
}

// TestBothLonger: while no command runs, a log is compressed with a further line, and another log
// appears that begins alike. A line of each is new, and the other one counts from its start.
func TestBothLonger(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "b"), 0o777))
	path := file(t, filepath.Join(dir, "a.hdr"), "one\n")
	add := func(f *Follower) {
		for _, folder := range []string{dir, filepath.Join(dir, "b")} {
			f.AddMatching(folder, func(name string) bool { return name != "b" }, nil)
		}
	}
	r := read(t, add)
	r.awaitLines("a.hdr", "--", "one")
	r.Stop()
	marks := r.Marks()
	must(t, os.Remove(path))
	file(t, path+".2.gz", packed(t, "one\ntwo\n"))
	file(t, filepath.Join(dir, "b", "a.hdr"), "one\nthree\n")
	r = read(t, add, marks...)
	r.awaitLines("a.hdr.2.gz", "--", "one", "two")
	r.awaitLines("a.hdr", "--", "one", "three")
}

// TestHeader: the comments of a log hold for what rotation makes of it, and not for another log
// whose name begins alike.
func TestHeader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := file(t, filepath.Join(dir, "run.hdr"), "one\n")
	f := New(Options{})
	defer f.Close()
	f.AddFile(path).logs[0].SetCounted(1, "#[StartTime: 5]\n", 1)
	for name, want := range map[string]bool{"run.hdr.1": true, "run-20260102.hdr": true, "run_errors.hdr": false, "runs.hdr": false} {
		in := f.AddFile(file(t, filepath.Join(dir, name), name+"\n"))
		if m := in.logs[0].Mark(); (m != nil) != want {
			t.Errorf("%s: %v", name, m)
		}
	}
}

// TestEmptyFiles: empty files that come do not have all logs looked at again.
func TestEmptyFiles(t *testing.T) {
	t.Parallel()
	const logs = 50
	dir := t.TempDir()
	steps := 0
	f := New(Options{BeforeAccess: func() { steps++ }})
	defer f.Close()
	for n := range logs {
		file(t, filepath.Join(dir, fmt.Sprint("node", n)), fmt.Sprintln(n))
	}
	f.AddMatching(dir, func(string) bool { return true }, nil)
	f.handOverInputs(func(*Input) {})
	steps = 0
	f.match()
	before := steps
	for n := range logs {
		file(t, filepath.Join(dir, fmt.Sprint("empty", n)), "")
	}
	steps = 0
	f.match()
	if steps > before+2*logs {
		t.Errorf("%d accesses to files, and %d without %d empty ones", steps, before, logs)
	}
}

// TestBase: rotation adds something to the names of one log.
func TestBase(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"node.hdr":                            "node.hdr",
		"node.hdr.1":                          "node.hdr",
		"node.hdr.12.gz":                      "node.hdr",
		"node.1.hdr":                          "node.hdr",
		"node-20260102.hdr.zst":               "node.hdr",
		"node-2026-01-02T03-04-05.678.hdr.gz": "node.hdr",
		"node.hdr-20260102-1767312000":        "node.hdr",
		"node.hdr.bak":                        "node.hdr",
		"node.hdr~":                           "node.hdr",
		"node1.hdr":                           "node1.hdr",
		"node_errors.hdr":                     "node_errors.hdr",
		"0.log":                               "0.log",
		"0.log.20260102-030405.gz":            "0.log",
		"log":                                 "log",
		"log.3":                               "log",
		"2026-01-02.hdr":                      "2026.hdr",
	} {
		if got := base(filepath.Join("folder", name)); got != want {
			t.Errorf("%s has the base %s, not %s", name, got, want)
		}
	}
}
