//go:build browser

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/clitest"
)

// until waits until an expression in the page is true.
func (b *browser) until(t testing.TB, expression string) {
	t.Helper()
	clitest.Await(t, expression, func() string { return b.eval(t, "document.body.innerText") }, func() bool {
		return b.eval(t, expression) == "true"
	})
}

// hoverUntil points at the time of a live page, which may move, until the read-out of the rate is
// what it should be.
func (b *browser) hoverUntil(t *testing.T, part float64, want string) {
	t.Helper()
	got := ""
	clitest.Await(t, want, func() string { return got }, func() bool {
		b.hover(t, "time", part)
		got = b.eval(t, "document.getElementById('rate-readout').textContent")
		return got == want
	})
}

// TestBrowserLive shows a page while three writers append: it moves, zooms and pauses, marks a
// silent input, and goes on after the server restarts. Its table agrees with hdrsum.
func TestBrowserLive(t *testing.T) {
	b := newBrowser(t)
	command, hdrsum, hdrunion := clitest.Build(t, "hdrlive"), clitest.Build(t, "hdrsum"), clitest.Build(t, "hdrunion")
	dir := t.TempDir()
	var writers []*writer
	for n := range 3 {
		writers = append(writers, newWriter(t, filepath.Join(dir, fmt.Sprintf("node%d.hdr", n+1))))
	}
	write := func(from, to int) {
		for s := from; s < to; s++ {
			for n, w := range writers {
				w.second(s, int64(1e6*(n+1)*(s%7+1)))
			}
		}
	}
	write(0, 30)
	args := []string{"-serve", clitest.Address(t), "-idle", "1s", "-ip", dir, "-if", `node.*\.hdr`, "-in", "ns", "-unit", "ms", "-sla", "p99<=50ms,max<=20ms"}
	server := serveAt(t, command, args...)
	b.do(t, chromedp.Navigate(server.address), chromedp.WaitReady(chromedp.CSS("html[data-ready]")))
	count := "Number(document.querySelector('#summary tbody tr')?.cells[2].textContent.replace(/,/g, '') || 0)"
	b.until(t, count+" >= 29 * 150")

	// It moves while the writers write, and keeps to the last minute.
	click := func(button string) { b.eval(t, `document.querySelector("`+button+`").click()`) } // wherever it moves
	click("[data-span='60000']")
	write(30, 100)
	b.until(t, count+" === 60 * 150 || "+count+" === 61 * 150")
	b.until(t, "document.querySelector('#latest caption').textContent.endsWith('from 00:01:39')")
	if got := b.eval(t, "document.getElementById('inputs').textContent"); strings.Contains(got, "ended") {
		t.Errorf("of logs that go on it says %q", got)
	}
	// The last second has 50 values from 2, 4 and 6 ms on, up to 1.98 times as high.
	b.until(t, "[...document.querySelectorAll('.tile')].map(tile => tile.textContent).join() === 'p99, last 1 s12 ms,rate, last 1 s150/s,maximum, last 1 s11.89 ms'")
	b.until(t, "[...document.querySelectorAll('#lights li')].map(light => light.className + ' ' + light.textContent).join() === 'fails FAILS max<=20ms,holds HOLDS p99<=50ms'")
	b.until(t, "document.getElementById('result').textContent.startsWith('FAILS: max is 41.58 ms, limit 20 ms; above it 14 times, ')")
	if got := b.eval(t, "[...document.querySelectorAll('#latest th, #latest td')].map(c => c.textContent)"); !strings.Contains(got, "values/s") || !strings.Contains(got, "read,150,") {
		t.Errorf("the latest window: %q", got)
	}
	// All fall silent soon, and the line that says so moves the charts.
	b.until(t, "['node1', 'node2', 'node3'].every(name => document.getElementById('inputs').textContent.includes(name + '.hdr is silent'))")
	b.hoverUntil(t, 0.5, "read 150/s")
	b.screenshot(t, "hdrplot-live.png")

	// A view that was looked at stays.
	b.eval(t, "location.hash = 't=10,19.999'")
	b.until(t, count+" === 10 * 150")
	write(100, 110)
	click("[data-span='0']")
	b.until(t, count+" >= 109 * 150")
	click("#pause")
	paused := b.eval(t, count)

	// An input falls silent.
	last, lag := 110, ""
	for b.eval(t, "document.getElementById('inputs').textContent.includes('node3.hdr is silent')") != "true" && last < 1000 {
		writers[0].second(last, 1e6)
		writers[1].second(last, 1e6)
		last++
		if text := b.eval(t, "document.getElementById('lag').textContent"); strings.HasSuffix(text, " behind") {
			lag = text
		}
		time.Sleep(100 * time.Millisecond)
	}
	if last == 1000 {
		t.Fatal("node3.hdr does not fall silent")
	}
	if !strings.HasPrefix(lag, "3 logs, ") || !strings.HasSuffix(lag, " days behind") { // the logs are of 2016
		t.Errorf("it is %q", lag)
	}
	if got := b.eval(t, count); got != paused {
		t.Errorf("%s values while it is paused, %s before", got, paused)
	}

	// The connection is lost, and comes back with a new server.
	server.stop()
	b.until(t, "document.getElementById('connection').textContent.includes('lost')")
	serveAt(t, command, args...)
	b.until(t, "document.getElementById('connection').textContent === 'connected'")
	write(last, last+8)
	click("#pause")
	b.until(t, fmt.Sprintf("%s >= %d", count, (110*3+(last-110)*2+7*3)*50))

	// The table agrees with hdrsum of the union.
	union := filepath.Join(dir, "union.log")
	if out, err := exec.Command(hdrunion, "-q", "-ip", dir, "-if", `node.*\.hdr`, "-grid", "1", "-of", union).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, view := range [][2]float64{{20, 50}, {3, 104}} {
		b.show(t, fmt.Sprintf("t=%v,%v", view[0], view[1]))
		want := sums(t, hdrsum, view[0], view[1], union)
		for i := range want {
			s := &want[i]
			s.Intervals *= 3 // the page counts those of the logs, and the union has merged them
			for _, v := range []*float64{&s.Min, &s.Mean, &s.Max} {
				*v /= 1e6
			}
			for n := range s.Percentiles {
				s.Percentiles[n].Value /= 1e6
			}
		}
		compare(t, b.table(t), want, 1.0/127)
	}
}

