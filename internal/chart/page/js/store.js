// The rows of the data, in the format of the type Rows of Go's package page, and what the page
// computes from them.
import { nines, steps } from './ticks.js';

// unbase64 returns the bytes that base64 stands for.
function unbase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// unpack returns the bytes of rows: a deflated stream, or base64 of one.
export async function unpack(rows) {
  const stream = new Blob([typeof rows === 'string' ? unbase64(rows) : rows])
    .stream()
    .pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// named returns the label of a series as the page shows it.
export const named = label => label || 'untagged';

// newSeries returns a series of the data without rows, with an empty line for each measure.
export function newSeries(series, measures) {
  return {
    ...series,
    windows: [],
    lines: measures.map(name => ({ name, points: [] })),
    layout: null,
    shown: !series.rest,
  };
}

// addRows decodes rows, and adds their windows and points to the series. Times are in milliseconds.
export function addRows(series, bytes) {
  const floats = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  let last = 0;
  const varint = () => {
    let v = 0;
    let scale = 1;
    for (;;) {
      const b = bytes[at++];
      v += (b & 127) * scale;
      if (b < 128) return v;
      scale *= 128;
    }
  };
  const time = () => {
    const v = varint();
    last += v % 2 ? -(v + 1) / 2 : v / 2;
    return last;
  };
  const float = () => {
    at += 8;
    return floats.getFloat64(at - 8, true);
  };
  while (at < bytes.length) {
    const kind = varint();
    const s = series[varint()];
    if (kind === 0) {
      s.layout = { half: varint(), shift: varint(), unit: float() };
    } else if (kind === 1) {
      const start = time();
      const skew = varint();
      const length = varint();
      const w = {
        start,
        begin: start - skew,
        end: start - skew + length,
        intervals: varint(),
        count: varint(),
        source: varint(),
        min: float(),
        max: float(),
        sum: float(),
        layout: s.layout,
        bytes,
        at: 0,
        to: 0,
      };
      const size = varint();
      w.at = at;
      w.to = at += size;
      inOrder(s.windows, w);
    } else {
      const line = s.lines[varint()];
      const start = time();
      const length = varint();
      inOrder(line.points, { start, end: start + length, value: float(), gap: kind === 3 });
    }
  }
}

// inOrder inserts an element after those that start no later. That is nearly always the end.
// Spliced counts the exceptions.
function inOrder(all, one) {
  let i = all.length;
  while (i > 0 && all[i - 1].start > one.start) i--;
  if (i === all.length) all.push(one);
  else {
    all.splice(i, 0, one);
    all.spliced = (all.spliced || 0) + 1;
  }
}

// indexOf returns the index of the first element that starts at or after a time.
function indexOf(all, t) {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (all[mid].start < t) low = mid + 1;
    else high = mid;
  }
  return low;
}

// startsIn returns the elements that start in [from, to).
export function startsIn(all, from, to) {
  return all.slice(indexOf(all, from), indexOf(all, to));
}

// extremesOf returns the elements of the lowest and the highest value among those whose middle lies
// in [from, to). No element is longer than longest.
export function extremesOf(all, from, to, longest, value = p => p.value) {
  let low = null;
  let high = null;
  for (let i = indexOf(all, from - longest / 2); i < all.length && all[i].start < to; i++) {
    const p = all[i];
    const middle = (p.start + p.end) / 2;
    if (middle < from || middle >= to) continue;
    if (!low || value(p) < value(low)) low = p;
    if (!high || value(p) > value(high)) high = p;
  }
  return { low, high };
}

const lengthsOf = new WeakMap();

// longest returns the length of the longest element.
export function longest(all) {
  const known = lengthsOf.get(all);
  if (known && known.count === all.length) return known.length;
  const length = all.reduce((most, p) => Math.max(most, p.end - p.start), 0);
  lengthsOf.set(all, { count: all.length, length });
  return length;
}

// recordedAt returns the element that contains the time t, or the nearest one, or null if t is in a
// gap. An element may be a quarter of its length away, or a pixel, whose time is given in
// milliseconds. An element without a length may be a fiftieth of the view away. Of elements that
// are equally near, recordedAt returns the highest.
export function recordedAt(all, t, { from, to }, pixel) {
  const far = (to - from) / 50;
  const reach = p => (p.end > p.start ? Math.max(pixel, (p.end - p.start) / 4) : far);
  let best = null;
  let distance = Infinity;
  for (const p of startsIn(all, Math.max(from, t - far - longest(all)), Math.min(to, t + far))) {
    const d = t < p.start ? p.start - t : Math.max(t - p.end, 0);
    if (d <= reach(p) && (d < distance || (d === distance && p.value > best.value))) {
      best = p;
      distance = d;
    }
  }
  return best;
}

