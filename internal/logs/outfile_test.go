package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/quick"

	"hdrkit/internal/scan"
)

// limited is a writer that fails after left bytes.
type limited struct {
	w    io.Writer
	left int
}

var errLimited = errors.New("no more")

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		n, _ := l.w.Write(p[:l.left])
		l.left = 0
		return n, errLimited
	}
	l.left -= len(p)
	return l.w.Write(p)
}

// contents returns the names of the files in a folder, and their contents.
func contents(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, entry := range entries {
		text, _ := os.ReadFile(filepath.Join(folder, entry.Name()))
		fmt.Fprintf(&b, "%s=%s ", entry.Name(), text)
	}
	return strings.TrimSpace(b.String())
}

// TestWriteFiles writes a set of files, and lets the writing fail at every byte in turn: then no
// file has changed.
func TestWriteFiles(t *testing.T) {
	folder := t.TempDir()
	old := filepath.Join(folder, "b")
	if err := os.WriteFile(old, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"a": "new a", "b": "new b", "c": ""}
	size := len("new a" + "new b")
	for limit := range size + 1 {
		left := limit
		var files []File
		for _, name := range []string{"a", "b", "c"} {
			files = append(files, File{Path: filepath.Join(folder, name), Write: func(w io.Writer) error {
				l := &limited{w, left}
				_, err := io.WriteString(l, texts[name])
				left = l.left
				return err
			}})
		}
		err := WriteFiles(io.Discard, nil, files...)
		if limit < size {
			if got := contents(t, folder); !errors.Is(err, errLimited) || got != "b=old" {
				t.Errorf("%d bytes: %v, and the folder holds %q", limit, err, got)
			}
			continue
		}
		if got := contents(t, folder); err != nil || got != "a=new a b=new b c=" {
			t.Errorf("%v, and the folder holds %q", err, got)
		}
	}
}

// TestWriteFilesOne has the last of three files fail when all are written: its place is a
// folder. The others have their places.
func TestWriteFilesOne(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a"), []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	var files []File
	for _, name := range []string{"a", "b", "c"} {
		files = append(files, File{Path: filepath.Join(folder, name), Write: func(w io.Writer) error {
			if name == "c" { // another program makes it
				if err := os.Mkdir(filepath.Join(folder, "c"), 0o777); err != nil {
					return err
				}
			}
			_, err := io.WriteString(w, "new")
			return err
		}})
	}
	err := WriteFiles(io.Discard, nil, files...)
	if got := contents(t, folder); err == nil || got != "a=new b=new c=" {
		t.Errorf("%v, and the folder holds %q", err, got)
	}
}

func TestWriteStdoutFails(t *testing.T) {
	const text = "one\ntwo\nand the rest"
	for limit := range len(text) {
		var got bytes.Buffer
		err := WriteFile("-", &limited{&got, limit}, nil, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		if err != errLimited || got.String() != text[:limit] {
			t.Errorf("%d bytes: %v, and %q is written", limit, err, got.String())
		}
	}
}

// recorder keeps each write.
type recorder struct{ writes []string }

func (r *recorder) Write(p []byte) (int, error) {
	r.writes = append(r.writes, string(p))
	return len(p), nil
}

// TestLines checks that lines writes whole lines, in writes that are no larger than a pipe takes at
// once, unless a line is.
func TestLines(t *testing.T) {
	check := func(pieces []string, flush bool) bool {
		var out recorder
		l := &LineWriter{w: &out, maxBytes: 16}
		for _, piece := range pieces {
			piece = strings.ReplaceAll(piece, "0", "\n")
			l.Write([]byte(piece))
			if flush && strings.HasSuffix(piece, "\n") {
				l.Flush()
			}
		}
		l.Flush()
		for n, text := range out.writes {
			last := n == len(out.writes)-1
			if !strings.HasSuffix(text, "\n") && !last || len(text) > l.maxBytes && strings.Contains(text[:len(text)-1], "\n") {
				t.Errorf("%q is written at once", text)
				return false
			}
		}
		return strings.Join(out.writes, "") == strings.ReplaceAll(strings.Join(pieces, ""), "0", "\n")
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 500}); err != nil {
		t.Error(err)
	}
	for size := range 40 {
		for every := 1; every < 40; every++ {
			text := strings.Repeat(strings.Repeat("x", every-1)+"0", 5) + strings.Repeat("y", size)
			if !check([]string{text[:size], text[size:]}, true) {
				t.Errorf("lines of %d bytes, cut at %d", every, size)
			}
		}
	}
	var out recorder
	l := &LineWriter{w: &out, maxBytes: pipeWrite}
	for range 2 * stdoutBuffer / 4 {
		l.Write([]byte("row\n"))
	}
	if len(out.writes) == 0 {
		t.Error("nothing is written before the end")
	}
	if l.Flush(); len(strings.Join(out.writes, "")) != 2*stdoutBuffer {
		t.Error("lines are lost")
	}
}

