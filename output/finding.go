package output

import (
	"fmt"
	"slices"
)

// A Finding is one thing that a run shows, in one sentence. Package internal/finding makes those of
// a run.
type Finding struct {
	// Kind is the name of what was found, such as limit or gap.
	Kind     string `json:"kind"`
	Weight   Weight `json:"weight"`
	Sentence string `json:"sentence"`
	// Tag is the text of the tag, and Input the name of the log. Each is empty if the finding is
	// about several, or if there is only one.
	Tag   string `json:"tag,omitempty"`
	Input string `json:"input,omitempty"`
	// Limit is the text of the limit that a verdict is about.
	Limit string `json:"limit,omitempty"`
	// Start and End are milliseconds since the epoch, nil if the finding is about the whole run.
	Start *int64 `json:"startMs,omitempty"`
	End   *int64 `json:"endMs,omitempty"`
	// Figures are the numbers of the sentence by name. Values are in Unit, which is empty if it is
	// unknown, and times in milliseconds.
	Figures map[string]Number `json:"figures,omitempty"`
	Unit    string            `json:"unit,omitempty"`
	// Option is the option to type next. It is empty if none answers the finding.
	Option string `json:"option,omitempty"`
}

// A Weight says how much a finding matters, the most first.
type Weight int

// The weights.
const (
	Fails     Weight = iota // a limit does not hold
	Undecided               // a limit is not proven
	Warns                   // it hurts, or the figures mislead
	Notes                   // worth knowing
	Holds                   // a limit holds
)

var weights = []string{"fails", "undecided", "warns", "notes", "holds"}

func (w Weight) String() string { return weights[w] }

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

// Verdict reports whether the finding says what becomes of a limit.
func (f *Finding) Verdict() bool { return f.Weight != Warns && f.Weight != Notes }
