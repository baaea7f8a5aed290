package report

import (
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/confidence"
	"hdrkit/internal/sides"
	"hdrkit/output"
)

// TestTrendCSV: no cell is a formula of a spreadsheet, whatever tags and logs are called.
func TestTrendCSV(t *testing.T) {
	trend := &sides.Trend{
		Scale: hdrlog.Scale{Unit: "ms"},
		Runs:  []sides.TrendRun{{Name: "=HYPERLINK(1).hdr"}},
		Figures: []sides.TrendFigure{
			{Tag: []byte("+1+1"), Figure: output.Figure{Name: output.Max}, Points: []confidence.RunFigure{{Value: 2}}, Levels: []sides.TrendLevel{{To: 1, Runs: 1, Value: 2}}},
			{Tag: []byte("read"), Figure: output.Figure{Name: output.Throughput}, Points: []confidence.RunFigure{{Value: 3}}},
		},
	}
	var text strings.Builder
	if err := TrendCSV(&text, trend, nil); err != nil {
		t.Fatal(err)
	}
	want := "start,run,tag,figure,unit,value,level,change\n" +
		",'=HYPERLINK(1).hdr,'+1+1,max,ms,2,2,\n" +
		",'=HYPERLINK(1).hdr,read,throughput,/s,3,,\n"
	if text.String() != want {
		t.Errorf("%s\nwant\n%s", text.String(), want)
	}
}
