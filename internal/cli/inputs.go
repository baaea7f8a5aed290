package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"hdrkit/hdrlog"
	"hdrkit/internal/scan"
)

// Inputs returns the logs that the options of [InputFlags] and the arguments choose, each once: in
// the order in which they are named, and sorted by name if one regular expression matches several.
// Without any, that is standard input, unless it is a terminal. All files can be opened; pipes are
// not tried.
func Inputs(c *cli.Context) ([]scan.Input, error) {
	chosen, err := matching(c, "if", append(c.StringSlice("if"), c.Args().Slice()...))
	if err != nil {
		return nil, err
	}
	for _, path := range c.StringSlice("ifp") {
		if err := chosen.addFile(path); err != nil {
			return nil, err
		}
	}
	for _, tagged := range c.StringSlice("tif") {
		if err := chosen.matchTagged(tagged); err != nil {
			return nil, err
		}
	}
	if len(chosen.inputs) == 0 {
		if Terminal(c.App.Reader) {
			return nil, Usagef("no input: name logs with -if, or as arguments; - is standard input")
		}
		chosen.add(scan.Stdin(c.App.Reader))
	}
	chosen.tagUntagged()
	return chosen.inputs, nil
}

// ScanOf returns a scan like s, of the logs that the values of an option choose. They have the
// grammar of -if.
func ScanOf(c *cli.Context, option string, s *scan.Scan, diagnostics *Diagnostics) (*scan.Scan, error) {
	chosen, err := matching(c, option, c.StringSlice(option))
	if err != nil {
		return nil, err
	}
	chosen.tagUntagged()
	for _, input := range chosen.inputs {
		if input.Once && slices.ContainsFunc(s.Inputs, func(other scan.Input) bool { return other.Once && other.Same(&input) }) {
			return nil, Usagef("-%s %s: it is read as -if already, and can be read only once", option, input.Name)
		}
	}
	other := *s
	other.Inputs, other.Seen = chosen.inputs, 0
	diagnostics.probe(other.Inputs)
	return &other, findEnds(&other)
}

func matching(c *cli.Context, option string, patterns []string) (inputs, error) {
	chosen := inputs{c: c, folder: c.String("ip"), option: option}
	var err error
	if chosen.second, err = second(c); err != nil {
		return chosen, err
	}
	if info, err := os.Stat(chosen.folder); err != nil {
		return chosen, fmt.Errorf("-ip: %w", err)
	} else if !info.IsDir() {
		return chosen, fmt.Errorf("-ip: %s is not a folder", chosen.folder)
	}
	for _, pattern := range patterns {
		if err := chosen.match(pattern); err != nil {
			return chosen, err
		}
	}
	return chosen, nil
}

// second returns what -second says.
func second(c *cli.Context) (hdrlog.Second, error) {
	if c.String("second") == "" {
		return hdrlog.SecondUnknown, nil
	}
	meaning, err := OneOf(c, "second")
	if meaning == "end" {
		return hdrlog.SecondEnd, err
	}
	return hdrlog.SecondLength, err
}

// inputs are the inputs that are chosen so far.
type inputs struct {
	c      *cli.Context
	folder string // of -ip
	option string // the option that messages name
	second hdrlog.Second
	inputs []scan.Input
}

// tagUntagged gives untagged intervals tags, see [tagUntagged], unless -untagged turns it off.
// hdrsplit has no such option, since its parts are the intervals of a log as they are.
func (in *inputs) tagUntagged() {
	if flagNamed(in.c.App.Flags, "untagged") != nil && !in.c.Bool("untagged") {
		tagUntagged(in.inputs)
	}
}

// add adds an input unless it is there already.
func (in *inputs) add(input scan.Input) {
	input.Second = in.second
	if in.index(&input) < 0 {
		in.inputs = append(in.inputs, input)
	}
}

// index returns the index of an input, -1 if it is not there.
func (in *inputs) index(input *scan.Input) int {
	return slices.IndexFunc(in.inputs, func(other scan.Input) bool { return other.Same(input) })
}

// match adds the logs that a value of -if chooses.
func (in *inputs) match(pattern string) error {
	if pattern == "" {
		return Usagef("-%s \"\" names no log; is a variable empty?", in.option)
	}
	if pattern == "-" {
		in.add(scan.Stdin(in.c.App.Reader))
		return nil
	}
	if path, ok := in.existing(pattern); ok {
		return in.addFile(path)
	}
	return in.matchNames(pattern)
}

// existing returns the path of the file that a value of -if names, if it exists.
func (in *inputs) existing(pattern string) (path string, ok bool) {
	for _, path := range []string{filepath.Join(in.folder, pattern), pattern} {
		if in.folder != "." && filepath.IsAbs(pattern) {
			path = pattern
		}
		if _, err := os.Stat(path); err == nil {
			return path, true
		}
	}
	return "", false
}

