// How figures changed from one range of time to another, with intervals of confidence. Hdrdiff
// computes the same of two runs, by the rules in the comment of Go's package confidence. It has the
// counts of the log, and the page only the rounded counts of its windows.
import { Sum, slotRange, rankOf, startsIn, spansOf, printedEnds } from './store.js';

const minSeconds = 57;
const minBeyond = 10;
const minParts = 5;
const maxParts = 20;
const partWindows = 4;
const tailWeight = 8;
const maxSegments = 120;
const maxRunWindows = 600;

// The level of confidence in percent. A change has an interval if each range lasts minCompared
// seconds.
const level = 95;
const minCompared = 2 * minSeconds;

function total(all) {
  let sum = 0;
  for (const v of all) sum += v;
  return sum;
}

// residualsOf returns how much each number of a list differs from its share: the number at the same
// place in another list, times the ratio of the sums of both lists.
function residualsOf(of, to) {
  const ratio = total(of) / total(to);
  return of.map((v, i) => v - ratio * to[i]);
}

// autocorrelationTime returns how many windows contain as much information as one independent
// window, at least 1.
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
  return variance ? Math.max((2 * sum) / variance - 1, 1) : 1;
}

function lnGamma(x) {
  const terms = [
    76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155,
    0.1208650973866179e-2, -0.5395239384953e-5,
  ];
  return (
    Math.log(
      (2.5066282746310005 * terms.reduce((sum, c, i) => sum + c / (x + 1 + i), 1.000000000190015)) /
        x,
    ) -
    (x + 5.5 - (x + 0.5) * Math.log(x + 5.5))
  );
}

// incompleteBeta returns the regularized incomplete beta function, by its continued fraction.
function incompleteBeta(a, b, x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, 1 - x);
  const front =
    Math.exp(lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  const tiny = 1e-300;
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1) || tiny);
  let f = d;
  for (let m = 1; m < 500; m++)
    for (const term of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / (1 + term * d || tiny);
      c = 1 + term / c || tiny;
      f *= c * d;
      if (term < 0 && Math.abs(c * d - 1) < 1e-15) return front * f;
    }
  return front * f;
}

// studentTail returns the probability that Student's t is at least t away from zero.
export const studentTail = (t, freedom) =>
  incompleteBeta(freedom / 2, 0.5, freedom / (freedom + t * t));

// meantLength returns the round length that is nearest to the length of an interval in
// milliseconds: timers are early or late.
function meantLength(length) {
  let best = 1;
  for (let ten = 1; ten <= length; ten *= 10)
    for (const tens of [2, 3, 4, 5, 6, 8, 10, 12, 15])
      if (Math.abs(tens * ten - length) < Math.abs(best - length)) best = tens * ten;
  return best;
}

// sharedBy returns what the runs of all series in a range of time have in common: when each group
// ran, and as size the length of the windows of a run in milliseconds. Windows begin at multiples
// of size since the epoch.
function sharedBy(series, from, to, { ran, origin }) {
  const groups = {};
  const all = series.flatMap(s => startsIn(s.windows, from, to));
  let first = Infinity;
  let last = -Infinity;
  let longest = 0;
  for (const w of all) {
    [first, last] = [Math.min(first, w.begin), Math.max(last, w.end)];
    longest = Math.max(longest, w.end - w.begin);
  }
  for (const s of series) (groups[s.group] ||= []).push(...spansOf(s, from, to, ran, printedEnds));
  let size = meantLength(longest);
  while (Math.floor((last - first) / size) > maxRunWindows) size *= 2;
  return { from, to, origin, groups, size };
}

// covered returns for how many milliseconds of [from, to) at least one span lasts. The spans are in
// the order of their starts.
function covered(spans, from, to) {
  let sum = 0;
  let at = from;
  for (const [begin, end] of spans)
    if (Math.min(end, to) > Math.max(at, begin)) {
      sum += Math.min(end, to) - Math.max(at, begin);
      at = Math.min(end, to);
    }
  return sum;
}

