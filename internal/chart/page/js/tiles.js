// The figures of the latest windows of a live page, for its tiles, and its lights and lag.
import { Sum, quantilesOf, rankOf } from './store.js';

// maxTiled is the number of windows in the picture of a tile.
export const maxTiled = 40;

// tiled are the percentiles that a tile may show. It shows the first one that has values above it
// in a window.
const tiled = [99, 90, 50];

// latestOf returns the figures of the latest maxTiled windows, the last one last. Each has the
// highest value of any series at the percentile level (high), the highest maximum (max), the values
// per second (rate), and the part of the values that failed. A figure that the window does not have
// is null. Windows are step milliseconds long and begin at multiples of step since the epoch.
// Merged windows of older times, which are longer, are left out. If same is set, the series measure
// the same requests, and only the series with the most values counts.
export function latestOf(series, origin, step, same) {
  const placeOf = w => Math.floor(((w.begin + w.end) / 2 + origin) / step);
  const last = Math.max(
    ...series.filter(s => s.windows.length).map(s => placeOf(s.windows.at(-1))),
  );
  const all = Array.from({ length: maxTiled }, () => ({
    high: null,
    max: null,
    counts: new Map(),
  }));
  const found = [];
  for (const s of series) {
    const parts = new Map(); // windows by place: one that came late has the place of another one
    for (let n = s.windows.length - 1; n >= 0; n--) {
      const w = s.windows[n];
      const at = placeOf(w) - last + maxTiled - 1;
      if (at < 0) break;
      if (w.end - w.begin < 1.5 * step) parts.get(at)?.push(w) ?? parts.set(at, [w]);
    }
    for (const [at, windows] of parts)
      found.push({
        s,
        tile: all[at],
        windows,
        count: windows.reduce((sum, w) => sum + w.count, 0),
      });
  }
  const largest = found.reduce((most, { count }) => Math.max(most, count), 0);
  const level = tiled.find(level => rankOf(level, largest) < largest) ?? tiled[0];
  for (const { s, tile, windows, count } of found) {
    tile.counts.set(s, count);
    if (!count) continue;
    const max = Math.max(...windows.map(w => w.max));
    const at = valueOf(windows, count, level);
    if (!(max <= tile.max?.value)) tile.max = { value: max, series: s };
    if (at && !(at.high <= tile.high?.value))
      tile.high = { value: at.high, low: at.low, series: s };
  }
  const tiles = all.map(({ high, max, counts }) => {
    let most = [null, 0];
    let count = 0;
    let failed = 0;
    for (const [s, n] of counts) {
      if (n > most[1]) most = [s, n];
      count += n;
      if (s.failed) failed += n;
    }
    if (!counts.size) return { high, max, rate: null, failed: null };
    return {
      high,
      max,
      rate: { value: ((same ? most[1] : count) / step) * 1000, series: same ? most[0] : null },
      failed: { value: count ? failed / count : 0 },
    };
  });
  return { level, tiles };
}

// valueOf returns between which values a percentile of windows lies, or null if no value is above
// it. A window caches the result for itself.
function valueOf(windows, count, level) {
  if (rankOf(level, count) >= count) return null;
  const [first] = windows;
  const compute = () => {
    const sum = Object.assign(new Sum(), {
      count,
      min: Math.min(...windows.map(w => w.min)),
      max: Math.max(...windows.map(w => w.max)),
    });
    for (const w of windows) if (w.count) sum.add(w);
    return quantilesOf(sum, [level])[0];
  };
  return windows.length > 1 ? compute() : (first['p' + level] ??= compute());
}

// lightsOf returns a light for each limit: the word, the weight and the sentence of its worst
// verdict, and the limit with how many tags share that weight.
export function lightsOf(findings) {
  const limits = new Map();
  for (const f of findings) if (f.limit) limits.get(f.limit)?.push(f) ?? limits.set(f.limit, [f]);
  return [...limits].map(([limit, all]) => {
    const [{ weight, sentence }] = all;
    const alike = all.filter(f => f.weight === weight).length; // the worst one comes first
    return {
      weight,
      word: sentence.split(':')[0],
      limit: limit + (all.length > 1 ? ' (' + alike + ' of ' + all.length + ' tags)' : ''),
      sentence,
    };
  });
}

// lagText prints by how many milliseconds logs are behind the clock.
export function lagText(ms) {
  const s = Math.max(Math.round(ms / 1000), 0);
  return (
    (s < 180
      ? s + ' s'
      : s < 10800
        ? Math.round(s / 60) + ' min'
        : s < 259200
          ? Math.round(s / 3600) + ' h'
          : Math.round(s / 86400) + ' days') + ' behind'
  );
}
