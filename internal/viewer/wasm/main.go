//go:build js

// Command wasm is the part of hdrkit.html that reads logs. It runs in the Web Worker of worker.js
// in package page. It defines two functions of JavaScript and then calls hdrkitReady(). Function
// hdrkit(request, files, read, progress, done) makes a page of files, and hdrkitWarm(done) calls
// [viewer.Warm]. Both return at once, and call done at the end.
//
//	request   the text of a [viewer.Request]
//	files     a list of {name, size}
//	read      (file, offset, length) returns bytes, or the text of an error
//	progress  (share), a function
//	done      ({before, rows, after, table, messages, error}), a function that gets a [viewer.Answer]
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall/js"

	"hdrkit/internal/base/message"
	"hdrkit/internal/scan"
	"hdrkit/internal/viewer"
)

func main() {
	js.Global().Set("hdrkit", js.FuncOf(func(_ js.Value, args []js.Value) any {
		go func() { args[4].Invoke(answer(args[0].String(), args[1], args[2], args[3])) }()
		return nil
	}))
	js.Global().Set("hdrkitWarm", js.FuncOf(func(_ js.Value, args []js.Value) any {
		go func() {
			if err := viewer.Warm(); err != nil {
				panic(err)
			}
			args[0].Invoke()
		}()
		return nil
	}))
	js.Global().Call("hdrkitReady")
	select {}
}

// answer makes the page of a request, and returns the argument of done.
func answer(request string, files, read, progress js.Value) map[string]any {
	var r viewer.Request
	err := json.Unmarshal([]byte(request), &r)
	a := new(viewer.Answer)
	if err == nil {
		a, err = viewer.Make(&r, inputs(files, read), func(share float64) { progress.Invoke(share) })
	}
	messages := []any{}
	for _, text := range a.Messages {
		messages = append(messages, text)
	}
	if err != nil {
		return map[string]any{"error": message.Printable(err.Error()), "messages": messages}
	}
	rows := toJS(bytes.Join(a.Rows, nil))
	return map[string]any{"before": a.Before, "rows": rows, "after": a.After, "table": a.Table, "messages": messages}
}

func toJS(data []byte) js.Value {
	array := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(array, data)
	return array
}

// inputs returns files of JavaScript as inputs of a scan.
func inputs(files, read js.Value) (all []scan.Input) {
	for n := range files.Length() {
		name, size := files.Index(n).Get("name").String(), files.Index(n).Get("size").Int()
		open := func() *file { return &file{read: read, index: n, name: name, size: size} }
		all = append(all, scan.Input{
			Name:   name,
			Size:   int64(size),
			Open:   func() (io.ReadCloser, error) { return open(), nil },
			OpenAt: func() (scan.ReaderAt, error) { return open(), nil },
		})
	}
	return all
}

// blockSize is the number of bytes of a block. Sizes from 1 to 8 MB take the same time.
const blockSize = 1 << 20

// A file is an input in the browser. It reads blocks, since each read is a call of JavaScript.
type file struct {
	read     js.Value
	index    int
	name     string
	at, size int
	block    js.Value // the bytes of the last block
	used     int      // the number of bytes of block that Read returned
	have     int      // the length of block
}

// Read fills p unless the file ends: the reader of logs makes a batch of each call, which should
// not be short.
func (f *file) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if f.used == f.have {
			if f.at >= f.size {
				break
			}
			if err := f.readBlock(f.at, blockSize); err != nil {
				return n, err
			}
			if f.have == 0 {
				return n, io.ErrUnexpectedEOF
			}
			f.at += f.have
		}
		copied := js.CopyBytesToGo(p[n:], f.block.Call("subarray", f.used, min(f.used+len(p)-n, f.have)))
		f.used += copied
		n += copied
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// readBlock reads at most size bytes from an offset into the block.
func (f *file) readBlock(at, size int) error {
	f.block = f.read.Invoke(f.index, at, size)
	if f.block.Type() == js.TypeString {
		return fmt.Errorf("%s: %w", f.name, errors.New(f.block.String()))
	}
	f.have, f.used = f.block.Length(), 0
	return nil
}

// ReadAt implements [io.ReaderAt]. Calls of Read and ReadAt must not be mixed, since they share the
// block.
func (f *file) ReadAt(p []byte, at int64) (int, error) {
	if err := f.readBlock(int(at), len(p)); err != nil {
		return 0, err
	}
	if f.have < len(p) {
		return 0, io.ErrUnexpectedEOF
	}
	return js.CopyBytesToGo(p, f.block), nil
}

func (f *file) Close() error { f.block = js.Null(); return nil }
