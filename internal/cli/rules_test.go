package cli

import (
	"bytes"
	"strings"
	"testing"

	"hdrkit/internal/base/message"
)

// TestRules checks what options need and what they do not go with, and that help says it.
func TestRules(t *testing.T) {
	app := func() *Command {
		var kind string
		flag := func(name string, rules Option) Option {
			rules.Name, rules.Usage, rules.Group, rules.Value = name, "do "+name, GroupRun, Bool(new(bool))
			return rules
		}
		return &Command{
			Streams: message.Streams{Name: "test"}, Action: func() error { return nil },
			Options: []Option{
				flag("a", Option{}), flag("b", Option{Rules: Rules{Needs: "a c"}}), flag("c", Option{Rules: Rules{Not: "a d", Why: "it does"}}),
				flag("d", Option{}), flag("y", Option{Rules: Rules{Only: []string{"st hgrm"}}}), flag("z", Option{Rules: Rules{Only: []string{"st bins", "st csv", "st hgrm", "a", "b"}}}),
				flag("q", Option{Rules: Rules{Only: []string{"st bins"}}}),
				flag("x", Option{Rules: Rules{
					Only:    []string{"st csv", "st hgrm", "a"},
					Reasons: map[string]string{"st bins": "it has all"},
				}}),
				{Name: "st", Group: GroupRun, Value: Text(&kind, "json"), Usage: "print this `TYPE`", Types: []Type{{Name: "bins", Hidden: true}}},
			},
			Outputs: func() []string { return []string{"st " + kind} },
		}
	}
	for args, want := range map[string]string{
		"-a -b":        "",
		"-b":           "-b needs -a or -c",
		"-b -c":        "",
		"-c -d":        "-c and -d do not go together: it does",
		"-x":           "-st json does not use -x, but -st csv, hgrm and -a do",
		"-x -st hgrm":  "",
		"-x -st bins":  "-st bins does not use -x, but -st csv, hgrm and -a do: it has all",
		"-y":           "-st json does not use -y, but -st hgrm does",
		"-z":           "-st json does not use -z, but -st csv, hgrm, -a and others do",
		"-q":           "-st json does not use -q, but -st bins does",
		"-watch":       "there is no option -watch; hdrlive shows logs while they are written",
		"-port":        "there is no option -port; hdrlive shows logs while they are written",
		"-o run.png":   "there is no option -o",
		"-format json": "there is no option -format; -st chooses what to print",
	} {
		var out, errs bytes.Buffer
		a := app()
		a.Streams.Out, a.Streams.Err = &out, &errs
		status := Run(a, strings.Fields(args))
		got, _, _ := strings.Cut(strings.TrimPrefix(errs.String(), "test: "), "\n")
		if got != want || (status == message.Usage) != (want != "") {
			t.Errorf("%s: status %d, %q, want %q", args, status, got, want)
		}
	}
	a := app()
	var out bytes.Buffer
	a.Streams.Out = &out
	Run(a, []string{"--help"})
	for _, text := range []string{"do b; with -a or -c\n", "do c; not with -a, -d\n"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("help does not say %q", text)
		}
	}
}
