// Package structure tests the structure of the repository: which package imports which, and the
// width of comments.
package structure

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// A listed package is what go list prints of a package.
type listed struct {
	ImportPath string
	Imports    []string
	Module     struct{ Path string }
}

// list returns the packages of the module, without those that have only tests.
func list(t *testing.T) []listed {
	t.Helper()
	command := exec.Command("go", "list", "-json=ImportPath,Imports,Module", "./...")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if len(p.Imports) > 0 {
			packages = append(packages, p)
		}
	}
	return packages
}

// code finds what is between back quotes.
var code = regexp.MustCompile("`([^`]+)`")

// table returns the rows of a table of docs/ARCHITECTURE.md, the one after the heading. A row is
// the names in back quotes of each of its cells.
func table(t *testing.T, heading string) (rows [][][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("docs/ARCHITECTURE.md has no section %s", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		var row [][]string
		for cell := range strings.SplitSeq(strings.Trim(line, "| \n"), "|") {
			var names []string
			for _, match := range code.FindAllStringSubmatch(cell, -1) {
				names = append(names, match[1])
			}
			row = append(row, names)
		}
		if len(row[0]) > 0 {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		t.Fatalf("section %s of docs/ARCHITECTURE.md has no table", heading)
	}
	return rows
}

// matches reports whether a pattern of docs/ARCHITECTURE.md has a package. A pattern that ends with
// /... has all packages below.
func matches(pattern, path string) bool {
	prefix, below := strings.CutSuffix(pattern, "/...")
	return path == prefix || below && strings.HasPrefix(path, prefix+"/")
}

// TestImports checks the table of layers: a package imports packages of its own row and of the rows
// above.
func TestImports(t *testing.T) {
	rows := table(t, "Packages")
	// layer returns the row whose pattern for a package is the longest.
	layer := func(path string) int {
		longest, found := -1, -1
		for n, row := range rows {
			for _, pattern := range row[0] {
				if size := len(strings.TrimSuffix(pattern, "/...")); matches(pattern, path) && size > longest {
					longest, found = size, n
				}
			}
		}
		return found
	}
	used := make(map[int]bool)
	for _, p := range list(t) {
		own := func(path string) string { return strings.TrimPrefix(path, p.Module.Path+"/") }
		from := layer(own(p.ImportPath))
		if from < 0 {
			t.Errorf("%s is in no row of the table of packages", own(p.ImportPath))
			continue
		}
		used[from] = true
		for _, path := range p.Imports {
			if !strings.HasPrefix(path, p.Module.Path+"/") {
				continue
			}
			if to := layer(own(path)); to > from {
				t.Errorf("%s imports %s, which is in a row below", own(p.ImportPath), own(path))
			}
		}
	}
	for n, row := range rows {
		if !used[n] {
			t.Errorf("the table of packages has %v, but there is no such package", row[0])
		}
	}
}

// TestDependencies checks the table of dependencies: only the packages in a row import its modules.
func TestDependencies(t *testing.T) {
	rows := table(t, "Dependencies")
	used := make(map[string]bool) // by module and package
	for _, p := range list(t) {
		importer := strings.TrimPrefix(p.ImportPath, p.Module.Path+"/")
		for _, path := range p.Imports {
			first, _, _ := strings.Cut(path, "/")
			if !strings.Contains(first, ".") || path == p.Module.Path || strings.HasPrefix(path, p.Module.Path+"/") {
				continue
			}
			allowed := false
			for _, row := range rows {
				for _, module := range row[0] {
					for _, pattern := range row[1] {
						if matches(module+"/...", path) && matches(pattern, importer) {
							allowed = true
							used[module+" "+pattern] = true
						}
					}
				}
			}
			if !allowed {
				t.Errorf("%s imports %s, which the table of dependencies does not have", importer, path)
			}
		}
	}
	for _, row := range rows {
		for _, module := range row[0] {
			for _, pattern := range row[1] {
				if !used[module+" "+pattern] {
					t.Errorf("the table of dependencies has %s for %s, which does not import it", module, pattern)
				}
			}
		}
	}
}

// TestViewer checks that hdrkit.html has no code that draws in Go: with fonts and PDF it would be
// twice as large.
func TestViewer(t *testing.T) {
	command := exec.Command("go", "list", "-deps", "./internal/viewer/wasm")
	command.Dir = root
	command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		if strings.HasSuffix(strings.TrimSpace(path), "/internal/chart/draw") || strings.HasPrefix(path, "gonum.org/v1/plot") {
			t.Errorf("hdrkit.html has %s", path)
		}
	}
}