// A Run is what a series recorded in a range of time, in windows of one length. Slots has the slots
// that have values, each with the number of values up to it (upTo); windows has the same numbers
// for each window.
class Run {
  constructor(series, { from, to, origin, groups, size }) {
    const rows = startsIn(series.windows, from, to);
    const placeOf = w => Math.floor((w.begin + w.end + 2 * origin) / 2 / size);
    const first = Math.min(...rows.map(placeOf));
    const n = Math.max(...rows.map(placeOf)) - first + 1;
    const start = first * size - origin;
    const sum = new Sum();
    const windows = Array.from({ length: n }, () => []);
    const values = (this.values = Array(n).fill(0));
    const counts = (this.counts = Array(n).fill(0));
    const middle = i => Math.min(Math.max(i, 0), n - 1);
    for (const w of rows) {
      const at = placeOf(w) - first;
      if (!w.count) continue;
      sum.add(w);
      windows[at].push(w);
      counts[at] += w.count;
      // Spread the values of an interval evenly over its time.
      const length = w.end - w.begin;
      if (!(length > 0)) values[at] += w.count;
      else
        for (let i = Math.floor((w.begin - start) / size); start + i * size < w.end; i++) {
          values[middle(i)] +=
            (w.count *
              (Math.min(w.end, start + (i + 1) * size) - Math.max(w.begin, start + i * size))) /
            length;
        }
    }
    const spans = groups[series.group]
      .filter(([begin, end]) => begin < end)
      .sort((a, b) => a[0] - b[0]);
    const begin = Math.min(start, ...rows.map(w => w.begin));
    const stop = Math.max(start + n * size, ...rows.map(w => w.end));
    this.seconds = counts.map(
      (_, i) =>
        covered(spans, i ? start + i * size : begin, i < n - 1 ? start + (i + 1) * size : stop) /
        1000,
    );
    this.length = total(this.seconds);
    Object.assign(this, {
      slots: [],
      total: 0,
      max: Math.max(...rows.map(w => w.max)),
      unit: sum.layout?.unit,
    });
    sum.counts.forEach((count, index) => {
      if (!count) return;
      const { low, high } = slotRange({ ...sum.layout, unit: 1 }, index);
      this.total += count;
      this.slots.push({ index, low, value: high, upTo: this.total });
    });
    if (!this.total) return;
    const alone = new Sum(sum.layout);
    this.windows = windows.map(all => {
      // Count the values of a window up to each slot.
      alone.counts.fill(0);
      for (const w of all) alone.add(w);
      const upTo = new Float64Array(this.slots.length);
      let seen = 0;
      for (let i = 0; i < upTo.length; i++)
        upTo[i] = seen += alone.counts[this.slots[i].index] || 0;
      return upTo;
    });
    this.filled = counts.filter(count => count).length;
    this.medianTime = autocorrelationTime(
      residualsOf(this.countsUpTo(this.slotOfRank(Math.floor((this.total + 1) / 2))), counts),
    );
    this.addSegments();
  }

  // addSegments divides the run into segments of equal time, and counts the values of each up to
  // each slot.
  addSegments() {
    const n = Math.min(this.windows.length, maxSegments);
    this.segments = Array.from({ length: n }, () => ({
      all: 0,
      upTo: new Float64Array(this.slots.length),
    }));
    this.windows.forEach((upTo, i) => {
      const s = this.segments[Math.floor((i * n) / this.windows.length)];
      s.all += this.counts[i];
      for (let at = 0; at < upTo.length; at++) s.upTo[at] += upTo[at];
    });
  }

