package report

import (
	"strings"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/confidence"
	"hdrkit/output"
)

// TestTrendCSV: no cell is a formula of a spreadsheet, whatever tags and logs are called.
func TestTrendCSV(t *testing.T) {
	trend := &Trend{
		Scale: hdrlog.Scale{Unit: "ms"},
		Runs:  []TrendRun{{Name: "=HYPERLINK(1).hdr"}},
		Figures: []TrendFigure{
			{Tag: []byte("+1+1"), Figure: output.Figure{Name: output.Max}, Points: []confidence.RunFigure{{Value: 2}}, Levels: []TrendLevel{{To: 1, Runs: 1, Value: 2}}},
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

// TestPercent: a fall that leaves something is none by 100%.
func TestPercent(t *testing.T) {
	t.Parallel()
	for after, want := range map[float64]string{850: "15", 60: "94", 3.7: "99.6", 0.5: "99.95", 1e-12: "100", 0: "100", 1500: "50", 2000: "100", 12345: "1,100"} {
		c := TrendChange{Before: TrendLevel{Value: 1000}, After: TrendLevel{Value: after}}
		if got := c.percent(); got != want {
			t.Errorf("from 1000 to %v: %s%%, want %s%%", after, got, want)
		}
	}
}
