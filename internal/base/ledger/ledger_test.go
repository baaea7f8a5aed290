package ledger

import (
	"errors"
	"math"
	"sync"
	"testing"
)

// TestLimit proves that a charge above the limit is an error that names what takes most.
func TestLimit(t *testing.T) {
	t.Parallel()
	l := New(80 << 20)
	tags, logs := l.Open("tags", "choose some"), l.Open("logs", "give fewer")
	if l.Open("tags", "again") != tags {
		t.Error("two accounts have one name")
	}
	if err := errors.Join(tags.Add(27, 60<<20), logs.Add(1, 10<<20)); err != nil {
		t.Fatal(err)
	}
	err := logs.Add(1, 1)
	if want := "27 tags take 60 MiB: choose some, or raise -memory, which is 80 MiB"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := errors.Join(tags.Add(-27, -60<<20), logs.Add(1, 50<<20)); err != nil {
		t.Errorf("after memory was given back: %v", err)
	}
}

// TestCharge proves that owners who change their charges at the same time leave nothing.
func TestCharge(t *testing.T) {
	t.Parallel()
	l := New(1 << 30)
	account := l.Open("tags", "")
	var owners sync.WaitGroup
	for n := range 8 {
		owners.Go(func() {
			var c Charge
			for size := range 1000 {
				if err := c.Set(account, 1, size*n); err != nil {
					t.Error(err)
				}
			}
			if c.Set(account, 0, 0); c.Bytes() != 0 {
				t.Error(c)
			}
		})
	}
	owners.Wait()
	if account.bytes.Load() != 0 || account.things.Load() != 0 || l.held.Load() != 0 {
		t.Errorf("%d bytes of %d things are left", account.bytes.Load(), account.things.Load())
	}
	var none *Ledger
	var c Charge
	if err := c.Set(none.Open("tags", ""), 1, math.MaxInt/2); err != nil {
		t.Error(err)
	}
}

// TestCrowded proves that who can do with less gives way before a charge fails.
func TestCrowded(t *testing.T) {
	t.Parallel()
	l := New(80 << 20)
	windows, tags := l.Open("windows", "make them longer"), l.Open("tags", "choose some")
	if err := errors.Join(windows.Add(9, 30<<20), tags.Add(1, 10<<20), windows.Crowded()); err != nil {
		t.Fatal(err)
	}
	if err := tags.Add(1, 1); err != nil {
		t.Fatal(err)
	}
	err := windows.Crowded()
	if want := "9 windows take 30 MiB: make them longer, or raise -memory, which is 80 MiB"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	var none *Ledger
	if err := none.Open("windows", "").Crowded(); err != nil {
		t.Error(err)
	}
}

// TestGiveWay proves that a charge takes from who gives way before it meets the limit, and no more
// than that. A charge of these takes nothing.
func TestGiveWay(t *testing.T) {
	t.Parallel()
	l := New(80 << 20)
	rows, windows := l.Open("rows", ""), l.Open("windows", "make them shorter")
	rows.GiveWay(func(bytes int) { rows.Add(0, -min(bytes, int(rows.bytes.Load()))) })
	if err := errors.Join(rows.Add(1, 30<<20), windows.Add(1, 40<<20)); err != nil {
		t.Fatal(err)
	}
	if rows.bytes.Load() != 10<<20 {
		t.Errorf("%d bytes of rows are left", rows.bytes.Load())
	}
	if err := rows.Add(1, 1); err == nil {
		t.Error("rows take from rows")
	}
	if err := windows.Add(1, 30<<20); err != nil || rows.bytes.Load() != 0 {
		t.Errorf("%v, and %d bytes of rows are left", err, rows.bytes.Load())
	}
	if err := windows.Add(1, 1); err == nil {
		t.Error("windows take more than there is")
	}
}
