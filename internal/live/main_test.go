package live_test

import (
	"testing"

	"hdrkit/internal/clitest"
)

func TestMain(m *testing.M) { clitest.InMemory(m) }
