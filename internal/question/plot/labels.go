package plot

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"hdrkit/internal/logs"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// labels are short names of inputs and runs, by their names. The label of a single input is empty.
type labels map[string]string

// labelsOf returns the labels of inputs.
func labelsOf(inputs []scan.Input) labels {
	var names []string
	for n := range inputs {
		names = append(names, inputs[n].RunName())
	}
	return logs.Labels(names)
}

// sourcesOf returns the file names of inputs, or their folders if some file names are equal.
func sourcesOf(inputs []scan.Input) []string {
	var names, folders []string
	for _, input := range inputs {
		name := filepath.Base(input.Name)
		if input.Name == "-" {
			name = "standard input"
		}
		names = append(names, name)
		folders = append(folders, filepath.ToSlash(filepath.Dir(input.Name))+"/")
	}
	if different := slices.Compact(slices.Sorted(slices.Values(names))); len(different) < len(names) {
		return slices.Compact(folders)
	}
	return names
}

// of returns the label of the first input or run of a scan.
func (l labels) of(s *scan.Scan) string { return l[s.Inputs[0].RunName()] }

// labelOf returns the label of a series: the label of the file, which may be empty, and the name of
// the row, which may be nil.
func labelOf(file string, row []byte) string {
	if row == nil {
		return file
	}
	return strings.TrimPrefix(file+" "+tags.Text(row), " ")
}

// rowLabel returns the label of a series: the label of its group, if there are groups, and the name
// of its row. If rows are inputs, the label of the input replaces its name.
func (p *plan) rowLabel(group string, row []byte) string {
	if !p.by.Inputs() {
		return labelOf(group, row)
	}
	label, tag := p.labels.split(row)
	return strings.TrimSpace(group + " " + label + " " + tag)
}

// split splits the name of a row of -by input into the label of the input and the tag.
func (l labels) split(row []byte) (label, tag string) {
	text := string(row)
	if label, ok := l[text]; ok {
		return cmp.Or(label, tags.Text(row)), ""
	}
	for at := range text {
		if label, ok := l[text[:at]]; ok && strings.HasPrefix(text[at:], "::") {
			return cmp.Or(label, text[:at]), tags.Text(row[at+len("::"):])
		}
	}
	return tags.Text(row), ""
}
