package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestRules checks what options need and what they do not go with, and that help says it.
func TestRules(t *testing.T) {
	app := func() *cli.App {
		flag := func(name string) *cli.BoolFlag {
			return &cli.BoolFlag{Name: name, Usage: "do " + name, Category: GroupRun}
		}
		return &cli.App{
			Name: "test", Action: func(*cli.Context) error { return nil },
			Flags: []cli.Flag{
				flag("a"), Option{Flag: flag("b"), Needs: "a c"}, Option{Flag: flag("c"), Not: "a d", Why: "it does"},
				flag("d"), Option{Flag: flag("x"), Only: []string{"st csv", "st hgrm", "a"}},
				&cli.StringFlag{Name: "st", Value: "json", Category: GroupRun, Usage: "print this TYPE"},
			},
			Metadata: Guide{Outputs: func(c *cli.Context) []string { return []string{"st " + c.String("st")} }}.Metadata(),
		}
	}
	for args, want := range map[string]string{
		"-a -b":        "",
		"-b":           "-b needs -a or -c",
		"-b -c":        "",
		"-c -d":        "-c and -d do not go together: it does",
		"-x":           "-st json does not use -x, but -st csv, hgrm, -a does",
		"-x -st hgrm":  "",
		"-watch":       "there is no option -watch; hdrlive shows logs while they are written",
		"-port":        "there is no option -port; hdrlive shows logs while they are written",
		"-o run.png":   "there is no option -o",
		"-format json": "there is no option -format; -st chooses what to print",
	} {
		var out, errs bytes.Buffer
		a := app()
		a.Writer, a.ErrWriter = &out, &errs
		status := Run(t.Context(), a, strings.Fields(args))
		got, _, _ := strings.Cut(strings.TrimPrefix(errs.String(), "test: "), "\n")
		if got != want || (status == Usage) != (want != "") {
			t.Errorf("%s: status %d, %q, want %q", args, status, got, want)
		}
	}
	a := app()
	var out bytes.Buffer
	a.Writer = &out
	Run(t.Context(), a, []string{"--help"})
	for _, text := range []string{"do b; with -a or -c\n", "do c; not with -a, -d\n"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("help does not say %q", text)
		}
	}
}
