package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"hdrkit/internal/cli"
	"hdrkit/internal/scan"
	"hdrkit/output"
	"hdrkit/tags"
)

// A report is summaries and how to write them.
type report struct {
	c           *urfave.Context
	scan        *scan.Scan
	diagnostics *cli.Diagnostics
	mode        string // of the period
	options     *output.Options
	summaries   []*output.Summary
}

// A format is a type of summary, or of stream.
type format struct {
	name  string
	write func(r *report) error // a summary
	rows  func(w io.Writer, o *output.Options) output.RowWriter
	// point, of a stream for a monitoring system, returns the time of a row as that sees it, and clash why a point cannot
	// follow the tag's last one, by their times.
	point func(r *output.Row, o *output.Options) int64
	clash func(last, now int64) error
	// totals is set where rows show what was recorded since the log began.
	totals bool
}

var formatList = []format{
	{name: "percentiles", write: func(r *report) error { return r.together(output.Percentiles) }},
	{name: "hgrm", write: func(r *report) error { return r.apart(".hgrm", output.HGRM) }},
	{name: "csv", write: func(r *report) error { return r.apart(".csv", output.CSV) }},
	{name: "csve", write: func(r *report) error { return r.apart(".csv", output.CSVE) }},
	{name: "csvr", write: func(r *report) error { return r.apart(".csv", output.CSVR) }},
	{name: "json", write: (*report).json},
	{name: "timeline", rows: output.Timeline},
	{name: "ndjson", rows: output.NDJSON},
	{name: "influx", rows: output.Influx, point: output.InfluxTime, clash: sameTime},
	{name: "openmetrics", rows: output.OpenMetrics, point: func(r *output.Row, _ *output.Options) int64 { return r.End }, clash: outOfOrder, totals: true},
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
type formatter func(w io.Writer, s *output.Summary, o *output.Options) error

// write writes a file, or standard output.
func (r *report) write(path string, write func(w io.Writer) error) error {
	return cli.WriteFile(path, r.c.App.Writer, r.scan.Inputs, write)
}

// together writes all summaries one after another to -of.
func (r *report) together(format formatter) error {
	return r.write(r.c.String("of"), func(w io.Writer) error {
		for _, s := range r.summaries {
			if err := format(w, s, r.options); err != nil {
				return err
			}
		}
		return nil
	})
}

// apart writes each summary to a file of its own. On standard output a comment names the tag where there are several.
func (r *report) apart(extension string, format formatter) error {
	of := r.c.String("of")
	if of == "" || of == "-" {
		return r.together(func(w io.Writer, s *output.Summary, o *output.Options) error {
			if len(r.summaries) > 1 {
				fmt.Fprintf(w, "#[Tag: %s]\n", tags.Text(s.Tag))
			}
			return format(w, s, o)
		})
	}
	// All are formatted before any is written, so that an error leaves no files behind.
	texts := make([]bytes.Buffer, len(r.summaries))
	for n, s := range r.summaries {
		if err := format(&texts[n], s, r.options); err != nil {
			return err
		}
	}
	fold := cli.FoldsCase(filepath.Dir(of))
	for n, s := range r.summaries {
		err := r.write(summaryPath(of, s.Tag, extension, fold), func(w io.Writer) error {
			_, err := w.Write(texts[n].Bytes())
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// summaryPath returns the path of a tag's file: the tag stands before the extension, which is added only where it is
// missing.
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

func (r *report) json() error {
	doc := output.Document{PeriodMode: r.mode, SkippedLines: r.diagnostics.Skipped()}
	for _, input := range r.scan.Inputs {
		doc.Inputs = append(doc.Inputs, input.Name)
	}
	return r.write(r.c.String("of"), func(w io.Writer) error {
		return output.JSON(w, doc, r.summaries, r.options)
	})
}
