package cmd

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
)

// message finds what a command says about a line of a log: the line, the field and the cause.
var message = regexp.MustCompile(`(?m)^hdr\w+: [^\n:]+:(\d+: (?:tag|start|length|max|payload|line|StartTime|BaseTime): .*)$`)

var skipped = regexp.MustCompile(`(?m)^hdr\w+: (skipped \d+ malformed lines?)$`)

// mutated returns a log whose lines were changed at random.
func mutated(t *testing.T, random *rand.Rand) []byte {
	t.Helper()
	layout := histogram.Layout{Digits: 1 + random.IntN(4), Lowest: 1}
	if random.IntN(4) == 0 {
		layout.Ratio = 1.0 / 1024
	}
	payload := func() string {
		h, err := histogram.New(layout)
		if err != nil {
			t.Fatal(err)
		}
		for range random.IntN(30) {
			h.RecordN(1000+random.Int64N(1<<random.IntN(20)), 1+random.Int64N(3))
		}
		encoder := new(histogram.Encoder)
		text, err := encoder.AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		if layout.Ratio != 0 || random.IntN(3) > 0 {
			return string(text)
		}
		// A plain payload has no checksum.
		packed, err := base64.StdEncoding.DecodeString(string(text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := zlib.NewReader(bytes.NewReader(packed[8:]))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return base64.StdEncoding.EncodeToString(plain)
	}
	lines := []string{"#[Histogram log format version 1.3]", "#[StartTime: 1468800003.137 (seconds since epoch), Mon]", `"StartTimestamp","Interval_Length","Interval_Max","Histogram"`}
	for n := range 60 {
		lines = append(lines, fmt.Sprintf("%s%d.000,1.000,%d.000,%s", []string{"", "Tag=a,", "Tag=b/c,", "Tag=d e,"}[random.IntN(4)], n, random.IntN(10), payload()))
	}
	pieces := []string{"-", ",", " ", "\t", "\r", ".", "=", "0", "9", "e", "1e300", "-5", "nan", "Inf", "0x1p4", "Tag=", "Tag=,", "x y", "\xff", "\x1b", "\"", "#", "\"StartTimestamp\"", "#[BaseTime: 5]", "A", "=="}
	for n, line := range lines {
		text := []byte(line)
		for range []int{0, 1, 1, 1, 2, 4}[random.IntN(6)] {
			at := random.IntN(min(len(text), 40) + 1)
			if random.IntN(3) == 0 {
				at = random.IntN(len(text) + 1)
			}
			to := min(len(text), at+random.IntN(4))
			switch random.IntN(5) {
			case 0:
				text = slices.Delete(text, at, to)
			case 1:
				text = slices.Insert(text, at, []byte(pieces[random.IntN(len(pieces))])...)
			case 2:
				text = slices.Replace(text, at, to, []byte(pieces[random.IntN(len(pieces))])...)
			case 3:
				text = slices.Insert(text, at, text[at:to]...)
			case 4:
				if random.IntN(4) == 0 {
					text = text[:at]
				}
			}
		}
		lines[n] = string(text)
		if random.IntN(20) == 0 {
			lines[n] += lines[random.IntN(n+1)]
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// TestMalformed: all commands say the same about the lines of a log, whatever they are.
func TestMalformed(t *testing.T) {
	t.Parallel()
	build(t)
	const log = "mutated.hdr"
	commands := []string{
		"hdrsum -st json " + log,
		"hdrsum -st ndjson " + log,
		"hdrsum -st timeline -agg 10 " + log,
		"hdrsum -st influx -mwp 99 " + log,
		"hdrunion " + log,
		"hdrunion -grid 10 " + log,
		"hdrlive -agg 10 -",
		"hdrsplit -verify -od verified " + log,
		"hdrplot -type heatmap -of a.png " + log,
		"hdrplot -of a.html " + log,
	}
	for seed := range uint64(clitest.Rounds(30)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			text := mutated(t, rand.New(rand.NewPCG(seed, 1)))
			if err := os.WriteFile(filepath.Join(dir, log), text, 0o666); err != nil {
				t.Fatal(err)
			}
			run := func(command string) (said []string, total string, stderr string) {
				args := strings.Fields(command)
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Dir = dir
				var messages bytes.Buffer
				cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &messages
				if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 3 {
					t.Fatalf("%s: %v\n%s", command, err, messages.String())
				}
				for _, found := range message.FindAllStringSubmatch(messages.String(), -1) {
					said = append(said, found[1])
				}
				if found := skipped.FindStringSubmatch(messages.String()); found != nil {
					total = found[1]
				}
				slices.Sort(said)
				return said, total, messages.String()
			}
			want, total, _ := run(commands[0])
			for _, command := range commands[1:] {
				said, skipped, stderr := run(command)
				if strings.Contains(command, "hdrlive") {
					said = want // it prints a few only
				}
				if !slices.Equal(said, want) || skipped != total {
					t.Errorf("%s: %s\n%s\nbut %s: %s\n%s", commands[0], total, strings.Join(want, "\n"), command, skipped, stderr)
				}
			}
			// Without -verify, hdrsplit leaves damaged payloads as they are.
			said, _, stderr := run("hdrsplit -od parts " + log)
			for _, line := range said {
				if !slices.Contains(want, line) {
					t.Errorf("only hdrsplit says %s\n%s", line, stderr)
				}
			}
		})
	}
}

// TestCutOff: a line that a crash cut off is reported by each command, also if its tag or its time
// was not chosen. The payloads of whole lines that were not chosen stay unread.
func TestCutOff(t *testing.T) {
	t.Parallel()
	build(t)
	const (
		log     = "log.hdr"
		payload = "HISTFAAAACJ4nJNpmSzMwMDAygABzFCa0QHKsP8AoQ/uY5zADABUXATS"
		chosen  = "Tag=a-rt,1793491200.000,1.000,2.001," + payload + "\n"
		begin   = "Tag=b-wt,1793491210.000,1.000,1.000,"
		damaged = "HISTFAAAACJ4nJNpmSzMwMDAygABzFCa0QHKsP8AoQ/uY5zADABUXATA"
	)
	cause := ":2: payload: the line is cut off: "
	tests := []struct{ name, text, want string }{
		{"in the payload", chosen + begin + payload[:24], log + cause + "payload is cut short: 10 of 34 compressed bytes"},
		{"in the header of the payload", chosen + begin + payload[:13], log + cause + "bad base64: it ends after 13 bytes"},
		{"in the mark of the payload", chosen + begin + "HI", log + cause + "payload is cut short: 1 bytes do not hold a header"},
		{"before the payload", chosen + begin, log + cause + "field is missing"},
		{"before a line", chosen + begin + payload[:24] + "\n" + chosen, log + ":2: payload: payload is cut short: 10 of 34 compressed bytes"},
		{"before a legend", chosen + `Tag=b,1.1"StartTimestamp","Interval_Length","MAX"` + "\n" + chosen,
			log + `:2: max: the line is cut off: not a number: "\"MAX\""`},
		{"a damaged payload of another tag", chosen + begin + damaged + "\n", ""},
	}
	commands := []string{"hdrsum", "hdrsum -st csv -agg 1", "hdrunion", "hdrsplit", "hdrplot -of a.svg", "hdrdiff " + log}
	for _, test := range tests {
		for _, command := range commands {
			for _, choice := range []string{"-incT a-rt", "-e 5"} {
				t.Run(test.name+"/"+command+" "+choice, func(t *testing.T) {
					t.Parallel()
					dir := t.TempDir()
					if err := os.WriteFile(filepath.Join(dir, log), []byte(test.text), 0o666); err != nil {
						t.Fatal(err)
					}
					args := append(strings.Fields(command), strings.Fields(choice+" -in ns "+log)...)
					run := exec.Command(args[0], args[1:]...)
					run.Dir = dir
					var stderr strings.Builder
					run.Stderr = &stderr
					run.Run()
					status := 3
					if test.want == "" {
						status = 0
					}
					if got := run.ProcessState.ExitCode(); got != status || !strings.Contains(stderr.String(), test.want) {
						t.Errorf("status %d, want %d and %q\n%s", got, status, test.want, stderr.String())
					}
				})
			}
		}
	}
}
