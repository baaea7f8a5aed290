package cli

import (
	"errors"
	"os"
	"slices"
	"strings"

	"hdrkit/internal/base/message"
)

// These errors say that an argument asks for a page of help, or for the version.
var (
	errShortHelp = errors.New("h")
	errHelp      = errors.New("help")
	errVersion   = errors.New("version")
)

// A line is a command line: options under their first names with their values, and arguments.
// beforeDashes is the number of arguments before --.
type line struct {
	options, args []string
	beforeDashes  int
}

// arguments sorts a command line for the flag package: options come first, since the package stops
// at the first argument that is no option. Each option gets its first name, since the library does
// not accept two names of one option together. After -- there are no options, unless Separates is
// true and -- stands between arguments.
func (c *Command) arguments(args []string) (l line, err error) {
	after := false // -- was read
	for n := 0; n < len(args); n++ {
		arg := args[n]
		if arg == "--" && !after {
			l.beforeDashes, after = len(l.args), true
			continue
		}
		if len(arg) < 2 || arg[0] != '-' || after && arg == "--" {
			l.args = append(l.args, arg)
			continue
		}
		dashed, value, hasValue := strings.Cut(arg, "=")
		name := strings.TrimPrefix(dashed[1:], "-")
		o := optionNamed(c.Options, name)
		if after && (!c.Separates || l.beforeDashes == 0) {
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

// optionHints are names of options that people type although no command has them. The hint is for
// commands with the option, or for all commands if option is empty.
var optionHints = []struct{ names, option, hint string }{
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

// hintFor returns a hint for the name of an option that does not exist: a hint of optionHints, or
// the option with the most similar name.
func (c *Command) hintFor(name string) string {
	for _, t := range optionHints {
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

// optionNames returns all names of options, with those of help.
func optionNames(options []Option) []string {
	names := []string{"help", "version"}
	for n := range options {
		names = append(names, options[n].names()...)
	}
	return names
}
