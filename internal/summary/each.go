package summary

import "hdrkit/internal/scan"

// EachRun reads the runs of a scan, one after another. Read adds up the logs of a run, and take
// gets what they add up to, with the periods that its intervals cover.
func EachRun(s *scan.Scan, read func(run *scan.Scan) (*Result, error), take func(run *scan.Scan, r *Result) error) error {
	for _, run := range s.Runs() {
		result, err := read(run)
		if err != nil {
			return err
		}
		s.Saw(run)
		result.SetPeriods("covered")
		if err := take(run, result); err != nil {
			return err
		}
	}
	return nil
}

// AddUp reads the logs of a scan: together, or each run by itself and then what they add up to, as
// [CombineRuns] does. Runs are nil if they are read together.
func AddUp(s *scan.Scan, byRun bool, read func(run *scan.Scan) (*Result, error)) (runs []*Result, sum *Result, err error) {
	if byRun {
		return CombineRuns(s, read)
	}
	sum, err = read(s)
	return nil, sum, err
}

// CombineRuns reads the runs of a scan, as [EachRun] does. It returns them, whose summaries have
// the names of their runs, and what they add up to.
func CombineRuns(s *scan.Scan, read func(run *scan.Scan) (*Result, error)) (runs []*Result, sum *Result, err error) {
	err = EachRun(s, read, func(run *scan.Scan, result *Result) error {
		if err := result.Compact(run.Memory); err != nil { // there may be thousands
			return err
		}
		for _, one := range result.Summaries {
			one.Input = run.Inputs[0].RunName()
		}
		runs = append(runs, result)
		return nil
	})
	if err == nil {
		sum, err = combine(runs, s.Memory)
	}
	return runs, sum, err
}
