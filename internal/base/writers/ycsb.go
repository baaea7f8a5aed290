package writers

// ycsb writes a log without tags for each operation.
var ycsb = Writer{Comment: "[Logging for: ", Unit: "us", Operation: true}
