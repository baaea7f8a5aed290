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

// poll looks at all names in a loop, until the follower is stopped.
func (f *Follower) poll(looked func(at time.Time)) {
	ticker := time.NewTicker(f.options.Poll)
	defer ticker.Stop()
	matched := time.Now()
	for {
		select {
		case <-f.looker.stop:
			return
		case <-ticker.C:
		}
		if !f.look(&matched, looked) {
			return
		}
	}
}

// look looks at the names of all inputs. It also scans the folders if the last scan, at the time
// matched, is long enough ago. It returns false if the follower is stopped.
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
	if len(f.looker.patterns) > 0 {
		at = *matched
	}
	looked(at)
	return true
}

// lookAtInputs looks at the names of all inputs, and changes the file of a reader where that is
// necessary. Inputs whose state is ended are removed.
func (f *Follower) lookAtInputs() {
	var news message.Group
	f.mu.Lock()
	f.inputs = slices.DeleteFunc(f.inputs, func(in *Input) bool {
		if in.naming.state == ended && f.inputOf[in.path] == in {
			delete(f.inputOf, in.path)
		}
		return in.naming.state == ended
	})
	inputs := slices.Clone(f.inputs)
	f.mu.Unlock()
	for _, in := range inputs {
		in.look(&news)
		f.switchFile(in)
	}
	news.Say(f.options.Notice)
}

// match scans the folders of all patterns. It adds inputs for new files, and finds files with the
// rest of logs of an earlier run.
func (f *Follower) match() {
	var news message.Group
	for _, p := range f.looker.patterns {
		f.beforeAccess()
		for _, path := range f.paths(p.folder, &news) {
			if p.matches(filepath.Base(path)) {
				f.examine(p, path, &news)
			}
		}
	}
	if f.onFound != nil {
		f.search()
	}
	news.Say(f.options.Notice)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scans++
}

// paths returns the paths of all files in folders, see [scan.Folders]. Shorter names come first,
// because a log must be seen before its rotated files, whose names are longer.
func (f *Follower) paths(folders string, news *message.Group) (paths []string) {
	for _, folder := range scan.Folders(folders) {
		all, err := list(folder)
		paths = append(paths, all...)
		f.noteFolder(folder, err, news)
	}
	slices.SortStableFunc(paths, func(a, b string) int { return len(a) - len(b) })
	return paths
}

// list returns the paths of all files in a folder.
func list(folder string) (paths []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		paths = append(paths, filepath.Join(folder, entry.Name()))
	}
	return paths, err
}

// noteFolder stores whether a folder can be read, and adds a message when that fails for the first
// time. A folder that does not exist gives no message, because it may come back.
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

