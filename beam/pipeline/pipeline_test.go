package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"

	"hdrkit/hdrlog"
	"hdrkit/hdrlog/histogram"
	"hdrkit/hdrlog/merge"
)

func TestKey(t *testing.T) {
	starts := []int64{-1 << 50, -10_000, -1, 0, 1, 10_000, 1 << 50}
	tags := [][]byte{nil, {}, []byte("A"), []byte("A\x00"), []byte("B")}
	var keys [][]byte
	for _, start := range starts {
		for _, tag := range tags {
			k := key(start, true, tag)
			keys = append(keys, k)
			gotStart, double, gotTag, err := parseKey(k)
			if gotStart != start || !double || !bytes.Equal(gotTag, tag) || (gotTag == nil) != (tag == nil) || err != nil {
				t.Errorf("%d, %q: got %d, %v, %q, %v", start, tag, gotStart, double, gotTag, err)
			}
		}
	}
	if !slices.IsSortedFunc(keys, bytes.Compare) {
		t.Error("keys do not sort by time, then tag")
	}
	for _, k := range []string{"", "123456789", "12345678\x02\x00", "12345678\x00\x02"} {
		if _, _, _, err := parseKey([]byte(k)); err == nil {
			t.Errorf("%q is a key", k)
		}
	}
}

// reading runs the reading of logs by hand.
type reading struct {
	fn       readFn
	sums     [][2][]byte
	facts    [][]byte
	problems []string
}

func newReading(t testing.TB, o Options) *reading {
	r := &reading{fn: readFn{Options: o}}
	if err := r.fn.Setup(); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *reading) emitSum(k, data []byte)      { r.sums = append(r.sums, [2][]byte{k, data}) }
func (r *reading) emitFacts(data []byte)       { r.facts = append(r.facts, data) }
func (r *reading) emitProblem(document string) { r.problems = append(r.problems, document) }

// group reads logs as one group. What a bundle that fails emitted is dropped.
func (r *reading) group(t testing.TB, fails bool, paths ...string) {
	t.Helper()
	before := *r
	names, err := json.Marshal(paths)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.fn.ProcessElement(context.Background(), string(names), r.emitSum, r.emitFacts, r.emitProblem); err != nil {
		t.Fatal(err)
	}
	if fails {
		r.sums, r.facts, r.problems = before.sums, before.facts, before.problems
	}
}

// union merges what was read.
func (r *reading) union(t testing.TB) map[string]string {
	t.Helper()
	groups := make(map[string][][]byte)
	for _, s := range r.sums {
		groups[string(s[0])] = append(groups[string(s[0])], s[1])
	}
	merged := make(map[string]string)
	for k, group := range groups {
		_, data, err := mergeSums([]byte(k), func(next *[]byte) bool {
			if len(group) == 0 {
				return false
			}
			*next, group = group[0], group[1:]
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		merged[k] = string(data)
	}
	return merged
}

func nodes(t testing.TB) []string {
	paths, err := filepath.Glob("../../testdata/logs/node?.hdr")
	if err != nil || len(paths) != 3 {
		t.Fatal(paths, err)
	}
	return paths
}

// TestRetry checks that a worker that dies and starts again changes nothing, and that groups may
// be of any size.
func TestRetry(t *testing.T) {
	paths := nodes(t)
	once := newReading(t, Options{Grid: 2000})
	once.group(t, false, paths...)

	again := newReading(t, Options{Grid: 2000})
	again.group(t, true, paths[2])
	again.group(t, false, paths[0], paths[1])
	again.group(t, true, paths[2], paths[0])
	again.group(t, false, paths[2])

	want, got := once.union(t), again.union(t)
	if len(want) < 100 || len(got) != len(want) {
		t.Fatalf("%d sums, want %d", len(got), len(want))
	}
	for k := range want {
		if got[k] != want[k] {
			t.Errorf("%q differs", k)
		}
	}
	if len(again.facts) != 3 || len(again.problems) != 0 {
		t.Error(len(again.facts), again.problems)
	}
}

// TestAssociative checks that intervals of real logs add up to the same bytes however they are
// grouped.
func TestAssociative(t *testing.T) {
	var all [][]byte // encoded sums of one interval
	for _, path := range append(nodes(t), "../../testdata/logs/digits2.hdr", "../../testdata/logs/huge-counts.hdr") {
		r, err := hdrlog.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for r.Scan() && len(all) < 200 {
			if record := r.Record(); record.Kind == hdrlog.IntervalRecord {
				var s merge.Sum
				if err := s.Add(&record.Interval); err != nil {
					t.Fatal(err)
				}
				all = append(all, encode(t, &s))
			}
		}
		r.Close()
	}
	for seed := range uint64(50) {
		checkAssociative(t, all, seed, uint8(seed))
	}
}

// TestAssociativeOfSmall does so with small histograms, of which it tries many more.
func TestAssociativeOfSmall(t *testing.T) {
	var all [][]byte
	for n := range int64(24) {
		h, err := histogram.New(histogram.Layout{Digits: int(1 + n%2), Lowest: 1 + n%3})
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []int64{n, 40 * n} {
			if err := h.RecordN(value, 1+n%4); err != nil {
				t.Fatal(err)
			}
		}
		var s merge.Sum
		payload, err := new(histogram.Encoder).AppendBase64(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Add(&hdrlog.Interval{Start: float64(n % 5), Length: 1, Payload: payload}); err != nil {
			t.Fatal(err)
		}
		all = append(all, encode(t, &s))
	}
	for seed := range uint64(20000) {
		checkAssociative(t, all, seed, uint8(seed))
	}
}

func encode(t testing.TB, s *merge.Sum) []byte {
	t.Helper()
	data, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkAssociative merges a few sums in groups that it chooses at random, and all at once.
func checkAssociative(t *testing.T, all [][]byte, seed uint64, count uint8) {
	random := rand.New(rand.NewPCG(seed, 1))
	parts := make([][]byte, 1+count%8)
	for n := range parts {
		parts[n] = all[random.IntN(len(all))]
	}
	want := mergeAll(t, parts)
	for len(parts) > 1 {
		random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		n := 1 + random.IntN(len(parts))
		parts = append(parts[n:], mergeAll(t, parts[:n]))
	}
	if !bytes.Equal(mergeAll(t, parts), want) {
		t.Errorf("seed %d, count %d: the order of merging shows", seed, count)
	}
}

func mergeAll(t testing.TB, parts [][]byte) []byte {
	n := 0
	_, data, err := mergeSums(nil, func(next *[]byte) bool {
		if n == len(parts) {
			return false
		}
		*next = parts[n]
		n++
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestShardName(t *testing.T) {
	for _, c := range []struct {
		start, size int64
		want        string
	}{
		{0, 0, "s3://b/day.hdr"},
		{1468800000000, 3600_000, "s3://b/day-20160718T000000Z.hdr"},
		{-500, 500, "s3://b/day-19691231T235959.500Z.hdr"},
	} {
		if got := shardName("s3://b/day.hdr", c.start, c.size); got != c.want {
			t.Errorf("%d: %s, want %s", c.start, got, c.want)
		}
	}
}
