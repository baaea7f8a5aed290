// Package rotate finds copies of logs, such as the compressed copy that rotation of logs leaves
// beside the log.
package rotate

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"hdrkit/internal/base/plaintext"
	"hdrkit/internal/scan"
)

// Plain returns the name of a file without the ending of a compression, and whether it had such an
// ending.
func Plain(path string) (plain string, compressed bool) {
	switch ext := filepath.Ext(path); strings.ToLower(ext) {
	case ".gz", ".zst", ".zstd":
		return strings.TrimSuffix(path, ext), true
	}
	return path, false
}

// A Copy names an input whose text is also the text of another input, or the beginning of it.
type Copy struct{ Name, Of string }

// Copies finds compressed files among the inputs that have the same text as the file beside them,
// up to the end of the shorter one of the two. The shorter one is a copy. Copies returns the other
// inputs and the copies.
func Copies(inputs []scan.Input) (kept []scan.Input, copies []Copy) {
	isCopy := make([]bool, len(inputs))
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
			isCopy[b], copies = true, append(copies, Copy{plain, inputs[a].Name})
		case same:
			isCopy[a], copies = true, append(copies, Copy{inputs[a].Name, plain})
		}
	}
	if len(copies) == 0 {
		return inputs, nil
	}
	for n := range inputs {
		if !isCopy[n] {
			kept = append(kept, inputs[n])
		}
	}
	return kept, copies
}

// Equal returns the inputs that have the same text as an input before them.
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

// compare reports whether two inputs have the same text up to the end of the shorter one. Longer is
// positive if the first input is longer, and negative if the second one is. A text ends where
// it cannot be read. Inputs without any text are not the same.
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
	for hasText := false; ; hasText = true {
		n, errA := io.ReadFull(text[0], one)
		m, errB := io.ReadFull(text[1], other)
		shorter := min(n, m)
		if !bytes.Equal(one[:shorter], other[:shorter]) {
			return 0, false
		}
		if errA != nil || errB != nil {
			return n - m, hasText || shorter > 0
		}
	}
}