// slotRange returns the values of a slot in the unit of the page: the lowest, the highest, and as
// end the lowest of the next slot.
export function slotRange(layout, index) {
  const half = 2 ** layout.half;
  const bucket = Math.max(Math.floor(index / half) - 1, 0);
  const size = 2 ** (bucket + layout.shift);
  const low = (index - bucket * half) * size;
  return {
    low: low * layout.unit,
    high: (low + size - 1) * layout.unit,
    end: (low + size) * layout.unit,
  };
}

// slotOf returns the slot of a value in the unit of the page.
export function slotOf(layout, v) {
  const half = 2 ** layout.half;
  const n = Math.floor((v / layout.unit / 2 ** layout.shift) * (1 + 1e-12));
  const bucket = Math.max(Math.floor(Math.log2(Math.max(n, 1))) - layout.half, 0);
  return bucket * half + Math.floor(n / 2 ** bucket);
}

const sameLayout = (a, b) =>
  a === b || (a.half === b.half && a.shift === b.shift && a.unit === b.unit);

// A Sum adds up the counts of windows by slot, in the layout of the first window. A count of
// another layout goes to the slot of its lowest value.
export class Sum {
  constructor(layout = null, slots = 256) {
    Object.assign(this, { layout, counts: new Float64Array(slots) });
  }

  // add adds the counts of a window, multiplied by share.
  add(w, share = 1) {
    if (!this.layout) this.layout = w.layout;
    if (!sameLayout(this.layout, w.layout)) {
      eachSlot(w, (index, count) =>
        this.put(slotOf(this.layout, slotRange(w.layout, index).low), count * share),
      );
      return;
    }
    const { bytes, to } = w;
    let { counts } = this;
    let at = w.at;
    let index = 0;
    while (at < to) {
      let n = bytes[at++];
      if (n < 128 && n & 1) {
        // Most numbers are short runs of empty slots. Integers are quicker.
        index += (n + 1) >> 1;
        continue;
      }
      if (n > 127) {
        n -= 128;
        for (let scale = 128, more = true; more; scale *= 128) {
          const b = bytes[at++];
          // The ninth byte has eight bits.
          more = b > 127 && scale < 2 ** 56;
          n += (more ? b - 128 : b) * scale;
        }
      }
      if (n % 2)
        index += (n + 1) / 2; // empty slots
      else {
        if (index >= counts.length) {
          this.grow(index);
          counts = this.counts;
        }
        counts[index++] += (n / 2) * share;
      }
    }
  }

  put(index, count) {
    if (index >= this.counts.length) this.grow(index);
    this.counts[index] += count;
  }

  grow(index) {
    const counts = new Float64Array(2 * (index + 1));
    counts.set(this.counts);
    this.counts = counts;
  }
}

function eachSlot(w, visit) {
  const alone = new Sum();
  alone.add(w);
  alone.counts.forEach((count, index) => {
    if (count) visit(index, count);
  });
}

// sumOf adds up the windows of a series that start in [from, to). It continues the last sum of the
// series if that began with the same window.
export function sumOf(series, from, to) {
  const { windows } = series;
  const first = indexOf(windows, from);
  const end = indexOf(windows, to);
  let { last } = series;
  if (!last || last.first !== first || last.next > end || last.spliced !== windows.spliced) {
    const sum = Object.assign(new Sum(), { intervals: 0, count: 0, min: Infinity, max: 0, sum: 0 });
    last = series.last = { first, next: first, sum, spliced: windows.spliced };
  }
  const { sum } = last;
  for (; last.next < end; last.next++) {
    const w = windows[last.next];
    sum.intervals += w.intervals;
    if (!w.count) continue;
    sum.count += w.count;
    sum.min = Math.min(sum.min, w.min);
    sum.max = Math.max(sum.max, w.max);
    sum.sum += w.sum;
    sum.add(w);
  }
  return sum;
}

// rankOf returns how many of count values are at or below a percentile. As hdrsum does, it takes
// the next lower float64 and rounds up.
export function rankOf(percentile, count) {
  const lower = new Float64Array([percentile]);
  new BigInt64Array(lower.buffer)[0]--;
  return Math.min(Math.max(Math.ceil((lower[0] * count) / 100), 1), count);
}

