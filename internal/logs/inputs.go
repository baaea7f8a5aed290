package logs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/message"
	"hdrkit/internal/measure"
	"hdrkit/internal/scan"
	"hdrkit/internal/scan/rotate"
)

// A Source is what an option or an argument names: standard input, a file, or the files of a folder
// whose whole names an expression matches. It may have no file yet.
type Source struct {
	option, Text string // as they were given; the text of -tif is without the tag
	Tag          string // of -tif
	Stdin        bool
	Path         string // of a file, empty for a pattern
	Folder       string
	several      bool // Folder is a pattern, see [scan.Folders]
	expression   *regexp.Regexp
	whole        bool // the logs of a folder, whatever their names
	run          string
	unitOf       func(log string) (hdrlog.Unit, bool)
}

// Inputs say which logs to read. Messages call them by the options that give them.
type Inputs struct {
	Names  []string // files, folders and patterns: -if and arguments
	Paths  []string // files: -ifp
	Tagged []string // TAG=NAME: -tif
	Folder string   // of the names, or a pattern: -ip
	Second hdrlog.SecondField
	// Untagged intervals stay untagged, although the logs say what they hold.
	Untagged bool
	// Runs is set if a folder of folders has a run in each. A folder beside other names is a run.
	Runs bool
	// Waits is set if logs may come later.
	Waits bool
	// Output is the file that -of names, nil for a command without: no input.
	Output *string
	// UnitOf, if it is set, returns the unit that the user gives the values of a log. Rows of
	// measurements are read in it.
	UnitOf func(log string) (hdrlog.Unit, bool)
	// Given are inputs of a program that has no files. Names are nil then.
	Given []scan.Input
}

// Sources returns what is named. If that is nothing, it is standard input, unless that is a
// terminal.
func (in *Inputs) Sources(std *message.Streams) (all []Source, err error) {
	folder := cmp.Or(in.Folder, ".")
	several := false
	if info, err := os.Stat(folder); err != nil && strings.ContainsAny(folder,
		"*?[") && (in.Waits || len(scan.Folders(folder)) > 0) {
		several = true
	} else if err != nil {
		return nil, fmt.Errorf("-ip: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("-ip: %s is not a folder", folder)
	}
	for _, named := range []struct {
		option string
		texts  []string
	}{{"", in.Names}, {"-ifp ", in.Paths}, {"-tif ", in.Tagged}} {
		for _, text := range named.texts {
			s := Source{option: named.option, Text: text, Folder: folder, several: several, unitOf: in.UnitOf}
			switch named.option {
			case "-ifp ":
				s.Path = text
			case "-tif ":
				if s.Tag, s.Text, err = splitTagged(text); err != nil {
					return nil, err
				}
				fallthrough
			default:
				err = s.find()
			}
			if err != nil {
				return nil, err
			}
			if s.Path == "-" {
				s.Path = "./-" // - alone is standard input
			}
			if info, err := os.Stat(s.Path); err == nil && info.IsDir() {
				s.Folder = s.Path
				s.Path = ""
				s.several = false
				s.whole, s.expression = true, anyName
			}
			if in.Runs {
				all = append(all, s.runs(len(named.texts) > 1)...)
				continue
			}
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		if message.Terminal(std.In) {
			hint := ""
			if in.Waits {
				hint = fmt.Sprintf(", such as %s run.hdr, or %[1]s 'node.*\\.hdr' for all that match, also later",
					std.Name)
			}
			return nil, message.Usagef("no input: name logs with -if, or as arguments%s; - is standard input", hint)
		}
		all = []Source{{Stdin: true}}
	}
	return all, nil
}

// anyName matches the logs of a folder: all files but hidden ones.
var anyName = regexp.MustCompile("[^.].*")

// runs returns the sources of the runs of a source: itself, or the folders with logs in a folder
// that has none, or that a pattern matches. Beside others, a folder is a run.
func (s *Source) runs(beside bool) (all []Source) {
	var folders []string
	switch {
	case s.whole && beside:
		folders = []string{s.Folder}
	case s.whole && !s.hasLogs(s.Folder):
		folders = scan.Folders(filepath.Join(s.Folder, "*"))
	case s.expression != nil && strings.ContainsAny(s.Text, wild):
		folders = scan.Folders(filepath.Join(s.Folder, filepath.Base(s.Text)))
	}
	for _, folder := range folders {
		if s.hasLogs(folder) {
			all = append(all, Source{
				option:     s.option,
				Text:       folder,
				Tag:        s.Tag,
				Folder:     folder,
				whole:      true,
				run:        folder,
				expression: anyName,
				unitOf:     s.unitOf,
			})
		}
	}
	if len(all) == 0 {
		return []Source{*s}
	}
	return all
}

// hasLogs reports whether a folder has a log.
func (s *Source) hasLogs(folder string) bool {
	entries, _ := os.ReadDir(folder) // what cannot be read gets a message later
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			return false
		}
		is, _ := s.isLog(filepath.Join(folder, e.Name()))
		return is
	})
}