// TestBrowserComplete follows logs that are complete. In random views, the table agrees with hdrsum
// for their union.
func TestBrowserComplete(t *testing.T) {
	b := newBrowser(t)
	logs := []string{"-ip", filepath.Join(clitest.Root(), "testdata/logs"), "-if", `node[123]\.hdr`}
	union := filepath.Join(t.TempDir(), "union.log")
	if out, err := exec.Command(clitest.Build(t, "hdrunion"), append(logs, "-q", "-grid", "10", "-of", union)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	hdrsum := clitest.Build(t, "hdrsum")
	all := sums(t, hdrsum, 0, 1e6, union)
	values := int64(0)
	for _, s := range all {
		values += s.TotalCount
	}
	// The rate of a view is that of the time of its windows: 10 s each, whatever part of one has
	// values. A line of the union lasts from the first start to the last end of all logs, which is
	// longer.
	text, err := exec.Command(hdrsum, append(logs, "-q", "-agg", "10", "-st", "ndjson")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	rate := func(tag *string, view [2]float64) float64 {
		count, seconds := 0.0, 0.0
		for line := range strings.Lines(string(text)) {
			var row struct {
				Tag       *string
				Start     float64 `json:"start_ms"`
				End       float64 `json:"end_ms"`
				Count     float64
				PerSecond float64 `json:"per_second"`
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			const begin = 1468800401074
			if (row.Start-begin)/1000 < view[0]-0.01 && view[0] > 0 || (row.End-begin)/1000 > view[1]+0.01 || *row.Tag != *tag {
				continue
			}
			count, seconds = count+row.Count, seconds+(row.End-row.Start)/1000
		}
		return count / seconds
	}
	server := serveAt(t, clitest.Build(t, "hdrlive"), append(logs, "-serve", "127.0.0.1:0", "-agg", "10", "-idle", "0.2")...)
	b.do(t, chromedp.Navigate(server.address), chromedp.WaitReady(chromedp.CSS("html[data-ready]")))
	b.until(t, fmt.Sprintf("[...document.querySelectorAll('#summary tbody tr')].reduce((sum, row) => sum + Number(row.cells[2].textContent.replace(/,/g, '')), 0) === %d", values))
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 12 {
		// Views that begin and end with windows, whose times are absolute: node1.hdr starts at
		// 1468800401.074.
		view := [2]float64{float64(10*random.Int64N(12)) - 1.074, 0}
		view[1] = view[0] + 10 + float64(10*random.Int64N(5))
		if n == 0 {
			view = [2]float64{0, 1000}
		}
		b.show(t, fmt.Sprintf("t=%.3f,%.3f", view[0], view[1]-0.001))
		want := sums(t, hdrsum, view[0], view[1]-0.001, union)
		table := b.table(t)
		for i := range want { // the page counts the intervals of the logs, and the union has merged them
			if i < len(table) {
				table[i][1] = fmt.Sprint(want[i].Intervals)
			}
			want[i].Throughput = rate(want[i].Tag, view)
		}
		compare(t, table, want, 1.0/127)
	}
	b.screenshot(t, "hdrplot-live-heat.png")
	if b.eval(t, "document.getElementById('scale').hidden") != "false" {
		t.Error("the heat map has no scale")
	}
	b.checkConsole(t)
}

// TestBrowserLiveTags: a live page of many tags has no heat map at first, and all else.
func TestBrowserLiveTags(t *testing.T) {
	b := newBrowser(t)
	w := newWriter(t, filepath.Join(t.TempDir(), "tags.hdr"))
	h, err := histogram.New(histogram.Layout{Digits: 3, Lowest: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(200) {
		h.Record(1e6 + 1e4*i)
	}
	const tags, seconds = 20, 5
	for second := range seconds {
		for tag := range tags {
			if err := w.log.Interval(fmt.Appendf(nil, "t%02d", tag), float64(second), 1, h); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.log.Flush(); err != nil {
		t.Fatal(err)
	}
	server := serveAt(t, clitest.Build(t, "hdrlive"), "-idle", "200ms", "-serve", "127.0.0.1:0", "-in", "ns", "-unit", "ms", w.file.Name())
	b.do(t, chromedp.Navigate(server.address), chromedp.WaitReady(chromedp.CSS("html[data-ready]")))
	b.until(t, fmt.Sprintf("document.querySelectorAll('.tile').length === 3 && document.querySelectorAll('.tile')[1].textContent === 'rate, last 1 s%dk/s'", tags*200/1000))
	b.until(t, "document.getElementById('summary').tBodies[0].rows.length > 0")
	b.checkConsole(t)
}

// TestBrowserFrozen stops a server without closing its connections. The page says that the
// connection is lost, and goes on when the server does.
func TestBrowserFrozen(t *testing.T) {
	b := newBrowser(t)
	dir := t.TempDir()
	w := newWriter(t, filepath.Join(dir, "a.hdr"))
	for s := range 5 {
		w.second(s, 1e6)
	}
	server := serveAt(t, clitest.Build(t, "hdrlive"), "-idle", "1h", "-serve", "127.0.0.1:0", "-ip", dir, "-if", "a.hdr", "-unit", "ms")
	b.do(t, chromedp.Navigate(server.address), chromedp.WaitReady(chromedp.CSS("html[data-ready]")))
	b.until(t, "document.getElementById('connection').textContent === 'connected'")
	freeze(t, server.Process, true)
	b.until(t, "document.getElementById('connection').textContent.includes('lost')")
	freeze(t, server.Process, false)
	b.until(t, "document.getElementById('connection').textContent === 'connected'")
	for s := range 5 {
		w.second(5+s, 1e6)
	}
	b.until(t, "document.querySelector('#summary tbody tr').cells[2].textContent === '450'")
}

// TestBrowserOffset shows two logs whose seconds begin 0.4 s apart. Each second has the values of
// both, and time runs forward.
func TestBrowserOffset(t *testing.T) {
	b := newBrowser(t)
	dir := t.TempDir()
	for n := range 2 {
		w := clitest.NewLogWriter(t, filepath.Join(dir, fmt.Sprintf("node%d.hdr", n)), 0.4*float64(n), "rt")
		for s := range 12 {
			w.Second(s, 1e6, 200)
		}
	}
	server := serveAt(t, clitest.Build(t, "hdrlive"), "-idle", "1h", "-serve", "127.0.0.1:0", "-ip", dir, "-if", `node\d\.hdr`, "-in", "ns", "-unit", "ms")
	b.do(t, chromedp.Navigate(server.address), chromedp.WaitReady(chromedp.CSS("html[data-ready]")))
	b.until(t, "document.querySelector('#summary tbody tr')?.cells[2].textContent === '4,400'")
	for part := range 9 {
		b.hoverUntil(t, 0.1+0.1*float64(part), "rt 400/s")
	}
	b.screenshot(t, "hdrplot-offset.png")
}
