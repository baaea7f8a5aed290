package structure

import (
	"os/exec"
	"strings"
	"testing"
)

// absent are packages that commands must not link, with all below them. A command links what it
// does: hdrsplit, which copies lines, starts in a third of the time since it has no network.
var absent = map[string][]string{
	"hdrsplit": {"net", "net/http", "crypto/tls", "google.golang.org/protobuf", "gonum.org"},
	"hdrunion": {"net", "net/http", "crypto/tls", "google.golang.org/protobuf", "gonum.org"},
	"hdrrec":   {"net", "net/http", "crypto/tls", "google.golang.org/protobuf", "gonum.org"},
	"hdrsum":   {"net/http", "crypto/tls", "google.golang.org/protobuf", "gonum.org/v1/plot", "hdrkit/internal/live"},
}

// TestLinks checks what the commands link.
func TestLinks(t *testing.T) {
	for command, packages := range absent {
		list := exec.Command("go", "list", "-deps", "./cmd/"+command)
		list.Dir = root
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		// -tz works on machines that have no database of zones.
		if !strings.Contains(string(out), "\ntime/tzdata\n") {
			t.Errorf("%s has no zones of time", command)
		}
		for linked := range strings.FieldsSeq(string(out)) {
			for _, p := range packages {
				if linked == p || (strings.Contains(p, ".") || strings.HasPrefix(p, "hdrkit/")) && strings.HasPrefix(linked, p+"/") {
					t.Errorf("%s links %s", command, linked)
				}
			}
		}
	}
}
