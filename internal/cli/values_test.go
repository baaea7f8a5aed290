package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// run runs an action with options, and returns its exit status and what it wrote on standard error.
func run(t *testing.T, flags []cli.Flag, action cli.ActionFunc, args ...string) (status int, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	app := &cli.App{Name: "test", Flags: flags, Action: action, Reader: strings.NewReader(""), Writer: &out, ErrWriter: &errs}
	status = Run(context.Background(), app, args)
	return status, errs.String()
}

func TestMillis(t *testing.T) {
	for text, want := range map[string]string{
		"":          "0",
		"0":         "0",
		"10":        "10000",
		"0.5":       "500",
		"0.001":     "1",
		"1e3":       "1000000",
		"10s":       "10000",
		"1m30s":     "90000",
		"500ms":     "500",
		"1h":        "3600000",
		"0.0005":    "test: -agg 0.0005 is not a whole number of milliseconds",
		"1500us":    "test: -agg 1500us is not a whole number of milliseconds",
		"-1":        "test: -agg -1: a length of time cannot be negative",
		"-1s":       "test: -agg -1s: a length of time cannot be negative",
		"1e12":      "test: -agg 1e12 is more than a thousand years",
		"NaN":       `test: -agg "NaN" is no length of time: give seconds, or a unit, such as 10s, 1m30s or 500ms`,
		"Inf":       `test: -agg "Inf" is no length of time: give seconds, or a unit, such as 10s, 1m30s or 500ms`,
		"a minute":  `test: -agg "a minute" is no length of time: give seconds, or a unit, such as 10s, 1m30s or 500ms`,
		"10 s":      `test: -agg "10 s" is no length of time: give seconds, or a unit, such as 10s, 1m30s or 500ms`,
		"1\x1b[31m": `test: -agg "1\x1b[31m" is no length of time: give seconds, or a unit, such as 10s, 1m30s or 500ms`,
	} {
		t.Run(text, func(t *testing.T) {
			got := ""
			status, stderr := run(t, []cli.Flag{AggregateFlag("", Option{})}, func(c *cli.Context) error {
				got = fmt.Sprint(Millis(c, "agg"))
				return nil
			}, "-agg="+text)
			if status != OK {
				got, _, _ = strings.Cut(stderr, "\n")
			}
			if got != want || (status == Usage) != strings.HasPrefix(want, "test: ") {
				t.Errorf("status %d: %s, want %s", status, got, want)
			}
		})
	}
}

func TestDidYouMean(t *testing.T) {
	types := []string{"percentiles", "hgrm", "csv", "csve", "csvr", "json", "timeline", "ndjson", "influx", "openmetrics"}
	for text, want := range map[string]string{
		"percentile":  "percentiles",
		"precentiles": "percentiles",
		"JSN":         "json",
		"hgmr":        "hgrm",
		"openmetric":  "openmetrics",
		"time-line":   "timeline",
		"xml":         "",
		"":            "",
		"csvv":        "csv",
		"prometheus":  "",
	} {
		if want != "" {
			want = fmt.Sprintf("; did you mean %q?", want)
		}
		if got := didYouMean(text, types); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestChoice(t *testing.T) {
	flags := func() []cli.Flag {
		return []cli.Flag{Option{Check: OneOf, Values: []string{"hgrm", "csv"}, Flag: &cli.StringFlag{Name: "st"}}}
	}
	action := func(*cli.Context) error { return nil }
	if status, stderr := run(t, flags(), action, "-st", "CSV"); status != OK {
		t.Errorf("status %d: %s", status, stderr)
	}
	status, stderr := run(t, flags(), action, "-st", "hgram")
	if want := "test: -st \"hgram\" is none of hgrm, csv; did you mean \"hgrm\"?\n"; status != Usage || !strings.HasPrefix(stderr, want) {
		t.Errorf("status %d: %s", status, stderr)
	}
}