// examine looks at a path that the pattern p has found. If no input follows the path, and its file
// has lines that no input reads, the path becomes an input. Before the start, a rotated file is
// given to the input of its log instead.
func (f *Follower) examine(p *pattern, path string, news *message.Group) {
	if f.inputAt(path) != nil {
		return
	}
	f.beforeAccess()
	info, err := os.Stat(path)
	if err != nil || info.IsDir() || f.options.Excluded != nil && os.SameFile(f.options.Excluded, info) {
		return
	}
	if !info.Mode().IsRegular() {
		f.examinePipe(p, path, news)
		return
	}
	var first func()
	if p != leftover {
		first = func() { f.examineOriginal(p, path, news) }
		f.examineTarget(path, info, news)
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
		owner := f.inputAt(s.log.path)
		if owner != nil && f.onFound == nil {
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
	f.handOver(in, p)
}

// examinePipe adds a named pipe that a pattern has found. If a later run continues, it adds a
// message instead, once.
func (f *Follower) examinePipe(p *pattern, path string, news *message.Group) {
	switch {
	case p == leftover:
	case !f.options.Continues:
		in := f.addPipe(path)
		in.pattern = p
		f.handOver(in, p)
	case !f.looker.namedPipes[path]:
		f.looker.namedPipes[path] = true
		news.Add(path, NoPosition)
	}
}

// examineOriginal looks at the log from whose name rotation may have made path. Between the last
// look at this log and the look at path, the log may have been written, copied and replaced.
func (f *Follower) examineOriginal(p *pattern, path string, news *message.Group) {
	of := filepath.Join(filepath.Dir(path), base(path))
	in := f.inputAt(of)
	switch {
	case of == path:
	case in != nil:
		in.look(news)
	case p != nil && p.matches(filepath.Base(of)):
		f.examine(p, of, news)
	}
}

// examineTarget looks at the target of a symbolic link, if an input follows the target. The target
// may be newer than the last look at it.
func (f *Follower) examineTarget(path string, info fs.FileInfo, news *message.Group) {
	if f.known(info) != nil {
		return
	}
	to, err := filepath.EvalSymlinks(path)
	if in := f.inputAt(to); err == nil && in != nil {
		in.look(news)
	}
}

// handOver passes a new input to the functions that wait for inputs: that of its pattern, and that
// of [Follower.Start].
func (f *Follower) handOver(in *Input, p *pattern) {
	if p.each != nil {
		p.each(in)
	}
	if f.onFound != nil {
		f.onFound(in)
	}
}

// inputAt returns the input that follows a path, or nil.
func (f *Follower) inputAt(path string) *Input {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.inputOf[path]
}

// known returns the source for a file, or nil if the file is not known.
func (f *Follower) known(info fs.FileInfo) *source {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sources[identify(info)] {
		if os.SameFile(s.comparedInfo, info) {
			return s
		}
	}
	return nil
}

// recordSighting stores at which path a known file was seen. It returns true if there is nothing to
// compare: a reader has the file, or it has not changed since the last comparison, or it is a
// compressed file that is still being written.
func (f *Follower) recordSighting(s *source, path string, info fs.FileInfo) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	written := s.packed && s.state == partial && !unchanged(s.seenInfo, info)
	s.path = path
	s.seenInScan = f.scans
	s.seenInfo = info
	return s.state == current || s.state != rewritten && (written || unchanged(s.comparedInfo, info))
}

// isUnread reports whether a file has a log, or more of its log, that no input reads.
func (f *Follower) isUnread(s *source) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := s.log
	return l.in == nil && s.hasAll() && (l.state != over || s.sharedSize > l.read.text.Size)
}

// find returns the source for the file at path. If the file is new or has changed, find compares it
// with the logs. It returns nil if it cannot decide yet to which log the file belongs. It also
// returns nil if the file belongs to no log and first is nil; otherwise such a file begins a log.
// It calls first after opening the file and before comparing it, to look at the log of which the
// file may be a copy.
func (f *Follower) find(path string, info fs.FileInfo, first func()) (*source, error) {
	before := f.known(info)
	moved := before != nil && before.path != path
	if before != nil && f.recordSighting(before, path, info) {
		return before, nil
	}
	if moved { // another file may have got the same inode
		f.forget(before)
		before = nil
	}
	if info.Size() == 0 {
		f.forgetTruncated(before)
		return nil, nil
	}
	s, err := f.openSource(path)
	if s == nil {
		return nil, err
	}
	if first != nil {
		first()
	}
	if f.known(s.comparedInfo) != before { // another file got the name since the Stat
		f.closeFile(s)
		return nil, nil
	}
	f.assign(s, before, first != nil)
	if s.log == nil {
		f.closeFile(s)
		return nil, nil
	}
	if !f.isUnread(s) {
		f.closeFile(s)
	}
	return s, nil
}

// assign makes a file a source of the log that has the same text. Before is the source that was
// known for this file. If there is no such log, and create is set, the file begins a new log.
func (f *Follower) assign(s, before *source, create bool) {
	l, c := f.ownerOf(s, before)
	if c.relation == unknown || !f.intact(s, s.file, 0) {
		return // the next look compares again
	}
	if before != nil && before.log != l {
		f.forgetTruncated(before)
	} else {
		f.forget(before)
	}
	if l == nil && !create {
		return
	}
	if l == nil {
		l = f.newLog(s.path)
		c.size = int64(len(s.textHead))
	}
	f.mu.Lock()
	s.log = l
	s.sharedSize = c.size
	switch {
	case c.relation == shorter:
		s.setState(partial)
	case c.relation == equal && l.lives() && s.path != l.path:
		s.setState(copied)
	}
	s.seenInScan = f.scans
	s.seenInfo = s.comparedInfo
	l.files = append(l.files, s)
	id := identify(s.comparedInfo)
	f.sources[id] = append(f.sources[id], s)
	f.mu.Unlock()
	wasCopy := before != nil && before.state == copied
	switch {
	case s.state == copied && !(wasCopy && before.log == l):
		f.options.Notice(s.path, "is a copy of "+l.path+"; it counts once")
	case wasCopy && before.log != l:
		f.options.Notice(s.path, "is no copy of "+before.log.path+" any more; reading it")
	}
}

