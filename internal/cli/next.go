package cli

import (
	"os"
	"slices"
	"strings"

	"hdrkit/internal/base/message"
)

// carriedOptions are the options that the command in a finding has as well: they choose what is
// read, and the unit. A command that lists breaches also has -sla.
const carriedOptions = "ip ifp second incT excT untagged it by s e times tz in unit"

// refusedCarried are the carried options that some commands do not have.
var refusedCarried = map[string]string{
	"hdrsum -lt":                      "tz in unit",
	"hdrsum -st values":               "tz",
	"hdrsum -by input":                "it by",
	"hdrplot -by input -type heatmap": "it by",
	"hdrplot -compare -type report":   "by times",
}

// maxNames is the largest number of logs in a printed command. With more logs, the command is
// printed without them.
const maxNames = 20

// next returns a function that adds the logs and the carried options of this command line to a
// command, for a shell. A command that begins with an option is one of hdrsum. The command gets no
// logs if another command could not read them: a pipe is gone, and few commands have -tif.
func (c *Command) next(l line) func(command string) string {
	complete := c.canNameLogs(l)
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

// canNameLogs reports whether a suggested command can name all logs: there are 1 to maxNames of
// them, none is a pipe or standard input, and none was given with -tif.
func (c *Command) canNameLogs(l line) bool {
	names := slices.Concat(l.args, c.texts("if"), c.texts("ifp"))
	return 0 < len(names) && len(names) <= maxNames && !slices.ContainsFunc(names, isReadOnce) && len(c.texts("tif")) == 0
}

// isReadOnce reports whether a name is standard input or a pipe, which cannot be read again.
func isReadOnce(name string) bool {
	if name == "-" {
		return true
	}
	file, err := os.Stat(name)
	return err == nil && !file.IsDir() && !file.Mode().IsRegular()
}

// texts returns the values of an option on the command line.
func (c *Command) texts(name string) []string {
	if o := optionNamed(c.Options, name); o != nil {
		return o.texts
	}
	return nil
}

// logs returns the logs as arguments of a command, for a shell. Only a comparison gets the --
// between two sides.
func (c *Command) logs(l line, command string) string {
	var b strings.Builder
	for n, arg := range slices.Concat(l.args, c.texts("if")) {
		if n == l.beforeDashes && n > 0 && strings.Contains(command, " -compare") {
			b.WriteString(" --")
		}
		if strings.HasPrefix(arg, "-") {
			arg = "./" + arg
		}
		b.WriteString(" " + message.Quoted(arg))
	}
	return b.String()
}

// carriedBy returns the options of this command line that a suggested command repeats, quoted for a
// shell.
func (c *Command) carriedBy(command string) string {
	takes := strings.Fields(carriedOptions)
	if strings.HasSuffix(command, " breaches") {
		takes = append(takes, "sla")
	}
	without := strings.Fields(refusedCarried[command])
	if len(c.texts("s"))+len(c.texts("e")) > 0 { // -tz is for -s and -e
		without = slices.DeleteFunc(without, func(name string) bool { return name == "tz" })
	}
	if c.Streams.Name == "hdrlive" { // -s of hdrlive is where it begins to read
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
