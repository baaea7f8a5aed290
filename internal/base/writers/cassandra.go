package writers

// cassandraStress writes response, service and waiting times. Scylla-bench has the same comment.
var cassandraStress = Writer{
	Comment: "Logging op latencies for Cassandra Stress", Unit: "ns", Times: []string{"-rt", "-st", "-wt"},
}
