package measure

// gatling is the text that Gatling wrote as simulation.log up to version 3.10. A line REQUEST has
// the groups around the request, its name, its start and its end:
// https://github.com/gatling/gatling/blob/v3.9.5/gatling-core/src/main/scala/io/gatling/core/stats/writer/LogFileDataWriter.scala.
var gatling = Format{
	Name:    "gatling",
	columns: Columns{Time: "start", End: "end", OK: "status", Tags: []string{"name"}},
	line:    expression(`^(ASSERTION\t[\w+/=]+|RUN\t.*\t3\.\d+\..*)$`),
	pattern: "REQUEST\t$groups\t$name\t$start\t$end\t$status\t$message",
	others:  expression(`^(ASSERTION|RUN|USER|GROUP|ERROR)\t`),
	open:    openPattern,
}
