package output

import (
	"strings"
	"testing"

	"hdrkit/hdrlog/confidence"
)

// TestTrendCSV: no cell is a formula of a spreadsheet, whatever tags and logs are called.
func TestTrendCSV(t *testing.T) {
	trend := &Trend{
		Runs: []TrendRun{{Name: "=HYPERLINK(1).hdr"}},
		Figures: []TrendFigure{
			{Tag: []byte("+1+1"), Figure: Figure{Name: Max}, Points: []confidence.RunFigure{{Value: 2}}, Levels: []TrendLevel{{To: 1, Runs: 1, Value: 2}}},
			{Tag: []byte("read"), Figure: Figure{Name: Throughput}, Points: []confidence.RunFigure{{Value: 3}}},
		},
	}
	var text strings.Builder
	if err := TrendCSV(&text, trend, Scale{Unit: "ms"}, nil); err != nil {
		t.Fatal(err)
	}
	want := "start,run,tag,figure,unit,value,level,change\n" +
		",'=HYPERLINK(1).hdr,'+1+1,max,ms,2,2,\n" +
		",'=HYPERLINK(1).hdr,read,throughput,/s,3,,\n"
	if text.String() != want {
		t.Errorf("%s\nwant\n%s", text.String(), want)
	}
}
