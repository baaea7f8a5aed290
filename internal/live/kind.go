package live

import (
	"fmt"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
)

// kindBytes is about what a tag takes in maps, beside its text: here, and in [merge.Rates].
const kindBytes = 150

// Kinds are what the intervals of each tag have in common, so that they all add up. Tags are keys
// as [merge.AppendKey] spells them. There may be a million, so each has little here.
type kinds struct {
	first   map[string]place // of the first interval of each tag
	doubles map[string]ratio // of the tags of doubles
	logs    []string         // those that places name
	account *ledger.Account
	key     []byte // memory of the key that is looked up
}

// A place is a line of a log.
type place struct{ log, line uint32 }

// A ratio is the smallest one of a tag of doubles, and its highest value.
type ratio struct{ smallest, highest float64 }

func newKinds(memory *ledger.Ledger) kinds {
	return kinds{
		first:   make(map[string]place),
		doubles: make(map[string]ratio),
		account: memory.Open("tags so far", "choose some with -incT"),
	}
}

// admit returns an error if an interval of a log does not add up with those of its tag before.
// Sinks add up windows of a whole run, so an interval that does not fit costs itself, wherever it
// is. If memory is short, the next charge for open windows says so.
func (ks *kinds) admit(log string, i *interval) error {
	ks.key = merge.AppendKey(ks.key[:0], i.row)
	of, double := ks.doubles[string(ks.key)]
	next := i.sum.Layout().Ratio
	first, known := ks.first[string(ks.key)]
	if !known {
		double = next != 0
		of = ratio{next, i.highest}
		ks.first[string(ks.key)] = ks.place(log, i.line)
		ks.account.Add(1, kindBytes+len(ks.key))
	}
	of.smallest = min(of.smallest, next)
	of.highest = max(of.highest, i.highest)
	var err error
	switch {
	case double != (next != 0):
		err = histogram.ErrKind
	case double && of.highest/of.smallest >= 1<<63:
		err = histogram.ErrSpan
	case double:
		ks.doubles[string(ks.key)] = of
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%w: the first interval of the tag is at %s:%d", err, ks.logs[first.log], first.line)
	return &hdrlog.SyntaxError{File: log, Line: i.line, Field: "payload", Err: err}
}

// place returns a line of a log. Those of a log mostly follow one another.
func (ks *kinds) place(log string, line int) place {
	n := len(ks.logs) - 1
	if n < 0 || ks.logs[n] != log {
		n++
		ks.logs = append(ks.logs, log)
	}
	return place{uint32(n), uint32(line)}
}
