package summary

import "hdrkit/internal/scan"

// EachRun reads the runs of a scan, one after another. Read adds up the logs of a run. Take gets
// the sum of each run, whose periods are the times that its intervals cover.
func EachRun(s *scan.Scan, read func(run *scan.Scan) (*Result, error), take func(run *scan.Scan, r *Result) error) error {
	for _, run := range s.Runs() {
		result, err := read(run)
		if err != nil {
			return err
		}
		s.Seen.Add(&run.Seen)
		result.SetPeriods("covered")
		if err := take(run, result); err != nil {
			return err
		}
	}
	return nil
}

// AddUp reads the logs of a scan and adds them up. If byRun is set, it also returns the sums of the
// single runs, as [CombineRuns] does. Otherwise runs is nil.
func AddUp(s *scan.Scan, byRun bool, read func(run *scan.Scan) (*Result, error)) (runs []*Result, sum *Result, err error) {
	if byRun {
		return CombineRuns(s, read)
	}
	sum, err = read(s)
	return nil, sum, err
}

// CombineRuns reads the runs of a scan, as [EachRun] does. It returns the sum of each run, whose
// summaries have the name of the run, and the sum of all runs.
func CombineRuns(s *scan.Scan, read func(run *scan.Scan) (*Result, error)) (runs []*Result, sum *Result, err error) {
	err = EachRun(s, read, func(run *scan.Scan, result *Result) error {
		if err := result.Compact(run.Memory); err != nil { // there may be thousands of runs
			return err
		}
		for _, row := range result.Summaries {
			row.Input = run.Inputs[0].RunName()
		}
		runs = append(runs, result)
		return nil
	})
	if err == nil {
		sum, err = combine(runs, s.Memory)
	}
	return runs, sum, err
}
