package structure

import (
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// surface finds the types that an exported name of a public package shows.
type surface struct {
	module string   // with a slash
	wrong  []string // what others cannot name
}

// show looks at a type that a name shows.
func (s *surface) show(name string, t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		s.show(name, types.Unalias(t))
	case *types.Named:
		if of := t.Obj(); of.Pkg() != nil && strings.HasPrefix(of.Pkg().Path(), s.module) && (!of.Exported() || strings.Contains(of.Pkg().Path(), "/internal/")) {
			s.wrong = append(s.wrong, fmt.Sprintf("%s has the type %s", name, types.TypeString(t, nil)))
		}
		for argument := range t.TypeArgs().Types() {
			s.show(name, argument)
		}
	case *types.Pointer:
		s.show(name, t.Elem())
	case *types.Slice:
		s.show(name, t.Elem())
	case *types.Array:
		s.show(name, t.Elem())
	case *types.Chan:
		s.show(name, t.Elem())
	case *types.Map:
		s.show(name, t.Key())
		s.show(name, t.Elem())
	case *types.Signature:
		for v := range t.Params().Variables() {
			s.show(name, v.Type())
		}
		for v := range t.Results().Variables() {
			s.show(name, v.Type())
		}
	case *types.Struct:
		for field := range t.Fields() {
			if field.Exported() {
				s.show(name+"."+field.Name(), field.Type())
			}
		}
	case *types.Interface:
		for method := range t.Methods() {
			s.show(name+"."+method.Name(), method.Type())
		}
	}
}

// declare looks at an exported name of a package.
func (s *surface) declare(o types.Object) {
	name := o.Pkg().Path() + "." + o.Name()
	if _, ok := o.(*types.TypeName); !ok {
		s.show(name, o.Type())
		return
	}
	t := o.Type()
	s.show(name, t.Underlying())
	methods := types.NewMethodSet(types.NewPointer(t))
	for method := range methods.Methods() {
		if method.Obj().Exported() {
			s.show(name+"."+method.Obj().Name(), method.Type())
		}
	}
}

// TestSurface: no exported name of a public package has a type that others cannot name, since it is
// below internal or not exported.
func TestSurface(t *testing.T) {
	command := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", "./hdrlog/...", "./tags/...", "./output/...")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	s := surface{module: list(t)[0].Module.Path + "/"}
	files := make(map[string]string)
	var public []string
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p struct{ ImportPath, Export string }
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if files[p.ImportPath] = p.Export; strings.HasPrefix(p.ImportPath, s.module) && !strings.Contains(p.ImportPath, "/internal") {
			public = append(public, p.ImportPath)
		}
	}
	if !slices.Contains(public, s.module+"output") || !slices.Contains(public, s.module+"hdrlog/merge") {
		t.Fatalf("public packages are %q", public)
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
	load := importer.ForCompiler(token.NewFileSet(), "gc", open)
	for _, path := range public {
		p, err := load.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Scope().Names() {
			if o := p.Scope().Lookup(name); o.Exported() {
				s.declare(o)
			}
		}
	}
	for _, wrong := range s.wrong {
		t.Error(wrong)
	}
}
