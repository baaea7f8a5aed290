package measure

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// TestGatlingVersions reads a request of each layout of text. A row of success may end after its
// status, since an editor took the blanks at the end of lines away.
func TestGatlingVersions(t *testing.T) {
	for _, text := range []string{
		"sim.Shop\tshop\tRUN\t1718035200000\t \t2.0\nBuyers\t1\tUSER\tSTART\t1718035200000\t0\nBuyers\t1\tREQUEST\tg\tOK\t1718035200000\t1\t2\t1718035200020\tOK\t \n",
		"RUN\tsim.Shop\t\tshop\t1718035200000\t \t2.0\nREQUEST\tBuyers\t1\tg\tOK\t1718035200000\t1718035200020\tOK\t \n",
		"RUN\tsim.Shop\tshop\t1718035200000\t \t3.2.1\nUSER\tBuyers\t1\tSTART\t1718035200000\t1718035200000\nREQUEST\t1\tg\tOK\t1718035200000\t1718035200020\tOK\t \n",
		"ASSERTION\tAAE=\nRUN\tsim.Shop\tshop\t1718035200000\t \t3.11.0\nREQUEST\tg\tOK\t1718035200000\t1718035200020\tOK\t \n",
	} {
		for _, text := range []string{text, strings.ReplaceAll(text, "\t \n", "\n")} {
			got := rows(t, strings.NewReader(text), Options{})
			if !strings.HasPrefix(got, "{Time:1718035200000000000 Value:20000000 Count:1 Tag:[79 75] Failed:false") || strings.Count(got, "\n") != 1 {
				t.Errorf("%q: %s", text, got)
			}
		}
	}
}

// TestBadGatling has lines that are no requests of any version.
func TestBadGatling(t *testing.T) {
	const run = "RUN\tsim.Shop\tshop\t1718035200000\t \t3.11.0\n"
	for text, want := range map[string]string{
		run + "REQUEST\tg\tname\t1718035200000\t1718035200020": `f:2: line: neither OK nor KO stands behind a start and an end: "REQUEST\tg\tname\t1718035200000\t1718035200020"`,
		run + "REQUEST\t":                       `f:2: line: neither OK nor KO stands behind a start and an end: "REQUEST\t"`,
		run + "REQUEST\tg\tname\t5\t6\tMAYBE\t": `f:2: line: neither OK nor KO stands behind a start and an end: "REQUEST\tg\tname\t5\t6\tMAYBE\t"`,
		run + "PAUSE\t1\n":                      `f:2: line: no line of Gatling: "PAUSE\t1"`,
		run + "REQUEST\tg\tname\t1718035200020\t1718035200000\tOK\t":       `f:2: end: the end is before the start`,
		"ASSERTION\tAAE=\nREQUEST\tg\tn\t1718035200000\t1718035200020\tOK": `f:2: line: a request before the line RUN, which shows the version`,
		run + "REQUEST\tg\t" + strings.Repeat("n", 10<<20) + "\n":          `f:2: line: line is too long`,
	} {
		r, err := NewReader(strings.NewReader(text), "f", "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Scan() || r.bad == nil || uncut(r.bad.Error()) != want || r.Scan() {
			t.Errorf("%.80q: %v, want %s", text, r.bad, want)
		}
	}
}

// gatlingRecords writes a binary simulation.log as the writer of Gatling does, with one request of
// each status, a group, a user and an error.
func gatlingRecords() []byte {
	var b bytes.Buffer
	number := func(n int) { binary.Write(&b, binary.BigEndian, int32(n)) }
	text := func(s string) {
		wide := strings.ContainsFunc(s, func(c rune) bool { return c > 255 })
		var bytes []byte
		for _, c := range s {
			bytes = append(bytes, byte(c))
			if wide {
				bytes = append(bytes, byte(c>>8))
			}
		}
		number(len(bytes))
		switch {
		case wide:
			b.Write(append(bytes, 1))
		case s != "":
			b.Write(append(bytes, 0))
		}
	}
	known := make(map[string]int)
	cached := func(s string) {
		if known[s] > 0 {
			number(-known[s])
			return
		}
		known[s] = len(known) + 1
		number(known[s])
		text(s)
	}
	b.WriteByte(0)
	text("3.13.5")
	text("sim.Shop")
	binary.Write(&b, binary.BigEndian, int64(1718035200000))
	text("")
	number(1)
	text("Buyers")
	number(1)
	number(3)
	b.WriteString("abc") // an assertion
	b.WriteByte(2)
	number(0)
	b.WriteByte(1)
	number(5)
	for n, ok := range []byte{1, 1, 0} {
		b.WriteByte(1)
		number(2)
		cached("g")
		cached("h")
		cached([]string{"pâge\t1", "pâge\t1", "страница"}[n])
		number(1000 * n)
		number(1000*n + 20)
		b.WriteByte(ok)
		cached([]string{"", "", "status 500"}[n])
	}
	b.WriteByte(3)
	number(1)
	cached("g")
	for range 3 {
		number(7)
	}
	b.WriteByte(1)
	b.WriteByte(4)
	cached("oops")
	number(9)
	return b.Bytes()
}

