//! Prints logs as ../../README.md describes. The library does not add the base time of a log.

use base64::prelude::{Engine, BASE64_STANDARD};
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::Histogram;
use std::io::Write;

fn main() {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for path in std::env::args().skip(1) {
        writeln!(out, "= {path}").unwrap();
        let log = std::fs::read(&path).unwrap();
        for entry in IntervalLogIterator::new(&log) {
            match entry.unwrap_or_else(|e| panic!("{path}: {e:?}")) {
                LogEntry::BaseTime(_) | LogEntry::StartTime(_) => (),
                LogEntry::Interval(i) => {
                    let payload = BASE64_STANDARD.decode(i.encoded_histogram()).unwrap();
                    let h: Histogram<u64> = Deserializer::new().deserialize(&mut payload.as_slice()).unwrap();
                    let tag = i.tag().map_or("-", |t| t.as_str());
                    let (start, length) = (i.start_timestamp().as_millis(), i.duration().as_millis());
                    write!(out, "{tag}\t{start}\t{length}\t{}", h.len()).unwrap();
                    for v in h.iter_recorded() {
                        let low = h.lowest_equivalent(v.value_iterated_to());
                        write!(out, "\t{low}:{}", v.count_at_value()).unwrap();
                    }
                    writeln!(out).unwrap();
                }
            }
        }
    }
}
