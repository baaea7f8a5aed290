// Package hdrlog reads and writes logs of HdrHistogram intervals.
//
// A log is text. Most of its lines are intervals,
//
//	[Tag=NAME,]START,LENGTH,MAX,PAYLOAD
//
// START and LENGTH are decimal seconds. MAX is a hint of the highest value, in a unit that the
// writer chose. PAYLOAD is a compressed histogram in base64, which package histogram decodes. Lines
// that begin with # are comments. Two kinds of comments carry times. A line that begins with a
// quote names the columns. [Reader] reads such logs. [Writer] writes them as the reference does:
// the [HistogramLogReader] and [HistogramLogWriter] of HdrHistogram 2.2.2.
//
// # Time
//
// A log may contain its start time, and a base time from which the starts of intervals count. Both
// are seconds since the epoch:
//
//	#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]
//	#[BaseTime: 1441812279.474 (seconds since epoch)]
//	Tag=A,0.127,1.007,2.769,HISTFAAAAEV42pNpmSzMwMCgy...
//
// This interval starts 0.127 s after the base time, at 1441812279.601, which is 0.127 s after the
// start of the log. It ends 1.007 s later, at 1441812280.608. In a log without base time, starts
// are absolute. If the first start is more than 365 days before the start time, the start time is
// the base time. In a log without start time, the log starts with its first interval. The first
// interval decides both; a later comment overrides them. Milliseconds are truncated, as in the
// reference.
//
// A Reader differs from the reference in four points. The reference drops intervals that start
// before the start time; a Reader drops nothing. In a log with a base time but no start time, the
// reference uses the first START as the start time without adding the base time. A Reader sets the
// length of an interval that ends before it starts to 0. It refuses a time so far from the epoch
// that a float64 does not hold its milliseconds ([ErrTime]).
//
// # Dialects
//
// Writers differ. A Reader also reads other legends and comments, spaces between fields, ends of
// intervals instead of lengths, times in milliseconds, decimal commas, UTF-16, byte-order marks,
// gzip and zstd. Where it reads a line differently from the reference, it returns a [Record] of
// kind [Notice], once for each log.
//
// Some writers write the end of an interval where its length belongs, and nothing in the header
// says so. A Reader reads ends only if the log proves them; see [ReaderOptions]. In a log that a
// Writer wrote, which a comment marks, it reads all numbers as they are.
//
// [HistogramLogReader]: https://hdrhistogram.github.io/HdrHistogram/JavaDoc/org/HdrHistogram/HistogramLogReader.html
// [HistogramLogWriter]: https://hdrhistogram.github.io/HdrHistogram/JavaDoc/org/HdrHistogram/HistogramLogWriter.html
package hdrlog
