package deflate

import (
	"math/bits"
	"slices"
)

const (
	endOfBlock = 256
	numSymbols = 257 // all bytes and the end of the block; no lengths of matches
	maxLength  = 15  // most bits of a code

	symbolBits = 9 // bits of the symbol in a key; the count has the other 23
)

// A code is a canonical Huffman code (RFC 1951, 3.2.2) of up to numSymbols symbols.
type code struct {
	used    []uint16          // symbols with a code, in order
	lengths [numSymbols]uint8 // length of each code in bits
	// entries has the code of each symbol in the highest bits, its last bit highest, and the length
	// in the lowest bits.
	entries [numSymbols]uint64
	size    int // sum of counts times lengths, in bits
	longest int // length of the longest code in bits

	symbols [numSymbols]uint16 // memory of used
	// Each key is a count and, in the low symbolBits, its symbol.
	keys, sorted [numSymbols + 2]uint32
	// Weights of the inner nodes of the tree, in the order in which they are made.
	inner   [numSymbols + 2]uint32
	parents [numSymbols + 2]uint16 // parents of the inner nodes
	leaves  [numSymbols]uint8      // number of leaves directly below each inner node
}

// build makes an optimal code for symbols with these counts. Contract: at least two and at most
// 1<<limit counts are not 0. No code is longer than limit bits.
func (c *code) build(counts []uint32, limit int) {
	n := 0
	for symbol, count := range counts {
		// The processor cannot predict which symbols occur. So write each symbol, and overwrite
		// those that do not occur.
		c.keys[n] = count<<symbolBits | uint32(symbol)
		c.symbols[n] = uint16(symbol)
		n += int(-count >> 31)
	}
	c.used = c.symbols[:n]
	keys := c.sort(n)
	var numbers [64]int // number of codes of each length
	if c.longest = c.huffman(keys, &numbers); c.longest > limit {
		numbers = packageMerge(keys, limit)
		c.longest = limit
	}

	// The rarest symbols get the longest codes.
	c.size = 0
	i := 0
	for length := c.longest; length > 0; length-- {
		for _, key := range keys[i : i+numbers[length]] {
			c.lengths[key%(1<<symbolBits)] = uint8(length)
			c.size += length * int(key>>symbolBits)
		}
		i += numbers[length]
	}
	c.assign(&numbers)
}

// sort returns the first n keys, sorted. Contract: they are in the order of their symbols.
func (c *code) sort(n int) []uint32 {
	keys := c.keys[:n]
	sorted := 0
	if n >= 32 {
		// Most symbols are rare. Counting sort orders all but the common ones.
		const common = 255
		var ends [common + 1]uint16
		for _, key := range keys {
			ends[min(key>>symbolBits, common)]++
		}
		end := uint16(0)
		for i, m := range ends {
			ends[i] = end
			end += m
		}
		sorted = int(ends[common])
		for _, key := range keys {
			at := &ends[min(key>>symbolBits, common)]
			c.sorted[*at] = key
			*at++
		}
		keys = c.sorted[:n]
	}
	if rest := keys[sorted:]; len(rest) > 64 {
		slices.Sort(rest)
	} else {
		for i := 1; i < len(rest); i++ {
			key := rest[i]
			j := i
			for ; j > 0 && rest[j-1] > key; j-- {
				rest[j] = rest[j-1]
			}
			rest[j] = key
		}
	}
	return keys
}

