package finding

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/internal/clitest"
	"hdrkit/internal/loggen"
	"hdrkit/internal/scan"
	"hdrkit/internal/summary"
)

// sentences returns the findings of a scenario.
func sentences(t *testing.T, name string) (all []string) {
	t.Helper()
	return sentencesOf(t, loggen.ScenarioNamed(name))
}

func sentencesOf(t *testing.T, scenario *loggen.Scenario) (all []string) {
	t.Helper()
	var inputs []scan.Input
	for node := range scenario.Nodes {
		var log bytes.Buffer
		if err := scenario.Write(&log, node); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, scan.Input{
			Name: "node" + string(rune('a'+node)) + ".hdr",
			Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(log.Bytes())), nil },
		})
	}
	s := &scan.Scan{Inputs: inputs, Workers: 2, Report: func(err *hdrlog.SyntaxError, _ bool) error { return err }}
	r := &Run{
		Histories: &summary.Histories{Times: true, Sums: scenario.Nodes >= LeastLogs},
		Course:    new(summary.Course),
		Scale:     hdrlog.Scale{Ratio: 1e6, Unit: "ms", In: hdrlog.Nanosecond},
	}
	result, err := summary.Collect(s, summary.Options{Histories: r.Histories, Course: r.Course})
	if err != nil {
		t.Fatal(err)
	}
	r.Summaries = result.Summaries
	for _, s := range r.Summaries {
		s.Scale = r.Scale
	}
	for _, f := range Of(r) {
		all = append(all, f.Kind+": "+f.Sentence)
	}
	return all
}

// TestKinds: each scenario has its finding, and a steady run has none that warns.
func TestKinds(t *testing.T) {
	for name, want := range map[string]string{
		"spike":     "worst: Worst moment: 00:05:00 UTC, 1 s up to 400",
		"slow node": "outlier: nodec has ",
		"shift":     "shift: p99 of ",
		"warm-up":   "warmup: Steady from 00:0",
		"pauses":    "rhythm: Spikes every 60",
		"steady":    "figure: p99 of ",
	} {
		all := sentences(t, name)
		if !slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("%s: %q", name, all)
		}
		if !strings.HasPrefix(all[0], want) {
			t.Errorf("%s begins with %s", name, all[0])
		}
	}
}

// TestKindsDocumented: the documents describe each kind.
func TestKindsDocumented(t *testing.T) {
	for _, kind := range kinds {
		clitest.Documented(t, "hdrsum.md", kind.name)
	}
}

// TestOutliers: logs that are as slow as each other are named together.
func TestOutliers(t *testing.T) {
	for slow, want := range map[int]string{
		1: "outlier: nodeb has ",
		2: "outlier: nodeb and nodec have ",
		3: "outlier: nodeb, nodec and noded have ",
		4: "outlier: nodeb, nodec and 2 more logs have ",
	} {
		s := *loggen.ScenarioNamed("steady")
		s.Nodes = 16
		for node := 1; node <= slow; node++ {
			s.Known = append(s.Known, loggen.Event{Node: node, Last: s.Intervals, Slow: [2]float64{3, 3}})
		}
		all := sentencesOf(t, &s)
		if !slices.ContainsFunc(all, func(got string) bool { return strings.HasPrefix(got, want) }) {
			t.Errorf("%d slow logs: %q, want %s", slow, all, want)
		}
	}
}