// slotsAt returns the slot of each percentile of a sum.
function slotsAt(sum, levels) {
  const slots = [];
  const ranks = levels
    .map((l, place) => ({ rank: rankOf(l, sum.count), place }))
    .sort((a, b) => a.rank - b.rank);
  let seen = 0;
  let next = 0;
  for (let i = 0; i < sum.counts.length && next < ranks.length; i++) {
    if (!sum.counts[i]) continue;
    seen += sum.counts[i];
    for (; next < ranks.length && seen >= ranks[next].rank; next++) slots[ranks[next].place] = i;
  }
  return slots;
}

// quantilesOf returns between which values, low and high, each percentile of a sum lies.
export const quantilesOf = (sum, levels) =>
  slotsAt(sum, levels).map(slot => {
    const { low, high } = slotRange(sum.layout, slot);
    return { low: Math.min(Math.max(low, sum.min), sum.max), high: Math.min(high, sum.max) };
  });

// If at most maxIntervals are in view, a line shows each of them. Otherwise it shows about
// maxWindows windows.
const maxIntervals = 1500;
const maxWindows = 400;

// mergedStep returns the length of the windows of lines in milliseconds, or 0 if lines show each
// interval.
export function mergedStep(series, from, to) {
  const busiest = Math.max(0, ...series.map(s => startsIn(s.windows, from, to).length));
  return busiest <= maxIntervals
    ? 0
    : 1000 * (steps.find(s => (to - from) / s / 1000 <= maxWindows) || 86400);
}

// mergedPoints returns the points of a line with one for each step milliseconds. The steps begin at
// multiples of step since the epoch. A window belongs to the step that contains its middle.
export function mergedPoints(windows, name, step, origin) {
  const points = [];
  const level = /^p([\d.]+)$/.exec(name)?.[1];
  let sum = null;
  let at = -Infinity;
  let start = 0;
  let end = 0;
  let gap = true;
  const flush = next => {
    if (sum?.count)
      points.push({
        start,
        end,
        value: level ? quantilesOf(sum, [Number(level)])[0].high : sum.max,
        gap,
      });
    gap = next !== at + 1;
    [sum, at] = [Object.assign(new Sum(), { count: 0, min: 0, max: 0 }), next];
  };
  for (const w of windows) {
    if (!w.count) continue;
    const n = Math.floor((w.begin + w.end + 2 * origin) / 2 / step);
    if (n !== at) {
      flush(n);
      start = w.begin;
    }
    end = w.end;
    sum.max = Math.max(sum.max, w.max);
    sum.count += w.count;
    if (level) sum.add(w);
  }
  flush(Infinity);
  return points;
}

// verdictsOf returns, for each limit, 1 if it holds for a sum, -1 if it does not, and 0 if the
// precision of the page leaves that open.
export function verdictsOf(sum, limits) {
  return limits.map(l => {
    if (!sum.count) return null;
    const { low, high } = l.percentile
      ? slotRange(sum.layout, slotsAt(sum, [l.percentile])[0])
      : { low: sum.max, high: sum.max };
    return Math.min(high, sum.max) <= l.value ? 1 : low > l.value ? -1 : 0;
  });
}

// shares divides the range from a to b among cells: cell n reaches from n to n+1. It returns [n,
// share] for each cell. The first or the last cell takes what is outside of all.
function shares(a, b, most) {
  const first = Math.min(Math.max(Math.floor(a), 0), most - 1);
  const last = Math.min(Math.max(Math.ceil(b) - 1, first), most - 1);
  const all = [];
  if (!(b - a > 1e-9)) return [[first, 1]];
  for (let n = first; n <= last; n++)
    all.push([n, (Math.min(b, n + 1) - Math.max(a, n)) / (b - a)]);
  return all;
}

// A window begins at the truncated start that the HdrHistogram tools print (printedEnds), or at the
// rounded start where it is drawn (drawnEnds).
export const printedEnds = w => [w.begin, w.end];
const drawnEnds = w => [w.start, w.start + w.end - w.begin];

// spansOf returns, for each time in which the group of a series ran, the first start and the last
// end of its windows that start in [from, to). Ran has these times by group. A group that ran has
// not ran all the time. Ends returns the ends of a window.
export function spansOf(s, from, to, ran, ends) {
  const times = ran?.[s.group] || [[-Infinity]];
  const spans = times.map(() => [Infinity, -Infinity]);
  let n = 0;
  for (const w of startsIn(s.windows, from, to)) {
    while (n + 1 < times.length && times[n + 1][0] <= w.begin) n++;
    const [begin, end] = ends(w);
    spans[n] = [Math.min(spans[n][0], begin), Math.max(spans[n][1], end)];
  }
  return spans;
}

