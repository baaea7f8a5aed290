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

// A Source is what one value of an option or one argument names: standard input, a file, all logs
// of a folder, or the files of a folder whose whole names match an expression. The files need not
// exist yet.
type Source struct {
	option         string // such as "-tif ", empty for -if and arguments
	Text           string // the value of the option, of -tif without the tag
	Tag            string // of -tif
	Stdin          bool
	Path           string // of a file; otherwise empty
	Folder         string // of the files
	severalFolders bool   // Folder is a pattern of several folders, see [scan.Folders]
	expression     *regexp.Regexp
	allLogs        bool   // of Folder, whatever their names are
	run            string // see [scan.Input.Run]
	unitOf         func(log string) (hdrlog.Unit, bool)
}

// Inputs are the options that say which logs to read.
type Inputs struct {
	Names  []string // -if and arguments: files, folders and patterns
	Paths  []string // -ifp: files
	Tagged []string // -tif: TAG=NAME
	Folder string   // -ip: the folder of the names, or a pattern of folders
	Second hdrlog.SecondField
	// Untagged lets untagged intervals stay untagged, even if logs say that they contain different
	// things.
	Untagged bool
	// Runs makes a run of each folder in a folder, and of a folder that is named beside others.
	Runs bool
	// Waits reports that the command also reads logs that are created later.
	Waits bool
	// Output is the file that -of names, which is no input. It is nil if the command has no -of.
	Output *string
	// UnitOf, if not nil, returns the unit that the user gives the values of a log. Measurements
	// are read in this unit.
	UnitOf func(log string) (hdrlog.Unit, bool)
	// Given are the inputs of a program without files. Names are nil then.
	Given []scan.Input
}

