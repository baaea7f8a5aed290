package tags

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestFilter(t *testing.T) {
	t.Parallel()
	all := [][]byte{nil, {}, []byte("default"), []byte("a"), []byte("ab"), []byte("a.b"), []byte("axb"), []byte("a\x1b")}
	for _, test := range []struct {
		name             string
		include, exclude string // between spaces
		want             string
		unmatched        string
	}{
		{"all", "", "", "default % %64efault a ab a.b axb a%1B", ""},
		{"default is untagged", "default", "", "default", ""},
		{"a tag spelled default", "%64efault", "", "%64efault", ""},
		{"not untagged", "", "default", "% %64efault a ab a.b axb a%1B", ""},
		{"the empty tag", "%", "", "%", ""},
		{"control character", "a%1B a", "a", "a%1B", ""},
		{"a dot is a dot", "a.b", "", "a.b", ""},
		{"a dot in an expression is any character", "a.?b", "", "ab a.b axb", ""},
		{"lists", "a,ab a.b", "", "a ab a.b", ""},
		{"lists leave out", "", "a,ab", "default % %64efault a.b axb a%1B", ""},
		{"the whole tag", "a+", "", "a", ""},
		{"an alternative that is longer", "a|ab", "", "a ab", ""},
		{"a lazy one", "a.*?", "", "a ab a.b axb a%1B", ""},
		{"quoted", `\Qa.b`, "", "a.b", ""},
		{"an expression does not choose untagged intervals", ".*", "", "% %64efault a ab a.b axb a%1B", ""},
		{"nor the word default", "d.*", "", "", "d.*"},
		{"nor leaves them out", "", ".*", "default", ""},
		{"include and exclude", "a.*", ".*b", "a a%1B", ""},
		{"unmatched", "a,b,c+", "ab,y", "a", "b c+ y"},
		{"unmatched, though left out", "a", "ab,a", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := NewFilter(strings.Fields(test.include), strings.Fields(test.exclude))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time from memory
				var kept []string
				for _, tag := range all {
					if f.Keeps(tag) {
						kept = append(kept, Text(tag))
					}
				}
				if got := strings.Join(kept, " "); got != test.want {
					t.Errorf("keeps %s, want %s", got, test.want)
				}
			}
			include, exclude := f.Unmatched()
			if got := strings.Join(append(include, exclude...), " "); got != test.unmatched {
				t.Errorf("unmatched %s, want %s", got, test.unmatched)
			}
			if f.All() != (test.name == "all") {
				t.Errorf("All returns %v", f.All())
			}
			if want := []string{"%", "%64efault", "a", "a%1B", "a.b", "ab", "axb", "default"}; !f.All() && !slices.Equal(f.Seen(), want) {
				t.Errorf("seen %q", f.Seen())
			}
		})
	}
	var zero Filter
	if !zero.Keeps(nil) || !zero.Keeps([]byte("a")) || !zero.All() {
		t.Error("the zero filter does not keep all")
	}
}

func TestFilterErrors(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"a)|(b": "\"a)|(b\": unexpected ): `a)|(b`",
		"a,,b":  "an empty pattern matches no tag; the empty tag is %",
		"":      "an empty pattern matches no tag; the empty tag is %",
		"a,*":   "\"*\": missing argument to repetition operator: `*`",
	} {
		for _, lists := range [][2][]string{{{list}, nil}, {nil, {list}}} {
			if _, err := NewFilter(lists[0], lists[1]); fmt.Sprint(err) != want {
				t.Errorf("%q: %v, want %s", list, err, want)
			}
		}
	}
}

// TestFilterConcurrent has several goroutines ask about new tags. The race detector watches.
func TestFilterConcurrent(t *testing.T) {
	t.Parallel()
	f, err := NewFilter([]string{".*[02468]"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for n := range 500 {
				if f.Keeps(fmt.Append(nil, n)) != (n%2 == 0) {
					t.Errorf("wrong about %d", n)
				}
			}
		})
	}
	group.Wait()
}

// TestBounded: what a filter and rows remember of tags is bounded, and later tags are decided as
// well.
func TestBounded(t *testing.T) {
	t.Parallel()
	f, err := NewFilter([]string{"a.*"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := ParseBy("(a).*")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 4000)
	for n := range 5000 {
		for _, first := range "ab" {
			tag := fmt.Appendf(nil, "%c%d%s", first, n, long)
			row := string(b.Row("log", tag))
			if f.Keeps(tag) != (first == 'a') || first == 'a' && row != "a" || first == 'b' && row != string(tag) {
				t.Fatalf("%s is in %s", tag, row)
			}
		}
	}
	if len(f.kept) > maxCached/4000 || len(b.rows) > maxCached/4000 {
		t.Errorf("%d and %d tags are kept", len(f.kept), len(b.rows))
	}
}

// TestCharacters: a dot is one character of a tag, not one byte.
func TestCharacters(t *testing.T) {
	f, err := NewFilter([]string{"^.$"}, []string{"^..$"})
	if err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]bool{"é": true, "€": true, "e": true, "é€": false, "ab": false} {
		if got := f.Keeps([]byte(tag)); got != want {
			t.Errorf("%s: %v, want %v", tag, got, want)
		}
	}
}