// ownerOf returns the log to which a file belongs, nil if there is none. Of several logs, it
// chooses the one that has most in common with the file.
func (f *Follower) ownerOf(s, before *source) (owner *Log, best comparison) {
	best.relation = differs
	for _, l := range f.candidateLogs(s, before) {
		c := f.compare(s, before, l)
		switch {
		case c.relation == unknown:
			return nil, c
		case c.relation == differs:
		case owner == nil, c.isBetter(best, l.path == s.path):
			owner = l
			best = c
		}
	}
	return owner, best
}

// candidateLogs returns the logs with which a file must be compared: the log that it was a source
// of before, and logs whose names and first bytes fit.
func (f *Follower) candidateLogs(s, before *source) (all []*Log) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := s.path
	of := base(path)
	for _, l := range f.logs {
		isKnown := l.path == path || before != nil && before.log == l
		if !isKnown && l.base != of && l.targetBase != of || !l.mayBeginAs(s) {
			continue
		}
		mayMoveTo := of == l.base && l.mayMoveTo(l.path, path, of)
		mayMoveTarget := of == l.targetBase && l.mayMoveTo(l.target, path, of)
		if isKnown || mayMoveTo || mayMoveTarget {
			all = append(all, l)
		}
	}
	return all
}

// mayBeginAs reports whether the files of a log begin with the same bytes as a file. It avoids that
// all these files are opened to compare them. The lock is held.
func (l *Log) mayBeginAs(s *source) bool {
	for _, other := range l.files {
		size := min(int64(len(s.textHead)), int64(len(other.textHead)), other.sharedSize)
		if !bytes.Equal(s.textHead[:size], other.textHead[:size]) {
			return false
		}
	}
	return true
}

// mayMoveTo reports whether rotation may have moved or copied a log from one path to another one
// with the same base. If a file still has the log, the new path must be in its folder or below
// (olddir of logrotate). If such a file is not compressed, the new name must also be different from
// the base. A log without files may move anywhere. The lock is held.
func (l *Log) mayMoveTo(from, to, base string) bool {
	if !l.lives() {
		return true
	}
	plain := slices.ContainsFunc(l.files, func(s *source) bool { return !s.packed })
	return isBelow(to, from) && (filepath.Base(to) != base || !plain)
}

// forget removes a source from the known files and from its log. It does nothing if s is nil.
func (f *Follower) forget(s *source) {
	if s == nil {
		return
	}
	f.mu.Lock()
	is := func(other *source) bool { return other == s }
	id := identify(s.comparedInfo)
	f.sources[id] = slices.DeleteFunc(f.sources[id], is)
	if len(f.sources[id]) == 0 {
		delete(f.sources, id)
	}
	s.log.files = slices.DeleteFunc(s.log.files, is)
	f.mu.Unlock()
	f.closeFile(s)
}

// forgetTruncated forgets a file that has another text now. It reports a truncation if the file may
// have had lines that were not read and that no other file has.
func (f *Follower) forgetTruncated(s *source) {
	if s == nil {
		return
	}
	f.mu.Lock()
	l := s.log
	hasRest := func(other *source) bool { // a file of another name
		return other.path != s.path && other.hasAll() && (other.state == current || other.sharedSize >= s.sharedSize)
	}
	unread := s.hasAll() && (s.sharedSize > l.read.text.Size || s.path == l.path) &&
		!slices.ContainsFunc(l.files, hasRest)
	f.mu.Unlock()
	if unread {
		f.options.Notice(s.path, truncated)
	}
	f.forget(s)
}