// Matches reports whether a pattern matches a name.
func (s *Source) Matches(name string) bool { return len(whole(s.expression, []string{name})) > 0 }

// find finds out what a value of -if names: standard input, an existing file or folder, or else
// names.
func (s *Source) find() (err error) {
	switch {
	case s.Text == "":
		return message.Usagef("%s\"\" names no log; is a variable empty?", s.option)
	case s.Text == "-":
		s.Stdin = true
		return nil
	}
	for _, path := range []string{filepath.Join(s.Folder, s.Text), s.Text} {
		if s.Folder != "." && filepath.IsAbs(s.Text) {
			path = s.Text
		}
		if _, err := os.Stat(path); err == nil {
			s.Path = path
			return nil
		}
	}
	s.expression, err = regexp.Compile(s.Text)
	if strings.ContainsAny(s.Text, wild) && !regexp.MustCompile(notGlob).MatchString(s.Text) {
		return s.orGlob(err)
	}
	if err != nil {
		names, _ := s.names()
		return message.Usagef("%s%q is no file in %s and no regular expression: %s%s", s.option, s.Text, s.Folder,
			strings.TrimPrefix(err.Error(), "error parsing regexp: "), suggest(s.Text, names, "name"))
	}
	return nil
}

// A text with *, ? or [ can be a pattern of a shell, unless it has what only regular expressions
// have.
const (
	wild    = "*?["
	notGlob = `[.)][*+?]|[\\^$(){}|+]`
)

// orGlob takes a source for a pattern of a shell if it matches nothing as a regular expression, or
// is none. A text that matches different files as both is refused.
func (s *Source) orGlob(notRegular error) error {
	glob := *s
	folder, base := filepath.Split(s.Text)
	glob.Folder = filepath.Join(s.Folder, folder)
	if filepath.IsAbs(folder) {
		glob.Folder = filepath.Clean(folder)
	}
	glob.several = s.several || strings.ContainsAny(folder, wild)
	written := strings.NewReplacer(".", `\.`, "*", ".*", "?", ".", "[!", "[^").Replace(base)
	var err error
	if glob.expression, err = regexp.Compile(written); err != nil {
		return message.Usagef("%s%q is no file, no pattern and no regular expression", s.option, s.Text)
	}
	var other []string
	if notRegular == nil {
		if other, err = s.names(); err != nil {
			return err
		}
		other = whole(s.expression, other)
	}
	if len(other) == 0 {
		*s = glob
		return nil
	}
	names, err := glob.names()
	if err != nil {
		return err
	}
	if names = whole(glob.expression, names); len(names) > 0 && !slices.Equal(names, other) {
		return message.Usagef("%s'%s' is %s in a shell, and %s as a regular expression: write '%s' "+
			"for the first, '(%s)' for the second",
			s.option, s.Text, message.List(names), message.List(other), folder+written, s.Text)
	}
	return nil
}

// isLog reports whether a file begins like a log, or like measurements that are read as one. If it
// is none, the error may say what option makes one of it. A file that cannot be read gets a message
// later.
func (s *Source) isLog(path string) (is bool, why error) {
	file, err := os.Open(path)
	if err != nil {
		return true, nil
	}
	defer file.Close()
	var in hdrlog.Unit
	if s.unitOf != nil {
		in, _ = s.unitOf(path)
	}
	measured, _, begin, why := measure.Detect(file, path, in)
	return measured != nil || measure.IsLog(begin), why
}

