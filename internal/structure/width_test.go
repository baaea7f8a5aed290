package structure

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is the width of a comment line, in columns. A tab has four.
const maxColumns = 100

var update = flag.Bool("update", false, "break comment lines that are too wide")

// TestCommentWidth checks the width of comment lines. With -update it breaks them.
func TestCommentWidth(t *testing.T) {
	command := exec.Command("git", "ls-files", "*.go")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Skip("the sources are not in a git repository: ", err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		path := filepath.Join(root, filepath.FromSlash(name))
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		if *update {
			if broken := strings.Join(breakComments(lines), "\n"); broken != string(text) {
				if err := os.WriteFile(path, []byte(broken), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		for n, line := range lines {
			if isWide(line) {
				t.Errorf("%s:%d: the comment has more than %d columns; go test ./internal/structure -update breaks it", name, n+1, maxColumns)
			}
		}
	}
}

// comment finds lines that are a comment and nothing else.
var comment = regexp.MustCompile(`^(\t*)// (\S.*)$`)

// isWide reports whether a line is a comment that is too wide. Directives and links cannot be
// broken.
func isWide(line string) bool {
	columns := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
	text := strings.TrimSpace(line)
	return columns > maxColumns && strings.HasPrefix(text, "// ") && strings.Count(text, " ") > 1 && !strings.Contains(text, "://")
}

// breakComments breaks the comments that have a line that is too wide, paragraph by paragraph.
func breakComments(lines []string) []string {
	var result []string
	for n := 0; n < len(lines); {
		match := comment.FindStringSubmatch(lines[n])
		if match == nil {
			result = append(result, lines[n])
			n++
			continue
		}
		indent, end := match[1], n
		var words []string
		for ; end < len(lines); end++ {
			next := comment.FindStringSubmatch(lines[end])
			if next == nil || next[1] != indent || end > n && strings.HasPrefix(next[2], "- ") {
				break
			}
			words = append(words, strings.Fields(next[2])...)
		}
		output := slices.ContainsFunc(lines[n:end], func(line string) bool { return strings.HasSuffix(line, "utput:") }) // of an example
		if output || !slices.ContainsFunc(lines[n:end], isWide) {
			result = append(result, lines[n:end]...)
		} else {
			result = append(result, fill(indent+"// ", words)...)
		}
		n = end
	}
	return result
}

// fill puts words on lines that begin with a prefix.
func fill(prefix string, words []string) []string {
	var lines []string
	line := prefix + words[0]
	for _, word := range words[1:] {
		if utf8.RuneCountInString(line+" "+word)+3*strings.Count(prefix, "\t") > maxColumns {
			lines = append(lines, line)
			line = prefix + word
			continue
		}
		line += " " + word
	}
	return append(lines, line)
}
