package measure

import (
	"fmt"
	"strings"
	"testing"
)

// TestSubResults has requests of JMeter with their sub-results before or behind them, and labels
// that only look so.
func TestSubResults(t *testing.T) {
	for _, test := range []struct{ name, rows, tags string }{
		{"before", "0,5,a-0,1|5,5,a-1,1|0,10,a,1", "a-0/sub-result a-1/sub-result a"},
		{"behind", "0,10,a,1|0,5,a-0,1|5,5,a-1,1", "a a-0/sub-result a-1/sub-result"},
		{"of a sub-result", "0,3,a-0-0,1|0,5,a-0,1|0,10,a,1", "a-0-0/sub-result a-0/sub-result a"},
		{"two threads", "0,5,a-0,1|0,9,b,2|5,5,a-1,1|0,10,a,1", "b a-0/sub-result a-1/sub-result a"},
		{"known", "0,10,a,1|0,5,a-0,1|0,9,b,1|90,5,a-0,1", "a a-0/sub-result b a-0/sub-result"},
		{"of no request", "0,5,item-1,1|5,5,item-2,1|20,5,home,1", "item-1 item-2 home"},
		{"at the end", "0,5,item-1,1", "item-1"},
		{"not in the time of the request", "0,5,a-0,1|20,5,a,1|90,5,a-1,1", "a-0 a a-1"},
		{"of another thread", "0,10,a,1|0,5,a-0,2|0,5,b,2", "a a-0 b"},
		{"no number", "0,10,a,1|0,5,a-b,1|0,5,-1,1", "a a-b -1"},
	} {
		var text strings.Builder
		text.WriteString("timeStamp,elapsed,label,threadName,success\n")
		for row := range strings.SplitSeq(test.rows, "|") {
			at, rest, _ := strings.Cut(row, ",")
			fmt.Fprintf(&text, "17180352000%02s,%s,true\n", at, rest)
		}
		r, err := NewReader(strings.NewReader(text.String()), "f", "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		var tags []string
		for r.Scan() {
			tags = append(tags, string(r.parser.row.Tag))
			if r.bad != nil {
				t.Error(r.bad)
			}
		}
		if got := strings.Join(tags, " "); got != test.tags {
			t.Errorf("%s: %s, want %s", test.name, got, test.tags)
		}
	}
}

// TestBadXML has results of JMeter that are no good XML. The samples before that are read.
func TestBadXML(t *testing.T) {
	const begin = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n"
	const sample = "<httpSample t=\"5\" ts=\"1718035200000\" s=\"true\" lb=\"a\"/>\n"
	for text, want := range map[string]string{
		begin + "</testResults>\n": "",
		begin + sample:             "a 5; f:4: line: the file is cut short",
		begin + sample + "<httpSample t=\"5\" ts=\"17180":                                                           "a 5; f:4: line: the file is cut short",
		begin + sample + "<httpSample t=5,0 ts=\"1718035200000\" s=\"true\" lb=\"a\">\n</httpSample></testResults>": `a 5; f:4: line: the number of columns differs from that of the first line: 2, not 17: "<httpSample t=5,0 ts=\"1718035200000\" s=\"true\" lb=\"a\">"`,
		begin + "<sample t=\"5,5\" ts=\"1718035200000\" lb=\"a\"></sample>\n" + sample + "</testResults>":           `f:3: elapsed: not a number: "5,5"; a 5`,
		begin + "<sample ts=\"1718035200000\" lb=\"a\"/>\n" + sample + "</testResults>":                             `f:3: elapsed: not a number: ""; a 5`,
		begin + "<sample t=\"5\" ts=\"1718035200000\" s=\"perhaps\" lb=\"a\"/></testResults>":                       `f:3: success: neither success nor failure: "perhaps"`,
		begin + "<sample t=\"5\" ts=\"1718035200000\" lb=\"&quot;a,&#10;b&nbsp;&quot;\"/></testResults>":            "\"a, b\u00a0\" 5",
		begin + "<!-- <sample/> \" --><sample t=\"5\" ts=\"1718035200000\" lb=\"a\"><responseData>&#x0; &nope; ]]> \"</responseData>\n<![CDATA[ <sample> ]]]>\n</sample>" +
			sample + "</testResults>": "a 5; a 5",
		begin + "<\"" + sample + "</testResults>":                                                                                "a 5",
		begin + sample + "<sample lb=\"" + strings.Repeat("a", 40<<20):                                                           "a 5; f:4: line: a value is too long",
		begin + "<sample t=\"5\" ts=\"1718035200000\" lb=\"" + strings.Repeat("a", 2<<20) + "\"/>\n" + sample + "</testResults>": "f:3: line: line is too long; a 5",
	} {
		r, err := NewReader(strings.NewReader(text), "f", "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for r.Scan() {
			if r.bad != nil {
				got = append(got, r.bad.Error())
				continue
			}
			got = append(got, fmt.Sprint(string(r.parser.row.Tag), " ", r.parser.row.Value/1e6))
		}
		if all := strings.Join(got, "; "); all != want || r.Err() != nil {
			t.Errorf("%.200q: %s %v, want %s", text, all, r.Err(), want)
		}
	}
}
