// Package csvcell writes texts as cells of CSV.
package csvcell

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Append appends a text as a cell: in quotes where encoding/csv writes quotes, and also if the text
// has a semicolon, which separates cells in spreadsheets of many countries. encoding/csv would take
// 5% of hdrsum -st timeline, since it copies and examines every cell.
func Append(line []byte, text string) []byte {
	first, _ := utf8.DecodeRuneInString(text)
	if !strings.ContainsAny(text, ",;\"\r\n") && !unicode.IsSpace(first) && text != `\.` {
		return append(line, text...)
	}
	return append(append(append(line, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
}

// Foreign returns a text from outside as a cell of CSV. Spreadsheets evaluate a cell that begins
// with one of = + - @, also in their full-width forms. So Foreign puts an apostrophe before it, as
// OWASP advises against [CSV injection].
//
// [CSV injection]: https://owasp.org/www-community/attacks/CSV_Injection
func Foreign(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); strings.ContainsRune("=+-@＝＋－＠'", first) {
		return "'" + text
	}
	return text
}
