package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/writers"
	"hdrkit/internal/scan"
	"hdrkit/tags"
)

// maxDiagnostics is the number of messages that are printed. The rest are only counted.
const maxDiagnostics = 1000

// mostMalformed is the number of malformed lines that end a command. A small compressed file can
// have more lines than anybody wants to wait for; these take about half a minute.
const mostMalformed = 50_000_000

// Diagnostics prints what is wrong with logs, a line each, and counts it. It is safe for concurrent
// use.
type Diagnostics struct {
	mu      sync.Mutex
	w       io.Writer
	command string
	strict  bool
	follows bool
	printed int
	silent  int // messages that were not printed
	skipped int // malformed lines
	left    int // intervals that were read but not shown
	unread  int // logs that could not be read
	filter  *tags.Filter
	probes  map[string]*probe // by the name of the input
	held    []*held           // messages of inputs that may be no logs
	by      *tags.By
	byText  string // the option that by comes from
}

// NewDiagnostics returns the diagnostics of a command, which go to w. If strict is set, the first
// malformed line is an error.
func NewDiagnostics(w io.Writer, command string, strict bool) *Diagnostics {
	return &Diagnostics{w: w, command: command, strict: strict}
}

// Follow is for a command that runs for long: messages begin with the time of day, and none is left
// out for their number. [Follow] prints few of a kind.
func (d *Diagnostics) Follow() { d.follows = true }

// Report prints what is wrong with a line of a log. A malformed line is skipped.
func (d *Diagnostics) Report(err *hdrlog.SyntaxError, malformed bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if malformed {
		d.skipped++
	}
	switch p := d.probes[err.File]; {
	case p != nil && !p.log():
		d.hold(err)
	case d.printed == maxDiagnostics && len(d.held) == 0: // a text that nobody sees takes time
		d.silent++
	default:
		d.release(err.File)
		d.print(err.Error() + hint(err))
	}
	if malformed && d.strict {
		d.releaseAll()
		return Status(Skipped)
	}
	if d.skipped > mostMalformed {
		d.releaseAll()
		return fmt.Errorf("%s: more than %d million malformed lines so far; is it a log?", err.File, mostMalformed/1_000_000)
	}
	return nil
}

// probe has the diagnostics find out which inputs are logs.
func (d *Diagnostics) probe(inputs []scan.Input) {
	if d.probes == nil {
		d.probes = make(map[string]*probe)
	}
	for n := range inputs {
		name := inputs[n].Name
		if d.probes[name] == nil {
			d.probes[name] = &probe{}
		}
		d.probes[name].wrap(&inputs[n])
	}
}

// held are the messages about an input that shows no sign of being a log so far.
type held struct {
	name     string
	messages []string
	more     int // messages that are only counted
}

// hold keeps a message until it is known whether the input is a log.
func (d *Diagnostics) hold(err *hdrlog.SyntaxError) {
	n := slices.IndexFunc(d.held, func(h *held) bool { return h.name == err.File })
	if n < 0 {
		n, d.held = len(d.held), append(d.held, &held{name: err.File})
	}
	if h := d.held[n]; len(h.messages) < maxDiagnostics {
		h.messages = append(h.messages, err.Error()+hint(err))
	} else {
		h.more++
	}
}

// release prints the messages that are held about an input. It is a log.
func (d *Diagnostics) release(name string) {
	n := slices.IndexFunc(d.held, func(h *held) bool { return h.name == name })
	if n < 0 {
		return
	}
	for _, text := range d.held[n].messages {
		d.print(text)
	}
	d.silent += d.held[n].more
	d.held = slices.Delete(d.held, n, n+1)
}

// releaseAll prints the messages that are still held. An input that is no log gets one message,
// which says what it is.
func (d *Diagnostics) releaseAll() {
	for len(d.held) > 0 {
		h := d.held[0]
		p := d.probes[h.name]
		if p.log() || len(h.messages) == 1 && p.describe() == "" {
			d.release(h.name)
			continue
		}
		d.held = d.held[1:]
		text := h.name + " is no log: line " + strings.TrimPrefix(h.messages[0], h.name+":") + fmt.Sprintf(", and %s like this", number(len(h.messages)+h.more-1, "more message"))
		if what := p.describe(); what != "" {
			text = h.name + " is no log, but " + what
		}
		d.print(text)
	}
}

// Skip counts a malformed line, and prints text unless it is empty.
func (d *Diagnostics) Skip(text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.skipped++
	if text != "" {
		d.print(text)
	}
	if d.strict {
		return Status(Skipped)
	}
	return nil
}

