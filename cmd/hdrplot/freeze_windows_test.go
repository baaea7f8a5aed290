//go:build browser

package main

import (
	"os"
	"testing"
)

func freeze(t *testing.T, _ *os.Process, _ bool) { t.Skip("needs signals of Unix") }
