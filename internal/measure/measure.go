// Package measure reads single measurements: the requests that load generators and servers log, and
// tables of times and values. A [Recorder] counts them in intervals and writes these as a log.
//
// A [Reader] reads one file in one of the [Formats]. A format says which columns have the time and
// the value, in which unit, whether the time is the start or the end of a measurement, and how a
// file begins. Four kinds of text serve most formats: a table (csv.go), lines of JSON (json.go), a
// JSON document with arrays (document.go) and a pattern (accesslog.go). If the records of a format
// are not lines, its source makes lines of them ([linesOf]): elements of a JSON array, samples in
// XML, binary records. Text with encoded histograms is a kind of its own ([payloadFinder]).
//
// Times are nanoseconds since the epoch. Values are nanoseconds.
package measure

import (
	"time"

	"hdrkit/hdrlog"
)

// A Row is one measurement, or an encoded histogram of many. Its slices are valid until the next
// [Reader.Scan].
type Row struct {
	// Time is when the measurement started, or when it ended: see [Reader.AtEnd].
	Time int64
	// Value is the measured length of time.
	Value int64
	// Count is how often the value occurred.
	Count int64
	// Tag is the tag in the spelling of the file, nil if the row has none. [logline.AppendTag]
	// makes a tag of it that a log can hold.
	Tag []byte
	// Failed reports that the request failed. NoValue reports that it failed and has no value.
	Failed, NoValue bool
	// Part reports that the value is one more of a request that has a row already.
	Part bool
	// Payload is the encoded histogram, nil if the row is one measurement. Length is the length of
	// the histogram's interval, which starts at Time.
	Payload []byte
	Length  int64
}

// Options choose what to read. An empty option leaves the choice to the format.
type Options struct {
	// Columns are the names of columns.
	Columns Columns
	// NoTags reports that the user wants no tags, and NoTime that rows have no time.
	NoTags, NoTime bool
	// Unit is the unit of values. TimeUnit is the unit of times that are numbers.
	Unit, TimeUnit hdrlog.Unit
	// Zone is the time zone of times that name none.
	Zone *time.Location
	// Delimiter is the byte between the columns of a table.
	Delimiter byte
	// Metric is a regular expression for files with several metrics. A row is read if the
	// expression matches the whole name of the row's metric.
	Metric string
	// Where are conditions that all rows to read fulfil.
	Where []Condition
	// Pattern is the format of an access log, as the configuration of the server has it, or a
	// regular expression with named groups.
	Pattern string
	// Above is the value to record for values above the highest edge of buckets.
	Above string
	// Start is the time at which the run started. Times in the file count from there.
	Start string
}

// Columns are the names of columns in a table, of paths in JSON, or of variables in the pattern of
// an access log.
type Columns struct {
	Time, Value string
	// End is the column of the end. The value is then End minus Time, and Value is empty.
	End string
	// Count is the column that says how often a value occurred. A file with counts needs no time.
	Count string
	// OK is the column that says whether the request succeeded. If the name follows an exclamation
	// mark, the column has the text of an error, which is empty if the request succeeded.
	OK string
	// Tags are the columns whose texts make the tag, joined by slashes.
	Tags []string

	// Only formats name the columns below. No option does.

	metric      string // the name of the metric
	unit        string // the unit of the value in the same row
	transaction string // the message that shows a transaction controller, see [transactions]
	subResult   string // not empty in rows of sub-results
	// label and thread are the columns that find sub-results in JMeter's tables, see [parts].
	label, thread string
}
