package cli

import (
	"slices"
	"strings"
)

// A candidate is a word that completion offers.
type candidate struct{ word, help string }

// complete returns what the completion of a shell needs, a line for each candidate: the word, a tab
// and its description. args are the arguments up to the cursor. Bash passes the line up to the
// cursor instead, and gets only words.
func (c *Command) complete(shell string, args []string) string {
	quoted := ""
	if shell == "bash" {
		args, quoted = bashWords(strings.Join(args, " "))
	}
	var b strings.Builder
	if len(args) == 0 {
		return ""
	}
	for _, word := range c.candidates(args) {
		if strings.ContainsAny(word.word, "\n\t") {
			continue
		}
		if shell == "bash" {
			b.WriteString(bashReplacement(quoted, word.word) + "\n")
		} else {
			b.WriteString(word.word + "\t" + word.help + "\n")
		}
	}
	return b.String()
}

// candidates returns the words that may stand in place of the last argument. If a file name may
// stand there, it returns none.
func (c *Command) candidates(args []string) []candidate {
	last := args[len(args)-1]
	for n := 0; n < len(args)-1; n++ {
		if args[n] == "--" {
			return nil
		}
		o := c.optionOf(args[n])
		if o == nil || o.Value.isBool || strings.Contains(args[n], "=") {
			continue
		}
		if n++; n == len(args)-1 {
			return c.values(o, args[:n-1], "", last)
		}
	}
	name, value, hasValue := strings.Cut(last, "=")
	switch {
	case !strings.HasPrefix(last, "-"):
		return nil
	case !hasValue:
		return c.options(last)
	default:
		if o := c.optionOf(name); o != nil {
			return c.values(o, args[:len(args)-1], name+"=", value)
		}
		return nil
	}
}

// optionOf returns the option that an argument names, or nil.
func (c *Command) optionOf(arg string) *Option {
	if len(arg) < 2 || arg[0] != '-' {
		return nil
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	return optionNamed(c.Options, name)
}

// options returns the options that begin with start. A name after one dash is the first name that
// matches, and after two dashes the last name.
func (c *Command) options(start string) []candidate {
	var found []candidate
	for _, g := range c.groups() {
		for _, o := range g.options {
			names, dashes := o.names(), "-"
			if strings.HasPrefix(start, "--") {
				slices.Reverse(names)
				dashes = "--"
			}
			for _, name := range names {
				if word := dashes + name; strings.HasPrefix(word, start) {
					found = append(found, candidate{word, o.shortDescription()})
					break
				}
			}
		}
	}
	return found
}

// values returns the values of an option that begin with start, each behind prefix. before are the
// arguments before the option, which Complete may need.
func (c *Command) values(o *Option, before []string, prefix, start string) []candidate {
	all := o.values()
	if o.Complete != nil {
		comma := strings.LastIndexByte(start, ',') + 1
		prefix, start = prefix+start[:comma], start[comma:]
		if line, err := c.arguments(before); err == nil && c.apply(line) == nil {
			all = o.Complete()
		}
	}
	var found []candidate
	for _, value := range all {
		if strings.HasPrefix(value, start) {
			found = append(found, candidate{prefix + value, ""})
		}
	}
	return found
}

// bashWords splits a command line at spaces, and removes quotes and backslashes. This is enough to
// find logs and their tags. It returns the words after the command. last is the last word with its
// quotes.
func bashWords(line string) (words []string, last string) {
	words = strings.Fields(line + "|")
	last = strings.TrimSuffix(words[len(words)-1], "|")
	words[len(words)-1] = last
	for n := range words {
		words[n] = strings.NewReplacer(`\`, "", `'`, "", `"`, "").Replace(words[n])
	}
	return words[1:], last
}

// bashReplacement returns what bash puts in place of the last word. For bash, = and : end a word,
// and only what follows is replaced. Bash adds no quotes to a word.
func bashReplacement(last, word string) string {
	if strings.ContainsAny(last, `'"`) {
		return word
	}
	if end := strings.LastIndexAny(last, "=:") + 1; end > 0 && strings.HasPrefix(word, last[:end]) {
		word = word[end:]
	}
	var b strings.Builder
	for _, r := range word {
		if strings.ContainsRune(" !\"#$&'()*;<>?[\\]^`{|}~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
