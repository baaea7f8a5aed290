package measure

import (
	"fmt"
	"regexp"
	"strings"

	"hdrkit/hdrlog"
)

// A Condition says which rows to read: those whose column has a value. The others are of no
// interest, and no fault.
type Condition struct {
	Column, Value string
	// Match, if it is set, matches the whole value instead.
	Match func() *regexp.Regexp
	// Not is set if the rows to read are the others.
	Not bool
}

// ParseCondition reads COLUMN=VALUE, or with a regular expression COLUMN~REGEXP. After an
// exclamation mark, both are turned round: COLUMN!=VALUE, COLUMN!~REGEXP.
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
		e, err := regexp.Compile(whole(c.Value))
		if err != nil {
			return c, err
		}
		c.Match = func() *regexp.Regexp { return e }
	}
	return c, nil
}

// whole returns an expression that matches a whole text.
func whole(e string) string { return "^(?:" + e + ")$" }

// holds reports whether a value is one of those to read.
func (c *Condition) holds(value []byte) bool {
	value = trim(value)
	if c.Match != nil {
		return c.Match().Match(value) != c.Not
	}
	return (string(value) == c.Value) != c.Not
}

// wants reports whether a row is to be read. A row without the column of a condition of the format
// is malformed: field is then the name of the column.
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
