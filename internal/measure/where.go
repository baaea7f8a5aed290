package measure

import (
	"fmt"
	"regexp"
	"strings"

	"hdrkit/hdrlog"
)

// A Condition chooses rows by the value of a column. Other rows are skipped, and not malformed.
type Condition struct {
	Column, Value string
	// If Match is not nil, the regular expression must match the whole value, and Value is not
	// used.
	Match func() *regexp.Regexp
	// Not reverses the condition.
	Not bool
}

// ParseCondition parses COLUMN=VALUE, or COLUMN~REGEXP with a regular expression. COLUMN!=VALUE and
// COLUMN!~REGEXP choose the other rows.
func ParseCondition(text string) (c Condition, err error) {
	n := strings.IndexAny(text, "=~")
	if n < 0 {
		return c, fmt.Errorf("%q has neither = nor ~: COLUMN=VALUE, COLUMN!=VALUE or COLUMN~REGEXP", text)
	}
	c.Column, c.Not = strings.CutSuffix(text[:n], "!")
	c.Value = text[n+1:]
	if c.Column == "" {
		return c, fmt.Errorf("%q names no column", text)
	}
	if text[n] == '~' {
		e, err := regexp.Compile(anchored(c.Value))
		if err != nil {
			return c, err
		}
		c.Match = func() *regexp.Regexp { return e }
	}
	return c, nil
}

// anchored returns an expression that matches only whole texts.
func anchored(e string) string { return "^(?:" + e + ")$" }

// holds reports whether a row with this value is chosen.
func (c *Condition) holds(value []byte) bool {
	value = trimSpaces(value)
	if c.Match != nil {
		return c.Match().Match(value) != c.Not
	}
	return (string(value) == c.Value) != c.Not
}

// chooses reports whether a row is read. If it lacks the column of a format's own condition, the
// row is malformed, and field is the name of the column.
func (s *setup) chooses(places [][]byte) (wanted bool, field string, err error) {
	for n := range s.options.Where {
		value := places[wherePlace+n]
		if value == nil && n < len(s.format.where) {
			return false, s.options.Where[n].Column, hdrlog.ErrMissing
		}
		if !s.options.Where[n].holds(value) {
			return false, "", nil
		}
	}
	return true, "", nil
}
