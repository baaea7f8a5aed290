package cli

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"hdrkit/hdrlog"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// A candidate is a word that may stand where the cursor is.
type candidate struct{ word, help string }

// complete returns what a shell's completion of a command line needs, a line for each candidate:
// the word, a tab and its description. Bash gives the line up to the cursor, and gets only words;
// the other shells give the arguments up to the cursor.
func complete(app *cli.App, shell string, args []string) string {
	quoted := ""
	if shell == "bash" {
		args, quoted = bashWords(strings.Join(args, " "))
	}
	var b strings.Builder
	if len(args) == 0 {
		return ""
	}
	for _, c := range candidates(app, args) {
		if strings.ContainsAny(c.word, "\n\t") {
			continue
		}
		if shell == "bash" {
			b.WriteString(bashReplacement(quoted, c.word) + "\n")
		} else {
			b.WriteString(c.word + "\t" + c.help + "\n")
		}
	}
	return b.String()
}

// candidates returns the words that may stand in place of the last argument. There are none where
// the name of a file may stand.
func candidates(app *cli.App, args []string) []candidate {
	last := args[len(args)-1]
	for n := 0; n < len(args)-1; n++ {
		if args[n] == "--" {
			return nil
		}
		flag := flagOf(app.Flags, args[n])
		if _, isBool := flag.(*cli.BoolFlag); flag == nil || isBool || strings.Contains(args[n], "=") {
			continue
		}
		if n++; n == len(args)-1 {
			return values(app, flag, args[:n-1], "", last)
		}
	}
	switch name, value, hasValue := strings.Cut(last, "="); {
	case !strings.HasPrefix(last, "-"):
		return nil
	case !hasValue:
		return options(app, last)
	default:
		if flag := flagOf(app.Flags, name); flag != nil {
			return values(app, flag, args[:len(args)-1], name+"=", value)
		}
		return nil
	}
}

// flagOf returns the flag of an argument that is an option, or nil.
func flagOf(flags []cli.Flag, arg string) cli.Flag {
	if len(arg) < 2 || arg[0] != '-' {
		return nil
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	return flagNamed(flags, name)
}

// options returns the options that begin like an argument: each by its first name that does, or by
// its last name after two dashes.
func options(app *cli.App, start string) []candidate {
	var found []candidate
	for _, g := range groups(app) {
		for _, o := range g.options {
			names, dashes := slices.Clone(o.names), "-"
			if strings.HasPrefix(start, "--") {
				slices.Reverse(names)
				dashes = "--"
			}
			for _, name := range names {
				if word := dashes + name; strings.HasPrefix(word, start) {
					found = append(found, candidate{word, o.shortText()})
					break
				}
			}
		}
	}
	return found
}

// values returns the values of an option that begin like start. Each gets a prefix.
func values(app *cli.App, flag cli.Flag, before []string, prefix, start string) []candidate {
	o := newOption(flag)
	all := ruled(app, flag).values()
	if o.placeholder == "TAGS" {
		comma := strings.LastIndexByte(start, ',') + 1
		prefix, start = prefix+start[:comma], start[comma:]
		all = tagsOfInputs(app, before)
	}
	var found []candidate
	for _, value := range all {
		if strings.HasPrefix(value, start) {
			found = append(found, candidate{prefix + value, ""})
		}
	}
	return found
}

// maxCompletion is how much text of logs completion reads in all, in bytes. Tags that come later
// are not offered: a shell waits.
const maxCompletion = 1 << 20

// tagSpecials are the characters that make an expression of a pattern of tags.
const tagSpecials = `*+?()[]{}|^$\`

// tagPattern returns the pattern that matches only the tag with this text.
func tagPattern(text string) string {
	if strings.ContainsAny(text, tagSpecials) {
		return regexp.QuoteMeta(text)
	}
	return text
}

// tagsOfInputs returns patterns of the tags in the logs that arguments name. It reads files only.
func tagsOfInputs(app *cli.App, args []string) []string {
	options, err := arguments(app.Flags, args)
	if err != nil {
		return nil
	}
	found := make(map[string]bool)
	app.Action = func(c *cli.Context) error {
		inputs, err := Inputs(c)
		if err != nil || slices.ContainsFunc(inputs, func(i scan.Input) bool { return i.Once }) {
			return err
		}
		s := scan.Scan{Inputs: inputs}
		size := 0
		for n := range inputs {
			file, err := inputs[n].Open()
			if err != nil {
				return err
			}
			defer file.Close()
			reader := inputs[n].NewReader(file)
			for size < maxCompletion && reader.Scan() {
				r := reader.Record()
				size += len(r.Text)
				if r.Kind == hdrlog.IntervalRecord {
					s.Select(n, &r.Interval)
					found[tagPattern(tags.Text(r.Interval.Tag))] = true
				}
			}
		}
		return nil
	}
	// An error does not matter: the tags that were found until then are right.
	_ = app.RunContext(context.Background(), append([]string{app.Name}, options...))
	return slices.Sorted(maps.Keys(found))
}

// bashWords splits a command line at spaces and takes quotes and backslashes off its words, which
// is enough to find logs and their tags. It returns the words after the command, and the last one
// with its quotes, which ends at the cursor.
func bashWords(line string) (words []string, last string) {
	words = strings.Fields(line + "|")
	last = strings.TrimSuffix(words[len(words)-1], "|")
	words[len(words)-1] = last
	for n := range words {
		words[n] = strings.NewReplacer(`\`, "", `'`, "", `"`, "").Replace(words[n])
	}
	return words[1:], last
}

// bashReplacement returns what bash puts in place of the last word. Bash takes = and : for ends of
// words and replaces only what follows. It adds no quotes.
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
