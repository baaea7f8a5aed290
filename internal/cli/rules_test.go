package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestRules checks what options need and what they do not go with, and that help says it.
func TestRules(t *testing.T) {
	app := func() *App {
		return &App{
			Name: "test", Action: func(*Context) error { return nil },
			Options: []Option{
				{Kind: Bool, Name: "a", Usage: "do a", Category: GroupRun},
				{Kind: Bool, Name: "b", Usage: "do b", Category: GroupRun, Needs: "a c"},
				{Kind: Bool, Name: "c", Usage: "do c", Category: GroupRun, Not: "a d", Why: "it does"},
				{Kind: Bool, Name: "d", Usage: "do d", Category: GroupRun},
				{Kind: Bool, Name: "x", Usage: "do x", Category: GroupRun, Only: []string{"st csv", "st hgrm", "a"}},
				{Kind: Int, Name: "n", Usage: "do it N times", Category: GroupRun},
				{Name: "st", Value: "json", Category: GroupRun, Usage: "print this TYPE"},
			},
			Outputs: func(c *Context) []string { return []string{"st " + c.String("st")} },
		}
	}
	for args, want := range map[string]string{
		"-a -b":        "",
		"-b":           "-b needs -a or -c",
		"-b -c":        "",
		"-c -d":        "-c and -d do not go together: it does",
		"-x":           "-st json does not use -x, but -st csv, hgrm, -a does",
		"-x -st hgrm":  "",
		"-a=maybe":     `-a "maybe" is neither true nor false`,
		"-n 1.5":       `-n "1.5" is no whole number`,
		"-n 15":        "",
		"-watch":       "there is no option -watch; hdrlive shows logs while they are written",
		"-port":        "there is no option -port; hdrlive shows logs while they are written",
		"-o run.png":   "there is no option -o",
		"-format json": "there is no option -format; -st chooses what to print",
	} {
		var out, errs bytes.Buffer
		a := app()
		a.Writer, a.ErrWriter = &out, &errs
		status := Run(a, strings.Fields(args))
		got, _, _ := strings.Cut(strings.TrimPrefix(errs.String(), "test: "), "\n")
		if got != want || (status == Usage) != (want != "") {
			t.Errorf("%s: status %d, %q, want %q", args, status, got, want)
		}
	}
	a := app()
	var out bytes.Buffer
	a.Writer = &out
	Run(a, []string{"--help"})
	for _, text := range []string{"do b; with -a or -c\n", "do c; not with -a, -d\n"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("help does not say %q", text)
		}
	}
}