// Sources returns what the options name. If they name nothing, that is standard input, or an error
// if standard input is a terminal.
func (in *Inputs) Sources(std *message.Streams) (all []Source, err error) {
	folder := cmp.Or(in.Folder, ".")
	severalFolders := false
	if info, err := os.Stat(folder); err != nil && strings.ContainsAny(folder,
		"*?[") && (in.Waits || len(scan.Folders(folder)) > 0) {
		severalFolders = true
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
			s := Source{option: named.option, Text: text, Folder: folder, severalFolders: severalFolders, unitOf: in.UnitOf}
			switch named.option {
			case "-ifp ":
				s.Path = text
			case "-tif ":
				if s.Tag, s.Text, err = splitTagged(text); err != nil {
					return nil, err
				}
				fallthrough
			default:
				err = s.resolve()
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
				s.severalFolders = false
				s.allLogs = true
				s.expression = anyName
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

// anyName matches the names of all files that are not hidden.
var anyName = regexp.MustCompile("[^.].*")

// runs returns a source for each run that a source names. A folder without logs has a run in each
// of its folders with logs, and a pattern has one in each folder with logs that it matches. Any
// other source is a run itself, and so is a folder that is named beside others.
func (s *Source) runs(besideOthers bool) (all []Source) {
	var folders []string
	switch {
	case s.allLogs && besideOthers:
		folders = []string{s.Folder}
	case s.allLogs && !s.hasLogs(s.Folder):
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
				allLogs:    true,
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

// hasLogs reports whether a folder contains a log.
func (s *Source) hasLogs(folder string) bool {
	entries, _ := os.ReadDir(folder) // reading the files reports an error
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			return false
		}
		is, _ := s.isLog(filepath.Join(folder, e.Name()))
		return is
	})
}

// Matches reports whether the expression of the source matches the name of a file as a whole.
func (s *Source) Matches(name string) bool {
	return len(wholeMatches(s.expression, []string{name})) > 0
}

// resolve finds out what Text names: standard input, an existing file or folder, or else files
// whose names match an expression.
func (s *Source) resolve() (err error) {
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

// A text with one of the characters of wild can be a pattern of a shell, unless notGlob matches
// something in it that only regular expressions have.
const (
	wild    = "*?["
	notGlob = `[.)][*+?]|[\\^$(){}|+]`
)

// orGlob makes the source a pattern of a shell if Text is no regular expression, for which
// notRegular is the reason, or matches nothing as one. It returns an error if Text matches
// different files both ways.
func (s *Source) orGlob(notRegular error) error {
	glob := *s
	folder, base := filepath.Split(s.Text)
	glob.Folder = filepath.Join(s.Folder, folder)
	if filepath.IsAbs(folder) {
		glob.Folder = filepath.Clean(folder)
	}
	glob.severalFolders = s.severalFolders || strings.ContainsAny(folder, wild)
	translated := strings.NewReplacer(".", `\.`, "*", ".*", "?", ".", "[!", "[^").Replace(base)
	var err error
	if glob.expression, err = regexp.Compile(translated); err != nil {
		return message.Usagef("%s%q is no file, no pattern and no regular expression", s.option, s.Text)
	}
	var other []string
	if notRegular == nil {
		if other, err = s.names(); err != nil {
			return err
		}
		other = wholeMatches(s.expression, other)
	}
	if len(other) == 0 {
		*s = glob
		return nil
	}
	names, err := glob.names()
	if err != nil {
		return err
	}
	if names = wholeMatches(glob.expression, names); len(names) > 0 && !slices.Equal(names, other) {
		return message.Usagef("%s'%s' is %s in a shell, and %s as a regular expression: write '%s' "+
			"for the first, '(%s)' for the second",
			s.option, s.Text, message.List(names), message.List(other), folder+translated, s.Text)
	}
	return nil
}

// isLog reports whether a file begins like a log, or like measurements that are read as a log. If
// it does not, the error may say which option of hdrrec makes a log of it. A file that cannot be
// read counts as a log, so that reading it reports the error.
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

// names returns the names of the files in Folder. They are paths if Folder is a pattern of folders.
func (s *Source) names() (names []string, err error) {
	for _, folder := range scan.Folders(s.Folder) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, fmt.Errorf("-ip: %w", err)
		}
		for _, entry := range entries {
			path, name := filepath.Join(folder, entry.Name()), entry.Name()
			if s.severalFolders {
				name = path
			}
			if info, err := os.Stat(path); err != nil || !info.IsDir() {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// splitTagged splits a value of -tif, TAG=LOG, at the first =. Neither side may be empty.
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

// Find returns the logs that the options name, each once, in the order in which they are named. The
// logs of one pattern are sorted by name. Find returns an error if a file cannot be opened. It does
// not try to open pipes.
func (in *Inputs) Find(std *message.Streams) ([]scan.Input, error) {
	var all []Source
	if in.Given == nil {
		var err error
		if all, err = in.Sources(std); err != nil {
			return nil, err
		}
	}
	inputs := slices.Clone(in.Given)
	known := make(map[[2]uint64][]int) // indices of inputs by [scan.Identity]: there may be many logs
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

// logs returns the logs of a source without the output, or an error if there are none.
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
	matched := wholeMatches(s.expression, names)
	byTag := len(matched) == 0 && strings.ContainsAny(s.Text, wild+"+|")
	if byTag {
		matched = partMatches(s.expression, names)
	}
	if s.allLogs {
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
		matched = s.withoutOutput(std, *output, matched)
	}
	for _, name := range matched {
		if !s.severalFolders {
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
	case len(matched) > 1 && !s.allLogs:
		std.Notef("%s'%s' matches %d files: %s", s.option, s.Text, len(matched), message.List(matched))
	}
	return logs, nil
}

// withoutOutput returns the names without the file of -of, which an earlier run of the command
// wrote.
func (s *Source) withoutOutput(std *message.Streams, output string, names []string) []string {
	written, err := os.Stat(output)
	if err != nil || !written.Mode().IsRegular() {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool {
		path := name
		if !s.severalFolders {
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

// wholeMatches returns the names that an expression matches as a whole. It ignores the folders of
// names. It changes the expression to prefer long matches.
func wholeMatches(expression *regexp.Regexp, names []string) (matched []string) {
	expression.Longest()
	for _, name := range names {
		// A match of the whole name is the leftmost and longest one.
		base := filepath.Base(name)
		if at := expression.FindStringIndex(base); at != nil && at[1]-at[0] == len(base) {
			matched = append(matched, name)
		}
	}
	return matched
}

// partMatches returns the names of parts of hdrsplit that an expression matches without the name of
// the log that was split: hdrsplit puts this name between the tag and the suffix. So the expression
// insert-rt.hdr matches insert-rt.run1.hdr. A tag may have dots.
func partMatches(expression *regexp.Regexp, names []string) (matched []string) {
	for _, name := range names {
		base := filepath.Base(name)
		suffix := filepath.Ext(base)
		if suffix == ".gz" || suffix == ".zst" {
			suffix = filepath.Ext(strings.TrimSuffix(base, suffix)) + suffix
		}
		stem := strings.TrimSuffix(base, suffix)
		for at := range stem {
			if stem[at] == '.' && len(wholeMatches(expression, []string{stem[:at] + suffix})) > 0 {
				matched = append(matched, name)
				break
			}
		}
	}
	return matched
}

// suggest returns a hint for a pattern that matches no name: a similar expression that matches
// some, or a similar name. Thing says what names are of: "name", "tag" or the like.
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
		if matched := wholeMatches(expression, names); len(matched) > 0 {
			return fmt.Sprintf("; '%s' matches %s, such as %s", candidate, message.Number(len(matched), thing),
				matched[0])
		}
	}
	return message.DidYouMean(pattern, names)
}

// InFolder returns a hint for a text that is a folder and a regular expression, such as
// logs/.*\.hdr: how to give them apart. It is empty if the expression matches no name in the
// folder.
func InFolder(text string) string {
	folder, pattern := filepath.Split(text)
	expression, err := regexp.Compile(pattern)
	if folder == "" || err != nil {
		return ""
	}
	names, err := (&Source{Folder: filepath.Clean(folder)}).names()
	if err != nil || len(wholeMatches(expression, names)) == 0 {
		return ""
	}
	return fmt.Sprintf("-ip %s %s looks in this folder", message.Quoted(filepath.Clean(folder)), message.Quoted(pattern))
}

// fileInput returns the input that reads a file or a pipe. It returns an error if the file cannot
// be opened. It does not open a pipe, since that waits for the writer and may end it.
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
