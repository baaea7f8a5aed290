// Package hdrlog reads and writes logs of HdrHistogram intervals.
//
// A log is lines of text. Most are intervals,
//
//	[Tag=NAME,]START,LENGTH,MAX,PAYLOAD
//
// with START and LENGTH in decimal seconds, MAX a hint of the highest value in a unit of the writer's choice, and PAYLOAD
// the base64 of a compressed histogram. Lines that begin with # are comments, of which two tell times; a line that
// begins with a quote names the columns. [Reader] reads such logs and [Writer] writes them as the reference
// does ([HistogramLogReader] and [HistogramLogWriter] of HdrHistogram 2.2.2); package
// histogram has the histograms and their encoding.
//
// # Time
//
// A log may tell when it starts, and a base that interval starts are counted from, both in seconds since the epoch:
//
//	#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]
//	#[BaseTime: 1441812279.474 (seconds since epoch)]
//	Tag=A,0.127,1.007,2.769,HISTFAAAAEV42pNpmSzMwMCgy...
//
// This interval begins 0.127 s after the base, at 1441812279.601, which is 0.127 s from the start of the log, and
// ends 1.007 s later, at 1441812280.608. Without a base, starts are absolute, unless the first lies more than 365 days
// before the start time: then the start time is the base. Without a start time, the log starts with its first interval.
// Both are settled at the first interval; a later comment overrides. In milliseconds, times are truncated as in
// the reference.
//
// It deviates from the reference in this: the reference drops intervals that begin before the start time, a Reader drops
// nothing; in a log with a base but no start time, the reference takes the first START for the start time without adding
// the base; an interval that ends before it starts has no length here; and a time so far away that a float64 cannot tell
// it to the millisecond is malformed ([ErrTime]).
//
// # Dialects
//
// Writers differ, and a Reader reads what is known of them: other legends and comments, spaces between fields,
// interval ends in place of lengths, times in milliseconds, decimal commas, UTF-16, byte-order marks, gzip and zstd. What
// it takes from a line in a way that the reference would not, it says once, in a [Record] of kind [Notice].
//
// [HistogramLogReader]: https://hdrhistogram.github.io/HdrHistogram/JavaDoc/org/HdrHistogram/HistogramLogReader.html
// [HistogramLogWriter]: https://hdrhistogram.github.io/HdrHistogram/JavaDoc/org/HdrHistogram/HistogramLogWriter.html
package hdrlog
