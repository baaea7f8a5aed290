//go:build unix

package cmd

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hdrkit/internal/clitest"
)

// commands returns the names of the commands.
func commands(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("hdr*")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	return names
}

// printed returns what a command prints on standard output.
func printed(t *testing.T, command string, args ...string) string {
	t.Helper()
	out, err := exec.Command(command, args...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", command, args, err)
	}
	return string(out)
}

// TestShortHelp checks that -h and --help fit a terminal, and that -h names --help at its end.
func TestShortHelp(t *testing.T) {
	build(t)
	for _, command := range commands(t) {
		t.Run(command, func(t *testing.T) {
			lines := strings.Split(strings.TrimSuffix(printed(t, command, "-h"), "\n"), "\n")
			if len(lines) > 30 {
				t.Errorf("%d lines, want at most 30", len(lines))
			}
			if last := lines[len(lines)-1]; !strings.Contains(last, command+" --help") {
				t.Errorf("the last line is %q, want one that names --help", last)
			}
			all := printed(t, command, "--help")
			if n := strings.Count(all, "\n"); n > 150 {
				t.Errorf("--help has %d lines, want at most 150", n)
			}
			checkWidth(t, "-h", strings.Join(lines, "\n"))
			checkWidth(t, "--help", all)
			for _, line := range lines {
				if name, _, ok := strings.Cut(strings.TrimPrefix(line, "  "), " "); ok && strings.HasPrefix(name, "-") && !strings.Contains(all, "\n  "+name) {
					t.Errorf("--help does not have %s", name)
				}
			}
		})
	}
}

// hiddenTypes are the types of hdrsum -st that the help does not list.
var hiddenTypes = []string{"timeline", "bins2", "values"}