// splitTagged splits a value of -tif, TAG=LOG. Tags and names of files may contain a =. The tag
// ends at the first = that an existing file follows, or else at the first one. A tag has at least
// one character.
func (in *inputs) splitTagged(tagged string) (tag, log string, err error) {
	end := -1
	for n, char := range tagged {
		if char != '=' || n == 0 {
			continue
		}
		if end < 0 {
			end = n
		}
		if log := tagged[n+1:]; exists(filepath.Join(in.folder, log)) || exists(log) {
			end = n
			break
		}
	}
	if end < 0 || end+1 == len(tagged) {
		return "", "", Usagef("-tif %q is not TAG=LOG", tagged)
	}
	if hdrlog.CheckTag([]byte(tagged[:end])) != nil {
		return "", "", Usagef("-tif %q: %w", tagged, hdrlog.ErrTag)
	}
	return tagged[:end], tagged[end+1:], nil
}

// matchTagged adds the logs that a value of -tif chooses.
func (in *inputs) matchTagged(tagged string) error {
	tag, log, err := in.splitTagged(tagged)
	if err != nil {
		return err
	}
	own := inputs{c: in.c, folder: in.folder, option: "tif", second: in.second}
	if err := own.match(log); err != nil {
		return err
	}
	for _, input := range own.inputs {
		// A log that -if names too is still the same log.
		in.add(input)
		same := &in.inputs[in.index(&input)]
		if same.Tag != "" && same.Tag != tag {
			return Usagef("-tif %s: %s is tagged %s already%s", tagged, input.Name, same.Tag, as(same.Name, input.Name))
		}
		same.Tag = tag
	}
	return nil
}

// as says that a file has another name as well.
func as(other, name string) string {
	if other == name {
		return ""
	}
	return ", as " + other
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// matchNames adds the files in the folder whose whole name a regular expression matches. If there
// are several, it says so.
func (in *inputs) matchNames(pattern string) error {
	entries, err := os.ReadDir(in.folder)
	if err != nil {
		return fmt.Errorf("-ip: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if info, err := os.Stat(filepath.Join(in.folder, entry.Name())); err != nil || !info.IsDir() {
			names = append(names, entry.Name())
		}
	}
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return Usagef("-%s %q is no file in %s and no regular expression: %s%s", in.option, pattern, in.folder,
			strings.TrimPrefix(err.Error(), "error parsing regexp: "), suggest(pattern, names))
	}
	matched := whole(expression, names)
	if len(matched) == 0 {
		return fmt.Errorf("-%s %q: no such file in %s, and as a regular expression it matches no whole name there%s", in.option,
			pattern, in.folder, suggest(pattern, names))
	}
	for _, name := range matched {
		if err := in.addFile(filepath.Join(in.folder, name)); err != nil {
			return err
		}
	}
	if len(matched) > 1 && !in.c.Bool("q") {
		message(in.c.App.ErrWriter, in.c.App.Name, fmt.Sprintf("-%s '%s' matches %d files: %s", in.option, pattern, len(matched), list(matched)))
	}
	return nil
}

// list returns names between commas, and only some of many.
func list(names []string) string {
	const most = 12
	if len(names) > most {
		return fmt.Sprintf("%s, ... and %d more", strings.Join(names[:most-2], ", "), len(names)-most+2)
	}
	return strings.Join(names, ", ")
}

// whole returns the names that an expression matches as a whole. It makes the expression prefer
// long matches.
func whole(expression *regexp.Regexp, names []string) (matched []string) {
	expression.Longest()
	for _, name := range names {
		// If a match has all of the name, it is the leftmost and the longest.
		if at := expression.FindStringIndex(name); at != nil && at[1]-at[0] == len(name) {
			matched = append(matched, name)
		}
	}
	return matched
}

// suggest returns a hint for a pattern that matches no name: a similar expression that does, or a
// similar name.
func suggest(pattern string, names []string) string {
	glob := strings.NewReplacer(".*", ".*", `\.`, `\.`, ".", `\.`, "*", ".*", "?", ".").Replace(pattern)
	candidates := []string{glob, ".*" + pattern, pattern + ".*", ".*" + pattern + ".*"}
	if extension := filepath.Ext(pattern); extension != "" {
		stem := strings.TrimSuffix(strings.TrimSuffix(pattern, extension), `\`)
		candidates = append(candidates, stem+`.*\`+extension, ".*"+stem+`.*\`+extension)
	}
	for _, candidate := range candidates {
		expression, err := regexp.Compile(candidate)
		if err != nil {
			continue
		}
		if matched := whole(expression, names); len(matched) > 0 {
			return fmt.Sprintf("; '%s' matches %s, such as %s", candidate, number(len(matched), "name"), matched[0])
		}
	}
	return didYouMean(pattern, names)
}

// addFile adds a file that can be read, or a pipe, unless it is there already.
func (in *inputs) addFile(path string) error {
	if path == "-" {
		path = "./-" // - alone is standard input
	}
	info, err := os.Stat(path)
	var missing *fs.PathError
	switch {
	case errors.As(err, &missing):
		missing.Op = "open"
		return err
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder; -ip is the option that takes one", path)
	case !info.Mode().IsRegular():
		// Opening a pipe waits for its writer, and closing it may end the writer.
		input := scan.File(path, 0)
		input.Info, input.Once = info, true
		in.add(input)
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	f.Close()
	input := scan.File(path, info.Size())
	input.Info = info
	in.add(input)
	return nil
}
