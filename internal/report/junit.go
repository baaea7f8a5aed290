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

// A junitCase is a limit of a tag. What it failed or was skipped for is a sentence.
type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Failure *junitText `xml:"failure"`
	Skipped *junitText `xml:"skipped"`
	Out     string     `xml:"system-out,omitempty"`
}

// A junitText has its sentence twice: Jenkins shows the attribute, GitLab the text.
type junitText struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the verdicts among findings as test cases of a suite, which GitLab, Jenkins and
// others show. A limit that is not proven is skipped.
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
