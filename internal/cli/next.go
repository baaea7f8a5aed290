package cli

import (
	"os"
	"slices"
	"strings"

	"hdrkit/internal/base/message"
)

// carried are the options that a finding's command takes over: they choose what is read, and its
// unit. A list of breaches takes the limits, too.
const carried = "ip ifp second incT excT untagged it by s e times tz in unit"

// refused are carried options that some commands do not take.
var refused = map[string]string{
	"hdrsum -lt":                      "tz in unit",
	"hdrsum -st values":               "tz",
	"hdrsum -by input":                "it by",
	"hdrplot -by input -type heatmap": "it by",
	"hdrplot -compare -type report":   "by times",
}

// mostNames is the number of logs up to which a command is printed with all of them.
const mostNames = 20

// next returns a function that adds to a command the logs of this command line and what chooses of
// them, so that a shell can run it. An option alone is one of hdrsum. The command stays without
// logs if it cannot have them: a pipe is gone, and few commands have -tif. So it does if nobody
// would read all their names.
func (c *Command) next(l line) func(command string) string {
	complete := c.named(l)
	return func(command string) string {
		if strings.HasPrefix(command, "-") {
			command = "hdrsum " + command
		}
		if !complete {
			return command
		}
		return command + c.logs(l, command) + c.carriedBy(command)
	}
}

// named reports whether the logs have names that another command can read, and not too many.
func (c *Command) named(l line) bool {
	names := slices.Concat(l.args, c.texts("if"), c.texts("ifp"))
	return 0 < len(names) && len(names) <= mostNames && !slices.ContainsFunc(names, isGone) && len(c.texts("tif")) == 0
}

// isGone reports whether a name is standard input or a pipe, which nobody can read again.
func isGone(name string) bool {
	if name == "-" {
		return true
	}
	file, err := os.Stat(name)
	return err == nil && !file.IsDir() && !file.Mode().IsRegular()
}

// texts returns what the command line says of an option.
func (c *Command) texts(name string) []string {
	if o := optionNamed(c.Options, name); o != nil {
		return o.texts
	}
	return nil
}

// logs returns the logs as arguments of a command, for a shell. Two sides are for comparisons only.
func (c *Command) logs(l line, command string) string {
	var b strings.Builder
	for n, arg := range slices.Concat(l.args, c.texts("if")) {
		if n == l.before && n > 0 && strings.Contains(command, " -compare") {
			b.WriteString(" --")
		}
		if strings.HasPrefix(arg, "-") {
			arg = "./" + arg
		}
		b.WriteString(" " + message.Quoted(arg))
	}
	return b.String()
}

// carriedBy returns the options that a command takes over, for a shell.
func (c *Command) carriedBy(command string) string {
	takes := strings.Fields(carried)
	if strings.HasSuffix(command, " breaches") {
		takes = append(takes, "sla")
	}
	without := strings.Fields(refused[command])
	if len(c.texts("s"))+len(c.texts("e")) > 0 { // -tz is that of these
		without = slices.DeleteFunc(without, func(name string) bool { return name == "tz" })
	}
	if c.Name == "hdrlive" { // its -s is where it begins to read
		without = append(without, "s", "e")
	}
	var b strings.Builder
	for n := range c.Options {
		o := &c.Options[n]
		if !slices.Contains(takes, o.Name) || slices.Contains(without, o.Name) {
			continue
		}
		for _, text := range o.texts {
			b.WriteString(" -" + o.Name)
			if !o.Value.isBool {
				b.WriteString(" " + message.Quoted(text))
			}
		}
	}
	return b.String()
}
