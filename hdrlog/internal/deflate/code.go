package deflate

import (
	"math/bits"
	"slices"
)

const (
	endOfBlock = 256
	numSymbols = 257 // all bytes and the end of the block; lengths of matches are not used
	maxLength  = 15  // of a code for one of these

	symbolBits = 9
	countBits  = 32 - symbolBits
)

// A code is a canonical Huffman code (RFC 1951, 3.2.2) of up to numSymbols symbols.
type code struct {
	used    []uint16           // symbols that have a code, in order
	lengths [numSymbols]uint8  // bits of the code of each of them
	entries [numSymbols]uint64 // its code in the highest bits, the last one highest, and its length in the lowest
	size    int                // bits that all symbols take together, each as often as it was counted
	longest int                // bits of the longest code

	symbols      [numSymbols]uint16 // what used is made of
	keys, sorted [numSymbols + 2]uint32
	inner        [numSymbols + 2]uint32 // what the inner nodes of the tree weigh, in the order in which they are made
	parents      [numSymbols + 2]uint16 // of the inner nodes
	leaves       [numSymbols]uint8      // how many leaves each has
}

// make makes an optimal code, of at most limit bits a symbol, for symbols that occur as often as counts says. At least two
// do, and at most 1<<limit.
func (c *code) make(counts []uint32, limit int) {
	n := 0
	for symbol, count := range counts {
		// Which ones occur cannot be predicted, so those that do not are overwritten.
		c.keys[n] = count<<symbolBits | uint32(symbol)
		c.symbols[n] = uint16(symbol)
		n += int(-count >> 31)
	}
	c.used = c.symbols[:n]
	keys := c.sort(n)
	var numbers [64]int // of codes, by their length
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

// sort sorts the first n keys. They are in order of their symbols already.
func (c *code) sort(n int) []uint32 {
	keys := c.keys[:n]
	sorted := 0
	if n >= 32 {
		// Most symbols are rare: counting puts all in order but the few that are not.
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

// huffman tells how many codes of each length an optimal code without a limit has, and the length of the longest. Keys are
// sorted and at least two, with room for two more.
//
// Leaves come in order of their counts and inner nodes are made in order of theirs, so that the two lightest nodes without
// a parent are among the first two of each of these queues. Which of the three pairs it is cannot be predicted, so there
// is no branch: it is the one that weighs least. No depth needs more than 6 bits: counts that make such a tree add up to
// more than 1<<countBits.
func (c *code) huffman(keys []uint32, numbers *[64]int) (longest int) {
	const heavy = 1<<30 - 1 // more than there can be, for what is not there
	root := len(keys) - 2
	leaf := keys[:len(keys)+2]
	leaf[len(keys)], leaf[len(keys)+1] = 1<<32-1, 1<<32-1
	for i := range leaf {
		c.inner[i] = heavy
	}
	leaves, inners := 0, 0 // how many have a parent
	for node := 0; node <= root; node++ {
		leaf0, leaf1 := leaf[leaves]>>symbolBits, leaf[leaves+1]>>symbolBits
		inner0, inner1 := c.inner[inners], c.inner[inners+1]
		// Who has a parent already, or is not taken now, gets another one later.
		c.parents[inners], c.parents[inners+1] = uint16(node), uint16(node)
		c.inner[node] = min(leaf0+leaf1, leaf0+inner0, inner0+inner1)
		first, second := 0, 0
		if inner0 <= leaf1 {
			first = 1
		}
		if inner1 <= leaf0 {
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

// packageMerge tells how many codes of each length an optimal code of at most limit bits has: the algorithm of Larmore and
// Hirschberg. It is for counts so uneven that they need longer codes, which payloads hardly ever are.
func packageMerge(keys []uint32, limit int) (numbers [64]int) {
	// Each level is the leaves, merged by weight with the pairs of the level below.
	var isLeaf [maxLength + 1][2 * numSymbols]bool
	var weights, below [2 * numSymbols]uint32
	size := 0 // of the level below
	for level := 1; level <= limit; level++ {
		leaf, pair, pairs := 0, 0, size/2
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
	// Of what the 2n-2 lightest of the last level are made: the code of a leaf has as many bits as there are levels where it
	// is among them.
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

// assign gives each symbol that is used the code of its length, of which there are so many of each.
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

// code returns the code of a symbol, first bit lowest, and its length.
func (c *code) code(symbol int) (v uint64, n uint) {
	e := c.entries[symbol]
	n = uint(e & maxLength)
	return e >> (64 - n), n
}