func TestGatlingRecords(t *testing.T) {
	all := gatlingRecords()
	want := "1718035200000000000 20000000 g,h/pâge 1 false\n1718035201000000000 20000000 g,h/pâge 1 false\n1718035202000000000 20000000 g,h/страница true\n"
	read := func(text []byte) (rows string, bad []string) {
		r, err := NewReader(iotest.HalfReader(bytes.NewReader(text)), "f", "", Options{Columns: Columns{Tags: []string{"groups", "name"}}})
		if err != nil {
			return "", []string{err.Error()}
		}
		for r.Scan() {
			if r.bad != nil {
				bad = append(bad, r.bad.Error())
				continue
			}
			rows += fmt.Sprintln(r.parser.row.Time, r.parser.row.Value, string(r.parser.row.Tag), r.parser.row.Failed)
		}
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
		return rows, bad
	}
	if got, bad := read(all); got != want || bad != nil {
		t.Errorf("got\n%s%s\nwant\n%s", got, bad, want)
	}
	// Each cut but those between records is one malformed line, behind the rows before it.
	between := 0
	for size := 8; size < len(all); size++ {
		got, bad := read(all[:size])
		if len(bad) == 0 {
			between++
		}
		if !strings.HasPrefix(want, got) || len(bad) > 1 || len(bad) == 1 && !strings.HasSuffix(bad[0], ": line: the file is cut short") {
			t.Errorf("%d bytes: %s%s", size, got, bad)
		}
	}
	if between != 6 {
		t.Errorf("%d cuts between records", between)
	}
	for n := range all {
		damaged := bytes.Clone(all)
		damaged[n] ^= 0x81
		if n > 8 {
			read(damaged)
		}
	}
}

// TestGatlingReport reads the log of a simulation with Gatling 3.13.5, and compares it with the
// figures of the report that Gatling made of it, which are whole milliseconds.
func TestGatlingReport(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(folder(), "gatling-binary.log"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(bytes.NewReader(text), "f", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string][]int64) // milliseconds
	for r.Scan() {
		if r.bad != nil {
			t.Fatal(r.bad)
		}
		status := "OK"
		if r.parser.row.Failed {
			status = "KO"
		}
		values[status] = append(values[status], r.parser.row.Value/1e6)
		if name := string(r.parser.row.Tag); (name == "Startseite ä") != (status == "OK") || status == "KO" && name != "страница" {
			t.Errorf("%s %s", name, status)
		}
	}
	for status, want := range map[string]string{"OK": "100 0 1181 76", "KO": "100 1 1155 37"} {
		all := values[status]
		slices.Sort(all)
		sum := int64(0)
		for _, value := range all {
			sum += value
		}
		mean := math.Round(float64(sum) / float64(len(all)))
		if got := fmt.Sprint(len(all), all[0], all[len(all)-1], mean); got != want {
			t.Errorf("%s: %s, want %s", status, got, want)
		}
	}
}

// TestLatte reads the report of latte: its histograms stand beside their times.
func TestLatte(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(folder(), "latte-report.json"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(bytes.NewReader(text), "f", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for r.Scan() {
		got += fmt.Sprintln(string(r.parser.row.Tag), r.parser.row.Time/1e6, r.parser.row.Length/1e6, r.bad)
	}
	want := ""
	for n := range 4 {
		for _, tag := range []string{"cycle_latency", "request_latency"} {
			want += fmt.Sprintf("result/log/%s/histogram %d 1000 <nil>\n", tag, 1718035201000+1000*int64(n))
		}
	}
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
