// Package clitest runs the scripts that test the commands.
package clitest

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Main runs the tests of a command's package, in whose scripts name runs the command.
func Main(m *testing.M, name string, command func()) {
	testscript.Main(m, map[string]func(){name: command})
}

// Run runs the scripts in testdata/script. In them $TESTDATA is the repository's testdata, $LOGS and $DIALECTS its folders
// of logs.
func Run(t *testing.T) {
	root := Root()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TESTDATA", filepath.Join(root, "testdata"))
			env.Setenv("LOGS", filepath.Join(root, "testdata", "logs"))
			env.Setenv("DIALECTS", filepath.Join(root, "testdata", "dialects"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"status": status},
	})
}

// Root returns the folder of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// status runs a command and checks its exit status: status 3 hdrsum -if bad.hdr.
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

// Require skips a test for want of something that must be installed, or fails it where the environment says that
// everything is.
func Require(t testing.TB, what string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if os.Getenv("HDRKIT_REQUIRE_TOOLS") != "" {
		t.Fatalf("%s is required here: %v", what, err)
	}
	t.Skipf("skipped, for this needs %s: %v", what, err)
}
