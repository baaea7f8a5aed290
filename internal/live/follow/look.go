package follow

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hdrkit/internal/base/message"
	"hdrkit/internal/scan"
)

// poll looks at the files until the follower is stopped.
func (f *Follower) poll(looked func(at time.Time)) {
	ticker := time.NewTicker(f.options.Poll)
	defer ticker.Stop()
	matched := time.Now()
	for {
		select {
		case <-f.done:
			return
		case <-ticker.C:
		}
		if !f.look(&matched, looked) {
			return
		}
	}
}

// look looks at all names, and at those of folders if that is due since matched. It reports false
// if the follower is stopped.
func (f *Follower) look(matched *time.Time, looked func(at time.Time)) bool {
	at := time.Now()
	f.mu.Lock()
	phase := f.phase
	f.mu.Unlock()
	if phase != following {
		return false
	}
	f.lookAtInputs()
	if at.Sub(*matched) >= f.options.Rescan {
		*matched = at
		f.match()
	}
	f.tidy()
	if len(f.patterns) > 0 {
		at = *matched
	}
	looked(at)
	return true
}

// lookAtInputs looks at the names of inputs, and chooses what their readers read.
func (f *Follower) lookAtInputs() {
	var news message.Group
	f.mu.Lock()
	f.inputs = slices.DeleteFunc(f.inputs, func(in *Input) bool {
		if in.state == ended && f.names[in.path] == in {
			delete(f.names, in.path)
		}
		return in.state == ended
	})
	inputs := slices.Clone(f.inputs)
	f.mu.Unlock()
	for _, in := range inputs {
		in.look(&news)
		f.switchFile(in)
	}
	news.Say(f.options.Notice)
}

// match adds the files that match a pattern, and finds those that have what earlier logs lack.
func (f *Follower) match() {
	var news message.Group
	for _, p := range f.patterns {
		f.step()
		for _, path := range f.paths(p.folder, &news) {
			if p.matches(filepath.Base(path)) {
				f.see(p, path, &news)
			}
		}
	}
	if f.found != nil {
		f.search()
	}
	news.Say(f.options.Notice)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
}

// paths returns what is in folders, see [scan.Folders], shorter names first: a log comes before
// what rotation makes of it.
func (f *Follower) paths(folders string, news *message.Group) (paths []string) {
	for _, folder := range scan.Folders(folders) {
		all, err := list(folder)
		paths = append(paths, all...)
		f.noteFolder(folder, err, news)
	}
	slices.SortStableFunc(paths, func(a, b string) int { return len(a) - len(b) })
	return paths
}

// list returns the paths of what is in a folder.
func list(folder string) (paths []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		paths = append(paths, filepath.Join(folder, entry.Name()))
	}
	return paths, err
}

// noteFolder adds why a folder cannot be read, if it could before. One that is gone may come back.
func (f *Follower) noteFolder(folder string, err error, news *message.Group) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		delete(f.unreadable, folder)
		return
	}
	if f.unreadable[folder] == "" {
		news.Add(folder, cause(err)+"; trying again")
	}
	f.unreadable[folder] = cause(err)
}

// see looks at a name. If no input follows it, and its file has something that none reads, the file
// becomes an input. Before a start, the input of its log reads it.
func (f *Follower) see(p *pattern, path string, news *message.Group) {
	if f.input(path) != nil {
		return
	}
	f.step()
	info, err := os.Stat(path)
	if err != nil || info.IsDir() || f.options.Except != nil && os.SameFile(f.options.Except, info) {
		return
	}
	if !info.Mode().IsRegular() {
		f.seePipe(p, path, news)
		return
	}
	var first func()
	if p != leftover {
		first = func() { f.seeOriginal(p, path, news) }
		f.seeTarget(path, info, news)
	}
	s, err := f.find(path, info, first)
	switch {
	case err == nil && (s == nil || !f.isUnread(s)):
		return
	case err != nil && (p == leftover || errors.Is(err, fs.ErrNotExist)):
		return
	}
	in := &Input{name: path, path: path, pattern: p}
	if s != nil {
		owner := f.input(s.log.path)
		if owner != nil && f.found == nil {
			f.enqueue(s, owner)
			return
		}
		if owner != nil && p == leftover {
			in.Tag = owner.Tag
		}
	}
	f.insert(in)
	if s != nil {
		f.enqueue(s, in)
	}
	in.look(news)
	f.hand(in, p)
}

