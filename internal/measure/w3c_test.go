package measure

import (
	"fmt"
	"strings"
	"testing"
)

// TestW3C reads logs whose columns change, whose date stands in a line of its own, and whose
// requests have no status.
func TestW3C(t *testing.T) {
	for text, want := range map[string]string{
		"#Version: 1.0\n#Fields: date time sc-status time-taken\n2024-05-01 00:00:01 200 46\n#Fields: time-taken sc-status date time\n5 404 2024-05-01 00:00:02\n": "1714521601 46ms; 1714521602 5ms failed",
		"#Version: 1.0\n#Date: 2024-05-01 00:00:00\n#Fields: time sc-status time-taken\n00:00:01 - 0.046\n":                                                        "1714521601 46ms",
		"#Fields: date time x-edge-location sc-status time-taken\n2024-05-01\t00:00:01\tFRA\t000\t1\n":                                                             "1714521601 1s failed",
		"#Fields: date time time-taken cs(User-Agent)\n2024-05-01 00:00:01 46 \"a \"\"b\"\" c\"\n":                                                                 "1714521601 46ms",
		"#Fields: date time time-taken\n2024-05-01 00:00:01 46\n#Fields: date time\n2024-05-01 00:00:01\n":                                                         "1714521601 46ms; f:4: time-taken: field is missing",
		"#Fields: date time time-taken\n2024-05-01 00:00:01 46 5\n2024-05-01 00:00:01 -\n":                                                                         `f:2: line: the number of columns differs from that of the first line: 4, not 3: "2024-05-01 00:00:01 46 5"; f:3: time-taken: not a number: "-"`,
		"#Fields: date time\n2024-05-01 00:00:01\n":                                                                                                                "f: there is no column time-taken; the columns are date, time",
	} {
		r, err := NewReader(strings.NewReader(text), "f", "", Options{})
		if err != nil {
			if err.Error() != want {
				t.Errorf("%q: %v, want %s", text, err, want)
			}
			continue
		}
		var got []string
		for r.Scan() {
			switch {
			case r.bad != nil:
				got = append(got, r.bad.Error())
			default:
				row := fmt.Sprint(r.row.Time/1e9, " ", strings.Replace(fmt.Sprint(r.row.Value/1e6, "ms"), "1000ms", "1s", 1))
				if r.row.Failed {
					row += " failed"
				}
				got = append(got, row)
			}
		}
		if all := strings.Join(got, "; "); all != want {
			t.Errorf("%q: %s, want %s", text, all, want)
		}
	}
}