  // firstSlot returns the index of the first slot for which holds returns true, or the number of
  // slots. Holds must return true for all slots after it.
  firstSlot(holds) {
    let low = 0;
    let high = this.slots.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (holds(this.slots[mid])) high = mid;
      else low = mid + 1;
    }
    return low;
  }

  slotOfRank(rank) {
    return Math.min(
      this.firstSlot(s => s.upTo >= rank),
      this.slots.length - 1,
    );
  }

  // countsUpTo returns how many values of each window are in a slot or below it.
  countsUpTo(slot) {
    return this.windows.map(upTo => upTo[slot]);
  }

  // place returns the index of the slot that contains a value, and which part of the slot is below
  // the value. The values of a slot are spread evenly over it.
  place(value) {
    const slot = this.firstSlot(s => s.value >= value);
    if (slot === this.slots.length) return [slot, 0];
    const { low, value: high } = this.slots[slot];
    return [slot, Math.max(value - (low - 1), 0) / (high - low + 1)];
  }

  // countBelow returns how many values are at or below a value.
  countBelow(value) {
    const [slot, inside] = this.place(value);
    const before = slot ? this.slots[slot - 1].upTo : 0;
    return slot === this.slots.length
      ? this.total
      : before + inside * (this.slots[slot].upTo - before);
  }

  // valueInside returns the value in a slot that count values of the run are at or below.
  valueInside(slot, count) {
    const { low, value, upTo } = this.slots[slot];
    const before = slot ? this.slots[slot - 1].upTo : 0;
    return low - 1 + (value - low + 1) * Math.min(Math.max(count - before, 0) / (upTo - before), 1);
  }

  // partsAbove divides the run into k parts of equal time, and returns for each the number of its
  // values above a value, and of all its values.
  partsAbove(k, value) {
    const [slot, inside] = this.place(value);
    const parts = Array.from({ length: k }, () => [0, 0]);
    this.segments.forEach(({ all, upTo }, i) => {
      const part = parts[Math.floor((i * k) / this.segments.length)];
      const before = slot ? upTo[slot - 1] : 0;
      const to = slot < upTo.length ? upTo[slot] : all;
      part[0] += all - before - inside * (to - before);
      part[1] += all;
    });
    return parts;
  }

  // ratesOfParts divides the run into k parts of equal time, and returns the number of values and
  // the seconds of each.
  ratesOfParts(k) {
    const parts = Array.from({ length: k }, () => [0, 0]);
    this.values.forEach((v, i) => {
      const part = parts[Math.floor((i * k) / this.values.length)];
      part[0] += v;
      part[1] += this.seconds[i];
    });
    return parts;
  }

  // estimate returns a percentile, or the values per second for null: the value, how many values
  // lie beyond it, and how many independent windows the run is worth.
  estimate(percentile) {
    const { counts, values, seconds } = this;
    const n = counts.length;
    const isRate = percentile === null;
    const slot = isRate ? 0 : this.slotOfRank(rankOf(percentile, this.total));
    const upTo = isRate ? null : this.countsUpTo(slot);
    const time = autocorrelationTime(
      isRate ? residualsOf(values, seconds) : residualsOf(upTo, counts),
    );
    let independent = Math.min(n / time, n / this.medianTime, this.filled);
    if (isRate)
      return {
        run: this,
        percentile,
        value: total(values) / total(seconds),
        beyond: Infinity,
        independent,
      };
    const beyond = counts.map((count, i) => count - upTo[i]);
    const sum = total(beyond);
    if (sum > 0)
      independent = Math.min(
        independent,
        (tailWeight * sum * sum) / total(beyond.map(v => v * v)) / time,
      );
    return {
      run: this,
      percentile,
      slot: this.slots[slot],
      value: Math.min(
        this.valueInside(slot, (percentile / 100) * this.total) * this.unit,
        this.max,
      ),
      beyond: this.total - rankOf(percentile, this.total),
      independent,
    };
  }
}

// partsOf divides both sides into k parts each. After the values of before were multiplied by
// bound, it finds the percentile of both sides together. A part has the number of its values above
// that percentile, and of all its values. Without a percentile, a part has its values times bound
// and its seconds.
function partsOf(before, after, k, bound) {
  const [a, b] = [before.run, after.run];
  if (before.percentile === null)
    return [a.ratesOfParts(k).map(([of, all]) => [of * bound, all]), b.ratesOfParts(k)];
  const scale = (bound * a.unit) / b.unit;
  const rank = (before.percentile / 100) * (a.total + b.total);
  let low = Math.min(after.slot.low - 1, (before.slot.low - 1) * scale);
  let high = Math.max(after.slot.value, before.slot.value * scale);
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (a.countBelow(middle / scale) + b.countBelow(middle) < rank) low = middle;
    else high = middle;
  }
  return [a.partsAbove(k, high / scale), b.partsAbove(k, high)];
}

// shareOf returns which share the first numbers of all parts have of the second numbers, and the
// variance of that share.
function shareOf(parts) {
  const of = total(parts.map(p => p[0]));
  const all = total(parts.map(p => p[1]));
  const share = of / all;
  const k = parts.length;
  return [share, ((k / (k - 1)) * total(parts.map(p => (p[0] - share * p[1]) ** 2))) / (all * all)];
}

// welch compares the shares of two sides with Welch's test, and returns its p-value. Each side is
// worth as many independent windows as given.
function welch([before, after], independent) {
  const k = before.length;
  const [a, va] = shareOf(before);
  const [b, vb] = shareOf(after);
  const least = 1e-300;
  const freedom = Math.max((va + vb) ** 2 / Math.max(va * va + vb * vb, least), 1) * (k - 1);
  return studentTail(
    (b - a) / Math.sqrt(Math.max(va + vb, least) * (1 + (k / independent) * (1 + 4 / independent))),
    freedom,
  );
}

