package summary

import (
	"testing"

	"hdrkit/internal/clitest"
)

func TestMain(m *testing.M) { clitest.SeldomCollect(m) }
