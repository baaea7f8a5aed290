package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"hdrkit/hdrlog/merge"
	"hdrkit/internal/summary"
	"hdrkit/output"
	"hdrkit/tags"
)

func init() {
	register.DoFn3x1[[]byte, []byte, func([]byte, []byte), error](&tagFn{})
	register.DoFn5x1[context.Context, []byte, func(*[]byte, *[]byte) bool, []byte, func(string), error](&summaryFn{})
	register.Iter2[[]byte, []byte]()
}

// Percentiles are the percentiles in the document of [WriteSummaries].
var Percentiles = []float64{50, 90, 99, 99.9, 99.99, 99.999}

// Summaries merges the windows of a union by tag. The result has one element for each tag: its key,
// with 0 as the start of the window, and the encoded [merge.Sum].
func Summaries(s beam.Scope, union beam.PCollection) beam.PCollection {
	s = s.Scope("hdrkit.Summaries")
	return beam.ParDo(s, mergeSums, beam.GroupByKey(s, beam.ParDo(s, &tagFn{}, union)))
}

// tagFn merges the sums of each tag within a bundle.
type tagFn struct {
	sums map[string]*merge.Sum // by key
	sum  merge.Sum             // of one element; ProcessElement reuses it
}

// maxTags is the highest number of tags whose sums a worker holds.
const maxTags = 1000

func (fn *tagFn) StartBundle(func([]byte, []byte)) { fn.sums = make(map[string]*merge.Sum) }

func (fn *tagFn) ProcessElement(k, data []byte, emit func([]byte, []byte)) error {
	_, double, tag, err := parseKey(k)
	if err != nil {
		return err
	}
	tagKey := string(key(0, double, tag))
	sum := fn.sums[tagKey]
	if sum == nil {
		if len(fn.sums) == maxTags {
			if err := fn.FinishBundle(emit); err != nil {
				return err
			}
		}
		sum = new(merge.Sum)
		fn.sums[tagKey] = sum
	}
	err = fn.sum.UnmarshalBinary(data)
	if err == nil {
		err = sum.Merge(&fn.sum)
	}
	if err != nil {
		return fmt.Errorf("tag %s: %w", tags.Text(tag), err)
	}
	return nil
}

func (fn *tagFn) FinishBundle(emit func([]byte, []byte)) error {
	for k, sum := range fn.sums {
		data, err := sum.MarshalBinary()
		if err != nil {
			return err
		}
		emit([]byte(k), data)
	}
	clear(fn.sums)
	return nil
}

// WriteSummaries writes summaries to the file called name, as the document of hdrsum -st json. The
// result is the pending output for [Commit].
func WriteSummaries(s beam.Scope, read Logs, summaries beam.PCollection, name string) beam.PCollection {
	s = s.Scope("hdrkit.WriteSummaries")
	return beam.ParDo(s, &summaryFn{name}, beam.Impulse(s),
		beam.SideInput{Input: summaries}, beam.SideInput{Input: readHeader(s, read)})
}

type summaryFn struct{ Name string }

func (fn *summaryFn) ProcessElement(ctx context.Context, _ []byte, sums func(k, sum *[]byte) bool, headerData []byte, emit func(string)) error {
	h, err := parseHeader(headerData)
	if err != nil {
		return err
	}
	var summaries []*output.Summary
	var rates merge.Rates // for the period of each tag
	skipped := 0
	for n, f := range h.Logs {
		skipped += f.Skipped
		for _, s := range f.Spans {
			rates.Ran(n, f.Ran.Start, f.Ran.End)
			rates.Add(s.Tag, n, s.Start, s.End, 0, 0, 1)
		}
	}
	var loader summary.Loader
	var k, data []byte
	for sums(&k, &data) {
		_, _, tag, err := parseKey(k)
		if err != nil {
			return err
		}
		sum := new(merge.Sum)
		if err := sum.UnmarshalBinary(data); err != nil {
			return err
		}
		s, err := loader.Summary(tag, sum)
		if err != nil {
			return err
		}
		summaries = append(summaries, s)
	}
	slices.SortFunc(summaries, func(a, b *output.Summary) int { return tags.Compare(a.Tag, b.Tag) })
	for _, s := range summaries {
		s.Period = rates.Period(s.Tag, math.MaxInt64)
		s.Scale.Unit = h.unit().String()
	}
	doc := output.NewDocument(summaries, Percentiles, nil, nil)
	doc.PeriodMode, doc.SkippedLines, doc.Inputs = "covered", skipped, h.Sources
	file, err := create(ctx, fn.Name)
	if err != nil {
		return err
	}
	if err := output.JSON(file, doc); err != nil {
		file.abandon(ctx)
		return err
	}
	return file.commit(emit)
}
