package deflate

// numLengthSymbols is the number of symbols for code lengths. Symbols 0 to 15 are lengths, and the
// others repeat a length.
const numLengthSymbols = 19

const (
	repeatLast  = 16 // 3 to 6 times, 2 extra bits
	repeatZero  = 17 // 3 to 10 times, 3 extra bits
	repeatZeros = 18 // 11 to 138 times, 7 extra bits
)

// extraBits has the number of extra bits of each symbol.
var extraBits = [32]uint8{repeatLast: 2, repeatZero: 3, repeatZeros: 7}

// order is the order of the code length codes in a stream.
var order = [numLengthSymbols]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// A head describes the code of a block at the beginning of the block (RFC 1951, 3.2.7).
type head struct {
	tokens [numSymbols + 4]uint16 // symbol in the low 8 bits, value of the extra bits above
	n      int                    // number of tokens
	listed int                    // number of lengths of the code that the stream has
	code   code                   // code of the lengths
	size   int                    // size in bits, without the type of the block
}

// A gap has the tokens, up to four, for a run of symbols without a code.
type gap struct {
	tokens uint64
	n      int
}

// gaps are indexed by the number of symbols. A run of three is three zeros, since the code of zero
// is short.
var gaps = func() (gaps [257]gap) {
	for size := range gaps {
		g := &gaps[size]
		add := func(symbol, extra int) {
			g.tokens |= uint64(symbol|extra<<8) << (16 * g.n)
			g.n++
		}
		rest := size
		for ; rest >= 11; rest -= min(rest, 138) {
			add(repeatZeros, min(rest, 138)-11)
		}
		if rest >= 4 {
			add(repeatZero, rest-3)
			rest = 0
		}
		for range rest {
			add(0, 0)
		}
	}
	return gaps
}()

// build makes the head for c.
//
// The processor cannot predict how many symbols without a code come before the next symbol with a
// code. So write four tokens each time, and overwrite those that are too many. Repeated lengths are
// rare.
func (h *head) build(c *code) {
	tokens := h.tokens[:]
	n, next := 0, 0 // number of tokens, and the next symbol
	last, repeats := uint8(0), 0
	for _, symbol := range c.used {
		length := c.lengths[symbol]
		g := &gaps[int(symbol)-next]
		if length != last || int(symbol) != next {
			repeats = -1
		}
		next = int(symbol) + 1
		last = length
		repeats++
		if repeats >= 3 {
			if repeats == 3 {
				n -= 2
				tokens[n] = repeatLast
				n++
			} else {
				tokens[n-1] += 1 << 8
			}
			if repeats == 6 {
				repeats = 0
			}
			continue
		}
		put := tokens[n : n+4]
		put[0] = uint16(g.tokens)
		put[1] = uint16(g.tokens >> 16)
		put[2] = uint16(g.tokens >> 32)
		put[3] = uint16(g.tokens >> 48)
		n += g.n
		tokens[n] = uint16(length)
		n++
	}
	tokens[n] = 0 // one distance code of no bits: there are no distances
	h.n = n + 1

	var counts [numLengthSymbols + 13]uint32
	for _, token := range tokens[:h.n] {
		counts[token%32]++
	}
	clear(h.code.lengths[:numLengthSymbols])
	h.code.build(counts[:numLengthSymbols], 7)
	h.listed = numLengthSymbols
	for h.listed > 4 && counts[order[h.listed-1]] == 0 {
		h.listed--
	}
	h.size = 5 + 5 + 4 + 3*h.listed + h.code.size
	for symbol := repeatLast; symbol < numLengthSymbols; symbol++ {
		h.size += int(counts[symbol]) * int(extraBits[symbol])
	}
}
