// unlzma returns what xz --format=lzma packed: a header of 13 bytes, then a stream of LZMA with a mark at its end. It takes half a second
// for the code of the viewer, which gzip, the only format that browsers unpack, makes 1.4 times as large. The names are those of
// the specification, https://www.7-zip.org/sdk.html.
export function unlzma(packed) {
  const lc = packed[0] % 9, lp = Math.floor(packed[0] / 9) % 5, pb = Math.floor(packed[0] / 45);
  let out = new Uint8Array(6 * packed.length), end = 0, at = 18, range = 0xffffffff, code = 0;
  for (let i = 14; i < 18; i++) code = (code << 8 | packed[i]) >>> 0; // the first byte after the header is 0

  const probs = size => new Uint16Array(size).fill(1024);
  const bit = (all, i) => {
    const p = all[i], bound = (range >>> 11) * p;
    let b = 0;
    if (code < bound) {
      range = bound;
      all[i] = p + (2048 - p >> 5);
    } else {
      range -= bound;
      code -= bound;
      all[i] = p - (p >> 5);
      b = 1;
    }
    if (range < 0x1000000) {
      if (at >= packed.length) throw new Error('the code ends too early');
      range = range << 8 >>> 0;
      code = (code << 8 | packed[at++]) >>> 0;
    }
    return b;
  };
  const direct = bits => {
    let v = 0;
    for (; bits > 0; bits--) {
      range >>>= 1;
      const b = code >= range ? 1 : 0;
      if (b) code -= range;
      v = v * 2 + b;
      if (range < 0x1000000) {
        range = range << 8 >>> 0;
        code = (code << 8 | packed[at++]) >>> 0;
      }
    }
    return v;
  };
  const tree = (all, base, bits) => {
    let m = 1;
    for (let i = 0; i < bits; i++) m = m << 1 | bit(all, base + m);
    return m - (1 << bits);
  };
  const reversed = (all, base, bits) => {
    let m = 1, v = 0;
    for (let i = 0; i < bits; i++) {
      const b = bit(all, base + m);
      m = m << 1 | b;
      v |= b << i;
    }
    return v;
  };
  const lengths = () => {
    const choice = probs(2), low = probs(16 << 3), mid = probs(16 << 3), high = probs(256);
    return posState => !bit(choice, 0) ? 2 + tree(low, posState << 3, 3) : !bit(choice, 1) ? 10 + tree(mid, posState << 3, 3) : 18 + tree(high, 0, 8);
  };

  const literals = probs(0x300 << lc + lp), isMatch = probs(12 << 4), isRep = probs(12), isRepG0 = probs(12), isRepG1 = probs(12), isRepG2 = probs(12), isRep0Long = probs(12 << 4);
  const slots = probs(4 << 6), special = probs(1 + 128 - 14), align = probs(16), length = lengths(), repLength = lengths();
  let state = 0, rep0 = 0, rep1 = 0, rep2 = 0, rep3 = 0;
  for (;;) {
    if (out.length - end < 300) { // more than a match
      const larger = new Uint8Array(2 * out.length + 300);
      larger.set(out);
      out = larger;
    }
    const posState = end & (1 << pb) - 1;
    if (!bit(isMatch, (state << 4) + posState)) {
      const base = 0x300 * (((end & (1 << lp) - 1) << lc) + ((end ? out[end - 1] : 0) >> 8 - lc));
      let symbol = 1;
      if (state >= 7) {
        let match = out[end - rep0 - 1];
        while (symbol < 256) {
          const matched = match >> 7 & 1;
          match <<= 1;
          const b = bit(literals, base + (1 + matched << 8) + symbol);
          symbol = symbol << 1 | b;
          if (matched !== b) break;
        }
      }
      while (symbol < 256) symbol = symbol << 1 | bit(literals, base + symbol);
      out[end++] = symbol;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let n;
    if (bit(isRep, state)) {
      if (!bit(isRepG0, state)) {
        if (!bit(isRep0Long, (state << 4) + posState)) {
          state = state < 7 ? 9 : 11;
          out[end] = out[end - rep0 - 1];
          end++;
          continue;
        }
      } else if (!bit(isRepG1, state)) [rep0, rep1] = [rep1, rep0];
      else if (!bit(isRepG2, state)) [rep0, rep1, rep2] = [rep2, rep0, rep1];
      else [rep0, rep1, rep2, rep3] = [rep3, rep0, rep1, rep2];
      n = repLength(posState);
      state = state < 7 ? 8 : 11;
    } else {
      [rep1, rep2, rep3] = [rep0, rep1, rep2];
      n = length(posState);
      state = state < 7 ? 7 : 10;
      const slot = tree(slots, Math.min(n - 2, 3) << 6, 6);
      rep0 = slot;
      if (slot >= 4) {
        const bits = (slot >> 1) - 1;
        rep0 = (2 | slot & 1) * 2 ** bits;
        rep0 += slot < 14 ? reversed(special, rep0 - slot, bits) : direct(bits - 4) * 16 + reversed(align, 0, 4);
      }
      if (rep0 === 0xffffffff) return out.subarray(0, end);
    }
    if (rep0 >= end) throw new Error('the code is damaged');
    for (const to = end + n; end < to; end++) out[end] = out[end - rep0 - 1];
  }
}
