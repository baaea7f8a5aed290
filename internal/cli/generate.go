package cli

import (
	"fmt"
	"strings"

	"hdrkit/internal/base/message"
)

// generateKinds are the values of --generate.
var generateKinds = []string{"man", "complete-bash", "complete-zsh", "complete-fish"}

// generate returns the manual page of a command, or the script that completes its arguments in a
// shell. The program release/generate writes these to files.
func (c *Command) generate(kind string) (string, error) {
	if kind == "man" {
		return c.man(), nil
	}
	script, ok := scripts[kind]
	if !ok {
		return "", message.Usagef("--generate %q is none of %s", kind, strings.Join(generateKinds, ", "))
	}
	return strings.ReplaceAll(script, "COMMAND", c.Streams.Name), nil
}

// scripts are the scripts for shells. Each passes the words of the command line to the command
// itself, which prints the candidates, see [Command.complete]. Without candidates, the shell
// completes file names.
var scripts = map[string]string{
	"complete-bash": `# Completion of COMMAND for bash.
_COMMAND() {
    mapfile -t COMPREPLY < <("$1" --complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -o bashdefault -o default -F _COMMAND COMMAND
`,
	"complete-zsh": `#compdef COMMAND
# Completion of COMMAND for zsh.
_COMMAND() {
    local line
    local -a candidates
    for line in "${(@f)$("${(@Q)words[1]}" --complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] && candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if (( $#candidates )); then
        _describe -V COMMAND candidates
    else
        _files
    fi
}
if [[ $funcstack[1] = _COMMAND ]]; then
    _COMMAND "$@"
else
    compdef _COMMAND COMMAND
fi
`,
	"complete-fish": `# Completion of COMMAND for fish.
function __complete_COMMAND
    set -l words (commandline -opc)
    set -l candidates ($words[1] --complete fish $words[2..-1] "$(commandline -ct)" 2>/dev/null)
    if set -q candidates[1]
        printf '%s\n' $candidates
    else
        __fish_complete_path "$(commandline -ct)"
    end
end
complete -c COMMAND -f -a '(__complete_COMMAND)'
`,
}

// man returns the manual page in the language of man(7).
func (c *Command) man() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"hdrkit %s\" \"hdrkit\"\n", strings.ToUpper(c.Streams.Name), Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", c.Streams.Name, roff(c.Usage))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", roff(c.UsageText))
	lines, rest := c.examples()
	notes, status, _ := strings.Cut(rest, "exit status: ")
	if notes != "" {
		b.WriteString(".SH DESCRIPTION\n" + roff(strings.TrimSpace(notes)) + "\n")
	}
	b.WriteString(".SH EXAMPLES\n.nf\n")
	for _, line := range lines {
		b.WriteString(roff(line) + "\n")
	}
	b.WriteString(".fi\n.SH OPTIONS\n")
	for _, g := range c.groups() {
		fmt.Fprintf(&b, ".SS %s\n", roff(g.name))
		for _, o := range g.options {
			fmt.Fprintf(&b, ".TP\n%s\n%s\n", roff(o.synopsis()), roff(o.description()))
		}
	}
	b.WriteString(".SH EXIT STATUS\n" + roff(status) + "\n")
	return b.String()
}

// roff escapes text for man(7).
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	text = strings.ReplaceAll(text, "\n.", "\n\\&.")
	return strings.ReplaceAll(text, "\n\n", "\n.PP\n")
}
