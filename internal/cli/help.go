package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// helpWidth is how wide help is, in characters.
const helpWidth = 96

// help returns what -h prints. The library's own has all of an option in one line, which is too long to read where options
// have several names.
func help(app *cli.App) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s - %s\n\nusage: %s\n\n%s\n\noptions:\n", app.Name, app.Usage, app.UsageText, app.Description)
	for _, flag := range app.Flags {
		if doc, ok := flag.(cli.DocGenerationFlag); ok {
			writeOption(&b, doc)
		}
	}
	b.WriteString("  -h, --help\n        print this help\n  --version\n        print the version\n")
	return b.String()
}

func writeOption(b *strings.Builder, flag cli.DocGenerationFlag) {
	// The text in back quotes is what the option's value is called.
	placeholder, usage := "", flag.GetUsage()
	if before, rest, ok := strings.Cut(usage, "`"); ok {
		name, after, _ := strings.Cut(rest, "`")
		placeholder, usage = " "+name, before+name+after
	}
	var names []string
	for _, name := range flag.Names() {
		// With one dash or two, an option is the same; this is how each is usually written.
		dashes := "-"
		if strings.Contains(name, "-") {
			dashes = "--"
		}
		names = append(names, dashes+name)
	}
	if value := flag.GetDefaultText(); flag.TakesValue() && value != "" && value != "[]" && value != `""` {
		usage += " (default " + strings.Trim(value, `"`) + ")"
	}
	fmt.Fprintf(b, "  %s%s\n", strings.Join(names, ", "), placeholder)
	for _, line := range wrap(usage, helpWidth-8) {
		fmt.Fprintf(b, "        %s\n", line)
	}
}

// wrap breaks text into lines of at most width characters.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
