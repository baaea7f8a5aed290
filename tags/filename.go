package tags

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// maxFileName is the limit of common file systems for the length of a name, in bytes.
const maxFileName = 255

// FileName returns the file name before + encoded tag + after. Different tags have different names.
// No name leaves its folder or is impossible to create, and no two names differ only in case if
// fold is set.
//
// The encoding percent-encodes, as in URLs, what [Text] encodes, the characters / \ : * ? " < > | %
// ~, and a dot or a dash that begins the name: a dash would make it an option of commands. If fold
// is set, the file system does not distinguish capital letters from small ones. Then FileName also
// encodes capital letters, all characters that are not ASCII (file systems fold those differently),
// and the first letter of a Windows device such as nul. Untagged intervals have the name [Default],
// a tag spelled so is "%64efault", and the empty tag is "%".
//
// A name longer than 255 bytes is cut. It then ends with ~ and sixteen hexadecimal digits of the
// tag's SHA-256. If before and after leave it less than 64 bytes, FileName cuts the beginning of
// after and the end of before in the same way.
func FileName(before string, tag []byte, after string, fold bool) string {
	name := Default
	switch {
	case tag == nil:
	case len(tag) == 0:
		name = "%"
	default:
		name = encode(string(tag), func(r rune) bool {
			return strings.ContainsRune(`/\:*?"<>|%~`, r) || fold && (r >= 'A' && r <= 'Z' || r > '~')
		})
		if name == Default || before == "" && (name[0] == '.' || name[0] == '-' || fold && isDevice(name)) {
			name = encodeFirst(name)
		}
	}
	if len(before)+len(name)+len(after) > maxFileName {
		after = end(after, maxFileName-minRoom-min(len(before), minRoom))
		before = beginning(before, []byte(before), maxFileName-minRoom-len(after))
		name = beginning(name, tag, maxFileName-len(before)-len(after))
	}
	return before + name + after
}

// isDevice reports whether Windows reads a name in small letters as the name of a device.
func isDevice(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (name[:3] == "com" || name[:3] == "lpt") && name[3] >= '0' && name[3] <= '9'
}

// minRoom is the number of bytes that each of before, after and the tag gets in a name at least.
const minRoom = 64

// markSize is the number of bytes that replace a cut part: ~ and a digest.
const markSize = 17

// beginning returns text if it has at most most bytes. Otherwise it returns the beginning of text
// and the digest of whole.
func beginning(text string, whole []byte, most int) string {
	if len(text) <= most {
		return text
	}
	return cut(text, most-markSize) + "~" + digest(whole)
}

// end returns text if it has at most most bytes. Otherwise it returns the digest and the end of
// text.
func end(text string, most int) string {
	if len(text) <= most {
		return text
	}
	kept := text[len(text)-most+markSize:]
	for len(kept) > 0 && !utf8.RuneStart(kept[0]) {
		kept = kept[1:]
	}
	return "~" + digest([]byte(text)) + kept
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// cut shortens an encoded name to at most size bytes. It does not split a character or a percent
// code.
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