// truncated is the message about a log that was truncated.
const truncated = "was truncated; reading it again from its start"

// switchFile gives the reader of an input another file of the same log, if the present one has lost
// its name or there is none. During the change the reader has no file, and reads nothing. If no
// file is found for some scans, the log ends.
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
		isCandidate := before == nil || s.state != partial && s.sharedSize > l.read.text.Size
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
		before.setState(spare)
	}
	points := l.read.text.points()
	read := l.read.text.Size
	f.mu.Unlock()
	if !waits {
		return
	}
	best := f.longestOf(candidates, points, read)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case l.in != in: // reading has ended meanwhile
		return
	case best != nil:
		l.giveFile(best)
	case before != nil:
		before.setState(current)
	case l.searchUntilScan == 0 && len(f.looker.patterns) > 0:
		l.searchUntilScan = f.scans + settleScans
	case f.scans >= l.searchUntilScan:
		logChanges.apply(&l.state, ending)
	}
	in.signal()
}

// longestOf returns the file with the most text, of those that have all that was read of a log. It
// forgets the files that have another text.
func (f *Follower) longestOf(all []*source, points []point, read int64) (best *source) {
	for _, s := range all {
		if isThere, _ := f.reopen(s); !isThere {
			continue // the next look at the name finds out more
		}
		c := f.compareHashes(s, points, read)
		if c.relation == differs || !f.intact(s, s.file, 0) {
			f.forgetTruncated(s)
			continue
		}
		f.mu.Lock()
		s.sharedSize = max(s.sharedSize, c.size)
		switch {
		case c.relation == shorter:
			s.setState(partial)
		case s.state == partial:
			s.setState(spare)
		}
		f.mu.Unlock()
		if s.state != partial && (best == nil || s.sharedSize > best.sharedSize) {
			best = s
		}
	}
	return best
}

// settleScans is the number of scans after which a file without a known name has none. A single
// scan can miss a file that is renamed or copied at that moment.
const settleScans = 2

// maxOld is the number of logs without files that the follower remembers. When one of them is
// copied back, it does not count again.
const maxOld = 1000

// tidy closes files that no input reads, and forgets files without names, and logs beyond maxOld.
func (f *Follower) tidy() {
	var idle, dropped []*source
	f.mu.Lock()
	for _, l := range f.logs {
		for _, s := range l.files {
			switch {
			case s.state == current:
			case s.state == rewritten || f.scans-s.seenInScan > settleScans:
				dropped = append(dropped, s)
			case s.file != nil:
				idle = append(idle, s)
			}
		}
	}
	f.mu.Unlock()
	for _, s := range dropped {
		f.forget(s)
	}
	for _, s := range idle {
		f.closeFile(s)
	}
	f.forgetOldest()
}

// forgetOldest forgets the oldest logs that have no file, beyond maxOld. A file that comes back
// later counts as a new log then.
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
	if old <= maxOld {
		return
	}
	f.logs = slices.DeleteFunc(f.logs, func(l *Log) bool {
		forgets := old > maxOld && isOld(l)
		if forgets {
			old--
		}
		return forgets
	})
}

// An Unread is a file or a folder that is not read, or a log that is gone. Why and Copy say which.
type Unread struct {
	Path string
	// Why is the reason for a folder that cannot be read, or for a file that has too little text to
	// decide what it is.
	Why string
	// Copy says that the file is a copy of a log, or may be a part of one.
	Copy bool
	// Lost says that the log of an earlier run is gone, and windows lack some of its lines.
	Lost bool
}

// whyUnread returns why a file is not read: it may be a part of a copy. For a copy, it returns
// nothing.
func (s *source) whyUnread() string {
	if s.state == partial {
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
			isThere := f.scans-s.seenInScan <= 1
			if (s.state == copied || s.state == partial) && isThere && f.inputOf[s.path] == nil {
				all = append(all, Unread{Path: s.path, Why: s.whyUnread(), Copy: true})
			}
		}
	}
	for folder, why := range f.unreadable {
		all = append(all, Unread{Path: folder, Why: why})
	}
	slices.SortFunc(all, func(a, b Unread) int { return cmp.Compare(a.Path, b.Path) })
	return all
}
