package live

import (
	"fmt"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
	"hdrkit/internal/base/ledger"
)

// kindBytes is about what a tag takes in maps, here and in [merge.Rates], without its text.
const kindBytes = 150

// Kinds check that all intervals of a tag can be added up. The keys of the maps are tags, spelled
// by [merge.AppendKey]. There may be a million tags, so the entries are small.
type kinds struct {
	first   map[string]place // the line of the first interval of each tag
	doubles map[string]ratio // for each tag whose values are doubles
	logs    []string         // names of the logs to which the places refer
	account *ledger.Account
	key     []byte // memory for the key that is looked up
}

// A place is a line of a log: an index of logs of [kinds], and the number of the line.
type place struct{ log, line uint32 }

// A ratio is the range of a tag whose values are doubles: the smallest ratio of its histograms (see
// [histogram.Layout]), and the highest value.
type ratio struct{ smallest, highest float64 }

func newKinds(memory *ledger.Ledger) kinds {
	return kinds{
		first:   make(map[string]place),
		doubles: make(map[string]ratio),
		account: memory.Open("tags so far", "choose some with -incT"),
	}
}

// admit returns an error if an interval of a log cannot be added to the earlier intervals of its
// tag, in whatever window they are: sinks add up the windows of a whole run. If the memory for tags
// is exceeded, the next charge for open windows returns the error.
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

// place returns the place of a line of a log. Successive tags mostly begin in the same log, so only
// the last log is looked up.
func (ks *kinds) place(log string, line int) place {
	n := len(ks.logs) - 1
	if n < 0 || ks.logs[n] != log {
		n++
		ks.logs = append(ks.logs, log)
	}
	return place{uint32(n), uint32(line)}
}
