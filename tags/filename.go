package tags

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// maxFileName is the most bytes that common file systems take in a name.
const maxFileName = 255

// FileName returns before, the tag and after joined to the name of a file: a different one for each tag, and none that
// leaves its folder, cannot be created, or is another's but for case.
//
// Bytes that a file name should not have are percent-encoded, as in URLs: control characters, / \ : * ? " < > | and %
// and ~ themselves, bytes that are not UTF-8, and a dot that begins the name. Where fold says that the file system does not
// tell capital letters from small ones, so are capital letters, and all that is not ASCII, since file systems differ in
// what they fold there and whether they take an accent for a letter of its own, and the first letter of what Windows takes for
// a device, as nul, whatever follows its first dot. A tag spelled "default" has its first letter encoded, for untagged
// intervals go to that name. [FileTag] gives the tag back, but for a name that would be longer
// than 255 bytes: that is cut, and ends with a ~ and sixteen hexadecimal digits of the tag's SHA-256. Where after alone
// leaves little room it is cut likewise, at its beginning.
func FileName(before string, tag []byte, after string, fold bool) string {
	name := Default
	if tag != nil {
		name = escape(string(tag), fold, before == "")
		if name == Default || fold && before == "" && isDevice(name) {
			name = fmt.Sprintf("%%%02X", name[0]) + name[1:]
		}
	}
	if most := maxFileName - len(before) - minRoom; len(after) > most {
		kept := after[len(after)-most+17:]
		for len(kept) > 0 && !utf8.RuneStart(kept[0]) {
			kept = kept[1:]
		}
		after = "~" + digest([]byte(after)) + kept
	}
	if room := maxFileName - len(before) - len(after); len(name) > room {
		name = cut(name, room-17) + "~" + digest(tag)
	}
	return before + name + after
}

// isDevice reports whether Windows takes a name in small letters for that of a device.
func isDevice(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (name[:3] == "com" || name[:3] == "lpt") && name[3] >= '0' && name[3] <= '9'
}

// minRoom is how many bytes of a name are the tag's at least.
const minRoom = 64

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// FileTag returns the tag, nil for untagged intervals, that [FileName] made a name of, without what stands before and after
// it. It reports false if name is none of FileName's, or was cut.
func FileTag(name string) (tag []byte, ok bool) {
	if name == Default {
		return nil, true
	}
	if strings.Contains(name, "~") {
		return nil, false
	}
	decoded, err := url.PathUnescape(name)
	return []byte(decoded), err == nil
}

// cut shortens an escaped name to at most size bytes, not inside a character or a percent code.
func cut(name string, size int) string {
	name = name[:size]
	if percent := strings.LastIndexByte(name, '%'); percent >= 0 && percent > len(name)-3 {
		name = name[:percent]
	}
	for len(name) > 0 {
		if r, n := utf8.DecodeLastRuneInString(name); r != utf8.RuneError || n != 1 {
			break
		}
		name = name[:len(name)-1]
	}
	return name
}

func escape(tag string, fold, first bool) string {
	var b strings.Builder
	for i, r := range tag {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError && !strings.HasPrefix(tag[i:], string(utf8.RuneError)) {
			size = 1 // not UTF-8
		} else if !mustEscape(r, fold) && (r != '.' || i > 0 || !first) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(tag[i : i+size]) {
			b.WriteByte('%')
			b.WriteString(strings.ToUpper(hex.EncodeToString([]byte{c})))
		}
	}
	return b.String()
}

func mustEscape(r rune, fold bool) bool {
	if r < ' ' || r >= 0x7f && r < 0xa0 || strings.ContainsRune(`/\:*?"<>|%~`, r) {
		return true
	}
	return fold && (r >= 'A' && r <= 'Z' || r > '~')
}
