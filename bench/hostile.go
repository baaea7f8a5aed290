package main

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// hostile is input that once took minutes. Each must cost what good input of its size costs, or be
// refused.
var hostile = []inputKind{
	{"payloads of version 1 that inflate to 8 MB each", 50, one("in0.hdr", inflating), []string{"hdrsum -st table LOGS"}, true},
	{"compressed comments", 1_000_000, one("in0.hdr", compressedComments), []string{"hdrsum -st table LOGS"}, true},
	{"comments between tags", 60_000, one("in0.hdr", comments), []string{"hdrsplit -od OUT LOGS"}, true},
	{"hey's rows backwards", 50_000, one("in0.csv", heyBackwards), []string{"hdrrec -of OUT/rec.hdr TABLES"}, true},
	{"an unclosed quote", 12_000, one("in0.csv", unclosed), []string{"hdrrec -of OUT/rec.hdr TABLES"}, true},
}

// one returns what makes a folder of one file.
func one(name string, content func(w io.Writer, n int)) func(dir string, n int) error {
	return func(dir string, n int) error {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		return write(filepath.Join(dir, name), func(w io.Writer) { content(w, n) })
	}
}

// inflating writes intervals of version 1, whose payloads are zeros: 8 KB that inflate to 8 MB.
func inflating(w io.Writer, n int) {
	const (
		cookie, compressedCookie = 0x1c849381, 0x1c849382 // counts of eight bytes
		counts                   = 8 << 20
	)
	var plain bytes.Buffer
	for _, field := range []any{
		uint32(cookie), uint32(counts), uint32(0), uint32(5), // length, offset and digits
		int64(1), int64(1) << 62, float64(1), // lowest, highest and ratio
	} {
		binary.Write(&plain, binary.BigEndian, field)
	}
	plain.Write(make([]byte, counts))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(plain.Bytes())
	z.Close()
	payload := binary.BigEndian.AppendUint32(nil, compressedCookie)
	payload = binary.BigEndian.AppendUint32(payload, uint32(packed.Len()))
	payload = append(payload, packed.Bytes()...)
	text := base64.StdEncoding.EncodeToString(payload)
	for second := range n {
		fmt.Fprintf(w, "%d.000,1.000,0.000,%s\n", second, text)
	}
}

// compressedComments writes comments that gzip makes a thousandth of.
func compressedComments(w io.Writer, n int) {
	z := gzip.NewWriter(w)
	line := []byte("#" + strings.Repeat(" ", 98) + "\n")
	for range n {
		z.Write(line)
	}
	z.Close()
}

// comments writes a comment for each interval, of one tag after another.
func comments(w io.Writer, n int) {
	const payload = "HISTFAAAACB42pNpmSzMwMDAxAABzFCaEULx/7f/AGExsQAASwQDkA=="
	for line := range n {
		fmt.Fprintf(w, "#comment %d\nTag=tag%03d,%d.000,1.000,0.000,%s\n", line, line%100, line, payload)
	}
}

// heyBackwards writes the table of hey, the last row first.
func heyBackwards(w io.Writer, n int) {
	fmt.Fprintln(w, "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset")
	for row := n; row > 0; row-- {
		fmt.Fprintf(w, "0.%04d,0.0000,0.0000,0.0000,0.0010,0.0000,200,%d.%04d\n", 1+row%997, row/100, row%100*100)
	}
}

// unclosed writes a table whose first cell has no end.
func unclosed(w io.Writer, n int) {
	fmt.Fprint(w, "timeStamp,elapsed,label,responseCode,success\n1468800000000,1,\"")
	for range n {
		fmt.Fprint(w, "a,\"\"\n")
	}
}
