package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/scan"
	"hdrkit/internal/tempfile"
	"hdrkit/output"
	"hdrkit/tags"
)

// A report is summaries and how to write them.
type report struct {
	c           *urfave.Context
	scan        *scan.Scan
	diagnostics *cli.Diagnostics
	options     *options
	summaries   []*output.Summary
}

// A format is a type of summary, or of stream.
type format struct {
	name  string
	write func(r *report) error // a summary
	rows  func(w io.Writer, o *options) output.RowWriter
	// point and clash are set for streams to a monitoring system. point returns the time of a row
	// in the units of that system. clash returns an error if a point cannot follow the last one of
	// its tag, by their times.
	point func(r *output.Row, o *options) int64
	clash func(last, now int64) error
	// totals reports that rows show totals since the log began.
	totals bool
}

var formatList = []format{
	{name: "table", write: (*report).table},
	{name: "percentiles", write: func(r *report) error { return r.together(r.percentiles) }},
	{name: "hgrm", write: func(r *report) error { return r.apart(".hgrm", r.hgrm) }},
	{name: "csv", write: func(r *report) error { return r.apart(".csv", r.csv) }},
	{name: "csve", write: func(r *report) error { return r.apart(".csv", r.csve) }},
	{name: "csvr", write: func(r *report) error { return r.apart(".csv", r.csvr) }},
	{name: "json", write: (*report).json},
	{name: "timeline", rows: func(w io.Writer, o *options) output.RowWriter { return output.Timeline(w, o.scale, o.zone) }},
	{name: "ndjson", rows: func(w io.Writer, o *options) output.RowWriter { return output.NDJSON(w, o.scale, o.zone) }},
	{
		name: "influx",
		rows: func(w io.Writer, o *options) output.RowWriter {
			return output.Influx(w, o.scale, o.metric, o.precision)
		},
		point: func(r *output.Row, o *options) int64 { return output.InfluxTime(r, o.precision) },
		clash: sameTime,
	},
	{
		name:  "openmetrics",
		rows:  func(w io.Writer, o *options) output.RowWriter { return output.OpenMetrics(w, o.scale, o.metric) },
		point: func(r *output.Row, _ *options) int64 { return r.End },
		clash: outOfOrder, totals: true,
	},
}

var formats = func() map[string]format {
	byName := make(map[string]format)
	for _, f := range formatList {
		byName[f.name] = f
	}
	return byName
}()

// types returns the names of the formats.
func types() []string {
	var names []string
	for _, f := range formatList {
		names = append(names, f.name)
	}
	return names
}

// A formatter writes one summary.
type formatter func(w io.Writer, s *output.Summary) error

func (r *report) percentiles(w io.Writer, s *output.Summary) error {
	return output.Percentiles(w, s, r.options.scale, r.options.percentiles)
}

func (r *report) hgrm(w io.Writer, s *output.Summary) error {
	return output.HGRM(w, s, r.options.scale, r.options.ticks)
}

func (r *report) csv(w io.Writer, s *output.Summary) error {
	return output.CSV(w, s, r.options.scale, r.options.binWidth)
}

func (r *report) csve(w io.Writer, s *output.Summary) error {
	return output.CSVE(w, s, r.options.scale, r.options.binWidth)
}

func (r *report) csvr(w io.Writer, s *output.Summary) error {
	return output.CSVR(w, s, r.options.scale)
}

// write writes a file, or standard output.
func (r *report) write(path string, write func(w io.Writer) error) error {
	return cli.WriteFile(path, r.c.App.Writer, r.scan.Inputs, write)
}

// together writes all summaries one after another to -of.
func (r *report) together(format formatter) error {
	return r.write(r.c.String("of"), func(w io.Writer) error {
		for _, s := range r.summaries {
			if err := format(w, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// apart writes each summary to a file of its own. On standard output a comment names the tag where
// there are several.
func (r *report) apart(extension string, format formatter) error {
	of := r.c.String("of")
	if of == "" || of == "-" {
		return r.together(func(w io.Writer, s *output.Summary) error {
			if len(r.summaries) > 1 {
				fmt.Fprintf(w, "#[Tag: %s]\n", tags.Text(s.Tag))
			}
			return format(w, s)
		})
	}
	fold := tempfile.FoldsCase(filepath.Dir(of))
	var files []cli.File
	for _, s := range r.summaries {
		files = append(files, cli.File{
			Path:  summaryPath(of, s.Tag, extension, fold),
			Write: func(w io.Writer) error { return format(w, s) },
		})
	}
	return cli.WriteFiles(r.c.App.Writer, r.scan.Inputs, files...)
}

// summaryPath returns the path of a tag's file: the tag stands before the extension, which is added
// only where it is missing.
func summaryPath(of string, tag []byte, extension string, fold bool) string {
	folder, name := filepath.Split(of)
	if ext := filepath.Ext(name); strings.EqualFold(ext, extension) {
		name, extension = strings.TrimSuffix(name, ext), ext
	}
	if tag == nil {
		return folder + name + extension
	}
	return folder + tags.FileName(name+".", tag, extension, fold)
}

func (r *report) table() error {
	return r.write(r.c.String("of"), func(w io.Writer) error { return r.options.table(r.c).Write(w, r.summaries) })
}

// table returns the table that the options ask for. On a terminal it fits the width.
func (o *options) table(c *urfave.Context) *output.Table {
	t := &output.Table{Scale: o.scale, Percentiles: o.percentiles}
	if toStdout(c) {
		t.Width, t.Colour = cli.Width(c.App.Writer), cli.Colour(c.App.Writer)
	}
	return t
}

// toStdout reports whether the output goes to standard output.
func toStdout(c *urfave.Context) bool { return c.String("of") == "" || c.String("of") == "-" }

func (r *report) json() error {
	doc, err := r.document()
	if err != nil {
		return err
	}
	return r.write(r.c.String("of"), func(w io.Writer) error { return output.JSON(w, doc) })
}

// document returns the summaries for JSON.
func (r *report) document() (*output.Document, error) {
	doc, err := output.NewDocument(r.summaries, r.options.scale, r.options.percentiles, r.options.zone)
	if err != nil {
		return nil, err
	}
	doc.PeriodMode, doc.SkippedLines, doc.Inputs = r.options.mode, r.diagnostics.Skipped(), inputNames(r.scan)
	return doc, nil
}

func inputNames(s *scan.Scan) []string {
	names := []string{}
	for _, input := range s.Inputs {
		names = append(names, input.Name)
	}
	return names
}
