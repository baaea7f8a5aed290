package heap

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHeap compares a heap with a sorted slice.
func TestHeap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		h := New(func(a, b *int) bool { return *a < *b })
		var want []int
		for range 200 {
			switch n := random.IntN(100); {
			case len(want) == 0 || random.IntN(5) > 1:
				want = append(want, n)
				h.Push(&n)
			case random.IntN(2) == 0:
				if got := *h.Pop(); got != want[0] {
					t.Fatalf("%d comes out, want %d", got, want[0])
				}
				want = want[1:]
			default:
				*h.First() = n
				h.Fix()
				want[0] = n
			}
			slices.Sort(want)
			if h.Len() != len(want) || len(want) > 0 && *h.First() != want[0] {
				t.Fatalf("%d items, want %v", h.Len(), want)
			}
		}
	}
}

// TestOf: items come out of a heap in order, whatever order they had.
func TestOf(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for size := range 40 {
		var got []int
		for h := Of(random.Perm(size), func(a, b int) bool { return a < b }); h.Len() > 0; {
			got = append(got, h.Pop())
		}
		if len(got) != size || !slices.IsSorted(got) {
			t.Errorf("%d items: %v", size, got)
		}
	}
}

// numbers are a queue that fails at a negative number.
type numbers struct {
	rest []int
	at   int
}

var errNegative = errors.New("negative")

func (n *numbers) Next() (bool, error) {
	if len(n.rest) == 0 {
		return false, nil
	}
	n.at, n.rest = n.rest[0], n.rest[1:]
	if n.at < 0 {
		return false, errNegative
	}
	return true, nil
}

// TestInOrder hands over the numbers of all queues in order, up to the first error.
func TestInOrder(t *testing.T) {
	for _, test := range []struct {
		queues [][]int
		want   []int
		err    error
	}{
		{[][]int{{1, 4, 6}, {}, {2, 3, 9}, {5}}, []int{1, 2, 3, 4, 5, 6, 9}, nil},
		{[][]int{{1, 4}, {2, -1}}, []int{1, 2}, errNegative},
		{[][]int{{1}, {-1}}, nil, errNegative},
	} {
		var queues []*numbers
		for _, q := range test.queues {
			queues = append(queues, &numbers{rest: q})
		}
		var got []int
		err := InOrder(queues, func(a, b *numbers) bool { return a.at < b.at }, func(n *numbers) error {
			got = append(got, n.at)
			return nil
		})
		if !slices.Equal(got, test.want) || err != test.err {
			t.Errorf("%v: %v, %v", test.queues, got, err)
		}
	}
}
