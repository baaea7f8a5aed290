// Package ledger counts the memory that a command holds, against its one limit: -memory. Code that
// keeps data which grows with the input has an [Account], and charges it. Above the limit, a charge
// is an error, which ends the command, unless other accounts can give memory back
// ([Account.GiveWay]). No charge waits for memory. Memory that does not grow, such as buffers, is
// not charged, and neither is garbage: for all memory together, the runtime has the same limit.
package ledger

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// A Ledger has the accounts of a command. A nil Ledger has no limit. It is safe for concurrent use.
type Ledger struct {
	limit int64        // bytes
	most  int64        // the highest held without an error
	early int64        // accounts give way if held is above
	held  atomic.Int64 // bytes charged

	mu       sync.Mutex
	accounts []*Account

	giving    sync.Mutex // locked while accounts give way
	releasers []func(bytes int)
}

// New returns a ledger with a limit in bytes. An eighth of the limit is for memory that nobody
// charges. Accounts give way at five eighths: near the limit, most of the time goes into collecting
// garbage, and there is much garbage.
func New(limit int64) *Ledger {
	return &Ledger{limit: limit, most: limit / 8 * 7, early: limit / 8 * 5}
}

// Empty returns a new ledger with the same limit and no charges, for work whose memory is free
// before more work begins.
func (l *Ledger) Empty() *Ledger {
	if l == nil {
		return nil
	}
	return New(l.limit)
}

// Part returns a new ledger with a fraction of the limit, 1/part, for work that a command can do
// without. l is charged for this fraction at once.
func (l *Ledger) Part(part int) *Ledger {
	if l == nil {
		return nil
	}
	size := l.limit / int64(part)
	l.held.Add(size)
	return New(size)
}

// AtMost returns size, or the limit divided by part if that is less, in bytes.
func (l *Ledger) AtMost(size, part int) int {
	if l == nil {
		return size
	}
	return int(min(int64(size), l.limit/int64(part)))
}

// An Account counts the things of one kind, such as tags, and their bytes. A nil Account has no
// limit. It is safe for concurrent use.
type Account struct {
	ledger        *Ledger
	what, remedy  string
	givesWay      bool // see [Account.GiveWay]
	bytes, things atomic.Int64
}

// Open returns the account for a kind of things. what is their plural, such as "tags". remedy is
// the advice of the error if they take too much memory.
func (l *Ledger) Open(what, remedy string) *Account {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.accounts {
		if a.what == what {
			return a
		}
	}
	a := &Account{ledger: l, what: what, remedy: remedy}
	l.accounts = append(l.accounts, a)
	return a
}

// A LimitError is the error for memory above the limit.
type LimitError struct{ text string }

// Error returns a text that names the things with the most memory, and the remedy.
func (e *LimitError) Error() string { return e.text }

// Add charges things and the bytes that they take. Negative numbers give memory back. The error is
// a [LimitError]. The bytes are charged even then.
func (a *Account) Add(things, bytes int) error {
	if a == nil {
		return nil
	}
	a.things.Add(int64(things))
	a.bytes.Add(int64(bytes))
	l := a.ledger
	held := l.held.Add(int64(bytes))
	switch {
	case bytes <= 0 || held <= l.early:
		return nil
	case !a.givesWay:
		held = l.makeRoom()
	}
	if held > l.most || a.givesWay {
		return l.err()
	}
	return nil
}

// GiveWay sets a function that is called when other accounts need memory. give gives back as many
// bytes of this account as it can, and charges nothing. Any goroutine may call it. A charge of this
// account is an error as soon as accounts must give way. Call GiveWay before the first charge.
func (a *Account) GiveWay(give func(bytes int)) {
	if a == nil {
		return
	}
	a.givesWay = true
	a.ledger.giving.Lock()
	defer a.ledger.giving.Unlock()
	a.ledger.releasers = append(a.ledger.releasers, give)
}

// makeRoom makes accounts give way. It returns the number of bytes that are charged then.
func (l *Ledger) makeRoom() (held int64) {
	l.giving.Lock()
	defer l.giving.Unlock()
	for _, give := range l.releasers {
		if over := l.held.Load() - l.early; over > 0 {
			give(int(over))
		}
	}
	return l.held.Load()
}

// Crowded returns the error of [Account.Add] if more than half of the limit is charged. Code that
// can work with less memory then gives memory back, before others reach the limit.
func (a *Account) Crowded() error {
	if a == nil || a.ledger.held.Load() <= a.ledger.limit/2 {
		return nil
	}
	return a.ledger.err()
}

// Refuse returns the error of [Account.Add], for callers that know without a charge that the limit
// is too low.
func (a *Account) Refuse() error {
	if a == nil {
		return nil
	}
	return a.ledger.err()
}

// err returns the error that names the account with the most bytes.
func (l *Ledger) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := l.accounts[0]
	for _, a := range l.accounts {
		if a.bytes.Load() > most.bytes.Load() {
			most = a
		}
	}
	return &LimitError{fmt.Sprintf("%d %s take %d MiB: %s, or raise -memory, which is %d MiB",
		most.things.Load(), most.what, most.bytes.Load()>>20, most.remedy, l.limit>>20)}
}

// A Charge is the part of an account that one owner has charged. The zero Charge is nothing.
type Charge struct{ things, bytes int }

// Set changes the charge to things and bytes. The error is that of [Account.Add].
func (c *Charge) Set(a *Account, things, bytes int) error {
	if c.things == things && c.bytes == bytes {
		return nil
	}
	before := *c
	*c = Charge{things, bytes}
	return a.Add(things-before.things, bytes-before.bytes)
}

// Bytes returns how many bytes are charged.
func (c *Charge) Bytes() int { return c.bytes }
