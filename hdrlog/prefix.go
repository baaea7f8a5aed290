package hdrlog

import (
	"bytes"
	"regexp"
	"sync"
)

// fieldsBeforePayload matches text that ends with the fields of an interval before its payload,
// [Tag=NAME,]START,LENGTH,MAX, and has other text before them. Its group is these fields.
var fieldsBeforePayload = sync.OnceValue(func() *regexp.Regexp {
	const number = `-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?`
	return regexp.MustCompile(`(?:^|[^-\w.,])((?:Tag=[^,"]*,)?` + number + `,` + number + `,(?:` + number + `|NaN|Infinity),)$`)
})

const (
	// payloadBegin is the beginning of every payload in base64.
	payloadBegin = "HIST"
	// base64Characters are the characters of a payload.
	base64Characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
)

// cutPrefix returns the interval, the comment or the legend that follows other text in a line, as
// programs that collect logs write it: 2024-05-01T10:00:00Z Tag=a,0.000,1.000,2.0,HISTF... It
// returns nil if the line contains none of them, or several intervals, or if the other text is the
// beginning of an interval that a crash cut off.
func cutPrefix(line []byte) []byte {
	at, behind := findBehind(line)
	if at > 0 && bytes.HasPrefix(line, []byte("Tag=")) {
		return nil
	}
	return behind
}

// findBehind returns the interval, the comment or the legend for [cutPrefix], and the index in the
// line at which it begins.
func findBehind(line []byte) (at int, behind []byte) {
	if payload := bytes.Index(line, []byte(","+payloadBegin)) + 1; payload > 0 {
		text := line[payload:]
		end := len(text) - len(bytes.TrimLeft(text, base64Characters))
		if bytes.Contains(text[end:], []byte(payloadBegin)) {
			return 0, nil
		}
		fields := fieldsBeforePayload().FindSubmatchIndex(line[:payload])
		if fields == nil {
			return 0, nil
		}
		return fields[2], line[fields[2] : payload+end]
	}
	for from := 1; from < len(line); {
		n := bytes.IndexByte(line[from:], '#')
		if n < 0 {
			break
		}
		from += n + 1
		comment := line[from-1:]
		if bytes.IndexByte([]byte(" \t|\"]:"), line[from-2]) < 0 {
			continue
		}
		if bytes.HasPrefix(comment, []byte("#[")) || UnitOf(comment) != 0 {
			return from - 1, comment
		}
	}
	at = bytes.Index(line, []byte("Start"+timestamp))
	if at < 0 || !bytes.Contains(line, []byte("Interval_Length")) {
		return 0, nil
	}
	if before := bytes.TrimRight(line[:at], `"\`); endsInField().Match(before) {
		return 0, nil
	}
	return at, legendBegin
}

// endsInField matches text whose last character can belong to a field. A program that collects logs
// does not write a legend directly behind a field.
var endsInField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[-\w.,]$`) })

// legendBegin is the beginning of the legend of the reference.
var legendBegin = []byte(`"Start` + timestamp + `","Interval_Length"`)
