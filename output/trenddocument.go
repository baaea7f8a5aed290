package output

// A TrendDocument is the output of hdrdiff -trend -st json.
type TrendDocument struct {
	// UnitRatio is the number that values were divided by, and Unit their unit, null if it is
	// unknown.
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

// A DocumentRun is a run of a trend.
type DocumentRun struct {
	Name   string   `json:"name"`
	Inputs []string `json:"inputs"`
	// Start is null if the run has no date.
	Start   *string `json:"start"`
	StartMs *int64  `json:"startMs"`
}

// A DocumentFigure is a figure of a tag in each run of a trend.
type DocumentFigure struct {
	Tag    Tag    `json:"tag"`
	Figure string `json:"figure"`
	// Values has one for each run, null for a gap. Deviation is that of their logarithms.
	Values    []Number        `json:"values"`
	Deviation Number          `json:"deviation"`
	Levels    []DocumentLevel `json:"levels"`
}

// A DocumentLevel is that of the runs from From to before To, whose numbers begin at 0.
type DocumentLevel struct {
	From  int     `json:"from"`
	To    int     `json:"to"`
	Runs  int     `json:"runs"`
	Level float64 `json:"level"`
}

// A DocumentStep is where the level of a figure changes.
type DocumentStep struct {
	Tag        Tag     `json:"tag"`
	Figure     string  `json:"figure"`
	Run        string  `json:"run"` // the first one of the new level
	Before     float64 `json:"before"`
	After      float64 `json:"after"`
	Ratio      float64 `json:"ratio"`
	RunsBefore int     `json:"runsBefore"`
	RunsAfter  int     `json:"runsAfter"`
	// Earliest and Latest are the range of the first run of the level, with a probability of 90%.
	Earliest string `json:"earliest"`
	Latest   string `json:"latest"`
}
