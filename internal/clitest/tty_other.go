//go:build !linux

package clitest

import "github.com/rogpeppe/go-internal/testscript"

// terminal needs Linux. Scripts use it after [linux].
func terminal(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("tty needs Linux") }
