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

// Inputs returns the logs that the options of [InputFlags] and the arguments choose, each once, in the order they are
// named, those that one regular expression matches sorted by name. All files can be read; a pipe is not opened for that.
func Inputs(c *cli.Context) ([]scan.Input, error) {
	chosen, err := matching(c, append(c.StringSlice("if"), c.Args().Slice()...))
	if err != nil {
		return nil, err
	}
	for _, path := range c.StringSlice("ifp") {
		if err := chosen.addFile(path); err != nil {
			return nil, err
		}
	}
	for _, tagged := range c.StringSlice("tif") {
		if err := chosen.matchTagged(c, c.String("ip"), tagged); err != nil {
			return nil, err
		}
	}
	if len(chosen.inputs) == 0 {
		return nil, errors.New("no input: name logs with -if, or as arguments; - is standard input")
	}
	return chosen.inputs, nil
}

// InputsNamed returns the logs that patterns stand for, which are what -if takes.
func InputsNamed(c *cli.Context, patterns []string) ([]scan.Input, error) {
	chosen, err := matching(c, patterns)
	return chosen.inputs, err
}

func matching(c *cli.Context, patterns []string) (chosen inputs, err error) {
	folder := c.String("ip")
	if info, err := os.Stat(folder); err != nil {
		return chosen, fmt.Errorf("-ip: %w", err)
	} else if !info.IsDir() {
		return chosen, fmt.Errorf("-ip: %s is not a folder", folder)
	}
	for _, pattern := range patterns {
		if err := chosen.match(c, folder, pattern); err != nil {
			return chosen, err
		}
	}
	return chosen, nil
}

// inputs are those chosen so far.
type inputs struct {
	inputs []scan.Input
}

// add adds an input unless it is there already.
func (in *inputs) add(input scan.Input) {
	if in.index(&input) < 0 {
		in.inputs = append(in.inputs, input)
	}
}

// index returns the index of an input, -1 if it is not there.
func (in *inputs) index(input *scan.Input) int {
	return slices.IndexFunc(in.inputs, func(other scan.Input) bool { return other.Same(input) })
}

// match adds what a value of -if stands for.
func (in *inputs) match(c *cli.Context, folder, pattern string) error {
	if pattern == "" {
		return Usagef("-if \"\" names no log; is a variable empty?")
	}
	if pattern == "-" {
		in.add(scan.Stdin(c.App.Reader))
		return nil
	}
	for _, path := range []string{filepath.Join(folder, pattern), pattern} {
		if folder != "." && filepath.IsAbs(pattern) {
			path = pattern
		}
		if _, err := os.Stat(path); err == nil {
			return in.addFile(path)
		}
	}
	return in.matchNames(folder, pattern)
}

// matchTagged adds what a value of -tif, TAG=LOG, stands for. Tags and names of files may contain an =, so the first one
// after which an existing file is named counts, and if there is none the first.
func (in *inputs) matchTagged(c *cli.Context, folder, tagged string) error {
	tag, pattern, ok := strings.Cut(tagged, "=")
	if !ok || tag == "" || pattern == "" {
		return Usagef("-tif %q is not TAG=LOG", tagged)
	}
	for n, char := range tagged {
		if char == '=' && n > 0 && (exists(filepath.Join(folder, tagged[n+1:])) || exists(tagged[n+1:])) {
			tag, pattern = tagged[:n], tagged[n+1:]
			break
		}
	}
	if hdrlog.CheckTag([]byte(tag)) != nil {
		return Usagef("-tif %q: %w", tagged, hdrlog.ErrTag)
	}
	var own inputs
	if err := own.match(c, folder, pattern); err != nil {
		return err
	}
	for _, input := range own.inputs {
		// Named by -if too, it is still the same log.
		in.add(input)
		same := &in.inputs[in.index(&input)]
		if same.Tag != "" && same.Tag != tag {
			return Usagef("-tif %s: %s is tagged %s already%s", tagged, input.Name, same.Tag, as(same.Name, input.Name))
		}
		same.Tag = tag
	}
	return nil
}

// as returns what to say where a file goes by another name.
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

// matchNames adds the files in folder whose whole name matches a regular expression.
func (in *inputs) matchNames(folder, pattern string) error {
	whole, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return Usagef("-if %q is no file in %s and no regular expression: %s%s", pattern, folder,
			strings.TrimPrefix(err.Error(), "error parsing regexp: "), globHint(pattern))
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("-ip: %w", err)
	}
	part := regexp.MustCompile(pattern)
	var matched bool
	var contain []string
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			continue
		}
		if whole.MatchString(entry.Name()) {
			matched = true
			if err := in.addFile(path); err != nil {
				return err
			}
		} else if part.MatchString(entry.Name()) {
			contain = append(contain, entry.Name())
		}
	}
	if matched {
		return nil
	}
	err = fmt.Errorf("-if %q: no such file in %s, and as a regular expression it matches no whole name there", pattern, folder)
	if n := len(contain); n == 1 {
		err = fmt.Errorf("%w; 1 name contains it: %s", err, contain[0])
	} else if n > 1 {
		err = fmt.Errorf("%w; %d names contain it, such as %s", err, n, contain[0])
	}
	return err
}

func globHint(pattern string) string {
	if strings.HasPrefix(pattern, "*") {
		return fmt.Sprintf(" (is it %q that you mean?)", "."+strings.ReplaceAll(pattern, ".", `\.`))
	}
	return ""
}

// addFile adds a file that can be read, or a pipe, unless it is there already.
func (in *inputs) addFile(path string) error {
	if path == "-" {
		path = "./-" // the other one is standard input
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
		// To open a pipe is to wait for who writes it, and to close it again may end that.
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
