package measure

import (
	"strings"
	"testing"

	"hdrkit/hdrlog"
)

// TestBadRows has a bad row between good ones in files of each format: a row that is cut short, one
// whose number has the comma of another locale, one with a quote that is never closed, and one of
// 10 MB. It costs that row, and the message has its line, its column and its text.
func TestBadRows(t *testing.T) {
	const long = 10 << 20
	for _, f := range []struct {
		format, head, row string
		options           Options
		// value stands in the row for the value, and column is what messages call it.
		value, column string
	}{
		{"jtl", "timeStamp,elapsed,label,success\n", "1718035200000,VALUE,a,true\n", Options{}, "5", "elapsed"},
		{"k6", "metric_name,timestamp,metric_value,name\n", "http_req_duration,1718035200,VALUE,a\n", Options{}, "5.5", "metric_value"},
		{"vegeta", "", "1718035200000000000,200,VALUE,0,6,,Ym9keQ==\n", Options{}, "5500", "latency"},
		{"hey", "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n", "VALUE,0,0,0,0,0,200,0.5\n", Options{}, "0.5", "response-time"},
		{"tsung", "#date;pid;id;http method;host;URL;HTTP status;size;duration;transaction;match;error;tag\n",
			"1398962662.309014;<0.94.0>;1;get;h;/;200;13118;VALUE;-;;;\n", Options{}, "238.420", "duration"},
		{"go-ycsb", "operation,timestamp_us,latency_us\n", "READ,1718035200000000,VALUE\n", Options{}, "55", "latency_us"},
		{"w3c", "#Version: 1.0\n#Fields: date time cs-uri-stem sc-status time-taken\n", "2024-05-01 00:00:01 / 200 VALUE\n", Options{}, "46", "time-taken"},
		{"w3c", "#Version: 1.0\n#Fields: date time x-edge-location sc-status time-taken\n", "2024-05-01\t00:00:01\tFRA50\t200\tVALUE\n", Options{}, "0.046", "time-taken"},
		{"gatling", "RUN\tsim.Shop\tshop\t1718035200000\t \t3.11.0\n", "REQUEST\t\ta\t1718035200000\tVALUE\tOK\t \n", Options{}, "1718035200500", "line"},
		{"ndjson", "", `{"time":1718035200,"latency_ms":VALUE,"path":"/a"}` + "\n", Options{}, "5.5", ".latency_ms"},
		{"fortio", "", `{"timestamp":1718035200000000000,"latency":VALUE,"thread":1,"iter":1,"ok":true}` + "\n", Options{}, "0.55", ".latency"},
		{"cockroach", "", `{"Name":"a","Hist":{"LowestTrackableValue":100000,"SignificantFigures":1,"Counts":[0,2]},"Elapsed":VALUE,"Now":"2024-05-01T10:00:01Z"}` + "\n", Options{}, "1000000000", "payload"},
		{"values", "latency_ms\n", "VALUE\n", Options{}, "5.5", "latency_ms"},
		{"csv", "ms;n\n", "VALUE;4\n", Options{Unit: hdrlog.Millisecond, Columns: Columns{Count: "n"}}, "5.5", "ms"},
		{"csv", "time,latency\n", "1718035200,VALUE\n", Options{}, "5.5ms", "latency"},
	} {
		good := strings.ReplaceAll(f.row, "VALUE", f.value)
		for kind, bad := range map[string]string{
			"cut short":   good[:len(good)*2/3] + "\n",
			"a comma":     strings.ReplaceAll(f.row, "VALUE", "5,5"),
			"a word":      strings.ReplaceAll(f.row, "VALUE", "null?"),
			"a quote":     strings.ReplaceAll(f.row, "VALUE", `"`+f.value),
			"10 MB":       strings.ReplaceAll(f.row, "VALUE", strings.Repeat("x", long)),
			"10 MB, good": strings.ReplaceAll(f.row, "VALUE", strings.Repeat("0", long)+f.value),
		} {
			column := f.column
			switch {
			case f.format == "values" && kind == "cut short":
				continue // which is another value
			case f.format == "cockroach" && kind == "10 MB, good":
				continue // lines with histograms may be as long
			case f.options.Columns.Count != "" && kind == "cut short":
				column = f.options.Columns.Count
			}
			rec := recording{size: 1000, options: f.options}
			text := f.head + good + bad + good + good
			r, err := NewReader(strings.NewReader(text), "file0", "", f.options)
			if err != nil || r.Format() != f.format {
				t.Errorf("%s: %v", f.format, err)
				continue
			}
			rec.record(t, []byte(text))
			line := ":" + string('2'+rune(strings.Count(f.head, "\n"))) + ": "
			if rec.counts.Recorded != 3 || len(rec.messages) != 1 || !strings.Contains(rec.messages[0], line) || len(rec.messages[0]) > 500 {
				t.Errorf("%s, %s: %+v %.300q", f.format, kind, rec.counts, rec.messages)
				continue
			}
			message := rec.messages[0]
			if !strings.Contains(message, line+column+": ") && !strings.Contains(message, line+"line: ") {
				t.Errorf("%s, %s: %s names neither %s nor the line", f.format, kind, message, column)
			}
		}
	}
}

// TestBadDocuments has documents of JSON that break off. What comes before is read. Elements of one
// line have numbers as if each had its own.
func TestBadDocuments(t *testing.T) {
	const row = `{"time":1718035200,"latency_ms":5}`
	for text, want := range map[string]string{
		"[" + row + "]":                                                    "1 []",
		"[\n" + row + ",\n" + row + "\n]\n":                                "2 []",
		"[" + row + "," + row:                                              "2 [file0:3: line: the file is cut short]",
		"[" + row + ",\n" + row[:20]:                                       "1 [file0:2: line: the file is cut short]",
		"[" + row + ",\n" + row + "\n" + row:                               "2 [file0:3: line: expected comma after array element]",
		"[" + row + ",\n{\"time\":1},\n1]":                                 "1 [file0:2: .latency_ms: field is missing file0:3: .time: field is missing]",
		"[" + row + `,{"time":1718035200,"latency_ms":"5,5"},` + row + "]": `2 [file0:2: .latency_ms: not a number: "5,5"]`,
	} {
		rec := recording{size: 1000}
		rec.record(t, []byte(text))
		got := strings.TrimSpace(strings.Join([]string{string('0' + rune(rec.counts.Recorded)), "[" + strings.Join(rec.messages, " ") + "]"}, " "))
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
