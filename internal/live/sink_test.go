package live

import (
	"errors"
	"fmt"
	"testing"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
)

// TestHeldCharged: windows that wait for a state are charged, and take less memory than open ones.
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
	if err := h.Record(1_000_000); err != nil {
		t.Fatal(err)
	}
	const most = 10_000
	payload, err := new(histogram.Encoder).AppendBase64(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	for n := range most {
		interval := hdrlog.Interval{Tag: fmt.Append(nil, n), Length: 1, Payload: payload}
		if err := windows.Add(&interval); err != nil {
			t.Fatal(err)
		}
	}
	open := windows.Bytes()
	var full error
	for merged := range windows.All() {
		if err := fan.window(&Window{Merged: merged, Factor: 1}); err != nil {
			full = err
		}
	}
	if size := fan.heldBytes.Bytes(); size > open {
		t.Errorf("windows that wait take %d bytes, and open ones %d", size, open)
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
