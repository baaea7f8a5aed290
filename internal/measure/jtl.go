package measure

import "hdrkit/internal/base/unit"

// jtl is the CSV that JMeter writes (-l results.jtl), with a header and any delimiter:
// https://jmeter.apache.org/usermanual/listeners.html#csvlogformat. The time is that of the start,
// as jmeter.properties sets it (sampleresult.timestamp.start).
var jtl = Format{
	Name:    "jtl",
	columns: Columns{Time: "timeStamp", Value: "elapsed", OK: "success", Tags: []string{"label"}},
	unit:    unit.Millisecond,
	header:  []string{"timeStamp", "elapsed"},
	open:    openTable,
}
