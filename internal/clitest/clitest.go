// Package clitest runs the scripts that test the commands.
package clitest

import (
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hdrkit/internal/loggen"
)

// commands are functions main that the test binary runs under their names.
var commands = map[string]func(){}

// Main runs the tests of a command's package. Scripts and [Start] run the command by its name.
func Main(m *testing.M, name string, command func()) {
	commands[name] = command
	testscript.Main(waiting{m}, commands)
}

// Command adds a command that scripts can run besides the command of [Main]. Call it before Main.
func Command(name string, command func()) { commands[name] = command }

// waiting lets more tests run at once than there are cores, since many tests wait for logs and
// receivers.
type waiting struct{ *testing.M }

func (w waiting) Run() int {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		f.Value.Set("8")
	}
	defer removeBuilt()
	collectSeldom()
	return w.M.Run()
}

// garbage is the value of GOGC for tests and for the commands that they start. They make much
// garbage and keep little. The usual value would take a fifth of the time of tests, and a quarter
// of the time of commands. [AtMost] starts commands with the usual value.
const garbage = 400

func collectSeldom() {
	debug.SetGCPercent(garbage)
	os.Setenv("GOGC", strconv.Itoa(garbage))
}

// SeldomCollect runs the tests of a package with few garbage collections, for tests that make much
// garbage or start commands.
func SeldomCollect(m *testing.M) {
	collectSeldom()
	m.Run()
}

// InMemory runs the tests of a package that write many small files. If the system has /dev/shm,
// temporary folders are in memory.
func InMemory(m *testing.M) {
	if dir, err := os.MkdirTemp("/dev/shm", "hdrkit"); err == nil {
		defer os.RemoveAll(dir)
		os.Setenv("TMPDIR", dir)
	}
	SeldomCollect(m)
}

// Run runs the scripts in testdata/script. $TESTDATA is the testdata folder of the repository.
// $LOGS, $DIALECTS and $MEASUREMENTS are folders in it.
func Run(t *testing.T) {
	root := Root()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOGC", strconv.Itoa(garbage))
			env.Setenv("TESTDATA", filepath.Join(root, "testdata"))
			env.Setenv("LOGS", filepath.Join(root, "testdata", "logs"))
			env.Setenv("DIALECTS", filepath.Join(root, "testdata", "dialects"))
			env.Setenv("MEASUREMENTS", filepath.Join(root, "testdata", "measurements"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"status": status, "gzip": compress, "tty": terminal, "loggen": generate},
	})
}

// Root returns the folder of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// Documented checks that a page in docs contains all names in back quotes.
func Documented(t *testing.T, page string, names ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(), "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !bytes.Contains(text, []byte("`"+name+"`")) {
			t.Errorf("docs/%s does not describe %s", page, name)
		}
	}
}

// status is a command of scripts that runs another command and checks its exit status: status 3
// hdrsum -if bad.hdr.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command [arg ...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = strconv.Itoa(exit.ExitCode())
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// generate is a command of scripts that writes a log of cassandra-stress: loggen FILE SECONDS RATE
// SEED [FACTOR [OFFSET]]. OFFSET is when the log starts, in seconds.
func generate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: loggen file seconds rate seed [factor [offset]]")
	}
	var numbers [5]float64
	for n, text := range args[1:] {
		number, err := strconv.ParseFloat(text, 64)
		ts.Check(err)
		numbers[n] = number
	}
	file, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(loggen.Write(file, loggen.Options{
		Seconds: int(numbers[0]),
		Rate:    int(numbers[1]),
		Seed:    uint64(numbers[2]),
		Factor:  numbers[3],
		Start:   1468800000000 + int64(numbers[4])*1000,
	}))
	ts.Check(file.Close())
}

// compress is a command of scripts that compresses a file by gzip: gzip FILE FILE.gz [SIZE]. The
// result is cut after SIZE bytes.
func compress(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: gzip file compressed [bytes]")
	}
	var compressed strings.Builder
	w := gzip.NewWriter(&compressed)
	w.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(w.Close())
	result := compressed.String()
	if len(args) == 3 {
		size, err := strconv.Atoi(args[2])
		ts.Check(err)
		result = result[:size]
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(result), 0o666))
}

// Rounds returns how many of n rounds a test with random data makes: all if HDRKIT_REQUIRE_TOOLS is
// 1, as in CI, and otherwise a fifth, so that all tests together take a minute. With the race
// detector, it returns a quarter of that.
func Rounds(n int) int {
	if os.Getenv("HDRKIT_REQUIRE_TOOLS") == "1" && !testing.Short() {
		return n
	}
	some := n / 5
	return max(some/raceRounds, min(some, 1))
}

// RequireTools skips the test unless HDRKIT_REQUIRE_TOOLS is 1. If it is 1, the test fails if a
// tool is missing. A tool is the name of a program, or the path of a file if it contains a slash.
//
// A test calls RequireTools first if it starts a server, or a program that comes neither with Go
// nor with the shell.
func RequireTools(t testing.TB, tools ...string) {
	t.Helper()
	if os.Getenv("HDRKIT_REQUIRE_TOOLS") != "1" {
		t.Skipf("set HDRKIT_REQUIRE_TOOLS=1 to run tests of servers and of installed tools %v", tools)
	}
	for _, tool := range tools {
		_, err := exec.LookPath(tool)
		if strings.Contains(tool, "/") {
			_, err = os.Stat(tool)
		}
		if err != nil {
			t.Fatalf("HDRKIT_REQUIRE_TOOLS is set, but a tool is missing: %v", err)
		}
	}
}
