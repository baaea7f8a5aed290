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
		// the line #Date: has the first day only
		"#Date: 2026-10-22 23:59:00\n#Fields: time sc-status time-taken\n23:59:59 200 5\n00:00:01 200 7\n23:59:58 200 6\n00:00:02.5 200 7\n20:00:00 200 8\n09:00:00 200 9\n": "1792713599 5ms; 1792713601 7ms; 1792713598 6ms; 1792713602 7ms; 1792785600 8ms; 1792832400 9ms",
		"#Date: 2026-10-22\n#Fields: time time-taken\n00:30:00 5\n00:10:00 6\n13:00:00 7\n#Date: 2026-11-01\n00:00:01 8\n":                                                   "1792629000 5ms; 1792627800 6ms; 1792674000 7ms; 1793491201 8ms",
		// decimals of any row show seconds
		"#Fields: date time time-taken\n2024-05-01 00:00:01 0\n2024-05-01 00:00:02 0.5\n2024-05-01 00:00:02 0.25\n":         "1714521601 0ms; 1714521602 500ms; 1714521602 250ms",
		"#Fields: date time time-taken\n" + strings.Repeat("2024-05-01 00:00:01 0\n", 10_000) + "2024-05-01 00:00:02 0.5\n": strings.Repeat("1714521601 0ms; ", 10_000) + "line 10002: decimals show that values are seconds, and those before were taken as milliseconds; add -in s",
		"#Fields: date time\n2024-05-01 00:00:01\n": "f: there is no column time-taken; the columns are date, time",
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
				row := fmt.Sprint(r.parser.row.Time/1e9, " ", strings.Replace(fmt.Sprint(r.parser.row.Value/1e6, "ms"), "1000ms", "1s", 1))
				if r.parser.row.Failed {
					row += " failed"
				}
				got = append(got, row)
			}
		}
		if err := r.Err(); err != nil {
			got = append(got, err.Error())
		}
		if all := strings.Join(got, "; "); all != want {
			t.Errorf("%.300q: %.300s, want %.300s", text, all, want)
		}
	}
}
