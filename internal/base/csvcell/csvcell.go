// Package csvcell writes texts as cells of CSV.
package csvcell

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Append appends a text, in quotes where encoding/csv has them, and where a semicolon is:
// spreadsheets of many countries divide cells there, so what follows would begin one. To use
// encoding/csv would take 5% of hdrsum -st timeline, since it copies all cells and looks into each.
func Append(line []byte, text string) []byte {
	first, _ := utf8.DecodeRuneInString(text)
	if !strings.ContainsAny(text, ",;\"\r\n") && !unicode.IsSpace(first) && text != `\.` {
		return append(line, text...)
	}
	return append(append(append(line, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
}

// Foreign returns a text from outside as a cell of CSV. Spreadsheets evaluate a cell that begins
// with one of = + - @, also in their full-width forms. OWASP's advice against [CSV injection] is an
// apostrophe before it.
//
// [CSV injection]: https://owasp.org/www-community/attacks/CSV_Injection
func Foreign(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); strings.ContainsRune("=+-@＝＋－＠'", first) {
		return "'" + text
	}
	return text
}