// seePipe looks at what is no file.
func (f *Follower) seePipe(p *pattern, path string, news *message.Group) {
	switch {
	case p == leftover:
	case !f.options.Continues:
		in := f.addPipe(path)
		in.pattern = p
		f.hand(in, p)
	case !f.pipes[path]:
		f.pipes[path] = true
		news.Add(path, NoPosition)
	}
}

// seeOriginal looks at the log of whose name rotation can have made a name. It may have been
// written, and copied or replaced, since it was looked at.
func (f *Follower) seeOriginal(p *pattern, path string, news *message.Group) {
	of := filepath.Join(filepath.Dir(path), base(path))
	in := f.input(of)
	switch {
	case of == path:
	case in != nil:
		in.look(news)
	case p != nil && p.matches(filepath.Base(of)):
		f.see(p, of, news)
	}
}

// seeTarget looks at the log to which a symbolic link leads. It may have come since it was looked
// at.
func (f *Follower) seeTarget(path string, info fs.FileInfo, news *message.Group) {
	if f.known(info) != nil {
		return
	}
	to, err := filepath.EvalSymlinks(path)
	if in := f.input(to); err == nil && in != nil {
		in.look(news)
	}
}

// hand hands over an input that a pattern has found.
func (f *Follower) hand(in *Input, p *pattern) {
	if p.each != nil {
		p.each(in)
	}
	if f.found != nil {
		f.found(in)
	}
}

// input returns the input that follows a name, nil if there is none.
func (f *Follower) input(path string) *Input {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.names[path]
}

// known returns what is known of a file, nil if nothing is.
func (f *Follower) known(info fs.FileInfo) *source {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.files[identify(info)] {
		if os.SameFile(s.info, info) {
			return s
		}
	}
	return nil
}

// saw notes where a file was seen, and reports whether there is nothing to compare: its reader
// looks at it, or it is as it was, or it is compressed and still written.
func (f *Follower) saw(s *source, path string, info fs.FileInfo) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	written := s.packed && s.state == part && !unchanged(s.latest, info)
	s.path = path
	s.seen = f.looks
	s.latest = info
	return s.state == current || s.state != rewritten && (written || unchanged(s.info, info))
}

// isUnread reports whether a file has something of its log that no input reads.
func (f *Follower) isUnread(s *source) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := s.log
	return l.in == nil && s.hasAll() && (l.state != over || s.size > l.read.text.Size)
}

// find returns what is known of the file of a name, which it compares with logs if it is new or has
// changed. It returns nil if it cannot tell now whose text the file has, or if no log has that and
// first is nil. It calls first when it has opened the file: what was copied into that is looked at
// then.
func (f *Follower) find(path string, info fs.FileInfo, first func()) (*source, error) {
	before := f.known(info)
	moved := before != nil && before.path != path
	if before != nil && f.saw(before, path, info) {
		return before, nil
	}
	if moved { // another file may have its inode
		f.drop(before)
		before = nil
	}
	if info.Size() == 0 {
		f.dropTruncated(before)
		return nil, nil
	}
	s, err := f.load(path)
	if s == nil {
		return nil, err
	}
	if first != nil {
		first()
	}
	if f.known(s.info) != before { // it was just renamed
		f.shut(s)
		return nil, nil
	}
	f.assign(s, before, first != nil)
	if s.log == nil {
		f.shut(s)
		return nil, nil
	}
	if !f.isUnread(s) {
		f.shut(s)
	}
	return s, nil
}

// assign makes a file a source of the log whose text it has. Before is what was known of it.
func (f *Follower) assign(s, before *source, create bool) {
	l, c := f.whose(s, before)
	if c.relation == unknown || !f.intact(s, s.open, 0) {
		return // another look will tell
	}
	if before != nil && before.log != l {
		f.dropTruncated(before)
	} else {
		f.drop(before)
	}
	if l == nil && !create {
		return
	}
	if l == nil {
		l = f.newLog(s.path)
		c.size = int64(len(s.begin))
	}
	f.mu.Lock()
	s.log = l
	s.size = c.size
	switch {
	case c.relation == shorter:
		s.state = part
	case c.relation == equal && l.lives() && s.path != l.path:
		s.state = copied
	}
	s.seen = f.looks
	s.latest = s.info
	l.files = append(l.files, s)
	id := identify(s.info)
	f.files[id] = append(f.files[id], s)
	f.mu.Unlock()
	wasCopy := before != nil && before.state == copied
	switch {
	case s.state == copied && !(wasCopy && before.log == l):
		f.options.Notice(s.path, "is a copy of "+l.path+"; it counts once")
	case wasCopy && before.log != l:
		f.options.Notice(s.path, "is no copy of "+before.log.path+" any more; reading it")
	}
}

