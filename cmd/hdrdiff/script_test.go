package main

import (
	"testing"

	"hdrkit/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, "hdrdiff", main) }

func TestScripts(t *testing.T) { clitest.Run(t) }
