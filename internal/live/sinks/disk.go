package sinks

import (
	"fmt"
	"io"
	"syscall"

	"hdrkit/internal/base/ledger"
	"hdrkit/internal/live"
)

// A Disk writes to a file. While the disk of the file is full, the text waits in memory. It is
// written when there is space.
type Disk struct {
	name    string
	w       io.Writer
	options *Options
	pending []byte
	full    bool
	account *ledger.Account
	charge  ledger.Charge
}

// NewDisk returns a Disk that writes to w. The name identifies the file in messages.
func NewDisk(o *Options, name string, w io.Writer) *Disk {
	return &Disk{
		name:    name,
		w:       w,
		options: o,
		account: o.Memory.Open("bytes that no disk takes", "make room on the disk"),
	}
}

func (d *Disk) Write(text []byte) (int, error) {
	d.pending = append(d.pending, text...)
	return len(text), d.Flush()
}

// Flush writes the waiting text, as far as there is space.
func (d *Disk) Flush() error {
	if len(d.pending) == 0 {
		return nil
	}
	n, err := d.w.Write(d.pending)
	d.pending = append(d.pending[:0], d.pending[n:]...)
	full := live.IsFull(err)
	switch {
	case full && !d.full:
		d.options.Messages.Notice(d.name + ": the disk is full; what it does not take waits in memory")
	case d.full && err == nil:
		d.options.Messages.Notice(d.name + ": the disk has room again")
	}
	d.full = full
	if err != nil && !full {
		return err
	}
	return d.charge.Set(d.account, len(d.pending), len(d.pending))
}

// Full reports whether text waits for space.
func (d *Disk) Full() bool { return d.full }

// End writes the waiting text. It returns an error if there is still no space.
func (d *Disk) End() error {
	if err := d.Flush(); err != nil || !d.full {
		return err
	}
	return fmt.Errorf("%s: %w: %d bytes are lost", d.name, syscall.ENOSPC, len(d.pending))
}
