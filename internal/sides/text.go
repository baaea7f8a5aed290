package sides

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"hdrkit/internal/base/people"
)

// noEnd is the text of the upper end of an interval of a change that may be of any size.
const noEnd = "no end"

// Independence is the assumption of intervals of values that have no times.
const Independence = "if the values do not depend on each other"

// decimals returns the number of decimals of the change and of its interval in percent.
func (c *FigureChange) decimals() int {
	usual := 1
	if c.High-c.Low >= 0.05 {
		usual = 0
	}
	return max(people.ChangeDecimals(c.Ratio, usual), people.ChangeDecimals(c.Low, usual))
}

// Text returns the change with its interval in percent, such as +20% (+17..+23). A change within
// the noise is behind ~, and one beyond the noise that is not proven is behind !. Text is empty if
// there is no interval.
func (c *FigureChange) Text() string {
	switch {
	case !c.Known():
		return ""
	case c.Significant:
		return c.SignedText()
	case c.Beyond():
		return "!" + c.SignedText()
	}
	return "~" + c.SignedText()
}

// SignedText returns the change with its interval in percent, such as -30% (-65..+42).
func (c *FigureChange) SignedText() string {
	decimals := c.decimals()
	percent := func(ratio float64) string {
		text := strconv.FormatFloat(100*(ratio-1), 'f', decimals, 64)
		if text = strings.TrimPrefix(text, "-"); ratio >= 1 || strings.Trim(text, "0.") == "" {
			return "+" + text
		}
		return "-" + text
	}
	high := noEnd
	if !c.Unbounded() {
		high = percent(c.High)
	}
	return fmt.Sprintf("%s%% (%s..%s)", percent(c.Ratio), percent(c.Low), high)
}

// Size returns the size of the change in percent without its sign, such as 11%, and the interval of
// the size, such as (7..15).
func (c *FigureChange) Size() (size, interval string) {
	low := c.Low - 1
	high := c.High - 1
	if c.Ratio < 1 {
		low = 1 - c.High
		high = 1 - c.Low
	}
	digits := c.decimals()
	percent := func(v float64) string { return fmt.Sprintf("%.*f", digits, 100*v) }
	end := percent(high)
	if c.Ratio >= 1 && c.Unbounded() {
		end = noEnd
	}
	return percent(math.Abs(c.Ratio-1)) + "%", "(" + percent(low) + ".." + end + ")"
}
