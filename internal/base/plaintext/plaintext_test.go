package plaintext

import (
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// endless gives as many bytes as a read asks for, and does not look at them.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestExpands ends a compressed file that stands for too much text, and no other.
func TestExpands(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		size int64 // of the file
		text int64 // that is read without an error
	}{
		{1, freeText},
		{freeText / maxExpansion / 2, freeText},
		{2 * freeText / maxExpansion, 2 * freeText},
		{3 * freeText, 100 * freeText},
	} {
		u := &unpacker{Reader: endless{}, src: &sourceReader{size: test.size}}
		piece := make([]byte, 1<<20)
		for u.size <= test.text-2<<20 {
			if _, err := u.Read(piece); err != nil {
				t.Fatalf("a file of %d bytes: %v after %d", test.size, err, u.size)
			}
		}
		var err error
		for err == nil && u.size < 110*freeText {
			_, err = u.Read(piece)
		}
		if wanted := test.size < freeText; errors.Is(err, ErrExpands) != wanted {
			t.Errorf("a file of %d bytes: %v after %d", test.size, err, u.size)
		}
	}
}

// TestMemberAtEnd: the text of a gzip member is there although the stream may go on.
func TestMemberAtEnd(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer r.Close()
	go func() {
		zip := gzip.NewWriter(w)
		zip.Write([]byte("one\ntwo\n"))
		zip.Close()
	}()
	text := make([]byte, 8)
	if _, err := io.ReadFull(NewReader(r), text); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("%q, %v", text, err)
	}
}
