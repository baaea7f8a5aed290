// Inventory lists the modules that are linked into the commands of a release. It writes the texts
// of their licences, and a bill of materials in the format of CycloneDX 1.5, see
// https://cyclonedx.org/docs/1.5/json/.
//
// It runs in a clone of the repository, with the GOOS and GOARCH of the commands. Each module needs
// a line in release/licences.tsv with the name of its licence, and a file with the text of this
// licence. A module that lacks one of them is an error.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	table := flag.String("table", "release/licences.tsv", "the `FILE` with a licence for each module")
	licences := flag.String("licences", "", "write the licences to `FILE`")
	bill := flag.String("sbom", "", "write the bill of materials to `FILE`")
	version := flag.String("version", "", "the version of the release")
	flag.Parse()
	if err := run(*table, *licences, *bill, *version, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "inventory:", err)
		os.Exit(1)
	}
}

// A module is a Go module that is linked into a command.
type module struct {
	path, version string
	licence       string   // SPDX expression
	folder        string   // folder of the source
	files         []string // files with licences, relative to folder
}

func run(table, licences, bill, version string, commands []string) error {
	approved, err := readTable(table)
	if err != nil {
		return err
	}
	modules, err := linkedModules(commands)
	if err != nil {
		return err
	}
	if err := findLicences(modules); err != nil {
		return err
	}
	var text bytes.Buffer
	text.WriteString("The commands of hdrkit contain the modules below. Their licences follow.\n")
	for _, m := range modules {
		m.licence = approved[m.path]
		if err := m.check(); err != nil {
			return err
		}
		if err := m.appendLicences(&text); err != nil {
			return err
		}
	}
	if err := os.WriteFile(licences, text.Bytes(), 0o644); err != nil {
		return err
	}
	b, err := newBill(version, commands, modules)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(bill, append(data, '\n'), 0o644)
}

// readTable reads the licence of each module, by path: lines with the path, a tab and the licence.
func readTable(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	licences := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		module, licence, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			return nil, fmt.Errorf("%s: no tab in %q", path, line)
		}
		licences[module] = licence
	}
	return licences, nil
}

// linkedModules returns the modules that are linked into the commands, sorted by path. Go's
// standard library is the module "std".
func linkedModules(commands []string) ([]*module, error) {
	var modules []*module
	seen := make(map[string]bool)
	for _, command := range commands {
		info, err := readBuildInfo(command)
		if err != nil {
			return nil, err
		}
		for _, d := range append(info.Deps, &debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}) {
			if d.Replace != nil {
				d = d.Replace
			}
			if !seen[d.Path] {
				seen[d.Path] = true
				modules = append(modules, &module{path: d.Path, version: d.Version})
			}
		}
	}
	slices.SortFunc(modules, func(a, b *module) int { return cmp.Compare(a.path, b.path) })
	return modules, nil
}

// readBuildInfo returns the build information of a command. Package buildinfo cannot read
// WebAssembly, which has the same text between the same marks.
func readBuildInfo(command string) (*debug.BuildInfo, error) {
	code, err := os.ReadFile(command)
	if err != nil || !bytes.HasPrefix(code, []byte("\x00asm")) {
		info, err := buildinfo.ReadFile(command)
		return info, err
	}
	_, after, _ := bytes.Cut(code, []byte("\x30\x77\xaf\x0c\x92\x74\x08\x02\x41\xe1\xc1\x07\xe6\xd6\x18\xe6"))
	text, _, found := bytes.Cut(after, []byte("\xf9\x32\x43\x31\x86\x18\x20\x72\x00\x82\x42\x10\x41\x16\xd8\xf2"))
	if !found {
		return nil, fmt.Errorf("%s does not say how it was built", command)
	}
	info, err := debug.ParseBuildInfo(string(text))
	if err == nil {
		info.GoVersion = runtime.Version()
	}
	return info, err
}

// findLicences sets the folder and the licence files of each module. These files are in the folders
// of linked packages or above.
func findLicences(modules []*module) error {
	command := exec.Command("go", "list", "-deps", "-f", "{{if .Module}}{{.Module.Path}}\t{{.Module.Dir}}\t{{.Dir}}{{end}}", "./cmd/...")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return err
	}
	byPath := make(map[string]*module)
	for _, m := range modules {
		byPath[m.path] = m
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 || byPath[fields[0]] == nil {
			continue
		}
		m := byPath[fields[0]]
		m.folder = fields[1]
		for folder := fields[2]; strings.HasPrefix(folder, m.folder); folder = filepath.Dir(folder) {
			if err := m.addFiles(folder); err != nil {
				return err
			}
		}
	}
	if std := byPath["std"]; std != nil {
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return err
		}
		std.folder = strings.TrimSpace(string(root))
		return std.addFiles(std.folder)
	}
	return nil
}

