package logline

import "testing"

func TestIsVersion(t *testing.T) {
	for line, want := range map[string]bool{
		"#[Histogram log format version 1.2]": true, "#[Written by hdrkit: START and LENGTH are seconds]": true, "#[Written by a test]": false, "": false,
	} {
		if IsVersion([]byte(line)) != want {
			t.Errorf("%q: %t", line, !want)
		}
	}
}
