package logtest

import (
	"syscall"
	"testing"
)

// NewGuard returns a function that copies data, of at most size bytes, to the end of readable
// memory: an access behind the copy ends the process. The copy is valid until the next call.
func NewGuard(tb testing.TB, size int) func(data []byte) []byte {
	page := syscall.Getpagesize()
	size = (size + page - 1) / page * page
	memory, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err == nil {
		err = syscall.Mprotect(memory[size:], syscall.PROT_NONE)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return func(data []byte) []byte {
		begin := size - len(data)
		copy(memory[begin:], data)
		return memory[begin:size:size]
	}
}
