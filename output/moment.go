package output

import "hdrkit/hdrlog"

// A Moment is one of the worst times of a run: a span of time in which maxima are high.
type Moment struct {
	// Start, End and Peak are milliseconds since the epoch. Peak is the start of the interval with
	// the maximum.
	Start int64 `json:"startMs"`
	End   int64 `json:"endMs"`
	Peak  int64 `json:"peakMs"`
	// Tag and Input are the tag and the log with the maximum.
	Tag   Tag    `json:"tag"`
	Input string `json:"input"`
	// Max is the maximum in the unit of the log, and Scale says how to print it.
	Max   Number       `json:"max"`
	Scale hdrlog.Scale `json:"-"`
	// Times is the maximum divided by the typical maximum of the tag in its log.
	Times Number `json:"times"`
	// Bound is the value that the maximum of the tag in its log exceeds by chance in one of a
	// hundred logs.
	Bound float64 `json:"-"`
	// Others is the number of other rows (tags of logs) that are bad at the same time: their
	// maximum is at least twice their typical maximum. OtherTags of them are in the log Input. They
	// lie in OtherInputs other logs.
	Others      int `json:"others"`
	OtherTags   int `json:"-"`
	OtherInputs int `json:"-"`
}

// A Share says how many of the slowest values a row has: a tag of a log, a log or a tag. The
// slowest values are those above a percentile of all values.
type Share struct {
	Input string `json:"input"` // empty for a tag of all logs
	Tag   Tag    `json:"tag"`
	// Count is the number of slowest values of the row. Share is their share of all slowest values.
	Count int64   `json:"count"`
	Share float64 `json:"share"`
	// Without is the percentile of the values of all other rows, in the unit of the log. It is NaN
	// if there are no other values.
	Without Number `json:"without"`
}

// A Breach is a span of time in which a limit did not hold.
type Breach struct {
	Limit string `json:"limit"`
	Tag   string `json:"tag"`
	// Start and End are milliseconds since the epoch.
	Start int64 `json:"startMs"`
	End   int64 `json:"endMs"`
	// Worst is the worst figure of an interval or window, in Unit. Count is the number of values
	// beyond the limit, or 0 if the figure has no single values, such as a rate.
	Worst float64 `json:"worst"`
	Unit  string  `json:"unit,omitempty"`
	Count int64   `json:"count"`
}

// Broken adds breaches of limits to the document.
func (d *Document) Broken(breaches []Breach) {
	all := append([]Breach{}, breaches...) // never null
	d.Breaches = &all
}

// Worst adds the worst moments to the document, with their maxima in printed units.
func (d *Document) Worst(moments []Moment) {
	all := []Moment{}
	for _, m := range moments {
		m.Max = Number(m.Scale.Of(float64(m.Max)))
		all = append(all, m)
	}
	d.Moments = &all
}

// Who adds shares to the document. The scale converts their values to printed units.
func (d *Document) Who(shares []Share, scale hdrlog.Scale) {
	all := []Share{}
	for _, part := range shares {
		part.Without = Number(scale.Of(float64(part.Without)))
		all = append(all, part)
	}
	d.Shares = &all
}
