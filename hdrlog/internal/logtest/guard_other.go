//go:build !linux

package logtest

import (
	"bytes"
	"testing"
)

// NewGuard returns a function that returns a copy of data.
func NewGuard(testing.TB, int) func(data []byte) []byte { return bytes.Clone }
