package cli

import (
	"errors"
	"os"
	"slices"
	"strings"

	"hdrkit/internal/base/message"
)

// Errors of arguments that ask for a page instead.
var (
	errShortHelp = errors.New("h")
	errHelp      = errors.New("help")
	errVersion   = errors.New("version")
)

// A line is a command line: options by their first names with their values, and arguments, some of
// them before --.
type line struct {
	options, args []string
	before        int
}

// arguments makes a command line fit the flag package: options first, since that package stops at
// the first argument that is none, and each by its first name, since the library does not take two
// names of one option together. After -- there are no options, unless it separates arguments, of
// which some stand before it.
func (c *Command) arguments(args []string) (l line, err error) {
	after := false // --
	for n := 0; n < len(args); n++ {
		arg := args[n]
		if arg == "--" && !after {
			l.before, after = len(l.args), true
			continue
		}
		if len(arg) < 2 || arg[0] != '-' || after && arg == "--" {
			l.args = append(l.args, arg)
			continue
		}
		dashed, value, hasValue := strings.Cut(arg, "=")
		name := strings.TrimPrefix(dashed[1:], "-")
		o := optionNamed(c.Options, name)
		if after && (!c.Separates || l.before == 0) {
			if _, err := os.Lstat(arg); err != nil && o != nil {
				return l, message.Usagef("%s after -- is the name of a log: options stand before --", dashed)
			}
			l.args = append(l.args, arg)
			continue
		}
		switch {
		case o != nil:
		case name == "h":
			return l, errShortHelp
		case name == "help":
			return l, errHelp
		case name == "version":
			return l, errVersion
		default:
			return l, message.Usagef("there is no option %s%s", dashed, c.hintFor(name))
		}
		switch {
		case hasValue:
		case o.Value.isBool:
			value = "true"
		case n+1 == len(args):
			return l, message.Usagef("-%s needs a value", name)
		default:
			n++
			value = args[n]
		}
		l.options = append(l.options, "-"+o.Name+"="+value)
	}
	return l, nil
}

// typed are names that people type although no option has them, with the option that the hint
// names: the hint is for commands that have it, or for all if it is empty.
var typed = []struct{ names, option, hint string }{
	{"tag tags t include", "incT", "-incT chooses tags"},
	{"exclude", "excT", "-excT leaves tags out"},
	{"warmup warm-up skip", "ci", "-s steady leaves the warm-up out, -s 60 the first minute"},
	{"warmup warm-up skip", "type", "-s steady leaves the warm-up out, -s 60 the first minute"},
	{"warmup warm-up skip", "s", "-s 60 leaves the first minute out"},
	{"o out output", "of", "-of names the output"},
	{"o out output", "od", "-od names the folder of the output"},
	{"i in input file", "if", "a log is an argument, or -if"},
	{"format json csv md markdown", "st", "-st chooses what to print"},
	{"format chart kind", "type", "-type chooses what to draw"},
	{"window interval every step", "agg", "-agg merges the intervals of each window"},
	{"percentile quantile quantiles p50 p90 p95 p99 p99.9 p999", "p", "-p 50,99,99.9 chooses percentiles"},
	{"compare baseline runs diff", "", "hdrdiff OLD NEW compares logs"},
	{"units", "unit", "-unit chooses the unit to print"},
	{"web port http listen address", "serve", "-serve 127.0.0.1:8080 shows a page"},
	{"push remote-write", "", "hdrlive sends to receivers: hdrlive - -s start -push URL < run.hdr"},
	{"follow f watch live serve listen state abort idle for grace schema auth tls-cert tls-key open " +
		"web port http address", "", "hdrlive shows logs while they are written"},
}

// hintFor returns a hint for the name of an option that does not exist.
func (c *Command) hintFor(name string) string {
	for _, t := range typed {
		if slices.Contains(strings.Fields(t.names), name) && (t.option == "" || optionNamed(c.Options, t.option) != nil) {
			return "; " + t.hint
		}
	}
	if best := message.Nearest(name, optionNames(c.Options)); best != "" {
		return "; did you mean -" + best + "?"
	}
	return ""
}

func optionNamed(options []Option, name string) *Option {
	for n := range options {
		if slices.Contains(options[n].names(), name) {
			return &options[n]
		}
	}
	return nil
}

// optionNames returns all names of options.
func optionNames(options []Option) []string {
	names := []string{"help", "version"}
	for n := range options {
		names = append(names, options[n].names()...)
	}
	return names
}
