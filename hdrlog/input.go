package hdrlog

import "os"

// Open opens the log in a file for reading. Close the reader after use.
func Open(path string) (*Reader, error) { return ReaderOptions{}.Open(path) }

// Open is the function [Open] with options.
func (o ReaderOptions) Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := o.NewReader(f, path)
	r.file = f
	return r, nil
}

// Close closes the file that [Open] opened. It does nothing for a reader of [NewReader].
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
