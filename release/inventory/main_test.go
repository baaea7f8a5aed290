package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestInventory writes the inventory of the commands, and of the same ones when a module has no
// licence.
func TestInventory(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("SOURCE_DATE_EPOCH", "1468800000")
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir+"/bin/", "./cmd/...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	commands, err := filepath.Glob(dir + "/bin/*")
	if err != nil || len(commands) < 4 {
		t.Fatalf("%q, %v", commands, err)
	}
	const table = "release/licences.tsv"
	licences, bill := filepath.Join(dir, "licences"), filepath.Join(dir, "bill")
	if err := run(table, licences, bill, "1.2.3", commands); err != nil {
		t.Fatal(err)
	}
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text := read(licences)
	for _, part := range []string{
		"The FreeType Project LICENSE", "SIL OPEN FONT LICENSE Version 1.1", "Apache License", "github.com/prometheus/common v",
		"zstd/internal/xxhash/LICENSE.txt", "Go's library 1.", "Copyright 2009 The Go Authors.", "Copyright (c) 2022 urfave/cli maintainers",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the licences lack %q", part)
		}
	}
	var b sbom
	if err := json.Unmarshal([]byte(read(bill)), &b); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", append([]string{"version", "-m"}, commands...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if fields[0] == "dep" && !slices.ContainsFunc(b.Components, func(c component) bool {
			return c.Name == fields[1] && c.Version == fields[2] && c.Purl == "pkg:golang/"+c.Name+"@"+c.Version && c.Licences[0].Expression != ""
		}) {
			t.Errorf("the bill of materials lacks %s", fields[1:3])
		}
	}
	if c := b.Components[0]; c.Name != filepath.Base(commands[0]) || c.Version != "1.2.3" || len(c.Hashes[0].Content) != 64 || b.Metadata.Timestamp != "2016-07-18T00:00:00Z" {
		t.Errorf("%+v at %s", c, b.Metadata.Timestamp)
	}

	for _, changed := range []struct{ from, to, want string }{
		{"gonum.org/v1/plot\tBSD-3-Clause\n", "", "gonum.org/v1/plot has no line in release/licences.tsv"},
		{"gonum.org/v1/plot\tBSD-3-Clause\n", "gonum.org/v1/plot\tMIT\n", "no file has the text of MIT"},
		{"std\tBSD-3-Clause\n", "std\tBeer\n", "no file has the text of Beer"},
		{"std\tBSD-3-Clause\n", "std\n", "no tab"},
	} {
		other := filepath.Join(dir, "other.tsv")
		if err := os.WriteFile(other, []byte(strings.Replace(read(table), changed.from, changed.to, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := run(other, licences, bill, "1.2.3", commands); err == nil || !strings.Contains(err.Error(), changed.want) {
			t.Errorf("%q: %v, want %s", changed.to, err, changed.want)
		}
	}
}

// TestLicenceName finds the names of files with licences.
func TestLicenceName(t *testing.T) {
	for name, want := range map[string]bool{
		"LICENSE": true, "LICENCE.md": true, "LICENSE-SIL": true, "licenses": true, "COPYING": true, "NOTICE": true, "PATENTS": true, "THIRD_PARTY_LICENSES": true,
		"copyright.txt": true, "licensecheck.go": false, "README.md": false, "noticeboard": false,
	} {
		if licenceName.MatchString(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// TestWebAssembly reads how WebAssembly was built.
func TestWebAssembly(t *testing.T) {
	const begin, end = "\x30\x77\xaf\x0c\x92\x74\x08\x02\x41\xe1\xc1\x07\xe6\xd6\x18\xe6", "\xf9\x32\x43\x31\x86\x18\x20\x72\x00\x82\x42\x10\x41\x16\xd8\xf2"
	path := filepath.Join(t.TempDir(), "code.wasm")
	for text, want := range map[string]string{
		begin + "path\tx/wasm\nmod\tx\t(devel)\t\ndep\texample.com/a\tv1.2.3\th1:x\n" + end: "example.com/a v1.2.3",
		"":    "",
		begin: "",
	} {
		if err := os.WriteFile(path, []byte("\x00asm"+text), 0o666); err != nil {
			t.Fatal(err)
		}
		modules, err := linkedModules([]string{path})
		if want == "" {
			if err == nil {
				t.Errorf("%q is no error", text)
			}
			continue
		}
		if err != nil || len(modules) != 2 || modules[0].path+" "+modules[0].version != want || modules[1].path != "std" {
			t.Errorf("%v, %v", modules, err)
		}
	}
}
