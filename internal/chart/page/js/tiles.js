// The tiles of a live page: what its latest windows show.
import { Sum, quantilesOf, rankOf } from './store.js';

// mostTiled is the number of windows that the pictures of tiles show.
export const mostTiled = 40;

// tiled are the percentiles of tiles: the first one that values of a window lie above.
const tiled = [99, 90, 50];

// latestOf returns what the latest windows of series show, the last one last: the highest value at
// a percentile, level, and the highest maximum of any series, each with its series, the number of
// values per second, and the part of them that failed. What a window lacks is null. The windows are
// step milliseconds long, at multiples of that since the epoch. Longer ones, of older times, are
// left out. If the series are the same requests, only the one with most values counts them.
export function latestOf(series, origin, step, same) {
  const placeOf = w => Math.floor(((w.begin + w.end) / 2 + origin) / step);
  const last = Math.max(
    ...series.filter(s => s.windows.length).map(s => placeOf(s.windows.at(-1))),
  );
  const all = Array.from({ length: mostTiled }, () => ({
    high: null,
    max: null,
    counts: new Map(),
  }));
  const found = [];
  for (const s of series) {
    const parts = new Map(); // windows by place: one that came late has the place of another one
    for (let n = s.windows.length - 1; n >= 0; n--) {
      const w = s.windows[n];
      const at = placeOf(w) - last + mostTiled - 1;
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

// valueOf returns between which values a percentile of windows lies, null if no value lies above
// it. A window keeps its own.
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

// lightsOf returns a light for each limit: its word and weight, those of the verdict that is worst,
// what it is about, and the sentence.
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

// lagText says how far something is behind, in milliseconds.
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
