package measure

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdrkit/hdrlog"
)

// TestArguments reads each sample by the options that its first lines have shown: the rows are the
// same.
func TestArguments(t *testing.T) {
	for _, s := range samples {
		text, err := os.ReadFile(filepath.Join(folder(), s.file))
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(bytes.NewReader(text), s.file, "", s.options)
		if err != nil {
			t.Fatal(err)
		}
		arguments := r.Arguments()
		of := func(option string) string {
			if n := slices.Index(arguments, "-"+option); n >= 0 {
				return arguments[n+1]
			}
			return ""
		}
		in, _ := hdrlog.ParseUnit(of("in"))
		timeIn, _ := hdrlog.ParseUnit(of("time-in"))
		o := Options{
			Columns:  Columns{Time: of("time"), Value: of("value"), End: of("end"), OK: of("ok")},
			NoTags:   true,
			Unit:     in,
			TimeUnit: timeIn,
			Pattern:  of("pattern"),
		}
		if of("tag") != "" {
			o.Columns.Tags = strings.Split(of("tag"), ",")
		}
		again, err := NewReader(bytes.NewReader(text), s.file, of("format"), o)
		if err != nil {
			t.Errorf("%s: %v of %q", s.file, err, arguments)
			continue
		}
		for n := 0; r.Scan() && again.Scan(); n++ {
			if r.parser.row.Time != again.parser.row.Time || r.parser.row.Value != again.parser.row.Value || string(r.parser.row.Tag) != string(again.parser.row.Tag) || r.parser.row.Failed != again.parser.row.Failed || again.bad != nil {
				t.Errorf("%s, row %d: %+v, want %+v; %v", s.file, n, again.parser.row, r.parser.row, again.bad)
				break
			}
		}
		if r.Scan() || again.Scan() || again.AtEnd() != r.AtEnd() {
			t.Errorf("%s: another number of rows, or another end", s.file)
		}
	}
}
