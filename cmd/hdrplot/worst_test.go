package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/loggen"
	"hdrkit/internal/picture/axis"
	"hdrkit/internal/scan"
	"hdrkit/internal/summary"
	"hdrkit/tags"
)

// TestWorstAgree: a picture marks the moments that hdrsum -worst lists, with and without windows
// and facets, whatever makes a line, and no picture marks moments without maxima.
func TestWorstAgree(t *testing.T) {
	t.Parallel()
	for n := range loggen.Scenarios {
		s := &loggen.Scenarios[n]
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && s.Intervals > 1000 {
				t.Skip("takes seconds")
			}
			var paths []string
			var inputs []scan.Input
			dir := t.TempDir()
			for node := range s.Nodes {
				var log bytes.Buffer
				path := filepath.Join(dir, fmt.Sprintf("node%d.hdr", node))
				if err := s.Write(&log, node); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, log.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, path)
				inputs = append(inputs, scan.Input{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }})
			}
			var parts summary.Parts
			report := func(err *hdrlog.SyntaxError, _ bool) error { return err }
			if _, err := summary.Collect[struct{}](&scan.Scan{Inputs: inputs, Workers: 2, Report: report}, summary.Options{Parts: &parts}, nil, nil, nil); err != nil {
				t.Fatal(err)
			}
			moments, err := parts.Worst(mostWorst, func(string, []byte) float64 { return 1 })
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for i, m := range moments {
				name := tags.Text(m.Tag)
				if s.Nodes > 1 {
					name = strings.TrimSuffix(filepath.Base(m.Input), ".hdr") + " " + name
				}
				want = append(want, fmt.Sprintf("%d  at %s for %s · %s · %s", i+1, axis.Since(float64(m.Start-loggen.ScenarioStart)/1000),
					axis.Length(m.End-m.Start), axis.Value("ns", m.Max), name))
			}
			pictures := []string{"", "-type heatmap"}
			if s.Name == "pauses" {
				pictures = append(pictures, "-agg 60", "-by input,tag -facet tag", "-it", "-compare", "-type report", "-p 50", "-type throughput")
			}
			for _, args := range pictures {
				var got []string
				text := hdrplot(t, "", append(append(strings.Fields("-q -of - -format svg -unit ns "+args), "--"), paths...)...)
				for _, line := range strings.Split(text, "<") {
					if _, note, ok := strings.Cut(line, ">"); ok && strings.Contains(note, "  at ") {
						got = append(got, note)
					}
				}
				slices.Sort(got) // lists grow upwards
				switch {
				case args == "-p 50", args == "-type throughput":
					if len(got) > 0 {
						t.Errorf("%s has no maxima, but %q", args, got)
					}
				case !slices.Equal(got, want):
					t.Errorf("%s: %q, want %q", args, got, want)
				}
			}
		})
	}
}
