package writers

import (
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
		"":                                       "",
		"insert-rt":                              "",
		"home-0/sub-result home-1/sub-result":    "",
		"home home-0/sub-result/failed":          "home-0/sub-result/failed and the request that contains it: with -excT, such as -excT '(.*/)?sub-result(/.*)?'",
		"insert-rt read-rt":                      "",
		"insert-rt insert-st insert-wt":          "insert-rt and insert-st and insert-wt, which count the same requests: with -incT, such as -incT '.*-rt'",
		"insert-rt insert-sp-rt insert-st":       "insert-rt and insert-st, which count the same requests: with -incT, such as -incT '.*-rt'",
		"a-rt default read-st read-wt write-st":  "read-st and read-wt, which count the same requests: with -incT, such as -incT '.*-st'",
		"insert-start insert-st start -rt rt st": "",
		"co-fixed raw":                           "co-fixed and raw, which count the same requests: with -incT, such as -incT co-fixed",
		"a::co-fixed a::raw b::raw":              "a::co-fixed and a::raw, which count the same requests: with -incT, such as -incT '.*co-fixed'",
		"draw straw co-fixed":                    "",
		"a.cycles.servicetime a.bind_time":       "",
		"a.cycles.responsetime a.cycles.servicetime a.cycles.waittime": "a.cycles.responsetime and a.cycles.servicetime and a.cycles.waittime, which count the same requests: with -incT, such as -incT '.*\\.responsetime'",
		"GET_a order/transaction":                                      "order/transaction and the requests in it: with -excT, such as -excT '(.*/)?transaction(/.*)?'",
		"order/transaction/failed untransaction":                       "order/transaction/failed and the requests in it: with -excT, such as -excT '(.*/)?transaction(/.*)?'",
		"a/transaction transaction transaction/failed":                 "",
		"servicetime waittime a.servicetime b.waittime":                "",
	} {
		same, choice := SameRequests(strings.Fields(texts))
		if got := strings.TrimSuffix(same+": "+choice, ": "); got != want {
			t.Errorf("%s: %s, want %s", texts, got, want)
		}
	}
}
