// Package mem reads and writes memory without bounds checks, for the innermost loops of the codecs.
// It has all unsafe code of hdrkit. With the build tag purego it checks bounds instead and has no
// unsafe code: a loop that breaks a contract of these functions panics then, which is why the tests
// run with the tag, too.
//
// Each function states what its caller must know. The loops that call them have plain versions,
// which tests and fuzzing compare with them.
package mem