// hint names the option that settles what the library could only guess.
func hint(err error) string {
	switch {
	case errors.Is(err, hdrlog.ErrSecondEnd):
		return "; if it is the length, use -second length"
	case errors.Is(err, hdrlog.ErrSecondDoubt):
		return "; if it is the end, use -second end"
	case errors.Is(err, hdrlog.ErrSecondRevoked):
		return "; use -second length or -second end"
	}
	return ""
}

// LeaveOut prints why an interval that was read cannot be shown.
func (d *Diagnostics) LeaveOut(name string, line int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left++
	d.print(fmt.Sprintf("%s:%d: %v", name, line, err))
}

// LeftOut counts intervals that were read but not shown, and prints nothing now.
func (d *Diagnostics) LeftOut(intervals int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left += intervals
}

// Unread prints why a log could not be read.
func (d *Diagnostics) Unread(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unread++
	d.print(text)
}

// SkipWindow counts a window of a tag whose intervals do not add up.
func (d *Diagnostics) SkipWindow(tag []byte, why error) error {
	return d.Skip(fmt.Sprintf("tag %s: the intervals of a window do not add up: %v", tags.Text(tag), why))
}

// Notice prints another message.
func (d *Diagnostics) Notice(text string) { d.Warnf("%s", text) }

// Warnf prints another message.
func (d *Diagnostics) Warnf(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.print(fmt.Sprintf(format, args...))
}

func (d *Diagnostics) print(text string) {
	if d.follows {
		message(d.w, time.Now().Format(time.TimeOnly)+" "+d.command, text)
		return
	}
	if d.printed == maxDiagnostics {
		d.silent++
		return
	}
	d.printed++
	message(d.w, d.command, text)
}

// AddsUp prints a notice if tags that an option adds up count the same requests. It reports whether
// they do.
func (d *Diagnostics) AddsUp(option string, tags []string) bool {
	same, pattern := writers.SameRequests(tags)
	if same != nil {
		message(d.w, d.command, fmt.Sprintf("%s adds up %s, which count the same requests; choose with -incT, such as -incT %s",
			option, strings.Join(same, " and "), pattern))
	}
	return same != nil
}

// Skipped returns the number of malformed lines.
func (d *Diagnostics) Skipped() int { return d.skipped }

// Close prints which patterns matched no tag, and how much was skipped and left out. It returns the
// status for that, nil if there was nothing.
func (d *Diagnostics) Close() error {
	d.releaseAll()
	include, exclude := d.filter.Unmatched()
	for _, pattern := range include {
		message(d.w, d.command, fmt.Sprintf("-incT %q matches no tag%s", pattern, suggest(pattern, d.filter.Seen(), "tag")))
	}
	for _, pattern := range exclude {
		message(d.w, d.command, fmt.Sprintf("-excT %q matches no tag%s", pattern, suggest(pattern, d.filter.Seen(), "tag")))
	}
	if d.by.Unmatched() {
		message(d.w, d.command, "-by: the regular expression matches no whole tag")
	}
	for _, row := range d.by.Added() {
		if d.AddsUp(d.byText, row) {
			break
		}
	}
	if d.silent > 0 {
		message(d.w, d.command, fmt.Sprintf("%d more messages like these", d.silent))
	}
	if d.skipped > 0 {
		message(d.w, d.command, "skipped "+number(d.skipped, "malformed line"))
	}
	if d.left > 0 {
		message(d.w, d.command, "left out "+number(d.left, "interval"))
	}
	if d.unread > 0 {
		message(d.w, d.command, "could not read "+number(d.unread, "log"))
	}
	if d.skipped+d.left+d.unread > 0 {
		return Status(Skipped)
	}
	return nil
}

// say prints a message of a command.
func say(c *cli.Context, format string, args ...any) {
	message(c.App.ErrWriter, c.App.Name, fmt.Sprintf(format, args...))
}

// Notef prints a message, unless -q is given.
func Notef(c *cli.Context, format string, args ...any) {
	if !c.Bool("q") {
		say(c, format, args...)
	}
}

// Verbosef prints a line that -v asks for.
func Verbosef(c *cli.Context, format string, args ...any) {
	fmt.Fprintln(c.App.ErrWriter, Printable(fmt.Sprintf(format, args...)))
}

func number(n int, things string) string {
	if n != 1 {
		things += "s"
	}
	return fmt.Sprintf("%d %s", n, things)
}
