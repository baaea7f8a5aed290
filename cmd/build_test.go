// Package cmd has the commands. Its tests run them as programs.
package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"hdrkit/internal/clitest"
)

// bin is the folder of the commands, once they are built.
var bin string

func TestMain(m *testing.M) {
	clitest.SeldomCollect(m)
	os.RemoveAll(bin)
}

// build builds the commands, once, and puts them on the path.
func build(t *testing.T) {
	t.Helper()
	if err := buildOnce(); err != nil {
		t.Fatal(err)
	}
}

var buildOnce = sync.OnceValue(func() (err error) {
	if bin, err = os.MkdirTemp("", "hdrkit-commands"); err != nil {
		return err
	}
	// Linking takes a third of the time without the facts for debuggers and of the commit.
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-w", "-o", bin, "./...").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return os.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
})
