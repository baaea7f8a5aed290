package live

import (
	"errors"
	"fmt"
	"testing"

	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
)

// TestHeldCharged: windows that wait for a state are charged, and take the sums of those that were
// handed out: there is one of each.
func TestHeldCharged(t *testing.T) {
	t.Parallel()
	memory := ledger.New(1 << 20)
	sink := new(run)
	fan := &Fan{
		Outputs: []Output{{Key: "test", Sink: sink, Held: true}},
		keeps:   true,
		account: memory.Open("windows that wait", "wait"),
	}
	others := memory.Open("others", "")
	windows := merge.NewWindows(1000)
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	const most = 10_000
	for n := range most {
		var sum merge.Sum
		if err := errors.Join(sum.AddHistogram(0, 1000, h), windows.Merge(fmt.Append(nil, n), 0, &sum)); err != nil {
			t.Fatal(err)
		}
	}
	var full error
	for merged := range windows.All() {
		if err := fan.window(&Window{Merged: merged, Factor: 1}); err != nil {
			full = err
		}
		if merged.Intervals() != 0 {
			t.Fatal("a window that waits has a sum of its own")
		}
	}
	var limit *ledger.LimitError
	if !errors.As(full, &limit) {
		t.Errorf("%d windows wait in a MiB: %v", most, full)
	}
	if err := fan.giveHeld(); err != nil {
		t.Fatal(err)
	}
	if err := others.Add(1, 1); err != nil {
		t.Errorf("after all were given: %v", err)
	}
	if len(sink.windows) != most || fan.heldBytes.Bytes() != 0 {
		t.Errorf("%d windows were given, and %d bytes are left", len(sink.windows), fan.heldBytes.Bytes())
	}
}
