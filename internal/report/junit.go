package report

import (
	"encoding/xml"
	"io"

	"hdrkit/output"
)

// A junitSuite is the root of a JUnit report.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

// A junitCase is the verdict about a limit of a tag. Failure or Skipped has the sentence of the
// verdict.
type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Failure *junitText `xml:"failure"`
	Skipped *junitText `xml:"skipped"`
	Out     string     `xml:"system-out,omitempty"`
}

// A junitText has a sentence twice, since Jenkins shows the attribute and GitLab the text.
type junitText struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the verdicts among findings as test cases of a suite, in the format that GitLab,
// Jenkins and others read. A verdict that is not proven is a skipped test.
func JUnit(w io.Writer, suite string, findings []output.Finding) error {
	s := junitSuite{Name: suite}
	for n := range findings {
		f := &findings[n]
		if !f.Verdict() {
			continue
		}
		c := junitCase{Class: f.Tag, Name: f.Limit + " of " + f.Tag}
		switch f.Weight {
		case output.Fails:
			c.Failure = &junitText{f.Sentence, f.Sentence}
			s.Failures++
		case output.Undecided:
			c.Skipped = &junitText{f.Sentence, f.Sentence}
			s.Skipped++
		default:
			c.Out = f.Sentence
		}
		s.Cases = append(s.Cases, c)
		s.Tests++
	}
	io.WriteString(w, xml.Header)
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
