package gate

import (
	"strings"

	"hdrkit/internal/base/message"
	"hdrkit/internal/base/people"
)

// ParseDrawn reads limits that a chart can draw, see [Limit.Drawn]. A number such as 20 means
// max<=20.
func ParseDrawn(text string) (limits []Limit, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if !strings.ContainsAny(part, "<=>") {
			part = "max<=" + part
		}
		parsed, err := Parse(part)
		if err != nil {
			return nil, message.Usagef("-sla %s: %w", text, err)
		}
		l := &parsed[0]
		if !l.Drawn() || !(l.Value > 0 && l.Value < 1e300) {
			return nil, message.Usagef("-sla %s: a picture shows limits above 0 for percentiles or the maximum, "+
				"such as 20 or 99<=5ms", text)
		}
		limits = append(limits, *l)
	}
	return limits, nil
}

// Doubt asks about a limit of a percentile between 0 and 1, which may be meant as a part of 1, such
// as 0.99 for 99. It is empty if there is no such limit.
func Doubt(text string) string {
	limits, _ := Parse(text) // what is no limit is reported elsewhere
	for _, l := range limits {
		if l.Name == "" && l.Percentile > 0 && l.Percentile < 1 {
			return people.BelowOne(l.Figure.String(), l.Percentile)
		}
	}
	return ""
}