// TestTypes checks that -h lists at most 14 types of -st, and that the others work.
func TestTypes(t *testing.T) {
	build(t)
	_, list, _ := strings.Cut(printed(t, "hdrsum", "-h"), "\nTypes of -st:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	listed := 0
	for line := range strings.Lines(list) {
		listed += (len(strings.TrimSpace(line)) + 37) / 38 // two on a line
	}
	if listed < 10 || listed > 14 {
		t.Errorf("%d types, want at most 14:\n%s", listed, list)
	}
	for _, name := range hiddenTypes {
		if strings.Contains(list, name+" ") {
			t.Errorf("the help lists %s", name)
		}
		if printed(t, "hdrsum", "../testdata/logs/node1.hdr", "-st", name) == "" {
			t.Errorf("-st %s prints nothing", name)
		}
	}
}

// maxOptions is the number of options that --help of a command may have.
const maxOptions = 35

// TestOptions counts the options that --help lists. The documents list those that it does not.
func TestOptions(t *testing.T) {
	build(t)
	page, err := os.ReadFile("../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(page), "\n### Options that the help does not list\n")
	if !ok {
		t.Fatal("no section of hidden options")
	}
	for _, test := range []struct{ command, hidden string }{
		{"hdrsum", "ovr mwp mwpl tph obs period its ifp second untagged"},
		{"hdrdiff", ""},
		{"hdrlive", ""},
		{"hdrrec", ""},
		{"hdrsplit", ""},
		{"hdrunion", ""},
		{"hdrplot", "ovr ifp second untagged dpi log linear ymin ymax theme page-size"},
	} {
		help := printed(t, test.command, "--help")
		if n := strings.Count(help, "\n  -"); n > maxOptions {
			t.Errorf("%s --help has %d options, want at most %d", test.command, n, maxOptions)
		}
		for name := range strings.FieldsSeq(test.hidden) {
			if strings.Contains(help, "\n  -"+name+" ") {
				t.Errorf("%s --help has -%s", test.command, name)
			}
			if !strings.Contains(section, "`-"+name+" ") && !strings.Contains(section, "`-"+name+"`") {
				t.Errorf("the documents do not list -%s", name)
			}
		}
	}
}

// checkWidth checks that a page fits a terminal of 80 columns.
func checkWidth(t *testing.T, page, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		most := 80
		if strings.HasPrefix(line, "   hdr") {
			most = 76 // manual pages indent examples by 7
		}
		if width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > most {
			t.Errorf("%s: %d columns: %s", page, width, line)
		}
	}
}

// generated are the files that release/generate writes for a command.
var generated = []struct{ kind, path string }{
	{"man", "man/COMMAND.1"},
	{"complete-bash", "completion/bash/COMMAND"},
	{"complete-zsh", "completion/zsh/_COMMAND"},
	{"complete-fish", "completion/fish/COMMAND.fish"},
}

// generate writes the manual pages and completions of all commands to a folder, as release/generate
// does, and returns the folder.
func generate(t *testing.T) string {
	t.Helper()
	build(t)
	folder := t.TempDir()
	for _, command := range commands(t) {
		for _, file := range generated {
			path := filepath.Join(folder, strings.ReplaceAll(file.path, "COMMAND", command))
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			write(t, path, printed(t, command, "--generate", file.kind))
		}
	}
	return folder
}

// TestManualPages has man format the manual pages for 80 columns.
func TestManualPages(t *testing.T) {
	clitest.RequireTools(t, "man")
	folder := generate(t)
	for _, command := range commands(t) {
		path := filepath.Join(folder, "man", command+".1")
		man := exec.Command("man", "--warnings", "-l", path)
		man.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANWIDTH=80", "MANROFFSEQ=")
		var stderr strings.Builder
		man.Stderr = &stderr
		out, err := man.Output()
		if err != nil || stderr.Len() > 0 {
			t.Errorf("%s: %v: %s", command, err, stderr.String())
		}
		checkWidth(t, path, string(out))
		for _, section := range []string{"\nNAME\n", "\nSYNOPSIS\n", "\nEXAMPLES\n", "\nOPTIONS\n", "\nEXIT STATUS\n"} {
			if !strings.Contains(string(out), section) {
				t.Errorf("%s: no section %s", command, strings.TrimSpace(section))
			}
		}
	}
}

// shells are the shells whose completion is tested. The script of each reads the completions in
// $COMPLETION and makes the file ready when the shell waits for a command.
var shells = []struct {
	name, folder, command, script string
}{
	{"bash", "bash", "bash --noprofile --rcfile rc -i", `
for file in "$COMPLETION"/*; do . "$file"; done
PROMPT_COMMAND='touch ready'
`},
	{"zsh", "zsh", "ZDOTDIR=. zsh -i", `
fpath=("$COMPLETION" $fpath)
autoload -U compinit && compinit -u -D
precmd() { touch ready }
`},
	{"fish", "fish", "fish --no-config -i -C 'source rc'", `
for file in $COMPLETION/*; source $file; end
function fish_prompt; touch ready; end
`},
}

// TestCompletion types command lines with tabs into real shells. The files that the commands write
// show what the shell completed.
func TestCompletion(t *testing.T) {
	clitest.RequireTools(t, "bash", "zsh", "fish", "script")
	folder := generate(t)
	for _, shell := range shells {
		t.Run(shell.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, log := range map[string]string{"node1.hdr": "node1.hdr", "odd.hdr": "odd-tags.hdr"} {
				text, err := os.ReadFile(filepath.Join(clitest.Root(), "testdata", "logs", log))
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, name), string(text))
			}
			write(t, filepath.Join(dir, "rc"), shell.script)
			write(t, filepath.Join(dir, ".zshrc"), shell.script)
			session := exec.Command("script", "-q", "-e", "-c", shell.command, "/dev/null")
			session.Dir = dir
			session.Env = append(os.Environ(), "HOME="+dir, "TERM=xterm", "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir,
				"COMPLETION="+filepath.Join(folder, "completion", shell.folder))
			keyboard, err := session.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			var screen strings.Builder
			session.Stdout, session.Stderr = &screen, &screen
			if err := session.Start(); err != nil {
				t.Fatal(err)
			}
			defer session.Process.Kill()
			wait := func(name string) {
				t.Helper()
				clitest.Await(t, "a file "+name, func() string {
					session.Process.Kill()
					session.Wait()
					return screen.String()
				}, func() bool {
					_, err := os.Stat(filepath.Join(dir, name))
					return err == nil
				})
			}
			for _, test := range []struct{ typed, file string }{
				{"hdrsum -if node1.hdr -st hgr\t -of a", "a.insert-rt.hgrm"},                            // a type
				{"hdrsum -if node1.hdr --list-t\t -of b", "b"},                                          // an option
				{"hdrsum -if node1.hdr -incT simple1-w\t -st hgrm -of c", "c.simple1-wt.hgrm"},          // a tag
				{"hdrsum -if odd.hdr -incT load-gen::R\t -st hgrm -of d", "d.load-gen%3A%3AREAD.hgrm"},  // a tag that bash takes for several words
				{"hdrsum -if node1.hdr -in n\t -unit m\t -st csvr -of g", "g.insert-rt.csv"},            // units
				{"hdrplot -if node1.hdr -type heat\t -format=sv\t -of e.svg", "e.svg"},                  // a value after =
				{"hdrsplit -if no\t -incT insert-s\t -od f", filepath.Join("f", "insert-st.node1.hdr")}, // a file
			} {
				wait("ready")
				if err := os.Remove(filepath.Join(dir, "ready")); err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(keyboard, test.typed+"\r"); err != nil {
					t.Fatal(err)
				}
				wait(test.file)
			}
			wait("ready")
			late := time.AfterFunc(clitest.Patience, func() { session.Process.Kill() })
			defer late.Stop()
			io.WriteString(keyboard, "exit\r")
			session.Wait() // so that the shell writes nothing more
		})
	}
}