// groupSpansOf returns the spans of all series of a group together, by group: for each time in
// which the group ran, the first start and the last end of spansOf.
function groupSpansOf(series, from, to, ran, ends) {
  const groups = {};
  for (const s of series)
    spansOf(s, from, to, ran, ends).forEach(([begin, end], n) => {
      const [first, last] = (groups[s.group] ||= [])[n] || [Infinity, -Infinity];
      groups[s.group][n] = [Math.min(first, begin), Math.max(last, end)];
    });
  return groups;
}

// ranIn returns for how many milliseconds the logs of series ran in each column of time. The first
// column begins at start. Only windows that start in [from, to) count. A column in which no log ran
// counts as its full width.
export function ranIn(series, from, to, ran, start, width, columns) {
  const lengths = new Float64Array(columns);
  const groups = groupSpansOf(series, from, to, ran, drawnEnds);
  let at = start;
  for (let [begin, end] of Object.values(groups)
    .flat()
    .filter(([begin, end]) => begin < end)
    .sort((a, b) => a[0] - b[0])) {
    begin = Math.max(at, begin);
    end = Math.min(end, start + columns * width);
    for (let n = Math.floor((begin - start) / width); begin < end && n < columns; n++) {
      const next = Math.min(end, start + (n + 1) * width);
      lengths[n] += Math.max(next - begin, 0);
      at = begin = Math.max(begin, next);
    }
  }
  return lengths.map(length => length || width);
}

// gridOf returns the start of the first column and the length of columns. They are those of the
// windows of the series that has the most windows in [from, to). All windows lie between earliest
// and last. A short window at an end of a log changes no other column. Since timers are late, the
// length is a mean, and a last window may end some milliseconds beside the end of its column.
function gridOf(series, from, to, earliest, last) {
  const timed = series.map(s => startsIn(s.windows, from, to).filter(w => w.end > w.begin));
  const windows = timed.reduce((most, some) => (some.length > most.length ? some : most));
  const length = w => w.end - w.begin;
  const lengths = windows.map(length).sort((a, b) => a - b);
  const median = lengths[lengths.length >> 1];
  const slack = 0.05;
  const usual = windows.filter(w => Math.abs(length(w) - median) < median / 4);
  const anchor = usual[0].start;
  const span = usual.at(-1).start - anchor;
  const mean = span / Math.round(span / median);
  const step = Math.abs(mean - median) < median / 4 ? mean : median;
  const first = anchor - Math.max(Math.ceil((anchor - earliest) / step - slack), 0) * step;
  const start = Math.min(first, earliest);
  const steps = Math.max(Math.round((last - start) / step), 1);
  return {
    first: start,
    step: Math.abs((last - start) / step - steps) < slack ? (last - start) / steps : step,
  };
}

// rateOf returns the values per second of all series together, as points with one for each column,
// the width of a column in milliseconds, and as whole the number of windows in a column. Only
// windows that start in [from, to) count. Most limits the number of columns. The last column ends
// with its windows, which can be after the view. A column beside a gap ends at the gap: otherwise
// its rate would be too low.
export function rateOf(series, from, to, most, ran) {
  const windows = series.flatMap(s => startsIn(s.windows, from, to)).filter(w => w.end > w.begin);
  const points = [];
  if (!windows.length) return { points, width: 0, whole: 0 };
  const ends = w => w.start + w.end - w.begin;
  let earliest = to;
  let last = -Infinity;
  for (const w of windows) {
    earliest = Math.min(earliest, w.start);
    last = Math.max(last, ends(w));
  }
  const { first, step } = gridOf(series, from, to, earliest, last);
  const all = Math.ceil((last - first) / step - 1e-9);
  const whole = Math.ceil(all / most);
  const columns = Math.ceil(all / whole);
  const width = step * whole;
  const times = ranIn(series, from, to, ran, first, width, columns);
  const counts = new Float64Array(columns).fill(NaN);
  const begins = new Float64Array(columns).fill(Infinity);
  const stops = new Float64Array(columns).fill(-Infinity);
  for (const w of windows) {
    const at = (w.start - first) / width;
    for (const [n, share] of shares(at, at + (w.end - w.begin) / width, columns)) {
      counts[n] = (counts[n] || 0) + w.count * share;
      begins[n] = Math.min(begins[n], Math.max(w.start, first + n * width));
      stops[n] = Math.max(stops[n], Math.min(ends(w), first + (n + 1) * width));
    }
  }
  counts.forEach((count, n) => {
    if (Number.isNaN(count)) return;
    const gap = !(counts[n - 1] >= 0);
    const start = gap ? begins[n] : first + n * width;
    const end = counts[n + 1] >= 0 ? first + (n + 1) * width : stops[n];
    points.push({ start, end, value: (count / Math.min(times[n], end - start)) * 1000, gap });
  });
  return { points, width, whole };
}

