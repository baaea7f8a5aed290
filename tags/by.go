package tags

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A By decides which intervals form a row of a table, a series or a line of a picture. A nil By
// makes a row of each tag. It is safe for concurrent use. Make one with [ParseBy].
type By struct {
	all, input, phase, tag bool
	group                  *regexp.Regexp // its group names rows; nil for the words of ParseBy

	mu      sync.RWMutex
	rows    map[source][]byte // names of rows, see cacheSize
	size    cacheSize
	matched bool // the group matched a tag
}

// A source is an input or a phase, with the text of a tag.
type source struct{ name, tag string }

// ParseBy returns the By for a text:
//
//   - tag: each tag, in all inputs;
//   - input: each input, whose name is the name of the row;
//   - input,tag: each tag of each input. A row is called INPUT::TAG, or INPUT if it has no tag;
//   - phase, and phase,tag: the same with phases, which are spans of time with a name;
//   - all: one row;
//   - a regular expression with one group: the group names the row of each tag that the expression
//     matches as a whole. Other tags have rows of their own, and so have untagged intervals.
func ParseBy(text string) (*By, error) {
	b := &By{rows: make(map[source][]byte)}
	switch text {
	case "tag":
		return nil, nil
	case "all":
		b.all = true
	case "input":
		b.input = true
	case "input,tag":
		b.input, b.tag = true, true
	case "phase":
		b.phase = true
	case "phase,tag":
		b.phase, b.tag = true, true
	default:
		var err error
		if b.group, err = regexp.Compile(text); err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		b.group.Longest()
		if groups := b.group.NumSubexp(); groups != 1 {
			if slices.Contains([]string{"host", "machine", "node", "file", "log", "run", "inputs"}, text) {
				return nil, fmt.Errorf("%q is none; input makes a row of each log", text)
			}
			return nil, fmt.Errorf("%q is neither tag, input, phase, input,tag, phase,tag nor all, nor a regular "+
				"expression with one group such as '.*-(rt|st)': it has %d; (?:a|b) is no group", text, groups)
		}
	}
	return b, nil
}

// All reports whether all intervals form one row.
func (b *By) All() bool { return b != nil && b.all }

// Inputs reports whether each row has one input.
func (b *By) Inputs() bool { return b != nil && b.input }

// Phases reports whether each row has one phase.
func (b *By) Phases() bool { return b != nil && b.phase }

// AddsTags reports whether a row can have several tags.
func (b *By) AddsTags() bool { return b != nil && !b.tag }

// Row returns the name of the row of intervals with a tag, in the form of a tag: nil for a row
// without a name. of is the input of the intervals or, if rows have phases, their phase. The caller
// must not change the name.
func (b *By) Row(of string, tag []byte) []byte {
	if b == nil {
		return tag
	}
	key := source{tag: string(tag)}
	if !isPlain(tag) {
		key.tag = Text(tag)
	}
	if b.input || b.phase {
		key.name = of
	}
	b.mu.RLock()
	name, known := b.rows[key]
	b.mu.RUnlock()
	if known {
		return name
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	name = b.name(key, tag)
	if _, known := b.rows[key]; !known && b.size.add(len(key.tag)+len(name)) {
		b.rows[key] = name
	}
	return name
}

// name returns the name of the row of a source. The regular expression must match all of the tag.
func (b *By) name(key source, tag []byte) []byte {
	switch {
	case b.all:
		return nil
	case (b.input || b.phase) && (!b.tag || tag == nil):
		return []byte(key.name)
	case b.input || b.phase:
		return append([]byte(key.name+"::"), tag...)
	}
	if at := b.group.FindStringSubmatchIndex(key.tag); tag != nil && at != nil && at[1]-at[0] == len(key.tag) && at[2] >= 0 {
		b.matched = true
		return Parse(key.tag[at[2]:at[3]])
	}
	return slices.Clone(tag)
}

// Unmatched reports whether there are rows, but the regular expression has matched no tag.
func (b *By) Unmatched() bool {
	if b == nil || b.group == nil {
		return false
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	return !b.matched && len(b.rows) > 0
}

// Added returns, for each row that has several tags, the texts of these tags, in the order of the
// rows. If there are very many tags, some are missing.
func (b *By) Added() (rows [][]string) {
	if b == nil {
		return nil
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	byRow := make(map[string][]string)
	for key, name := range b.rows {
		byRow[Text(name)] = append(byRow[Text(name)], key.tag)
	}
	for _, name := range slices.Sorted(maps.Keys(byRow)) {
		if all := byRow[name]; len(all) > 1 {
			slices.Sort(all)
			rows = append(rows, all)
		}
	}
	return rows
}
