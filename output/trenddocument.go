package output

// A TrendDocument is the output of hdrdiff -trend -st json: figures of many runs, in the order of
// time.
type TrendDocument struct {
	// UnitRatio is the number that values of the logs were divided by. Unit is the unit of the
	// result, null if it is unknown.
	UnitRatio    float64           `json:"unitRatio"`
	Unit         *string           `json:"unit"`
	SkippedLines int               `json:"skippedLines"`
	Sentence     string            `json:"sentence"`
	Findings     []Finding         `json:"findings"`
	Runs         []DocumentRun     `json:"runs"`
	Figures      []DocumentFigure  `json:"figures"`
	Changes      []DocumentStep    `json:"changes"`
	Limits       []DocumentVerdict `json:"limits,omitempty"`
}

// A DocumentRun is one run of a [TrendDocument].
type DocumentRun struct {
	Name   string   `json:"name"`
	Inputs []string `json:"inputs"`
	// Start is null if the run has no date.
	Start   *string `json:"start"`
	StartMs *int64  `json:"startMs"`
}

// A DocumentFigure is one figure of a tag in all runs of a [TrendDocument].
type DocumentFigure struct {
	Tag    Tag    `json:"tag"`
	Figure string `json:"figure"`
	// Values has one value for each run, null if a run does not have the figure. Deviation is the
	// standard deviation of the logarithms of the values around their level.
	Values    []Number        `json:"values"`
	Deviation Number          `json:"deviation"`
	Levels    []DocumentLevel `json:"levels"`
}

// A DocumentLevel is the level of a figure in the runs with the numbers From to To-1. The first run
// has the number 0.
type DocumentLevel struct {
	From  int     `json:"from"`
	To    int     `json:"to"`
	Runs  int     `json:"runs"`
	Level float64 `json:"level"`
}

// A DocumentStep is a change of the level of a figure between two runs.
type DocumentStep struct {
	Tag        Tag     `json:"tag"`
	Figure     string  `json:"figure"`
	Run        string  `json:"run"` // first run with the new level
	Before     float64 `json:"before"`
	After      float64 `json:"after"`
	Ratio      float64 `json:"ratio"`
	RunsBefore int     `json:"runsBefore"`
	RunsAfter  int     `json:"runsAfter"`
	// The first run with the new level is one from Earliest to Latest, with a probability of 90%.
	Earliest string `json:"earliest"`
	Latest   string `json:"latest"`
}
