package logs

import (
	"io"
	"strings"
	"testing"

	"hdrkit/internal/scan"
)

func TestTagUntagged(t *testing.T) {
	const rest = "#[Histogram log format version 1.3]\n\"StartTimestamp\",\n0.000,1.000,0.000,HIST\n"
	read, update := "#[Logging for: READ]\n"+rest, "#[Logging for: UPDATE]\n"+rest
	hiccup := "#[Logged with jHiccup version 2.0.11]\n" + rest
	later := rest + "#[Logging for: LATER]\n"
	split := "#[Histogram log format version 1.3]\n#[Logging for: SPLIT]\n" + rest
	// What hdrsplit writes: the comments of the log come before its own.
	part := func(comments ...string) string {
		return "#[Histogram log format version 1.3]\n" + strings.Join(comments, "\n") + "\n\"StartTimestamp\",\n0.000,1.000,0.000,HIST\n"
	}
	insert, other := part("#[Split from fixed.hdr: tag insert-rt]"), part("#a", "#[Split from x:%20tag y.hdr: tag insert-st]")
	for _, test := range []struct {
		name string
		logs []string
		want string
	}{
		{"parts", []string{insert, other}, "insert-rt insert-st"},
		{"one part", []string{insert}, "-"},
		{"parts of one tag", []string{insert, insert}, "- -"},
		{"a part of untagged intervals", []string{insert, part("#[Split from fixed.hdr: tag default]")}, "insert-rt -"},
		{"a tag spelled default", []string{insert, part("#[Split from fixed.hdr: tag %64efault]")}, "insert-rt default"},
		{"an encoded tag", []string{insert, part("#[Split from fixed.hdr: tag a%09%FF]")}, "insert-rt a\t\xff"},
		{"the empty tag", []string{insert, part("#[Split from fixed.hdr: tag %]")}, "insert-rt "},
		{"a part that was split", []string{insert, part("#[Split from fixed.hdr: tag A]", "#[Split from A.fixed.hdr: tag default]")}, "insert-rt A"},
		{"parts of YCSB", []string{part("#[Logging for: READ]", "#[Split from r.hdr: tag default]"), part("#[Logging for: SCAN]", "#[Split from s.hdr: tag default]")}, "READ SCAN"},
		{"a part and a log of YCSB", []string{insert, read}, "insert-rt READ"},
		{"a part and another log", []string{insert, rest}, "- -"},
		{"after many comments", []string{insert, part(strings.Repeat("#c\n", 20_000), "#[Split from fixed.hdr: tag A]")}, "insert-rt A"},
		{"no part", []string{insert, part("#[Split from fixed.hdr]"), part("#[Split from a: tag b"), part("#[Split from a: tag b,c]")}, "- - - -"},
		{"one log", []string{read}, "-"},
		{"two of different names", []string{read, update}, "READ UPDATE"},
		{"two of one name", []string{read, read}, "- -"},
		{"three", []string{read, update, read}, "READ UPDATE READ"},
		{"one with a name", []string{read, rest}, "- -"},
		{"one without", []string{read, rest, update}, "READ - UPDATE"},
		{"parts of hdrsplit", []string{split, strings.ReplaceAll(split, "SPLIT", "OTHER")}, "- -"},
		{"after an interval", []string{read, later}, "- -"},
		{"a pipe", []string{read, "pipe:" + update}, "- -"},
		{"tagged by -tif", []string{read, "tag:" + update}, "- -"},
		{"no tag can be so", []string{read, "#[Logging for: a b]\n" + rest}, "- -"},
		{"jHiccup and its control process", []string{hiccup, "name:h.hlog.c:" + hiccup, "name:h.hlog.c.gz:" + hiccup}, "- control control"},
		{"control processes", []string{"name:a.hlog.c:" + hiccup, "name:b.hlog.c:" + hiccup}, "- -"},
		{"another log of this name", []string{hiccup, "name:h.hlog.c:" + rest}, "- -"},
		{"jHiccup and YCSB", []string{hiccup, read}, "- -"},
		{"an empty name", []string{read, "#[Logging for: ]\n" + rest}, "- -"},
		{"a carriage return", []string{read, strings.ReplaceAll(update, "\n", "\r\n")}, "READ UPDATE"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var inputs []scan.Input
			for _, text := range test.logs {
				log, once := strings.CutPrefix(text, "pipe:")
				log, tagged := strings.CutPrefix(log, "tag:")
				name := "log"
				if named, ok := strings.CutPrefix(log, "name:"); ok {
					name, log, _ = strings.Cut(named, ":")
				}
				input := scan.Input{Name: name, Once: once, Open: func() (io.ReadCloser, error) {
					if once {
						t.Error("a pipe is opened")
					}
					return io.NopCloser(strings.NewReader(log)), nil
				}}
				if tagged {
					input.Tag = "own"
				}
				inputs = append(inputs, input)
			}
			tagUntagged(inputs)
			var got []string
			for _, input := range inputs {
				tag := string(input.Untagged)
				if input.Untagged == nil {
					tag = "-"
				}
				got = append(got, tag)
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("%s, want %s", text, test.want)
			}
		})
	}
}
