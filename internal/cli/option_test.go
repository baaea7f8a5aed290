package cli

import (
	"fmt"
	"strings"
	"testing"

	"hdrkit/internal/base/message"
)

// run runs an action with options, and returns its exit status and what it wrote on standard error.
func run(options []Option, action func() error, args ...string) (status int, stderr string) {
	var out, errs strings.Builder
	c := &Command{Streams: message.Streams{Name: "test", In: strings.NewReader(""), Out: &out, Err: &errs}, Options: options, Action: action}
	return Run(c, args), errs.String()
}

func TestLength(t *testing.T) {
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
		"1d":        "86400000",
		"1d12h":     "129600000",
		"1.5d":      `test: -agg "1.5d" is no length of time: give seconds, or a unit, such as 10s, 1m30s, 500ms or 1d`,
		"0.0005":    "test: -agg 0.0005 is not a whole number of milliseconds",
		"1500us":    "test: -agg 1500us is not a whole number of milliseconds",
		"-1":        "test: -agg -1: a length of time cannot be negative",
		"-1s":       "test: -agg -1s: a length of time cannot be negative",
		"1e12":      "test: -agg 1e12 is more than a thousand years",
		"NaN":       `test: -agg "NaN" is no length of time: give seconds, or a unit, such as 10s, 1m30s, 500ms or 1d`,
		"Inf":       `test: -agg "Inf" is no length of time: give seconds, or a unit, such as 10s, 1m30s, 500ms or 1d`,
		"a minute":  `test: -agg "a minute" is no length of time: give seconds, or a unit, such as 10s, 1m30s, 500ms or 1d`,
		"10 s":      `test: -agg "10 s" is no length of time; did you mean 10s?`,
		"5min":      `test: -agg "5min" is no length of time; did you mean 5m?`,
		"1\x1b[31m": `test: -agg "1\x1b[31m" is no length of time: give seconds, or a unit, such as 10s, 1m30s, 500ms or 1d`,
	} {
		t.Run(text, func(t *testing.T) {
			var millis int64
			status, stderr := run([]Option{AggregateOption(&millis, Option{})}, func() error { return nil }, "-agg="+text)
			got := fmt.Sprint(millis)
			if status != message.OK {
				got, _, _ = strings.Cut(stderr, "\n")
			}
			if got != want || (status == message.Usage) != strings.HasPrefix(want, "test: ") {
				t.Errorf("status %d: %s, want %s", status, got, want)
			}
		})
	}
}

func TestChoice(t *testing.T) {
	var kind string
	options := func() []Option {
		return []Option{{Name: "st", Values: []string{"hgrm", "csv"}, Value: Choice(&kind, "")}}
	}
	action := func() error { return nil }
	if status, stderr := run(options(), action, "-st", "CSV"); status != message.OK || kind != "csv" {
		t.Errorf("status %d: %s", status, stderr)
	}
	status, stderr := run(options(), action, "-st", "hgram")
	if want := "test: -st \"hgram\" is none of hgrm, csv; did you mean \"hgrm\"?\n"; status != message.Usage || !strings.HasPrefix(stderr, want) {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestOneValue gives options twice. Those that take one value refuse the second one.
func TestOneValue(t *testing.T) {
	var folder string
	var names []string
	var quiet bool
	options := []Option{{Name: "ip", Aliases: "path", Value: Text(&folder, ".")}, {Name: "if", Value: List(&names)}, {Name: "q", Value: Bool(&quiet)}}
	for args, want := range map[string]string{
		"-ip a -path b":   "test: -ip takes one value, not a and b",
		"-if a -if b":     "",
		"-q -q -ip=a x.h": "",
	} {
		for n := range options {
			options[n].texts = nil
		}
		if _, stderr := run(options, func() error { return nil }, strings.Fields(args)...); want != "" && !strings.HasPrefix(stderr, want) || want == "" && stderr != "" {
			t.Errorf("%s: %s", args, stderr)
		}
	}
}
