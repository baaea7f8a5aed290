// Package ledger counts the memory that a command holds, against its one limit: -memory. Who keeps
// something that grows with the input has an [Account], and charges it. Above the limit, a charge
// is an error, which ends the command, unless who can do with less gives way ([Account.GiveWay]).
// Nobody waits for memory. What does not grow, such as buffers, is not charged, and neither is
// garbage: the limit that the runtime has for that is the same.
package ledger

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// A Ledger has the accounts of a command. A nil Ledger has no limit. It is safe for concurrent use.
type Ledger struct {
	limit int64 // bytes
	most  int64 // of held
	early int64 // of held, at which accounts give way
	held  atomic.Int64

	mu       sync.Mutex
	accounts []*Account

	giving sync.Mutex // held while accounts give way
	givers []func(bytes int)
}

// New returns a ledger with a limit in bytes. An eighth of it is for what nobody charges. Accounts
// give way a quarter before that: near the limit, most of the time goes into collecting garbage,
// and there is much of that.
func New(limit int64) *Ledger {
	return &Ledger{limit: limit, most: limit / 8 * 7, early: limit / 8 * 5}
}

// Empty returns another ledger with the same limit, for work whose memory is free before more work
// begins.
func (l *Ledger) Empty() *Ledger {
	if l == nil {
		return nil
	}
	return New(l.limit)
}

// Part returns another ledger with a part of the limit, for what a command can do without. That
// part is charged at once.
func (l *Ledger) Part(part int) *Ledger {
	if l == nil {
		return nil
	}
	size := l.limit / int64(part)
	l.held.Add(size)
	return New(size)
}

// AtMost returns size in bytes, or the limit divided by part if that is less.
func (l *Ledger) AtMost(size, part int) int {
	if l == nil {
		return size
	}
	return int(min(int64(size), l.limit/int64(part)))
}

// An Account has the bytes of one kind of thing. A nil Account has no limit. It is safe for
// concurrent use.
type Account struct {
	ledger        *Ledger
	what, remedy  string
	gives         bool // see [Account.GiveWay]
	bytes, things atomic.Int64
}

// Open returns the account for what: a plural, such as "tags". Remedy is what to do if they take
// too much.
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

// Error says what takes most of the memory, and what to do.
func (e *LimitError) Error() string { return e.text }

// Add charges things and the bytes that they take. Negative numbers give them back. The error is a
// [LimitError]: the bytes are charged all the same.
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
	case !a.gives:
		held = l.makeRoom()
	}
	if held > l.most || a.gives {
		return l.err()
	}
	return nil
}

// GiveWay sets what is called when other accounts need so many bytes of what the account has, which
// has no room itself then. Give gives back what it can, and charges nothing. Any goroutine calls
// it. Call GiveWay before the first charge.
func (a *Account) GiveWay(give func(bytes int)) {
	if a == nil {
		return
	}
	a.gives = true
	a.ledger.giving.Lock()
	defer a.ledger.giving.Unlock()
	a.ledger.givers = append(a.ledger.givers, give)
}

// makeRoom has accounts give way, and returns how many bytes are held then.
func (l *Ledger) makeRoom() (held int64) {
	l.giving.Lock()
	defer l.giving.Unlock()
	for _, give := range l.givers {
		if over := l.held.Load() - l.early; over > 0 {
			give(int(over))
		}
	}
	return l.held.Load()
}

// Crowded returns the error of [Account.Add] if more than half of the limit is charged. Who can do
// with less asks it, and gives back before others meet the limit.
func (a *Account) Crowded() error {
	if a == nil || a.ledger.held.Load() <= a.ledger.limit/2 {
		return nil
	}
	return a.ledger.err()
}

// Refuse returns the error of [Account.Add], for who knows without a charge that there is too
// little memory.
func (a *Account) Refuse() error {
	if a == nil {
		return nil
	}
	return a.ledger.err()
}

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

// A Charge is what one owner has charged of an account. The zero Charge is nothing.
type Charge struct{ things, bytes int }

// Set changes what is charged. The error is that of [Account.Add].
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