// TestLinesPrintable: on a terminal no byte of a log's line controls it.
func TestLinesPrintable(t *testing.T) {
	var out recorder
	l := &LineWriter{w: &out, maxBytes: stdoutBuffer, printable: true}
	l.Write([]byte("a\x1b[2Jb\nc\r\xff"))
	l.Write([]byte("\nd"))
	l.Flush()
	if got, want := strings.Join(out.writes, ""), "a\\x1b[2Jb\nc\\r\\xff\nd"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLinesBuffer checks that lines are written when the buffer is full, not before.
func TestLinesBuffer(t *testing.T) {
	var out recorder
	l := &LineWriter{w: &out, maxBytes: stdoutBuffer}
	for range stdoutBuffer/4 - 1 {
		l.Write([]byte("row\n"))
	}
	if len(out.writes) > 0 {
		t.Errorf("%d writes before the buffer is full", len(out.writes))
	}
	if l.Write([]byte("row\n")); len(out.writes) != 1 {
		t.Errorf("%d writes after that", len(out.writes))
	}
}

// TestWriteFileErrors writes where that is not possible.
func TestWriteFileErrors(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	if err := os.Symlink("loop", in("loop")); err != nil {
		t.Skipf("skipped, since there are no symbolic links: %v", err)
	}
	if err := os.WriteFile(in("log"), []byte("log"), 0o666); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(in("log"))
	if err != nil {
		t.Fatal(err)
	}
	inputs := []scan.Input{{Name: "log", Info: info}}
	good := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	bad := func(w io.Writer) error { return errLimited }
	for _, test := range []struct {
		path  string
		write func(w io.Writer) error
		want  string
		linux bool
	}{
		{in("log"), good, "output " + in("log") + " is also an input", false},
		{in("loop"), good, "open " + in("loop") + ": too many levels of symbolic links", true},
		{in("no/where"), good, "open " + in("no/where") + ": no such file or directory", true},
		{in("new"), bad, errLimited.Error(), false},
		{"-", bad, errLimited.Error(), false},
		{"/dev/fd/99", good, "open /dev/fd/99: no such file or directory", true},
	} {
		if test.linux && runtime.GOOS != "linux" {
			continue
		}
		if err := WriteFile(test.path, io.Discard, inputs, test.write); fmt.Sprint(err) != test.want {
			t.Errorf("%s: %v, want %s", test.path, err, test.want)
		}
	}
	if got := contents(t, folder); got != "log=log loop=" {
		t.Errorf("the folder holds %q", got)
	}
}

func TestCheckOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	input := scan.File(path, 0)
	input.Info = info
	for _, test := range []struct {
		path   string
		stdout io.Writer
		want   string
	}{
		{path, io.Discard, "output " + path + " is also an input"},
		{path + "2", io.Discard, ""},
		{"-", io.Discard, ""},
		{"-", f, "standard output is also an input"},
		{"", f, "standard output is also an input"},
		{"/dev/stdout", f, "standard output is also an input"},
		{path + "2", f, ""},
	} {
		err := CheckOutput(test.path, test.stdout, []scan.Input{input})
		if got := fmt.Sprint(err); got != test.want && (err != nil || test.want != "") {
			t.Errorf("output %q: %v, want %q", test.path, err, test.want)
		}
	}
}
