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

// A Filter chooses tags. The zero value keeps all tags. It is safe for concurrent use, and must not
// be copied after use.
//
// A filter is made of patterns. A pattern without any of the characters *+?()[]{}|^$\ is the text
// of a tag, see [Text], so a dot is a dot and "default" means untagged intervals. Any other pattern
// is a regular expression, which must match the whole text of a tag. A regular expression does not
// choose untagged intervals.
type Filter struct {
	include, exclude []*pattern

	mu   sync.RWMutex
	kept map[string]bool // whether the filter keeps a tag, by its text
	size cacheSize
}

// A cacheSize is the size in bytes of a map whose keys are texts of tags. Above maxCached, tags are
// no longer added: they are decided each time.
type cacheSize int

const (
	maxCached  = 8 << 20
	entryBytes = 100 // of an entry, without its texts
)

// add adds an entry whose texts have text bytes. It returns false if the entry does not fit.
func (c *cacheSize) add(text int) bool {
	if *c+cacheSize(text) > maxCached {
		return false
	}
	*c += cacheSize(text) + entryBytes
	return true
}

// A pattern is the text of a tag, or a regular expression that matches texts of tags.
type pattern struct {
	text       string
	expression *regexp.Regexp // nil if the text is that of a tag
	matched    bool           // the pattern has matched a tag
}

// NewFilter returns a filter that keeps the tags that a pattern of include matches, or all tags if
// include is empty, except those that a pattern of exclude matches. An element of include and
// exclude may be a list of patterns with commas between them, since no tag contains a comma.
func NewFilter(include, exclude []string) (*Filter, error) {
	f := &Filter{kept: make(map[string]bool)}
	var err error
	if f.include, err = parsePatterns(include); err != nil {
		return nil, err
	}
	f.exclude, err = parsePatterns(exclude)
	return f, err
}

func parsePatterns(lists []string) (patterns []*pattern, err error) {
	for _, list := range lists {
		for text := range strings.SplitSeq(list, ",") {
			p := &pattern{text: text}
			if text == "" {
				return nil, errors.New("an empty pattern matches no tag; the empty tag is %")
			}
			if strings.ContainsAny(text, `*+?()[]{}|^$\`) {
				if p.expression, err = regexp.Compile(text); err != nil {
					return nil, fmt.Errorf("%q: %s", text, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
				}
				p.expression.Longest() // if any match is the whole text, it is the longest
			}
			patterns = append(patterns, p)
		}
	}
	return patterns, nil
}

// matches reports whether the pattern matches a tag with this text.
func (p *pattern) matches(text string) bool {
	if p.expression == nil {
		return p.text == text
	}
	at := p.expression.FindStringIndex(text)
	return text != Default && at != nil && at[1]-at[0] == len(text)
}

// Keeps reports whether the filter keeps intervals with this tag.
func (f *Filter) Keeps(tag []byte) bool {
	if f.All() {
		return true
	}
	f.mu.RLock()
	var kept, known bool
	if isPlain(tag) {
		kept, known = f.kept[string(tag)] // does not allocate
	} else {
		kept, known = f.kept[Text(tag)]
	}
	f.mu.RUnlock()
	if known {
		return kept
	}
	return f.decide(Text(tag))
}

// decide matches a new tag with all patterns, and keeps the decision.
func (f *Filter) decide(text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	matchesAny := func(patterns []*pattern) (any bool) {
		for _, p := range patterns {
			if p.matches(text) {
				p.matched, any = true, true
			}
		}
		return any
	}
	included, excluded := matchesAny(f.include), matchesAny(f.exclude)
	kept := (included || len(f.include) == 0) && !excluded
	if _, known := f.kept[text]; !known && f.size.add(len(text)) {
		f.kept[text] = kept
	}
	return kept
}

// All reports whether the filter keeps every tag.
func (f *Filter) All() bool { return f == nil || len(f.include)+len(f.exclude) == 0 }

// Unmatched returns the patterns of include and of exclude that have matched no tag so far.
func (f *Filter) Unmatched() (include, exclude []string) {
	if f.All() {
		return nil, nil
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	unmatched := func(patterns []*pattern) (texts []string) {
		for _, p := range patterns {
			if !p.matched {
				texts = append(texts, p.text)
			}
		}
		return texts
	}
	return unmatched(f.include), unmatched(f.exclude)
}

// Seen returns the texts of the tags that the filter has seen, sorted. If there are very many, some
// are missing. A filter that keeps all tags does not remember them.
func (f *Filter) Seen() []string {
	if f == nil {
		return nil
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Sorted(maps.Keys(f.kept))
}