// huffman returns the number of codes of each length in an optimal code without a limit, and the
// longest length. Contract: there are at least two keys, sorted, and room for two more.
//
// Leaves are in the order of their counts, and inner nodes are made in the order of their weights.
// So the two lightest nodes without a parent are among the first two of these two queues. The
// processor cannot predict which of the three pairs is the lightest. So there is no branch: the
// lightest pair wins, and of equal pairs the one with more leaves, since then the lengths vary less
// and the head is shorter. A depth has at most 6 bits, since a deeper tree needs counts that add up
// to more than 1<<23.
func (c *code) huffman(keys []uint32, numbers *[64]int) (longest int) {
	const heavy = 1<<30 - 1 // above all weights, for nodes that do not exist
	root := len(keys) - 2
	leaf := keys[:len(keys)+2]
	leaf[len(keys)], leaf[len(keys)+1] = 1<<32-1, 1<<32-1
	for i := range leaf {
		c.inner[i] = heavy
	}
	leaves, inners := 0, 0 // number of leaves and of inner nodes that have a parent
	for node := 0; node <= root; node++ {
		leaf0, leaf1 := leaf[leaves]>>symbolBits, leaf[leaves+1]>>symbolBits
		inner0, inner1 := c.inner[inners], c.inner[inners+1]
		// The parent of a node that is in no pair now is overwritten later.
		c.parents[inners], c.parents[inners+1] = uint16(node), uint16(node)
		c.inner[node] = min(leaf0+leaf1, leaf0+inner0, inner0+inner1)
		first, second := 0, 0
		if inner0 < leaf1 {
			first = 1
		}
		if inner1 < leaf0 {
			second = 1
		}
		inners += first + second
		leaves += 2 - first - second
		c.leaves[node] = uint8(2 - first - second)
	}

	// From the root down, inner holds depths.
	c.inner[root] = 0
	numbers[1] = int(c.leaves[root])
	for node := root - 1; node >= 0; node-- {
		depth := c.inner[c.parents[node]] + 1
		c.inner[node] = depth
		numbers[(depth+1)%64] += int(c.leaves[node])
	}
	return int(c.inner[0]) + 1
}

// packageMerge returns the number of codes of each length in an optimal code of at most limit bits,
// by the algorithm of Larmore and Hirschberg. Very uneven counts need it, which payloads hardly
// ever have.
func packageMerge(keys []uint32, limit int) (numbers [64]int) {
	// A level has the leaves, merged by weight with the pairs of the level below.
	var isLeaf [maxLength + 1][2 * numSymbols]bool
	var weights, below [2 * numSymbols]uint32
	size := 0 // size of the level below
	for level := 1; level <= limit; level++ {
		leaf := 0
		pair := 0
		pairs := size / 2
		size = len(keys) + pairs
		for i := range size {
			light, heavy := uint32(1<<32-1), uint32(1<<32-1)
			if leaf < len(keys) {
				light = keys[leaf] >> symbolBits
			}
			if pair < pairs {
				heavy = below[2*pair] + below[2*pair+1]
			}
			isLeaf[level][i] = light <= heavy
			weights[i] = min(light, heavy)
			if light <= heavy {
				leaf++
			} else {
				pair++
			}
		}
		weights, below = below, weights
	}
	// Split up the 2n-2 lightest nodes of the last level, where n is the number of leaves. The
	// length of the code of a leaf is the number of levels on which it is among the nodes that are
	// split up.
	take, longer := 2*len(keys)-2, 0
	for level := limit; level > 0; level-- {
		leaves := 0
		for _, is := range isLeaf[level][:take] {
			if is {
				leaves++
			}
		}
		if level < limit {
			numbers[limit-level] = longer - leaves
		}
		longer = leaves
		take = 2 * (take - leaves)
	}
	numbers[limit] = longer
	return numbers
}

// assign gives each used symbol its code, from the number of codes of each length.
func (c *code) assign(numbers *[64]int) {
	var next [maxLength + 1]uint16
	for length := 1; length < maxLength; length++ {
		next[length+1] = (next[length] + uint16(numbers[length])) << 1
	}
	for _, symbol := range c.used {
		length := c.lengths[symbol] & maxLength
		c.entries[symbol] = uint64(bits.Reverse16(next[length]))<<48 | uint64(length)
		next[length]++
	}
}

// code returns the code of a symbol, first bit lowest, and its length in bits.
func (c *code) code(symbol int) (v uint64, n uint) {
	e := c.entries[symbol]
	n = uint(e & maxLength)
	return e >> (64 - n), n
}
