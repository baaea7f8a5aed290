package cli

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdrkit/internal/base/message"
	"hdrkit/internal/logs"
)

func TestComplete(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("../../testdata/logs/odd-tags.hdr")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "odd.hdr"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	// The tag late comes after the first megabyte, also of a log that is compressed to little.
	long := "Tag=early,0,1,1,HISTFAAAA\n" + strings.Repeat("#"+strings.Repeat("x", 1<<10-2)+"\n", 2<<10) + "Tag=late,0,1,1,HISTFAAAA\n"
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	io.WriteString(w, long)
	w.Close()
	for name, text := range map[string][]byte{"long.log": []byte(long), "long.log.gz": packed.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	app := func() *Command {
		o, c := new(logs.Options), &Command{Streams: message.Streams{Name: "test", In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, Action: func() error { return nil }}
		c.Args = Arguments(&o.Inputs)
		c.Options = slices.Concat(InputOptions(&o.Inputs), TagOptions(&o.Tags, &o.Inputs, "show"), TimeOptions(&o.Times, Rules{}), RunOptions(&c.Streams, &o.Run),
			[]Option{{Name: "st", Values: []string{"csv", "csve", "hgrm"}, Value: Choice(new(string), "")}})
		return c
	}
	for _, test := range []struct{ args, want string }{
		{"-st,c", "csv csve"},
		{"-st,", "csv csve hgrm"},
		{"-st=h", "-st=hgrm"},
		{"-st,csv,-q,h", ""},
		{"-s", "-s -st -strict"},
		{"--include", "--include-tag"},
		{"-include", "-includeTag"},
		{"--ver", "--verbose --version"},
		{"-if", "-if"},
		{"-nosuch", ""},
		{"-nosuch=a", ""},
		{"-if,", ""},
		{"--,-s", ""},
		{"-ip,DIR,-if,odd.hdr,-incT,", "%64efault -st .. A A.hdr A_B a/b default größe load-gen::READ with\"quote x=y"},
		{"-ip,DIR,odd.hdr,-excT=A_", "-excT=A_B"},
		{"-ip,DIR,-if,.*hdr,-incT,x", "x=y"},
		{"-incT,A,-ip,DIR,-if,odd.hdr,-incT,x", "x=y"},
		{"-ip,DIR,-if,nosuch,-incT,", ""},
		{"-ip,DIR,-if,long.log,-incT,", "early"},
		{"-ip,DIR,-if,long.log.gz,-incT,", "early"},
		{"-if,-,-incT,", ""},
		{"-incT,", ""},
	} {
		t.Run(test.args, func(t *testing.T) {
			args := strings.Split(strings.ReplaceAll(test.args, "DIR", dir), ",")
			var words []string
			for line := range strings.Lines(app().complete("zsh", args)) {
				word, _, ok := strings.Cut(line, "\t")
				if !ok {
					t.Errorf("no tab in %q", line)
				}
				words = append(words, word)
			}
			if got := strings.Join(words, " "); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestCompleteBash checks how command lines are split and what replaces the word at the cursor.
func TestCompleteBash(t *testing.T) {
	for _, test := range []struct{ line, words, candidate, want string }{
		{"hdrsum -if a.hdr ", "-if|a.hdr|", "b c", `b\ c`},
		{`hdrsum  -if  'a.*\.hdr' c`, "-if|a.*.hdr|c", "c$d", `c\$d`},
		{"hdrsum 'a", "a", "a b c", "a b c"},
		{"hdrsum -st=h", "-st=h", "-st=hgrm", "hgrm"},
		{"hdrsum gen::R", "gen::R", "gen::READ", "READ"},
		{"hdrsum gen", "gen", "gen::READ", "gen::READ"},
	} {
		t.Run(test.line, func(t *testing.T) {
			words, last := bashWords(test.line)
			if got := strings.Join(words, "|"); got != test.words {
				t.Errorf("words %s, want %s", got, test.words)
			}
			if got := bashReplacement(last, test.candidate); got != test.want {
				t.Errorf("replacement %s, want %s", got, test.want)
			}
		})
	}
}
