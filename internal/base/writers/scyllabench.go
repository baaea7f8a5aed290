package writers

// scyllaBench has the comment of cassandraStress, and other tags.
var scyllaBench = Writer{Times: []string{"raw", "co-fixed"}}
