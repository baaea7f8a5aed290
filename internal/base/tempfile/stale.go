package tempfile

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Temporary files are called .NAME.hdrkit-MACHINE-PROCESS-NUMBER.tmp. NAME is that of the target,
// cut if it is long. A process that was killed leaves its files. The next one that writes to the
// folder recognizes them by MACHINE and PROCESS, and removes them.
const (
	mark     = ".hdrkit-"
	longName = 80 // bytes
	// longAgo is when a file of another machine, whose processes nobody sees, was written last.
	longAgo = 24 * time.Hour
)

// machine tells machines and containers apart that share a folder.
var machine = func() string {
	name, _ := os.Hostname()
	processes, _ := os.Readlink("/proc/self/ns/pid") // in Linux, whose processes the numbers name
	sum := fnv.New32a()
	sum.Write([]byte(name + processes))
	return fmt.Sprintf("%08x", sum.Sum32())
}()

// prefix returns how the names of temporary files for a target begin.
func prefix(target string) string {
	name := filepath.Base(target)
	if len(name) > longName {
		name = name[:longName]
		for name != "" && !utf8.ValidString(name[max(len(name)-utf8.UTFMax, 0):]) {
			name = name[:len(name)-1]
		}
	}
	return fmt.Sprintf(".%s%s%s-%d-", name, mark, machine, os.Getpid())
}

// tidied are the folders whose stale files were removed.
var tidied = make(map[string]bool)

// tidy removes the files that processes which were killed have left in a folder. A file ending in
// .old is the one that a set of files was about to replace. It stays if there is no other.
func tidy(folder string) {
	if tidied[folder] {
		return
	}
	tidied[folder] = true
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		name := entry.Name()
		at := strings.LastIndex(name, mark)
		if at < 1 || name[0] != '.' || !entry.Type().IsRegular() {
			continue
		}
		fields := strings.Split(name[at+len(mark):], "-")
		path := filepath.Join(folder, name)
		if len(fields) != 3 || files[path] || !stale(entry, fields[0], fields[1]) {
			continue
		}
		switch filepath.Ext(name) {
		case ".tmp":
			os.Remove(path)
		case ".old":
			if _, err := os.Lstat(filepath.Join(folder, name[1:at])); err == nil {
				os.Remove(path)
			}
		}
	}
}

// stale reports whether the process that made a file has ended.
func stale(entry os.DirEntry, on, process string) bool {
	pid, err := strconv.Atoi(process)
	if err != nil || pid <= 0 {
		return false
	}
	if on == machine {
		return pid == os.Getpid() || !runs(pid)
	}
	info, err := entry.Info()
	return err == nil && time.Since(info.ModTime()) > longAgo
}
