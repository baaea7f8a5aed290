package measure

import "regexp"

// summaries are outputs of tools that have neither measurements nor histograms. kind is the text
// for a message: what the output is, and how the tool records measurements.
var summaries = []struct {
	begin func() *regexp.Regexp
	kind  string
}{
	{
		expression(`^\s*Summary:\s+Total:\s+[\d.]+ secs`),
		"a summary of hey; hey -o csv records its requests",
	},
	{
		expression(`^\s*Summary:\s+Success rate:`),
		"a summary of oha; oha --output-format csv records its requests",
	},
	{
		expression(`^\s*Summary:\s+(Name:.*\s+)?Count:\s+\d`),
		"a summary of ghz; ghz -O json records its requests",
	},
	{
		expression(`(?s)^\s*Running .* test @ .*Detailed Percentile spectrum`),
		"the output of wrk2; hdrplot -type percentiles draws the distribution in it",
	},
	{
		expression(`TotalCount +1/\(1-Percentile\)`),
		"a percentile distribution; hdrplot -type percentiles draws it",
	},
	{
		expression(`(?s)^\s*\{.*"metrics"\s*:\s*\{.*"(http_req|iteration|vus|data_)|\n *(data_received|http_req_\w+|iteration_duration)\.{3,}: `),
		"a summary of k6; k6 run --out csv=k6.csv records its requests",
	},
	{
		expression(`(?s)^\s*\{.*"total_input_tokens".*"mean_ttft_ms"`),
		"a summary of the benchmark of vLLM or SGLang; --save-detailed or --output-details adds its requests",
	},
	{
		expression(`(?s)^\s*\[\s*\{\s*"jmhVersion"`),
		"a summary of JMH; -bm sample -rf json adds the times of its operations",
	},
	{
		expression(`(?s)^\s*Running .* test @ .*Thread Stats `),
		"a summary of wrk, which records no requests; wrk2 --latency prints a distribution that hdrplot draws",
	},
	{
		expression(`^(This is ApacheBench|Percentage served,Time in ms)`),
		"a summary of ab; ab -g FILE records its requests",
	},
	{
		expression(`^\s*(Requests +\[total, rate|Bucket +# +%|\{"latencies":\{"total":)`),
		"a report of vegeta; vegeta encode -to csv writes its requests",
	},
	{
		expression(`^(Type,Name,Request Count,|Timestamp,User Count,Type,Name,Requests/s,)`),
		"a table of locust; locust --json or --json-file writes the counts of its response times",
	},
	{
		expression(`^\s*\{\s*"fio version"`),
		"a summary of fio; fio --write_lat_log records its requests, and hdrrec -value 'jobs[].read.clat_ns.bins{}' -in ns reads the counts of json+",
	},
	{
		expression(`^(\d+, \d+, [012], 0, \d+|\S+: \(g=\d+\): rw=)`),
		"a summary of fio; fio --write_lat_log without --log_avg_msec records its requests",
	},
	{
		expression(`=+ \S.* =+\s+\d+ requests completed in|^"test","rps","avg_latency_ms"`),
		"a summary of redis-benchmark; without --csv it prints a distribution, which a recipe of docs/cookbook.md reads",
	},
	{
		expression(`^(Bombarding \S+ |\{"spec":\{"numberOfConnections":)`),
		"a summary of bombardier, which records no requests",
	},
	{
		expression(`^(Running \S+ test @ \S+\s+\d+ connections|\{"url":"[^"]*","connections":\d+,"sampleInt":)`),
		"a summary of autocannon, which records no requests",
	},
	{
		expression(`^\s*(\{\s*"transactions":|Transactions:\s|Date & Time,  Trans,)`),
		"a summary of siege, which records no requests",
	},
	{
		expression(`^sysbench \d`),
		"a summary of sysbench, which records no requests",
	},
	{
		expression(`^(httperf: warning.*\s+)*httperf --`),
		"a summary of httperf, which records no requests",
	},
	{
		expression(`^(\d{10} \d+ \d+ \d+ \d+ \d+( \d+)*\r?\n)+`),
		"aggregates of pgbench; pgbench -l without --aggregate-interval records its transactions",
	},
	{
		expression(`(?s)^(pgbench \(.*)?\s*transaction type: .*latency average = `),
		"a summary of pgbench; pgbench -l records its transactions",
	},
	{
		expression(`(?m)^#Tag,Interval_Start,Interval_Length,count,`),
		"a table of NoSQLBench; nb --log-histograms records histograms",
	},
	{
		expression(`^#\[(Interval percentile log|Overall percentile distribution) between `),
		"a table of HistogramLogProcessor; give the log that it was made of",
	},
}

// SummaryOf says which summary a file with this beginning is, and how its tool records
// measurements. It is empty for other files.
func SummaryOf(begin []byte) string {
	for _, s := range summaries {
		if s.begin().Match(begin) {
			return s.kind
		}
	}
	return ""
}
