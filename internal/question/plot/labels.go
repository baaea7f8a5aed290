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

// labels are short names of inputs and runs, by their names. They are empty if there is only one.
type labels map[string]string

func labelsOf(inputs []scan.Input) labels {
	var names []string
	for n := range inputs {
		names = append(names, inputs[n].RunName())
	}
	return logs.Labels(names)
}

// sourcesOf returns the names of inputs, or their folders if these tell them apart.
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

// of returns the label of logs that are by themselves.
func (l labels) of(s *scan.Scan) string { return l[s.Inputs[0].RunName()] }

// labelOf returns the label of a series: file, row or both.
func labelOf(file string, row []byte) string {
	if row == nil {
		return file
	}
	return strings.TrimPrefix(file+" "+tags.Text(row), " ")
}

// rowLabel returns the label of a series: that of its group, if there are groups, and the name of
// its row. A row of an input has the input's label instead of its name.
func (p *plan) rowLabel(group string, row []byte) string {
	if !p.by.Inputs() {
		return labelOf(group, row)
	}
	label, tag := p.labels.parts(row)
	return strings.TrimSpace(group + " " + label + " " + tag)
}

// parts returns the label and the tag of a row of an input.
func (l labels) parts(row []byte) (label, tag string) {
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
