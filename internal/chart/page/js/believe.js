// How far the percentiles of a table can be believed: the intervals of 95% of Go's package confidence, as hdrsum -ci has them.
import { Sum, rankOf, slotOf, slotRange } from './store.js';

const cosines = 8, quantile = 2.306004135204166; // of Student's t with as many degrees of freedom, 97.5%
const leastWindows = 100, leastIndependent = 20, leastBeyond = 10, tailWeight = 8, mostWindows = 4096;
const coarse = 4; // half of the layout in which windows are counted, of one digit

const total = all => all.reduce((a, b) => a + b, 0);

// sizeOf returns the size of the windows that all series have: that of the first interval, or of a clearly longer one, since
// timers are late. Rows of several intervals have a window, and tell less.
export function sizeOf(all, window) {
  let size = 0, begin = Infinity, end = -Infinity;
  for (const rows of all.filter(rows => rows.length).sort((a, b) => a[0].start - b[0].start)) for (const w of rows) {
    const length = Math.max(window, window && w.intervals > 1 ? 0 : w.end - w.begin, 1);
    if (length > size + Math.floor(size / 8)) size = length;
    begin = Math.min(begin, w.begin);
    end = Math.max(end, w.end);
  }
  while (Math.floor((end - begin) / size) > mostWindows) size *= 2;
  return size;
}

// deviation estimates that of the sum of residuals.
function deviation(residuals) {
  const sums = new Float64Array(cosines);
  let farthest = 0;
  residuals.forEach((r, i) => {
    const one = Math.cos(Math.PI * (i + 0.5) / residuals.length);
    for (let j = 0, before = 1, cosine = one; j < cosines; j++) {
      sums[j] += r * cosine;
      [before, cosine] = [cosine, 2 * one * cosine - before];
    }
    farthest = Math.max(farthest, Math.abs(r));
  });
  return Math.sqrt(2 / cosines * total(sums.map(v => v * v)) + farthest * farthest);
}

// autocorrelationTime returns the number of windows that tell as much as an independent one.
function autocorrelationTime(residuals) {
  const covariance = lag => {
    let sum = 0;
    for (let i = lag; i < residuals.length; i++) sum += residuals[i] * residuals[i - lag];
    return sum;
  };
  const variance = covariance(0);
  let sum = 0;
  for (let lag = 0; variance && lag + 1 < residuals.length; lag += 2) {
    const pair = covariance(lag) + covariance(lag + 1);
    if (pair <= 0) break;
    sum += pair;
  }
  return variance ? Math.max(2 * sum / variance - 1, 1) : 1;
}

// intervalsOf returns the interval of each percentile of the sum of rows: its low and high end, null where there is none, or
// that the rows are too short. Windows begin at multiples of size after the epoch, which is origin before time 0.
export function intervalsOf(rows, sum, levels, size, origin) {
  const { counts, count } = sum, layout = { ...sum.layout, unit: 1 }, wide = { ...layout, half: Math.min(layout.half, coarse) };
  let seen = 0;
  const upTo = counts.map(n => seen += n), find = rank => upTo.findIndex(n => n >= rank);
  const value = rank => Math.min(slotRange(sum.layout, find(rank)).high, sum.max);
  const clearlyBelow = slot => { // the highest slot whose values every window tells from those of the slot, -1 if there is none
    const { high } = slotRange(layout, slot), most = high - Math.floor(high / 8);
    for (slot--; slot >= 0 && !(counts[slot] && slotRange(layout, slot).high <= most);) slot--;
    return slot;
  };
  const median = find(Math.floor((count + 1) / 2)), slots = levels.map(l => find(rankOf(l, count))), lower = slots.map(clearlyBelow);
  // A window counts the values up to the edges of its wide slots. A slot has the part of a wide one that it has in the sum.
  const cuts = new Map([median, ...slots, ...lower].filter(slot => slot >= 0).map(slot => {
    const w = slotRange(wide, slotOf(wide, slotRange(layout, slot).low));
    return [slot, [w.low, w.end].map(v => Math.min(slotOf(layout, v), counts.length) - 1)];
  }));
  const edges = [...new Set([...cuts.values()].flat())].sort((a, b) => a - b), places = Uint8Array.from(counts, (_, i) => edges.findLastIndex(e => e < i) + 1);
  const windowOf = row => Math.floor((row.begin + row.end + 2 * origin) / (2 * size));
  const first = rows.reduce((least, row) => Math.min(least, windowOf(row)), Infinity), last = rows.reduce((most, row) => Math.max(most, windowOf(row)), -Infinity);
  if (last - first + 1 < leastWindows) return levels.map(() => ({ tooShort: true }));
  // What windows have up to each edge, and in all. One is a row.
  const upToEdge = Array.from({ length: edges.length + 1 }, () => new Float64Array(last - first + 1)), n = upToEdge[edges.length];
  const one = new Sum(sum.layout, places, edges.length + 1);
  for (const row of rows) {
    one.counts.fill(0);
    one.add(row);
    for (let e = 0, at = windowOf(row) - first, seen = 0; e <= edges.length; e++) upToEdge[e][at] += seen += one.counts[e];
  }
  const seenUpTo = slot => {
    const [a, b] = cuts.get(slot).map(e => edges.indexOf(e)), below = upTo[edges[a]] || 0, part = (upTo[slot] - below) / (upTo[edges[b]] - below);
    return upToEdge[a].map((v, i) => v + part * (upToEdge[b][i] - v));
  };
  const residuals = of => {
    const share = total(of) / total(n);
    return of.map((v, i) => v - share * n[i]);
  };
  const slow = autocorrelationTime(residuals(seenUpTo(median))), filled = n.filter(v => v).length;
  return levels.map((l, i) => {
    const slot = slots[i], within = seenUpTo(slot), r = residuals(within), rank = l * count / 100, lag = autocorrelationTime(r), beyond = count - rankOf(l, count);
    const tail = n.map((v, i) => v - within[i]), squares = total(tail.map(v => v * v));
    const independent = Math.min(n.length / lag, n.length / slow, filled, squares ? tailWeight * total(tail) ** 2 / squares / lag : Infinity);
    if (beyond < leastBeyond || independent < leastIndependent) return { tooShort: true };
    let h = quantile * deviation(r);
    if (rank - h > upTo[slot] - counts[slot] && lower[i] >= 0) h = Math.max(h, quantile * deviation(residuals(seenUpTo(lower[i]))));
    const from = Math.floor(rank - h), to = Math.ceil(rank + h);
    return { low: from >= 1 ? value(from) : null, high: to <= count ? value(to) : null };
  });
}
