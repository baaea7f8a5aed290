//go:build !browser

package main

import (
	"os/exec"
	"testing"

	"hdrkit/internal/clitest"
)

// TestBrowser runs the tests with browsers. They have a tag of their own, since compiling chromedp
// takes longer than compiling all tests of commands.
func TestBrowser(t *testing.T) {
	clitest.RequireTools(t, "chromium")
	if out, err := exec.Command("go", "test", "-tags=browser", "-run=^TestBrowser", "-count=1", "-timeout=20m", ".").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
