package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"hdrkit/internal/scan"
)

// Choice returns the value of an option that takes one of a few, empty if the command does not have
// the option.
func Choice(c *cli.Context, name string) string {
	value := strings.ToLower(c.String(name))
	for _, t := range ruled(c.App, flagNamed(c.App.Flags, name)).Types {
		if slices.Contains(strings.Fields(t.Others), value) {
			return t.Name
		}
	}
	return value
}

// OneOf checks a value that is one of a few.
func OneOf(c *cli.Context, name string) error {
	all, value := ruled(c.App, flagNamed(c.App.Flags, name)).values(), Choice(c, name)
	if slices.Contains(all, value) {
		return nil
	}
	return Usagef("-%s %q is none of %s%s", name, c.String(name), strings.Join(all, ", "), didYouMean(value, all))
}

// maxMillis is a thousand years: longer than anybody measures, and far from overflow.
const maxMillis = 1000 * 366 * 24 * 3600 * 1000

// Millis returns the length of time that an option has, in milliseconds: 0 if the option is empty
// or 0. [Length] has checked it.
func Millis(c *cli.Context, name string) int64 {
	seconds, _ := scan.ParseSeconds(c.String(name))
	return int64(math.Round(seconds * 1000))
}

// Length checks a length of time: a number of seconds, or a number with a unit, such as 10s, 1m30s
// or 500ms.
func Length(c *cli.Context, name string) error {
	text := c.String(name)
	if text == "" {
		return nil
	}
	seconds, ok := scan.ParseSeconds(text)
	millis := math.Round(seconds * 1000)
	switch {
	case !ok:
		return Usagef("-%s %q is no length of time: give seconds, or a unit, such as 10s, 1m30s or 500ms", name, text)
	case seconds < 0:
		return Usagef("-%s %s: a length of time cannot be negative", name, text)
	case millis > maxMillis:
		return Usagef("-%s %s is more than a thousand years", name, text)
	case math.Abs(millis-seconds*1000) > 1e-6*max(millis, 1):
		return Usagef("-%s %s is not a whole number of milliseconds", name, text)
	}
	return nil
}

// SomeLength checks a length of time that is not 0.
func SomeLength(c *cli.Context, name string) error {
	err := Length(c, name)
	if err == nil && Millis(c, name) == 0 {
		err = Usagef("-%s %s: it takes at least a millisecond", name, c.String(name))
	}
	return err
}

// Checks of numbers.
var (
	Positive = numbers("above 0", func(v float64) bool { return v > 0 && !math.IsInf(v, 1) })
	Percent  = Between(0, 100)
	// AtLeastOne checks a number of things.
	AtLeastOne = numbers("of at least 1", func(v float64) bool { return v >= 1 })
)

// Between returns a check of a number from least to most.
func Between(least, most float64) func(c *cli.Context, name string) error {
	return numbers(fmt.Sprintf("from %v to %v", least, most), func(v float64) bool { return v >= least && v <= most })
}

func numbers(what string, ok func(v float64) bool) func(c *cli.Context, name string) error {
	return func(c *cli.Context, name string) error {
		text := fmt.Sprint(c.Value(name))
		if v, _ := strconv.ParseFloat(text, 64); !ok(v) {
			return Usagef("-%s %s: give a number %s", name, text, what)
		}
		return nil
	}
}

// Percentiles returns the percentiles that -p lists, such as 50,p99.9,max.
func Percentiles(c *cli.Context) (all []float64, err error) {
	for text := range strings.SplitSeq(c.String("p"), ",") {
		name := strings.ToLower(strings.TrimSpace(text))
		if name == "max" {
			name = "100"
		}
		p, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
		if err != nil || !(p >= 0 && p <= 100) {
			return nil, Usagef("-p: %q is neither max nor a percentile, which is a number from 0 to 100", text)
		}
		all = append(all, p)
	}
	return all, nil
}

// didYouMean returns a question for the name that is most like a misspelled one, or nothing if no
// name is.
func didYouMean(misspelled string, names []string) string {
	if best := nearest(misspelled, names); best != "" {
		return "; did you mean " + strconv.Quote(best) + "?"
	}
	return ""
}

// nearest returns the name that is most like a misspelled one, or else the shortest one that begins
// with it, empty if none is.
func nearest(misspelled string, names []string) string {
	best, least := "", 1+len(misspelled)/4 // more differences make another word
	if len(misspelled) < 3 {               // everything is like a short word
		least = -1
	}
	for _, name := range names {
		if d := distance(strings.ToLower(misspelled), strings.ToLower(name)); d <= least {
			best, least = name, d-1
		}
	}
	if best != "" || misspelled == "" {
		return best
	}
	for _, name := range names {
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(misspelled)) && (best == "" || len(name) < len(best)) {
			best = name
		}
	}
	return best
}

// distance returns how many bytes must be added, removed or replaced to make b of a.
func distance(a, b string) int {
	above, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j]+cost, above[j+1]+1, row[j]+1)
		}
		above, row = row, above
	}
	return above[len(b)]
}
