package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"hdrkit/internal/live"
	"hdrkit/internal/live/follow"
	"hdrkit/internal/scan"
)

// FollowFlags are the options that read logs while they are written. [Follow] reads them.
func FollowFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "follow", Category: GroupLive,
			Usage: "read the logs while they are written, and those that match -if later; end with Ctrl-C"},
		&cli.StringFlag{Name: "idle", Category: GroupLive, DefaultText: "5s, or the longest interval of the log",
			Usage: "wait `TIME` for a log that has nothing new, then write the window without it"},
		&cli.StringFlag{Name: "for", Category: GroupLive, DefaultText: "no end",
			Usage: "end after `TIME`"},
	}
}

// StateFlag is the option of a command whose sink is a [live.Saver].
func StateFlag() cli.Flag {
	return &cli.StringFlag{Name: "state", Category: GroupLive, TakesFile: true,
		Usage: "with -follow, keep in `FILE` how far the command is, so that it goes on there when it is started again; -of is a file that grows then"}
}

// CheckFollow returns an error if an option makes no sense with -follow, or only with it.
func CheckFollow(c *cli.Context, never ...string) error {
	if !c.Bool("follow") {
		for _, name := range []string{"idle", "for", "listen", "state"} {
			if Given(c, name) {
				return Usagef("-%s needs -follow", name)
			}
		}
		return nil
	}
	if Given(c, "of") && !Given(c, "state") && c.String("serve") == "" { // a page is saved at the end
		return Usagef("-of needs -state with -follow, since its file appears when it is whole; or redirect the output: %s -follow ... > %s",
			c.App.Name, c.String("of"))
	}
	if extension := filepath.Ext(c.String("of")); Given(c, "state") && slices.Contains([]string{".gz", ".zst"}, extension) {
		return Usagef("-of %s: a file that grows is not compressed", c.String("of"))
	}
	if Given(c, "state") && runtime.GOOS == "windows" {
		return Usagef("-state needs a system that tells files apart, as Linux, macOS and the BSDs do")
	}
	for _, name := range append(never, "j", "v", "times") {
		if Given(c, name) {
			return Usagef("-%s does not go with -follow", name)
		}
	}
	return nil
}

// FollowHooks are what a command does besides. All may be nil.
type FollowHooks struct {
	// Start receives the merger before it runs, and when its state is loaded. It returns what to
	// call after that.
	Start func(*live.Merger) (end func())
	// Stopped is called when a signal comes or the time of -for is over.
	Stopped func()
}

// Follow merges the logs that the options choose by windows of size milliseconds, until they end, a
// signal comes or the time of -for is over. It reports whether the logs had any intervals, or were
// not read to their end.
func Follow(c *cli.Context, size int64, sink live.Sink, hooks FollowHooks) (some bool, err error) {
	selection, err := selection(c)
	if err != nil {
		return false, err
	}
	if selection.Range.FromEnd() {
		return false, Usagef("-s and -e cannot count from the end of a log that is still written")
	}
	fromNow(c, &selection.Range, size)
	by, err := Rows(c)
	if err != nil {
		return false, err
	}
	second, err := second(c)
	if err != nil {
		return false, err
	}
	idle, err := Millis(c, "idle")
	if err != nil {
		return false, err
	}
	limit, err := Millis(c, "for")
	if err != nil {
		return false, err
	}
	stop := make(chan struct{})
	end := sync.OnceFunc(func() {
		close(stop)
		if hooks.Stopped != nil {
			hooks.Stopped()
		}
	})
	tags := &followedTags{untagged: c.Bool("untagged"), matched: map[string]*atomic.Bool{}}
	memory, err := Memory(c)
	if err != nil {
		return false, err
	}
	merger := live.New(live.Options{
		Memory: memory, State: c.String("state"), Command: c.App.Name,
		Size: size, Idle: time.Duration(idle) * time.Millisecond,
		Selection: selection, By: by, Expected: c.Float64("co"), Second: second, Hint: hint, Stop: stop,
		Tag: tags.of, Forget: func(in *follow.Input) { tags.given.Delete(in); tags.said.Delete(in) },
	}, sink)
	var marks []follow.Mark
	if c.String("state") != "" {
		if marks, err = merger.Load(); err != nil {
			return false, err
		}
	}
	if hooks.Start != nil {
		defer hooks.Start(merger)()
	}
	options := follow.Options{Marks: marks, Notice: merger.Notice, Waiting: merger.Waiting}
	if info, err := os.Stat(c.String("of")); err == nil {
		options.Except = info
	} else if f, ok := c.App.Writer.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			options.Except = info
		}
	}
	follower := follow.New(options)
	defer follower.Abort()
	if err := addFollowed(c, follower, tags); err != nil {
		return false, err
	}
	if limit > 0 {
		timer := time.AfterFunc(time.Duration(limit)*time.Millisecond, end)
		defer timer.Stop()
	}
	OnInterrupt(0, end)
	err = merger.Run(follower)
	for _, pattern := range slices.Sorted(maps.Keys(tags.matched)) {
		if !tags.matched[pattern].Load() {
			sink.Unread(fmt.Sprintf("-if '%s' matched no file", pattern))
		}
	}
	select {
	case <-stop:
		return true, err
	default:
		return merger.Seen() > 0, err
	}
}

// followedTags are what inputs do to the tags of their intervals.
type followedTags struct {
	given    sync.Map // the tags of -tif, by input
	several  bool     // there can be several logs
	untagged bool     // what their headers say is no tag
	said     sync.Map // what the headers say, by input
	// matched says which patterns have matched a file.
	matched map[string]*atomic.Bool
}

// of returns the tag of an interval of an input that has a tag of its own.
func (t *followedTags) of(in *follow.Input, own []byte) []byte {
	if given, ok := t.given.Load(in); ok {
		if own == nil {
			return []byte(given.(string))
		}
		return append([]byte(given.(string)+"::"), own...)
	}
	if own != nil || !t.several || t.untagged || in.Once() {
		return own
	}
	said, known := t.said.Load(in)
	if !known {
		log := scan.File(in.Name(), 0)
		said, _ = t.said.LoadOrStore(in, holdingOf(&log).tag)
	}
	return said.([]byte)
}

// addFollowed adds the inputs to a follower. Those of -tif come first: a log that -if names too is
// still the same log.
func addFollowed(c *cli.Context, f *follow.Follower, tags *followedTags) error {
	all, err := sources(c, "tif", "if", "ifp")
	if err != nil {
		return err
	}
	tags.several = len(all) > 1
	for _, s := range all {
		name := func(in *follow.Input) {
			if in != nil && s.tag != "" {
				tags.given.Store(in, s.tag)
			}
		}
		if s.stdin {
			name(f.AddReader("-", c.App.Reader))
			continue
		}
		if s.expression == nil {
			name(f.AddFile(s.path))
			continue
		}
		tags.several = true
		some := new(atomic.Bool)
		tags.matched[s.text] = some
		matches := func(name string) bool {
			if len(whole(s.expression, []string{name})) == 0 {
				return false
			}
			some.Store(true)
			return true
		}
		if f.AddMatching(s.folder, matches, name) == 0 {
			say(c, "-if '%s' matches no new file in %s yet; waiting for one", s.text, s.folder)
		}
	}
	return nil
}
