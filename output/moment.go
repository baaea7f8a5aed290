package output

import "hdrkit/hdrlog"

// A Moment is a time that was bad.
type Moment struct {
	// Start and End are milliseconds since the epoch. Peak is the start of the interval that has
	// the maximum.
	Start int64 `json:"startMs"`
	End   int64 `json:"endMs"`
	Peak  int64 `json:"peakMs"`
	// Tag of the log Input was the worst then.
	Tag   Tag    `json:"tag"`
	Input string `json:"input"`
	// Max is the maximum in the unit of the log, and Scale says how to print it.
	Max   Number       `json:"max"`
	Scale hdrlog.Scale `json:"-"`
	// Times is the maximum divided by the typical one of the tag in its log.
	Times Number `json:"times"`
	// Bound is what the maximum of the tag in its log exceeds by chance in one of a hundred logs.
	Bound float64 `json:"-"`
	// Others is the number of others that were bad at the same time: a tag of a log counts as one.
	// It was bad if its maximum was at least twice the typical one.
	// OtherTags is the number of tags of the same log among them, and OtherInputs that of other
	// logs.
	Others      int `json:"others"`
	OtherTags   int `json:"-"`
	OtherInputs int `json:"-"`
}

// A Share is what a tag of a log has of the values above a percentile of all values, or what a log
// or a tag has.
type Share struct {
	Input string `json:"input"` // empty for a tag of all logs
	Tag   Tag    `json:"tag"`
	// Count is the number of its values above, and Share their part of all that are above.
	Count int64   `json:"count"`
	Share float64 `json:"share"`
	// Without is the percentile of all other values in the unit of the log, NaN if there are none.
	Without Number `json:"without"`
}

// A Breach is a time at which a limit did not hold.
type Breach struct {
	Limit string `json:"limit"`
	Tag   string `json:"tag"`
	// Start and End are milliseconds since the epoch.
	Start int64 `json:"startMs"`
	End   int64 `json:"endMs"`
	// Worst is the worst figure of an interval or window in Unit, and Count the number of values
	// beyond the limit, 0 for a number such as a rate.
	Worst float64 `json:"worst"`
	Unit  string  `json:"unit,omitempty"`
	Count int64   `json:"count"`
}

// Broken adds breaches to the document.
func (d *Document) Broken(breaches []Breach) {
	all := append([]Breach{}, breaches...) // never null
	d.Breaches = &all
}

// Worst adds moments to the document.
func (d *Document) Worst(moments []Moment) {
	all := []Moment{}
	for _, m := range moments {
		m.Max = Number(m.Scale.Of(float64(m.Max)))
		all = append(all, m)
	}
	d.Moments = &all
}

// Who adds shares to the document, whose values have a scale.
func (d *Document) Who(shares []Share, scale hdrlog.Scale) {
	all := []Share{}
	for _, part := range shares {
		part.Without = Number(scale.Of(float64(part.Without)))
		all = append(all, part)
	}
	d.Shares = &all
}
