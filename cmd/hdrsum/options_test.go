package main

import (
	"slices"
	"testing"
)

// TestTables checks that the tables of options name options and outputs that exist.
func TestTables(t *testing.T) {
	var options []string
	for _, flag := range flags() {
		options = append(options, flag.Names()[0])
	}
	outputs := append(types(), listing, verdicts, compared, follows, listens)
	for option, used := range usedBy {
		if !slices.Contains(options, option) {
			t.Errorf("usedBy has -%s, which is no option", option)
		}
		for _, output := range used {
			if !slices.Contains(outputs, output) {
				t.Errorf("usedBy says that %s uses -%s, but there is no such output", output, option)
			}
		}
	}
	for _, pair := range conflicts {
		if !slices.Contains(options, pair.one) || !slices.Contains(options, pair.other) || pair.output != "" && !slices.Contains(outputs, pair.output) {
			t.Errorf("conflicts has -%s and -%s in output %q", pair.one, pair.other, pair.output)
		}
	}
	for _, f := range formatList {
		if (f.rows != nil) != slices.Contains(streams, f.name) {
			t.Errorf("streams is wrong about %s", f.name)
		}
	}
}
