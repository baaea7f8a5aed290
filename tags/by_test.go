package tags

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestBy names the row of tags in two inputs.
func TestBy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ by, rows, added string }{
		{"tag", "default % get-rt get-st put-rt get rt %64efault", ""},
		{"all", "default default default default default default default default",
			"[[% %64efault default get get-rt get-st put-rt rt]]"},
		{"input", "a.hdr a.hdr a.hdr a.hdr a.hdr a.hdr a.hdr a.hdr",
			"[[% %64efault default get get-rt get-st put-rt rt] [% %64efault default get get-rt get-st put-rt rt]]"},
		{"input,tag", "a.hdr a.hdr:: a.hdr::get-rt a.hdr::get-st a.hdr::put-rt a.hdr::get a.hdr::rt a.hdr::default", ""},
		{"phase", "a.hdr a.hdr a.hdr a.hdr a.hdr a.hdr a.hdr a.hdr",
			"[[% %64efault default get get-rt get-st put-rt rt] [% %64efault default get get-rt get-st put-rt rt]]"},
		{"phase,tag", "a.hdr a.hdr:: a.hdr::get-rt a.hdr::get-st a.hdr::put-rt a.hdr::get a.hdr::rt a.hdr::default", ""},
		{".*-(rt|st)", "default % rt st rt get rt %64efault", "[[get-rt put-rt rt]]"},
		{"(get|put)(?:-.*)?", "default % get get put get rt %64efault", "[[get get-rt get-st]]"},
		{"(default)|x", "default % get-rt get-st put-rt get rt %64efault", ""},
	} {
		by, err := ParseBy(test.by)
		if err != nil {
			t.Fatal(err)
		}
		all := [][]byte{nil, {}, []byte("get-rt"), []byte("get-st"), []byte("put-rt"), []byte("get"), []byte("rt"), []byte("default")}
		var group sync.WaitGroup
		for range 4 { // on several cores
			group.Go(func() {
				var rows []string
				for _, input := range []string{"b.hdr", "a.hdr"} {
					rows = rows[:0]
					for _, tag := range all {
						rows = append(rows, Text(by.Row(input, tag)))
					}
				}
				if got := strings.Join(rows, " "); got != test.rows {
					t.Errorf("%s: %s\nwant %s", test.by, got, test.rows)
				}
			})
		}
		group.Wait()
		if got := fmt.Sprint(by.Added()); got != test.added && (test.added != "" || len(by.Added()) > 0) {
			t.Errorf("%s adds up %s", test.by, got)
		}
	}
}

func TestByErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"inputs": `"inputs" is none; input makes a row of each log`,
		"host":   `"host" is none; input makes a row of each log`,
		"write":  `"write" is neither tag, input, phase, input,tag, phase,tag nor all, nor a regular expression with one group such as '.*-(rt|st)': it has 0; (?:a|b) is no group`,
		"(a)(b)": "it has 2",
		"(a":     "missing closing ): `(a`",
	} {
		if _, err := ParseBy(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
