package cli

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"hdrkit/internal/scan"
)

func TestTagUntagged(t *testing.T) {
	const rest = "#[Histogram log format version 1.3]\n\"StartTimestamp\",\n0.000,1.000,0.000,HIST\n"
	read, update := "#[Logging for: READ]\n"+rest, "#[Logging for: UPDATE]\n"+rest
	later := rest + "#[Logging for: LATER]\n"
	split := "#[Histogram log format version 1.3]\n#[Logging for: SPLIT]\n" + rest
	for _, test := range []struct {
		name string
		logs []string
		want string
	}{
		{"one log", []string{read}, "-"},
		{"two of different names", []string{read, update}, "READ UPDATE"},
		{"two of one name", []string{read, read}, "- -"},
		{"three", []string{read, update, read}, "READ UPDATE READ"},
		{"one with a name", []string{read, rest}, "- -"},
		{"one without", []string{read, rest, update}, "READ - UPDATE"},
		{"parts of hdrsplit", []string{split, strings.ReplaceAll(split, "SPLIT", "OTHER")}, "- -"},
		{"after an interval", []string{read, later}, "- -"},
		{"a pipe", []string{read, "pipe:" + update}, "- -"},
		{"tagged by -tif", []string{read, "tag:" + update}, "- -"},
		{"no tag can be so", []string{read, "#[Logging for: a b]\n" + rest}, "- -"},
		{"an empty name", []string{read, "#[Logging for: ]\n" + rest}, "- -"},
		{"a carriage return", []string{read, strings.ReplaceAll(update, "\n", "\r\n")}, "READ UPDATE"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var inputs []scan.Input
			for _, text := range test.logs {
				log, once := strings.CutPrefix(text, "pipe:")
				log, tagged := strings.CutPrefix(log, "tag:")
				input := scan.Input{Name: "log", Once: once, Open: func() (io.ReadCloser, error) {
					if once {
						t.Error("a pipe is opened")
					}
					return io.NopCloser(strings.NewReader(log)), nil
				}}
				if tagged {
					input.Tag = "own"
				}
				inputs = append(inputs, input)
			}
			tagUntagged(inputs)
			var got []string
			for _, input := range inputs {
				tag := string(input.Untagged)
				if input.Untagged == nil {
					tag = "-"
				}
				got = append(got, tag)
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("%s, want %s", text, test.want)
			}
		})
	}
}

func TestSameRequests(t *testing.T) {
	for texts, want := range map[string]string{
		"":                                       "[]",
		"insert-rt":                              "[]",
		"insert-rt read-rt":                      "[]",
		"insert-rt insert-st insert-wt":          "[insert-rt insert-st insert-wt]",
		"insert-rt insert-sp-rt insert-st":       "[insert-rt insert-st]",
		"a-rt default read-st read-wt write-st":  "[read-st read-wt]",
		"insert-start insert-st start -rt rt st": "[]",
	} {
		if got := fmt.Sprint(sameRequests(strings.Fields(texts))); got != want {
			t.Errorf("%s: %s, want %s", texts, got, want)
		}
	}
}
