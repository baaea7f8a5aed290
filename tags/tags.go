// Package tags names, chooses and spells the tags of intervals.
package tags

// Default is what the untagged intervals are called where a tag must be named.
const Default = "default"

// Name returns a tag for people to read: [Default] for nil, that is for untagged intervals.
func Name(tag []byte) string {
	if tag == nil {
		return Default
	}
	return string(tag)
}

// Key returns what to keep and to sort things of a tag by: a different string for each tag, and for none, which comes first.
func Key(tag []byte) string {
	if tag == nil {
		return ""
	}
	return "=" + string(tag)
}

// A Filter chooses tags. The zero value keeps all. In it, "default" means the untagged intervals, and those whose tag
// is spelled so.
type Filter struct {
	include, exclude map[string]bool
}

// NewFilter returns a filter that keeps the included tags, all if there are none, but not the excluded ones.
func NewFilter(include, exclude []string) Filter {
	return Filter{set(include), set(exclude)}
}

func set(names []string) map[string]bool {
	if len(names) == 0 {
		return nil
	}
	s := make(map[string]bool, len(names))
	for _, name := range names {
		s[name] = true
	}
	return s
}

// Keeps reports whether an interval with this tag, nil for none, is wanted.
func (f Filter) Keeps(tag []byte) bool {
	if tag == nil {
		tag = []byte(Default)
	}
	return (f.include == nil || f.include[string(tag)]) && !f.exclude[string(tag)]
}

// All reports whether the filter keeps every tag.
func (f Filter) All() bool { return f.include == nil && f.exclude == nil }
