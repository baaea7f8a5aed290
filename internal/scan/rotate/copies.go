// Package rotate knows what rotation makes of a log: compressed copies beside it.
package rotate

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"hdrkit/internal/base/plaintext"
	"hdrkit/internal/scan"
)

// Plain returns the name of a file without what compression adds to it, and whether there was that.
func Plain(path string) (plain string, compressed bool) {
	switch ext := filepath.Ext(path); strings.ToLower(ext) {
	case ".gz", ".zst", ".zstd":
		return strings.TrimSuffix(path, ext), true
	}
	return path, false
}

// A Copy is an input that is left out, since another one has all of its text.
type Copy struct{ Name, Of string }

// Copies returns the inputs without copies: what rotation compressed, beside the file itself. They
// have the same name but for what compression adds, and the same text to the end of the shorter
// one.
func Copies(inputs []scan.Input) (kept []scan.Input, copies []Copy) {
	out := make([]bool, len(inputs))
	named := make(map[[2]string]int) // the first input of a name and a tag
	for n := len(inputs) - 1; n >= 0; n-- {
		if !inputs[n].Once {
			named[[2]string{inputs[n].Name, inputs[n].Tag}] = n
		}
	}
	for a := range inputs {
		plain, compressed := Plain(inputs[a].Name)
		if !compressed || inputs[a].Once {
			continue
		}
		b, found := named[[2]string{plain, inputs[a].Tag}]
		if !found {
			continue
		}
		longer, same := compare(&inputs[a], &inputs[b])
		switch {
		case same && longer > 0:
			out[b], copies = true, append(copies, Copy{plain, inputs[a].Name})
		case same:
			out[a], copies = true, append(copies, Copy{inputs[a].Name, plain})
		}
	}
	if len(copies) == 0 {
		return inputs, nil
	}
	for n := range inputs {
		if !out[n] {
			kept = append(kept, inputs[n])
		}
	}
	return kept, copies
}

// Equal returns the inputs that have the text of another one before them.
func Equal(inputs []scan.Input) (copies []Copy) {
	sized := make(map[int64][]int) // by the size of the file
	for n := range inputs {
		if inputs[n].Once || inputs[n].Info == nil {
			continue
		}
		size := inputs[n].Info.Size()
		for _, other := range sized[size] {
			if longer, same := compare(&inputs[other], &inputs[n]); same && longer == 0 {
				copies = append(copies, Copy{inputs[n].Name, inputs[other].Name})
				break
			}
		}
		sized[size] = append(sized[size], n)
	}
	return copies
}

// compare reports whether two inputs have the same text to the end of one, and which is longer: the
// first one if longer is positive. A text that cannot be read ends there. No text has no copy.
func compare(a, b *scan.Input) (longer int, same bool) {
	var text [2]io.Reader
	for n, in := range []*scan.Input{a, b} {
		file, err := in.Open()
		if err != nil {
			return 0, false
		}
		defer file.Close()
		text[n] = plaintext.NewReader(file)
	}
	one, other := make([]byte, 64<<10), make([]byte, 64<<10)
	for some := false; ; some = true {
		n, errA := io.ReadFull(text[0], one)
		m, errB := io.ReadFull(text[1], other)
		shorter := min(n, m)
		if !bytes.Equal(one[:shorter], other[:shorter]) {
			return 0, false
		}
		if errA != nil || errB != nil {
			return n - m, some || shorter > 0
		}
	}
}
