package tags

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFileName(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, test := range []struct {
		tag  string
		fold bool
		want string
	}{
		{"insert-rt", false, "insert-rt.a.hdr"},
		{"insert-rt", true, "insert-rt.a.hdr"},
		{"load-gen::READ", false, "load-gen%3A%3AREAD.a.hdr"},
		{"load-gen::READ", true, "load-gen%3A%3A%52%45%41%44.a.hdr"},
		{"a/b", false, "a%2Fb.a.hdr"},
		{"..", false, "%2E..a.hdr"},
		{".", false, "%2E.a.hdr"},
		{"..\\..", false, "%2E.%5C...a.hdr"},
		{"größe", false, "größe.a.hdr"},
		{"-of=x", false, "%2Dof=x.a.hdr"},
		{"-", true, "%2D.a.hdr"},
		{"größe", true, "gr%C3%B6%C3%9Fe.a.hdr"},
		{"\xff\x00\n", false, "%FF%00%0A.a.hdr"},
		{"default", false, "%64efault.a.hdr"},
		{"default", true, "%64efault.a.hdr"},
		{"Default", true, "%44efault.a.hdr"},
		{"nul", true, "%6Eul.a.hdr"},
		{"com1.x", true, "%63om1.x.a.hdr"},
		{"NUL", true, "%4E%55%4C.a.hdr"},
		{"nul", false, "nul.a.hdr"},
		{"common", true, "common.a.hdr"},
		{"100%", false, "100%25.a.hdr"},
		{"", false, "%.a.hdr"},
		{"%", false, "%25.a.hdr"},
		{long, false, long[:255-len(".a.hdr")-17] + "~f9ae9b1e28d13b32.a.hdr"},
	} {
		got := FileName("", []byte(test.tag), ".a.hdr", test.fold)
		if test.tag != long && got != test.want || test.tag == long && got[:232] != test.want[:232] {
			t.Errorf("FileName(%q, %v) = %q, want %q", test.tag, test.fold, got, test.want)
		}
		tag, err := url.PathUnescape(strings.TrimSuffix(got, ".a.hdr"))
		if test.tag != long && test.tag != "" && (err != nil || tag != test.tag) {
			t.Errorf("%q decodes to %q, %v", got, tag, err)
		}
	}
	if got := FileName("", nil, ".a.hdr", false); got != "default.a.hdr" {
		t.Errorf("untagged intervals go to %q", got)
	}
}

// TestFileNameAround: what stands before and after the tag may be long, too.
func TestFileNameAround(t *testing.T) {
	seen := make(map[string]bool)
	for _, tag := range []string{"read", "write", strings.Repeat("x", 300), strings.Repeat("x", 299)} {
		for _, before := range []int{0, 1, 63, 64, 100, 187, 190, 251, 255, 300} {
			for _, after := range []int{0, 4, 60, 70, 190, 191, 300} {
				name := FileName(strings.Repeat("b", before), []byte(tag), strings.Repeat("a", after), false)
				if len(name) > maxFileName || seen[name] {
					t.Errorf("%d bytes before and %d after: %d bytes, %q", before, after, len(name), name)
				}
				seen[name] = true
				whole := strings.Repeat("b", before) + tag + strings.Repeat("a", after)
				if len(whole) <= maxFileName && name != whole {
					t.Errorf("%q is cut to %q", whole, name)
				}
			}
		}
	}
}

// FuzzFileName checks that a name can be created, stays in its folder and belongs to one tag only.
func FuzzFileName(f *testing.F) {
	folder := f.TempDir()
	for _, tag := range []string{"", "a", "A", "ſ", "s", "default", "a/b", "%2F", "~", strings.Repeat("ü", 200), strings.Repeat("%", 200)} {
		for _, other := range []string{"", "a", "a%2Fb", strings.Repeat("ü", 199) + "x"} {
			f.Add(tag, other, ".a.hdr", true)
			f.Add(tag, other, "."+strings.Repeat("é", 140), false)
		}
	}
	f.Fuzz(func(t *testing.T, a, b, after string, fold bool) {
		if strings.ContainsAny(after, "/\x00") || !utf8.ValidString(after) || len(after) < 3 || after[0] != '.' {
			return
		}
		name, other := FileName("", []byte(a), after, fold), FileName("", []byte(b), after, fold)
		switch {
		case len(name) > maxFileName || strings.ContainsAny(name, "/\x00") || name[0] == '.':
			t.Errorf("%q is not a file name", name)
		case a != b && name == other, a != b && fold && strings.EqualFold(name, other) && len(after) < 100:
			t.Errorf("%q and %q both give %q", a, b, name)
		case utf8.ValidString(name) != utf8.ValidString(after):
			t.Errorf("%q is not UTF-8", name)
		}
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Error(err)
		}
		os.Remove(path)
	})
}