// licenceName matches names of licence files, and of folders of licence files.
var licenceName = regexp.MustCompile(`(?i)^((third.party.)?licen[cs]es?|copying|copyright|notice|patents)([.-].*)?$`)

// addFiles adds the licence files in a folder.
func (m *module) addFiles(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !licenceName.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), ".go") {
			continue
		}
		err := filepath.WalkDir(filepath.Join(folder, entry.Name()), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			relative, err := filepath.Rel(m.folder, path)
			if !slices.Contains(m.files, relative) {
				m.files = append(m.files, relative)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// phrases has a phrase of the text of each licence, by SPDX name.
var phrases = map[string]string{
	"Apache-2.0":   "Apache License",
	"BSL-1.0":      "Boost Software License - Version 1.0",
	"BSD-2-Clause": "Redistributions in binary form must reproduce",
	"BSD-3-Clause": "Neither the name",
	"CC-BY-4.0":    "Creative Commons Attribution 4.0",
	"FTL":          "The FreeType Project LICENSE",
	"MIT":          "Permission is hereby granted, free of charge",
	"MIT-0":        "MIT No Attribution",
	"OFL-1.1":      "SIL OPEN FONT LICENSE Version 1.1",
}

// check returns an error if the licence of the module is unknown, or if no file has its text.
func (m *module) check() error {
	if m.licence == "" {
		return fmt.Errorf("%s has no line in release/licences.tsv", m.path)
	}
	var all strings.Builder
	for _, file := range m.files {
		text, err := os.ReadFile(filepath.Join(m.folder, file))
		if err != nil {
			return err
		}
		all.Write(text)
	}
	for licence := range strings.SplitSeq(m.licence, " AND ") {
		phrase := phrases[licence]
		text := strings.Join(strings.FieldsFunc(all.String(), func(r rune) bool { return strings.ContainsRune(" \t\r\n>", r) }), " ")
		if phrase == "" || !strings.Contains(text, phrase) {
			return fmt.Errorf("%s %s: no file has the text of %s: %q", m.path, m.version, licence, m.files)
		}
	}
	return nil
}

// appendLicences appends the module's licence files to text.
func (m *module) appendLicences(text *bytes.Buffer) error {
	slices.Sort(m.files)
	name := m.path
	if name == "std" {
		name = "Go's library"
	}
	for _, file := range m.files {
		licence, err := os.ReadFile(filepath.Join(m.folder, file))
		if err != nil {
			return err
		}
		fmt.Fprintf(text, "\n%s\n%s %s (%s), %s\n\n", strings.Repeat("=", 80), name, m.version, m.licence, filepath.ToSlash(file))
		text.Write(bytes.TrimSpace(bytes.ReplaceAll(licence, []byte("\r"), nil)))
		text.WriteByte('\n')
	}
	return nil
}

// sbom is a software bill of materials in the JSON of CycloneDX.
type sbom struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type     string    `json:"type"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Purl     string    `json:"purl,omitempty"`
	Hashes   []hash    `json:"hashes,omitempty"`
	Licences []licence `json:"licenses,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licence struct {
	Expression string `json:"expression"`
}

// newBill returns the bill of materials of commands and the modules that are linked into them.
func newBill(version string, commands []string, modules []*module) (*sbom, error) {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	own := []licence{{"BSD-2-Clause"}}
	b := &sbom{Format: "CycloneDX", Spec: "1.5", Version: 1, Metadata: metadata{
		Timestamp: time.Unix(seconds, 0).UTC().Format(time.RFC3339),
		Component: component{Type: "application", Name: "hdrkit", Version: version, Licences: own},
	}}
	for _, command := range commands {
		data, err := os.ReadFile(command)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		b.Components = append(b.Components, component{Type: "application", Name: filepath.Base(command), Version: version,
			Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, Licences: own})
	}
	for _, m := range modules {
		b.Components = append(b.Components, component{Type: "library", Name: m.path, Version: m.version,
			Purl: "pkg:golang/" + m.path + "@" + m.version, Licences: []licence{{m.licence}}})
	}
	return b, nil
}