// compare returns how a figure changed: the ratio of after to before, the ends of its interval (low
// and high), and the p-value. These three are null if the runs are too short or have too few
// values.
function compare(before, after) {
  const ratio = after.value / before.value;
  const change = {
    before: before.value,
    after: after.value,
    ratio,
    low: null,
    high: null,
    p: null,
  };
  const independent = Math.min(before.independent, after.independent);
  const k = Math.trunc(Math.min(Math.max(independent / partWindows, minParts), maxParts));
  const filled = ({ run }) => run.partsAbove(k, 0).filter(([, all]) => all > 0).length;
  if (
    !(ratio > 0 && ratio < Infinity) ||
    Math.min(before.run.length, after.run.length) < minCompared ||
    Math.min(before.beyond, after.beyond) < minBeyond ||
    Math.min(filled(before), filled(after)) < minParts
  )
    return change;
  const test = bound => welch(partsOf(before, after, k, bound), independent);
  // distance returns how far an end of the interval is from the ratio, as a logarithm. Sign is 1
  // for the upper end and -1 for the lower one. Chance explains all ratios up to the end.
  const distance = sign => {
    const explains = by => test(ratio * Math.exp(sign * by)) > 1 - level / 100;
    let inside = 0;
    let outside = 0.01;
    for (; explains(outside); outside *= 2) if ((inside = outside) > 6) return Infinity;
    for (let i = 0; i < 25; i++) {
      const middle = (inside + outside) / 2;
      if (explains(middle)) inside = middle;
      else outside = middle;
    }
    return inside;
  };
  const down = distance(-1);
  const up = distance(1);
  if (Math.min(down, up) < Infinity)
    Object.assign(change, { low: ratio * Math.exp(-down), high: ratio * Math.exp(up), p: test(1) });
  return change;
}

// changesOf returns how each series changed from one range of time [from, to) to another: the
// change of each percentile and of the values per second, by the keys of the table's columns. It
// leaves out a series without values in one of the ranges. Hochberg's correction decides for all
// changes together which of them are proven.
export function changesOf(series, before, after, percentiles, data) {
  const runs = ([from, to]) => {
    const range = sharedBy(series, from, to, data);
    return new Map(
      series
        .filter(s => startsIn(s.windows, from, to).some(w => w.count))
        .map(s => [s, new Run(s, range)]),
    );
  };
  const a = runs(before);
  const b = runs(after);
  const rows = series
    .filter(s => a.has(s) && b.has(s))
    .map(s => {
      const of = percentile =>
        compare(a.get(s).estimate(percentile), b.get(s).estimate(percentile));
      return {
        label: s.label,
        changes: { ...Object.fromEntries(percentiles.map(p => ['p' + p, of(p)])), '/s': of(null) },
      };
    });
  const known = rows
    .flatMap(r => Object.values(r.changes))
    .filter(c => c.p !== null)
    .sort((x, y) => x.p - y.p);
  let most = -1;
  known.forEach((c, n) => {
    if (c.p * (known.length - n) <= 1 - level / 100) most = c.p;
  });
  for (const c of known) c.proven = c.p <= most;
  return rows;
}

// changeText returns a change with its interval in percent, as hdrdiff prints it. It begins with ~
// if the interval contains no change, ! if it does not, but the change is not proven, and ? if
// there is no interval.
export function changeText({ ratio, low, high, proven }) {
  if (!(ratio > 0 && ratio < Infinity)) return '';
  let decimals = low === null || high - low < 0.05 ? 1 : 0;
  // A fall by less than 100% must not read as one by 100%.
  const full = r => r > 0 && r < 1 && (100 * (1 - r)).toFixed(decimals).startsWith('100');
  while (decimals < 10 && (full(ratio) || full(low))) decimals++;
  const percent = r => {
    const text = (100 * (r - 1)).toFixed(decimals).replace('-', '');
    return (r >= 1 || !/[1-9]/.test(text) ? '+' : '-') + text;
  };
  if (low === null) return '?' + percent(ratio) + '%';
  // With too few values, the interval has no upper end.
  const interval = percent(low) + '..' + (high === Infinity ? 'no end' : percent(high));
  return (proven ? '' : low > 1 || high < 1 ? '!' : '~') + percent(ratio) + '% (' + interval + ')';
}
