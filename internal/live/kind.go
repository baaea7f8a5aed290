package live

import (
	"fmt"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
)

// A kind is what the intervals of a tag have in common, so that they all add up.
type kind struct {
	ratio, highest float64 // the smallest and the highest
	first          string  // the place of the first interval
}

// kindBytes is about what a tag takes in a map, beside its text.
const kindBytes = 150

// Kinds are those of all tags.
type kinds struct {
	rows    map[string]kind // as [merge.AppendKey] spells them
	account *ledger.Account
}

func newKinds(memory *ledger.Ledger) kinds {
	return kinds{make(map[string]kind), memory.Open("tags so far", "choose some with -incT")}
}

// admit returns an error if an interval of a log does not add up with those of its tag before.
// Sinks add up windows of a whole run, so an interval that does not fit costs itself, wherever it
// is. If memory is short, the next charge for open windows says so.
func (ks *kinds) admit(log string, i *interval) error {
	key := string(merge.AppendKey(nil, i.row))
	k, known := ks.rows[key]
	ratio := i.sum.Layout().Ratio
	if !known {
		k = kind{ratio, i.highest, fmt.Sprintf("%s:%d", log, i.line)}
		ks.account.Add(1, kindBytes+len(key)+len(k.first))
	}
	var err error
	smallest, highest := min(k.ratio, ratio), max(k.highest, i.highest)
	switch {
	case (k.ratio == 0) != (ratio == 0):
		err = histogram.ErrKind
	case smallest > 0 && highest/smallest >= 1<<63:
		err = histogram.ErrSpan
	default:
		k.ratio, k.highest = smallest, highest
		ks.rows[key] = k
		return nil
	}
	err = fmt.Errorf("%w: the first interval of the tag is at %s", err, k.first)
	return &hdrlog.SyntaxError{File: log, Line: i.line, Field: "payload", Err: err}
}
