package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hdrkit/internal/base/message"
	"hdrkit/internal/cli"
	"hdrkit/internal/live"
	"hdrkit/internal/live/follow"
	"hdrkit/internal/logs"
)

// mergeLogs follows and merges the logs that the options select. It ends when all logs have ended,
// a signal comes, or the time of -for is over. It returns true if the logs had intervals, or the
// merging was stopped before their ends.
func (r *command) mergeLogs(d *logs.Diagnostics) (some bool, err error) {
	stop, names := make(chan struct{}), &liveTags{matched: map[string]*atomic.Bool{}}
	end := sync.OnceFunc(func() { close(stop) })
	o := live.Options{
		Size:     r.options.sinks.Size,
		From:     r.start,
		Units:    r.options.sinks.Units,
		Memory:   r.options.sinks.Memory,
		State:    r.state,
		By:       r.options.sinks.By,
		Messages: d,
		Hint:     logs.Hint,
		Second:   r.options.Second,
		Idle:     time.Duration(r.options.idle) * time.Millisecond,
		Stop:     stop,
		Tag:      names.of,
	}
	if r.gate != nil {
		o.Whole = &r.gate.Ran
	}
	if o.Tags, err = r.options.Filter(); err != nil {
		return false, err
	}
	d.Follow(o.Tags)
	merger := live.New(o, &live.Fan{Outputs: r.outputs})
	options := follow.Options{
		Marks:          o.State.Marks(),
		Continues:      o.State.Kept(),
		HasOpenWindows: o.State.HasOpenWindows(),
		Notice:         merger.Notice,
		Lost:           merger.Lost,
	}
	if info, err := os.Stat(r.options.targets.of); err == nil { // the command does not read its own output
		options.Excluded = info
	} else if f, ok := r.std.Out.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			options.Excluded = info
		}
	}
	follower := follow.New(options)
	defer follower.Abort()
	cli.OnInterrupt(0, func(hangup bool) {
		r.hangup.Store(hangup)
		end()
	})
	if err := r.follow(follower, names, d); err != nil {
		return false, err
	}
	if err := merger.Load(follower); err != nil {
		return false, err
	}
	if r.options.length > 0 {
		timer := time.AfterFunc(time.Duration(r.options.length)*time.Millisecond, end)
		defer timer.Stop()
	}
	defer r.serve(merger)()
	err = merger.Run(follower)
	for _, pattern := range slices.Sorted(maps.Keys(names.matched)) {
		if !names.matched[pattern].Load() {
			d.Unread(fmt.Sprintf("'%s' matched no file", pattern))
		}
	}
	select {
	case <-stop:
		return true, err
	default:
		return merger.Seen() > 0, err
	}
}

// liveTags say which tags intervals get in the result.
type liveTags struct {
	several bool                    // there may be several logs
	matched map[string]*atomic.Bool // by pattern: whether it has matched a file
}

// of returns a function for an input. It returns the tag in the result for the tag of an interval.
func (t *liveTags) of(in *follow.Input) func(tag []byte) []byte {
	said := sync.OnceValue(func() []byte { return logs.HeaderTag(in.Name()) })
	return func(tag []byte) []byte {
		switch {
		case in.Tag != "" && tag != nil:
			return append([]byte(in.Tag+"::"), tag...)
		case in.Tag != "":
			return []byte(in.Tag)
		case tag != nil || !t.several || in.IsPipe():
			return tag
		}
		return said()
	}
}

// admit returns an error if a limit needs the unit of an existing file, and the unit is unknown.
func (r *command) admit(s *logs.Source) error {
	paths := []string{s.Path}
	if s.Path == "" && !s.Stdin {
		files, _ := os.ReadDir(s.Folder)
		for _, f := range files {
			if s.Matches(f.Name()) {
				paths = append(paths, filepath.Join(s.Folder, f.Name()))
			}
		}
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := r.followed.AdmitFile(path); err != nil {
			return err
		}
	}
	return nil
}

// namesFile reports whether a text that matches no file is the path of a file that may come.
func namesFile(text string) bool {
	info, err := os.Stat(text)
	folder := err == nil && info.IsDir()
	return !folder && strings.ContainsRune(text, filepath.Separator) && !strings.ContainsAny(text, "*?[")
}

// follow adds the inputs to a follower. Inputs of -tif come first, because a log that -if names,
// too, keeps its tag.
func (r *command) follow(f *follow.Follower, names *liveTags, d *logs.Diagnostics) error {
	all, err := r.options.Sources(r.std)
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b logs.Source) int { return cmp.Compare(min(len(b.Tag), 1), min(len(a.Tag), 1)) })
	names.several = len(all) > 1
	for _, s := range all {
		if err := r.admit(&s); err != nil {
			return err
		}
	}
	for _, s := range all {
		name := func(in *follow.Input) {
			if in != nil {
				in.Tag = s.Tag
			}
		}
		if info, err := os.Stat(s.Path); s.Stdin || err == nil && s.Path != "" && !info.Mode().IsRegular() {
			if r.state.Kept() {
				return message.Usagef("-state: %s %s", cmp.Or(s.Path, "standard input"), follow.NoPosition)
			}
		}
		if s.Stdin {
			name(f.AddReader("-", r.std.In))
			continue
		}
		if s.Path == "" && namesFile(s.Text) {
			s.Path = s.Text // a file that does not exist yet; names in a folder never match a path
		}
		if s.Path != "" {
			name(f.AddFile(s.Path))
			continue
		}
		names.several = true
		some := new(atomic.Bool)
		names.matched[s.Text] = some
		matches := func(name string) bool {
			if !s.Matches(name) {
				return false
			}
			some.Store(true)
			return true
		}
		if f.AddMatching(s.Folder, matches, name) == 0 {
			hint := ""
			if below := logs.InFolder(s.Text); below != "" {
				hint = "; " + below
			}
			d.Warnf("'%s' matches no new file in %s yet; waiting for one%s", s.Text, s.Folder, hint)
		}
	}
	return nil
}