// whose returns the log whose text a file has most of, nil if it has that of none.
func (f *Follower) whose(s, before *source) (best *Log, found comparison) {
	found.relation = differs
	for _, l := range f.related(s, before) {
		c := f.compare(s, before, l)
		switch {
		case c.relation == unknown:
			return nil, c
		case c.relation == differs:
		case best == nil, c.size > found.size, c.size == found.size && c.isBetter(found, l.path == s.path):
			best = l
			found = c
		}
	}
	return best, found
}

// related returns the logs whose text a file may have, by its name and its first bytes, or by what
// was known of it.
func (f *Follower) related(s, before *source) (all []*Log) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := s.path
	of := base(path)
	for _, l := range f.logs {
		isKnown := l.path == path || before != nil && before.log == l
		if !isKnown && l.base != of && l.targetBase != of || !l.beginsAs(s) {
			continue
		}
		mayMove := of == l.base && l.mayMove(l.path, path, of)
		mayMoveTarget := of == l.targetBase && l.mayMove(l.target, path, of)
		if isKnown || mayMove || mayMoveTarget {
			all = append(all, l)
		}
	}
	return all
}

// beginsAs reports whether the text of a log may be that of a file, by the first bytes of the file.
// The lock is held.
func (l *Log) beginsAs(s *source) bool {
	n := 0
	first := l.read.text.first // has also the end of a run, within a line
	for _, p := range s.first {
		for n < len(first) && first[n].Size < p.Size {
			n++
		}
		if n < len(first) && first[n].Size == p.Size && first[n] != p {
			return false
		}
	}
	for _, other := range l.files {
		size := min(int64(len(s.begin)), int64(len(other.begin)), other.size)
		if !bytes.Equal(s.begin[:size], other.begin[:size]) {
			return false
		}
	}
	return true
}

// mayMove reports whether the text of a log may be in the file of a name with the same base. If the
// log has a file, that is in its folder, or below: olddir of logrotate. If it has one that is not
// compressed, rotation has added something to the name. A log without a file may be anywhere. The
// lock is held.
func (l *Log) mayMove(from, to, base string) bool {
	if !l.lives() {
		return true
	}
	plain := slices.ContainsFunc(l.files, func(s *source) bool { return !s.packed })
	return isBelow(to, from) && (filepath.Base(to) != base || !plain)
}

// drop forgets a file.
func (f *Follower) drop(s *source) {
	if s == nil {
		return
	}
	f.mu.Lock()
	is := func(other *source) bool { return other == s }
	id := identify(s.info)
	f.files[id] = slices.DeleteFunc(f.files[id], is)
	if len(f.files[id]) == 0 {
		delete(f.files, id)
	}
	s.log.files = slices.DeleteFunc(s.log.files, is)
	f.mu.Unlock()
	f.shut(s)
}

// dropTruncated forgets a file that has another text now, and says so if it may have had more of
// its log than was read, and no other file has that.
func (f *Follower) dropTruncated(s *source) {
	if s == nil {
		return
	}
	f.mu.Lock()
	l := s.log
	hasRest := func(other *source) bool { // under another name
		return other.path != s.path && other.hasAll() && (other.state == current || other.size >= s.size)
	}
	unread := s.hasAll() && (s.size > l.read.text.Size || s.path == l.path) &&
		!slices.ContainsFunc(l.files, hasRest)
	f.mu.Unlock()
	if unread {
		f.options.Notice(s.path, truncated)
	}
	f.drop(s)
}

// truncated is the message about a file that was.
const truncated = "was truncated; reading it again from its start"

