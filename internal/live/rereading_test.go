package live

import (
	"strings"
	"testing"

	"hdrkit/internal/live/follow"
)

// TestSettle: an interval ends in a window after the one that has its values. When that was handed
// out, a later run reads it again for the rate of the other one, and no values are missing without
// it.
func TestSettle(t *testing.T) {
	t.Parallel()
	log, err := follow.New(follow.Options{}).AddReader("-", strings.NewReader("")).Next()
	if err != nil {
		t.Fatal(err)
	}
	r := rereading{log: log}
	r.add(1, 5, ends{values: 10, rates: 11}, 0)
	for _, test := range []struct {
		done, from, open int
	}{
		{9, 1, 1},
		{10, 1, 0},
		{11, 0, 0},
	} {
		r.settle(int64(test.done), int64(test.done))
		if r.again.From != test.from || r.again.Open != test.open {
			t.Errorf("windows up to %d: %+v", test.done, r.again)
		}
	}
}
