package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestStatementsApart finds statements that stand before a condition that does not use what they
// set, as in "if a = b; c". Such a statement has a line of its own.
func TestStatementsApart(t *testing.T) {
	for _, folder := range []string{"hdrlog", "tags", "output", "internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				checkStatements(t, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checkStatements checks a file.
func checkStatements(t *testing.T, path string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		var before ast.Stmt
		var condition ast.Expr
		switch statement := node.(type) {
		case *ast.IfStmt:
			before, condition = statement.Init, statement.Cond
		case *ast.SwitchStmt:
			before, condition = statement.Init, statement.Tag
		}
		if before != nil && !usesSet(condition, before) {
			t.Errorf("%s: a statement stands before a condition that does not use it", files.Position(node.Pos()))
		}
		return true
	})
}

// usesSet reports whether a condition uses a name that the statement before it sets.
func usesSet(condition ast.Expr, before ast.Stmt) bool {
	set := make(map[string]bool)
	switch before := before.(type) {
	case *ast.AssignStmt:
		for _, left := range before.Lhs {
			set[nameOf(left)] = true
		}
	case *ast.IncDecStmt:
		set[nameOf(before.X)] = true
	}
	used := false
	if condition != nil {
		ast.Inspect(condition, func(node ast.Node) bool {
			if e, ok := node.(ast.Expr); ok && nameOf(e) != "" && set[nameOf(e)] {
				used = true
			}
			return true
		})
	}
	return used
}

// nameOf returns the text of a name or of selectors, and an empty one for other expressions.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return nameOf(e.X) + "." + e.Sel.Name
	case *ast.StarExpr:
		return nameOf(e.X)
	case *ast.ParenExpr:
		return nameOf(e.X)
	case *ast.IndexExpr:
		return nameOf(e.X)
	}
	return ""
}
