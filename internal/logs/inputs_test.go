package logs

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
)

// FuzzWhole compares with the expression between anchors, which is another form of it: one that
// some expressions do not have.
func FuzzWhole(f *testing.F) {
	for _, pattern := range []string{"a", ".*", "a|ab", "a.*?", "a)|(b", `\Qnode1`, `(?i)NODE\d`, "^node1$", "(?m)^a$", "", "a||b", `[[:alpha:]]*1`} {
		for _, name := range []string{"a", "ab", "b", "node1", "node1.hdr", "a\nb", "größe", "\xff"} {
			f.Add(pattern, name)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		expression, err := regexp.Compile(pattern)
		if err != nil || filepath.Base(name) != name { // no file has such a name
			return
		}
		got := len(wholeMatches(expression, []string{name})) > 0
		anchored, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
		if err != nil || strings.Contains(pattern, `\Q`) {
			return // the anchors became a part of the expression
		}
		if want := anchored.MatchString(name); got != want {
			t.Errorf("%q matches all of %q: %v, want %v", pattern, name, got, want)
		}
	})
}

func TestSuggest(t *testing.T) {
	names := []string{"after.hdr", "insert-rt.fixed.hdr", "insert-st.fixed.hdr", "node1.hdr", "node2.hdr"}
	for pattern, want := range map[string]string{
		"*.hdr":       `; '.*\.hdr' matches 5 names, such as after.hdr`,
		"node?.hdr":   `; 'node.\.hdr' matches 2 names, such as node1.hdr`,
		`.*-rt\.hdr`:  `; '.*-rt.*\.hdr' matches 1 name, such as insert-rt.fixed.hdr`,
		".*-rt.hdr":   `; '.*-rt.*\.hdr' matches 1 name, such as insert-rt.fixed.hdr`,
		"rt":          `; '.*rt.*' matches 2 names, such as insert-rt.fixed.hdr`,
		"node":        `; 'node.*' matches 2 names, such as node1.hdr`,
		"1.hdr":       `; '.*1.hdr' matches 1 name, such as node1.hdr`,
		"aftr.hdr":    `; did you mean "after.hdr"?`,
		"nothing.log": "",
		"(":           "",
	} {
		if got := suggest(pattern, names, "name"); got != want {
			t.Errorf("%q: %s, want %s", pattern, got, want)
		}
	}
}

// TestTagged splits values of -tif. Names of files may contain a =.
func TestTagged(t *testing.T) {
	for tagged, want := range map[string][2]string{
		"T=f.hdr":     {"T", "f.hdr"},
		"T=a=b.hdr":   {"T", "a=b.hdr"},
		"==f.hdr":     {"", ""},
		"T=node.*":    {"T", "node.*"},
		"x=y=node.*":  {"x", "y=node.*"},
		"=f.hdr":      {"", ""},
		"T=":          {"", ""},
		"T":           {"", ""},
		"":            {"", ""},
		"a b=f.hdr":   {"", ""},
		"a,b=f.hdr":   {"", ""},
		"größe=f.hdr": {"größe", "f.hdr"},
	} {
		tag, log, err := splitTagged(tagged)
		if tag != want[0] || log != want[1] || (err != nil) != (want[0] == "") {
			t.Errorf("%q: %q, %q, %v, want %q", tagged, tag, log, err, want)
		}
	}
}

// TestInputs chooses logs by all options together.
func TestInputs(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"b1.hdr", "b2.hdr", "a.hdr", "c"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var stderr bytes.Buffer
	std := &message.Streams{Name: "test", In: strings.NewReader(""), Err: &stderr}
	in := Inputs{Folder: folder, Names: []string{"a.hdr", "-", `b.\.hdr`}, Paths: []string{filepath.Join(folder, "c")}, Tagged: []string{"T=b2.hdr"}, Second: hdrlog.SecondEnd}
	names := func() (names []string) {
		inputs, err := in.Find(std)
		if err != nil {
			t.Fatal(err)
		}
		for _, input := range inputs {
			names = append(names, filepath.Base(input.Name)+":"+input.Tag)
			if input.Second != in.Second {
				t.Errorf("%s has another second number", input.Name)
			}
		}
		return names
	}
	if got, want := names(), []string{"a.hdr:", "-:", "b1.hdr:", "b2.hdr:T", "c:"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if stderr.String() != "test: 'b.\\.hdr' matches 2 files: b1.hdr, b2.hdr\n" {
		t.Errorf("%q", stderr.String())
	}
	in = Inputs{Folder: "."}
	if got := names(); !slices.Equal(got, []string{"-:"}) {
		t.Errorf("without any, %q", got)
	}
}
