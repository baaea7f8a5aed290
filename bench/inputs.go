package main

import (
	"bufio"
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

const (
	header = "#[StartTime: 1468800000.000 (seconds since epoch)]\n"
	few    = "0.000,HISTFAAAACB42pNpmSzMwMDAxAABzFCaEULx/7f/AGExsQAASwQDkA==" // MAX,PAYLOAD of three values
	start  = 1_468_800_000                                                    // of tables, in seconds since the epoch
)

// writeFile writes a file through a buffer.
func writeFile(path string, content func(io.Writer)) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	content(w)
	return w.Flush()
}

// oneFile returns a function that writes one file, of size n, into a folder.
func oneFile(name string, content func(w io.Writer, n int)) func(dir string, n int) error {
	return func(dir string, n int) error {
		return writeFile(filepath.Join(dir, name), func(w io.Writer) { content(w, n) })
	}
}

// gaps writes a log of one tag with n gaps or more between intervals.
func gaps(w io.Writer, n int) {
	fmt.Fprint(w, header)
	for gap := range n {
		fmt.Fprintf(w, "Tag=a,%d.000,1.000,%s\nTag=a,%d.000,1.000,%s\n", 7*gap, few, 7*gap+1+gap*gap%3, few)
	}
}

const rowHeader = "timeStamp,elapsed,label,responseCode,success\n"

// rows writes a CSV table of n requests, 600 for each second.
func rows(w io.Writer, n int) {
	fmt.Fprint(w, rowHeader)
	for row := range n {
		fmt.Fprintf(w, "%d%03d,%d,tag%d,200,true\n", start+row/600, row%600, 1+row%997, row%6)
	}
}

// rowsBackwards writes a CSV table of n requests, one for each second, the newest first.
func rowsBackwards(w io.Writer, n int) {
	fmt.Fprint(w, rowHeader)
	for row := n; row > 0; row-- {
		fmt.Fprintf(w, "%d000,%d,tag,200,true\n", start+row, 1+row%997)
	}
}

// inflating writes n intervals whose payloads, of version 1, have 8 KB and inflate to 8 MB of
// zeros.
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

// compressedComments writes a gzip file of n equal comments. It is a thousandth as large as its
// text.
func compressedComments(w io.Writer, n int) {
	z := gzip.NewWriter(w)
	line := []byte("#" + strings.Repeat(" ", 98) + "\n")
	for range n {
		z.Write(line)
	}
	z.Close()
}

// comments writes n intervals of 100 tags in turn, with a comment before each.
func comments(w io.Writer, n int) {
	for line := range n {
		fmt.Fprintf(w, "#comment %d\nTag=tag%03d,%d.000,1.000,%s\n", line, line%100, line, few)
	}
}

// unclosed writes a CSV table in which a quoted cell of the first row never ends.
func unclosed(w io.Writer, n int) {
	fmt.Fprint(w, rowHeader+"1468800000000,1,\"")
	for range n {
		fmt.Fprint(w, "a,\"\"\n")
	}
}
