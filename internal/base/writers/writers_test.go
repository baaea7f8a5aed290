package writers

import (
	"fmt"
	"strings"
	"testing"
)

func TestComments(t *testing.T) {
	for comment, want := range map[string]string{
		"#[Logged with jHiccup 2.0.10]":                     "",
		"#[Logging for: READ]":                              "READ",
		"#[Logging for:  CLEANUP ]":                         "CLEANUP",
		"#[Logging for: ]":                                  "",
		"#[Logging for: a,b]":                               "",
		"#a comment about [Logging for: READ], not of YCSB": "",
		"#": "",
	} {
		if got := string(Operation([]byte(comment))); got != want {
			t.Errorf("%s: %q, want %q", comment, got, want)
		}
	}
}

func TestSameRequests(t *testing.T) {
	for texts, want := range map[string]string{
		"":                                       "[] ",
		"insert-rt":                              "[] ",
		"insert-rt read-rt":                      "[] ",
		"insert-rt insert-st insert-wt":          "[insert-rt insert-st insert-wt] '.*-rt'",
		"insert-rt insert-sp-rt insert-st":       "[insert-rt insert-st] '.*-rt'",
		"a-rt default read-st read-wt write-st":  "[read-st read-wt] '.*-st'",
		"insert-start insert-st start -rt rt st": "[] ",
		"co-fixed raw":                           "[co-fixed raw] co-fixed",
		"a::co-fixed a::raw b::raw":              "[a::co-fixed a::raw] '.*co-fixed'",
		"draw straw co-fixed":                    "[] ",
		"a.cycles.servicetime a.bind_time":       "[] ",
		"a.cycles.responsetime a.cycles.servicetime a.cycles.waittime": "[a.cycles.responsetime a.cycles.servicetime a.cycles.waittime] '.*\\.responsetime'",
		"servicetime waittime a.servicetime b.waittime":                "[] ",
	} {
		same, pattern := SameRequests(strings.Fields(texts))
		if got := fmt.Sprint(same, " ", pattern); got != want {
			t.Errorf("%s: %s, want %s", texts, got, want)
		}
	}
}
