package output

import (
	"fmt"
	"slices"
)

// A Finding is one result of the analysis of a run, a comparison or a trend, such as a limit that
// fails or a gap in a log, as a sentence with its figures. Package internal/finding makes findings.
type Finding struct {
	// Kind is the name of what was found, such as limit or gap.
	Kind     string `json:"kind"`
	Weight   Weight `json:"weight"`
	Sentence string `json:"sentence"`
	// Tag is the text of the tag, and Input the name of the log. Tag is empty if the finding is
	// about several tags or if there is only one tag. Input is the same for logs.
	Tag   string `json:"tag,omitempty"`
	Input string `json:"input,omitempty"`
	// Limit is the text of the limit, if the finding is a verdict on a limit.
	Limit string `json:"limit,omitempty"`
	// Start and End are milliseconds since the epoch. They are nil if the finding is about the
	// whole run.
	Start *int64 `json:"startMs,omitempty"`
	End   *int64 `json:"endMs,omitempty"`
	// Figures are the numbers of the sentence by name. Values of the log are in Unit, which is
	// empty if the unit is unknown. Times and durations are in milliseconds.
	Figures map[string]Number `json:"figures,omitempty"`
	Unit    string            `json:"unit,omitempty"`
	// Option is the option of hdrsum that shows more about the finding. It can be empty.
	Option string `json:"option,omitempty"`
}

// A Weight says how important a finding is. Smaller is more important.
type Weight int

// Weights of findings.
const (
	Fails     Weight = iota // a limit does not hold
	Undecided               // it is unknown whether a limit holds
	Warns                   // users suffer, or the figures mislead
	Notes                   // worth knowing
	Holds                   // a limit holds
)

var weights = []string{"fails", "undecided", "warns", "notes", "holds"}

func (w Weight) String() string { return weights[w] }

// Word returns the word that the sentence of a verdict begins with. It is empty for [Warns] and
// [Notes], which are no verdicts.
func (w Weight) Word() string { return [...]string{"FAILS", "NOT PROVEN", "", "", "HOLDS"}[w] }

// MarshalText implements [encoding.TextMarshaler].
func (w Weight) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (w *Weight) UnmarshalText(text []byte) error {
	n := slices.Index(weights, string(text))
	if n < 0 {
		return fmt.Errorf("%q is no weight of a finding", text)
	}
	*w = Weight(n)
	return nil
}

// Verdict reports whether the finding says whether a limit holds.
func (f *Finding) Verdict() bool { return f.Weight != Warns && f.Weight != Notes }