// names returns the names of the files in the folder, with their folders if there are several.
func (s *Source) names() (names []string, err error) {
	for _, folder := range scan.Folders(s.Folder) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, fmt.Errorf("-ip: %w", err)
		}
		for _, entry := range entries {
			path, name := filepath.Join(folder, entry.Name()), entry.Name()
			if s.several {
				name = path
			}
			if info, err := os.Stat(path); err != nil || !info.IsDir() {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// splitTagged splits a value of -tif, TAG=LOG, at the first =. A tag has at least one character.
func splitTagged(tagged string) (tag, log string, err error) {
	tag, log, _ = strings.Cut(tagged, "=")
	if tag == "" || log == "" {
		return "", "", message.Usagef("-tif %q is not TAG=LOG", tagged)
	}
	if hdrlog.CheckTag([]byte(tag)) != nil {
		return "", "", message.Usagef("-tif %q: %w", tagged, hdrlog.ErrTag)
	}
	return tag, log, nil
}

// Find returns the logs that are named, each once: in the order in which they are named, and sorted
// by name if one pattern matches several. All files can be opened; pipes are not tried.
func (in *Inputs) Find(std *message.Streams) ([]scan.Input, error) {
	var all []Source
	if in.Given == nil {
		var err error
		if all, err = in.Sources(std); err != nil {
			return nil, err
		}
	}
	inputs := slices.Clone(in.Given)
	known := make(map[[2]uint64][]int) // the inputs of an identity: there may be many logs
	for _, s := range all {
		logs, err := s.logs(std, in.Output)
		if err != nil {
			return nil, err
		}
		for _, log := range logs {
			log.Second, log.Run = in.Second, s.run
			var key [2]uint64
			if log.Info != nil {
				key[0], key[1] = scan.Identity(log.Info)
			}
			at := len(inputs)
			if n := slices.IndexFunc(known[key], func(other int) bool { return inputs[other].Same(&log) }); n >= 0 {
				at = known[key][n]
			} else {
				inputs, known[key] = append(inputs, log), append(known[key], at)
			}
			// A log that -if names too is still the same log.
			same := &inputs[at]
			if s.Tag != "" && same.Tag != "" && same.Tag != s.Tag {
				return nil, message.Usagef("-tif %s=%s: %s is tagged %s already", s.Tag, s.Text, log.Name, same.Tag)
			}
			if s.Tag != "" {
				same.Tag = s.Tag
			}
		}
	}
	inputs, copies := rotate.Copies(inputs)
	for _, copied := range copies {
		std.Say("%s is a copy of %s: it counts once", copied.Name, copied.Of)
	}
	if in.Runs {
		for _, equal := range rotate.Equal(inputs) {
			std.Say("%s has the same text as %s: these are not two runs", equal.Name, equal.Of)
		}
	}
	if !in.Untagged {
		tagUntagged(inputs)
	}
	return inputs, nil
}

// logs returns the logs of a source, at least one, and not the output.
func (s *Source) logs(std *message.Streams, output *string) (logs []scan.Input, err error) {
	if s.Stdin {
		return []scan.Input{scan.Stdin(std.In)}, nil
	}
	if s.expression == nil {
		log, err := fileInput(s.Path)
		return []scan.Input{log}, err
	}
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	matched := whole(s.expression, names)
	byTag := len(matched) == 0 && strings.ContainsAny(s.Text, wild+"+|")
	if byTag {
		matched = parts(s.expression, names)
	}
	if s.whole {
		all := len(matched)
		hint := ""
		matched = slices.DeleteFunc(matched, func(name string) bool {
			is, why := s.isLog(filepath.Join(s.Folder, name))
			if hint == "" && errors.As(why, new(measure.OptionError)) {
				hint = fmt.Sprintf("; %s may be measurements: %v", name, why)
			}
			return !is
		})
		if len(matched) == 0 {
			return nil, fmt.Errorf("%s%s: no logs in this folder%s", s.option, s.Text, hint)
		}
		std.Notef("%s has %s: %s%s", s.Text, message.Number(len(matched), "log"), message.List(matched),
			leftOut(all-len(matched)))
	} else if len(matched) == 0 {
		hint := suggest(s.Text, names, "name")
		written := []string{".png", ".svg", ".pdf", ".html", ".csv", ".json"}
		if hint == "" && slices.Contains(written, filepath.Ext(s.Text)) && output != nil {
			hint = "; -of " + s.Text + " writes it"
		}
		where, expression := "", ""
		if s.Folder != "." && !filepath.IsAbs(s.Text) {
			where = " in " + s.Folder
		}
		if regexp.QuoteMeta(s.Text) != strings.ReplaceAll(s.Text, ".", `\.`) {
			expression = ", and as a regular expression it matches no whole name there"
		}
		if below := InFolder(s.Text); hint == "" && below != "" {
			hint = "; " + below
		}
		return nil, fmt.Errorf("%s%q: no such file%s%s%s", s.option, s.Text, where, expression, hint)
	}
	if len(matched) > 1 && output != nil {
		matched = s.notWritten(std, *output, matched)
	}
	for _, name := range matched {
		if !s.several {
			name = filepath.Join(s.Folder, name)
		}
		log, err := fileInput(name)
		if err != nil {
			return nil, err
		}
		logs = append(logs, log)
	}
	switch {
	case byTag:
		std.Notef("%s'%s' matches no whole name, but the tag and the suffix of %s: %s", s.option, s.Text,
			message.Number(len(matched), "file"), message.List(matched))
	case len(matched) > 1 && !s.whole:
		std.Notef("%s'%s' matches %d files: %s", s.option, s.Text, len(matched), message.List(matched))
	}
	return logs, nil
}

// notWritten returns names without that of the output, which an earlier run wrote.
func (s *Source) notWritten(std *message.Streams, output string, names []string) []string {
	written, err := os.Stat(output)
	if err != nil || !written.Mode().IsRegular() {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool {
		path := name
		if !s.several {
			path = filepath.Join(s.Folder, name)
		}
		info, err := os.Stat(path)
		if err != nil || !os.SameFile(info, written) {
			return false
		}
		std.Say("%s'%s' matches %s, which -of writes: it is left out", s.option, s.Text, path)
		return true
	})
}

func leftOut(others int) string {
	if others == 0 {
		return ""
	}
	return fmt.Sprintf("; left out %s", message.Number(others, "other file"))
}

// whole returns the names that an expression matches as a whole, without their folders. It makes
// the expression prefer long matches.
func whole(expression *regexp.Regexp, names []string) (matched []string) {
	expression.Longest()
	for _, name := range names {
		// If a match has all of the name, it is the leftmost and the longest.
		base := filepath.Base(name)
		if at := expression.FindStringIndex(base); at != nil && at[1]-at[0] == len(base) {
			matched = append(matched, name)
		}
	}
	return matched
}

// parts returns the names that an expression matches without what hdrsplit puts between the tag and
// the suffix, which is the name of the log: insert-rt.run1.hdr as insert-rt.hdr. A tag may have
// dots.
func parts(expression *regexp.Regexp, names []string) (matched []string) {
	for _, name := range names {
		base := filepath.Base(name)
		suffix := filepath.Ext(base)
		if suffix == ".gz" || suffix == ".zst" {
			suffix = filepath.Ext(strings.TrimSuffix(base, suffix)) + suffix
		}
		stem := strings.TrimSuffix(base, suffix)
		for at := range stem {
			if stem[at] == '.' && len(whole(expression, []string{stem[:at] + suffix})) > 0 {
				matched = append(matched, name)
				break
			}
		}
	}
	return matched
}

// suggest returns a hint for a pattern that matches no name of a thing: a similar expression that
// does, or a similar name.
func suggest(pattern string, names []string, thing string) string {
	glob := strings.NewReplacer(".*", ".*", `\.`, `\.`, ".", `\.`, "*", ".*", "?", ".").Replace(pattern)
	candidates := []string{glob, ".*" + pattern, pattern + ".*", ".*" + pattern + ".*"}
	if extension := filepath.Ext(pattern); extension != "" {
		stem := strings.TrimSuffix(strings.TrimSuffix(pattern, extension), `\`)
		candidates = append(candidates, stem+`.*\`+extension, ".*"+stem+`.*\`+extension)
	}
	for _, candidate := range candidates {
		expression, err := regexp.Compile(candidate)
		if err != nil || thing == "tag" && !strings.ContainsAny(candidate, special) {
			continue
		}
		if matched := whole(expression, names); len(matched) > 0 {
			return fmt.Sprintf("; '%s' matches %s, such as %s", candidate, message.Number(len(matched), thing),
				matched[0])
		}
	}
	return message.DidYouMean(pattern, names)
}

// InFolder returns how to give a regular expression behind a folder, such as logs/.*\.hdr, and
// nothing if it matches no name in it.
func InFolder(text string) string {
	folder, pattern := filepath.Split(text)
	expression, err := regexp.Compile(pattern)
	if folder == "" || err != nil {
		return ""
	}
	names, err := (&Source{Folder: filepath.Clean(folder)}).names()
	if err != nil || len(whole(expression, names)) == 0 {
		return ""
	}
	return fmt.Sprintf("-ip %s %s looks in this folder", message.Quoted(filepath.Clean(folder)), message.Quoted(pattern))
}

// fileInput returns the input of a file that can be read, or of a pipe.
func fileInput(path string) (scan.Input, error) {
	info, err := os.Stat(path)
	var missing *fs.PathError
	if errors.As(err, &missing) {
		missing.Op = "open"
	}
	if err != nil {
		return scan.Input{}, err
	}
	if !info.Mode().IsRegular() {
		// Opening a pipe waits for its writer, and closing it may end the writer.
		input := scan.File(path, 0)
		input.Info, input.Once = info, true
		return input, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return scan.Input{}, err
	}
	f.Close()
	input := scan.File(path, info.Size())
	input.Info = info
	return input, nil
}