// switchFile gives the reader of an input that can read no more of a log another file that has the
// rest. Meanwhile the reader has none, so that nothing is read. Without such a file, a log whose
// file was truncated ends.
func (f *Follower) switchFile(in *Input) {
	f.mu.Lock()
	if len(in.logs) == 0 || in.logs[0].state == ending {
		f.mu.Unlock()
		return
	}
	l := in.logs[0]
	before := l.current()
	var candidates []*source
	for _, s := range l.files {
		isCandidate := before == nil || s.state != part && s.size > l.read.text.Size
		if isCandidate && s.state != current && s.state != rewritten {
			candidates = append(candidates, s)
		}
	}
	f.mu.Unlock()
	if before != nil && (len(candidates) == 0 || f.isNamed(before)) {
		return
	}
	f.mu.Lock()
	waits := in.waiting && l.in == in && in.logs[0] == l
	if waits && before != nil {
		before.state = spare
	}
	points := l.read.text.points()
	read := l.read.text.Size
	f.mu.Unlock()
	if !waits {
		return
	}
	best := f.longest(candidates, points, read)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case l.in != in: // reading was stopped
		return
	case best != nil:
		l.give(best)
	case before != nil:
		before.state = current
	case l.triedUntil == 0 && len(f.patterns) > 0:
		l.triedUntil = f.looks + settled
	case f.looks >= l.triedUntil:
		l.state = ending
	}
	in.signal()
}

// longest returns the file that has all that was read of a log, and most of the rest. It drops
// those that have another text.
func (f *Follower) longest(all []*source, points []point, read int64) (best *source) {
	for _, s := range all {
		if isThere, _ := f.reopen(s); !isThere {
			continue // a look at its name will tell
		}
		c := f.compareHashes(s, points, read)
		if c.relation == differs || !f.intact(s, s.open, 0) {
			f.dropTruncated(s)
			continue
		}
		f.mu.Lock()
		s.size = max(s.size, c.size)
		switch {
		case c.relation == shorter:
			s.state = part
		case s.state == part:
			s.state = spare
		}
		f.mu.Unlock()
		if s.state != part && (best == nil || s.size > best.size) {
			best = s
		}
	}
	return best
}

// settled is the number of looks at folders that find what rotation just renames or copies: a look
// can miss it. A file that they do not find has no name.
const settled = 2

// mostOld is the number of logs without a file that copies are compared with.
const mostOld = 1000

// tidy closes the files that no input reads, and forgets those that have no name any more, and the
// oldest of too many logs.
func (f *Follower) tidy() {
	var idle, dropped []*source
	f.mu.Lock()
	for _, l := range f.logs {
		for _, s := range l.files {
			switch {
			case s.state == current:
			case s.state == rewritten || f.looks-s.seen > settled:
				dropped = append(dropped, s)
			case s.open != nil:
				idle = append(idle, s)
			}
		}
	}
	f.mu.Unlock()
	for _, s := range dropped {
		f.drop(s)
	}
	for _, s := range idle {
		f.shut(s)
	}
	f.forgetOldest()
}

// forgetOldest forgets the oldest of too many logs of which nothing is left but that copies may
// appear.
func (f *Follower) forgetOldest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	isOld := func(l *Log) bool { return l.in == nil && len(l.files) == 0 && l.again.From == 0 }
	old := 0
	for _, l := range f.logs {
		if isOld(l) {
			old++
		}
	}
	if old <= mostOld {
		return
	}
	f.logs = slices.DeleteFunc(f.logs, func(l *Log) bool {
		forgets := old > mostOld && isOld(l)
		if forgets {
			old--
		}
		return forgets
	})
}

// An Unread is a file or a folder that is not read, or a log that is gone.
type Unread struct {
	Path string
	// Why says why a folder cannot be read, or what a file may be that has too little to tell.
	Why string
	// Copy is set for a file that is a copy of a log, or may be a part of one.
	Copy bool
	// Lost is set for a log of an earlier run that is gone, if windows lack some of its lines.
	Lost bool
}

// why says why a file is not read. It is empty for a copy.
func (s *source) why() string {
	if s.state == part {
		return "may be a part of a copy of " + s.log.path
	}
	return ""
}

// Unread returns the files that are not read and are no inputs, the folders that cannot be read,
// and the logs of which lines are missing.
func (f *Follower) Unread() (all []Unread) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.logs {
		if l.state == lost {
			all = append(all, Unread{Path: l.path, Lost: true})
		}
		for _, s := range l.files {
			isThere := f.looks-s.seen <= 1
			if (s.state == copied || s.state == part) && isThere && f.names[s.path] == nil {
				all = append(all, Unread{Path: s.path, Why: s.why(), Copy: true})
			}
		}
	}
	for folder, why := range f.unreadable {
		all = append(all, Unread{Path: folder, Why: why})
	}
	slices.SortFunc(all, func(a, b Unread) int { return cmp.Compare(a.Path, b.Path) })
	return all
}
