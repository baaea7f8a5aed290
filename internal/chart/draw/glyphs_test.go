package draw

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"hdrkit/internal/chart"
	"hdrkit/internal/chart/page/pagetest"
)

// TestSpelledOut proves that tags in letters that the font lacks stay distinct if there is no other
// font, and stay as they are if there is one.
func TestSpelledOut(t *testing.T) {
	t.Parallel()
	p := pagetest.Collect(t, chart.Timeline, pagetest.Timeline(100), 20, func(i int) (string, float64, float64, []int64) {
		return []string{"größe", "挿入"}[i%2], float64(i), 1, []int64{int64(i)}
	})
	p.Looks.Title, p.Texts.Notes = "Затримка 遅延", []string{"one"}
	var shown []string
	for _, box := range textsBy(t, p, spelledOut) {
		shown = append(shown, box.text)
	}
	for _, want := range []string{`Затримка \u9045\u5EF6`, "größe", `\u633F\u5165`, "one"} {
		if !slices.Contains(shown, want) {
			t.Errorf("%q is not in %q", want, shown)
		}
	}
	var svg bytes.Buffer
	if err := WriteSVG(&svg, p); err != nil || !strings.Contains(svg.String(), ">挿入</text>") {
		t.Errorf("the SVG does not have the tag; error %v", err)
	}
	style := (&pen{Theme: chart.Themes["light"], handler: wellFormed}).font(labelSize)
	if width := style.Width("a挿入"); width != style.Width("a")+2*labelSize {
		t.Errorf("%v points wide", width)
	}
}