// summaryOf returns the row of the table for a sum. Period is the measured time in milliseconds.
// Each percentile is in a slot: percentiles has the highest value of the slots, and lows the
// lowest.
export function summaryOf(sum, label, period, levels) {
  const values = sum.count ? quantilesOf(sum, levels) : [];
  const percentiles = values.map(v => v.high);
  const lows = values.map(v => v.low);
  return {
    label,
    intervals: sum.intervals,
    count: sum.count,
    perSecond: period > 0 ? sum.count / (period / 1000) : null,
    min: sum.min,
    mean: sum.sum / sum.count,
    percentiles,
    lows,
    max: sum.max,
  };
}

// tableOf returns the rows of the table for the intervals that start in [from, to). As in hdrsum,
// the period of a series counts the runs of its group in which the series has intervals, each from
// the first start to the last end in any series of the group.
export function tableOf(series, from, to, levels, ran) {
  const sums = series.map(s => [s, sumOf(s, from, to)]).filter(([, sum]) => sum.intervals);
  const groups = groupSpansOf(series, from, to, ran, printedEnds);
  return sums.map(([s, sum]) => {
    const own = spansOf(s, from, to, ran, printedEnds);
    const all = groups[s.group].filter((_, n) => own[n][0] < Infinity);
    return summaryOf(
      sum,
      s.label,
      all.reduce((period, [begin, end]) => period + end - begin, 0),
      levels,
    );
  });
}

// curveOf returns the percentile curve of a sum as points on the axis of nines. The last point is
// the maximum.
export function curveOf(sum) {
  const x = [];
  const v = [];
  const lows = [];
  const { counts, count, layout, max } = sum;
  for (let index = 0, seen = 0, at = nines(0); index < counts.length; index++) {
    if (!counts[index]) continue;
    seen += counts[index];
    // A step of the curve goes from the percentile of the slot before to that of this slot.
    const from = at;
    const last = seen >= count;
    const { low, high } = slotRange(layout, index);
    const value = last ? max : Math.min(high, max);
    at = last ? Math.max(Math.log10(2 * count), from) : nines(seen / count);
    x.push(from, at);
    v.push(value, value);
    lows.push(...(last ? [Math.min(low, max), max] : [low, low]));
  }
  return { x, v, lows, total: count };
}

// heatOf returns the values per second of each cell of a heat map, by column of time and row of
// values. Place maps a value to [0, 1], which the rows divide. A cell gets the share of the counts
// of a slot that its row has of the slot, and its column of the window. Lengths has for how many
// milliseconds the logs ran in each column.
export function heatOf(series, from, to, columns, rows, place, lengths) {
  const rate = new Float64Array(columns * rows);
  const perColumn = (to - from) / columns;
  const grids = []; // the sum of each column, for each layout
  for (const s of series)
    for (const w of startsIn(s.windows, from, to)) {
      let grid = grids.find(g => sameLayout(g.layout, w.layout));
      if (!grid) grids.push((grid = { layout: w.layout, sums: [], slots: 256 }));
      const a = (w.start - from) / perColumn;
      const b = (w.start - w.begin + w.end - from) / perColumn;
      for (const [column, share] of shares(a, b, columns)) {
        const sum = (grid.sums[column] ||= new Sum(w.layout, grid.slots));
        sum.add(w, share);
        grid.slots = Math.max(grid.slots, sum.counts.length);
      }
    }
  for (const { layout, sums } of grids) {
    const rowsOf = [];
    sums.forEach(({ counts }, column) => {
      const begin = column * rows;
      const scale = 1000 / lengths[column];
      for (let index = 0; index < counts.length; index++) {
        if (!counts[index]) continue;
        if (!rowsOf[index]) {
          const r = slotRange(layout, index);
          rowsOf[index] =
            r.low > 0 ? shares(place(r.low) * rows, place(r.end) * rows, rows) : [[0, 1]];
        }
        for (const [row, share] of rowsOf[index])
          rate[begin + row] += counts[index] * scale * share;
      }
    });
  }
  return rate;
}
