// The small pictures of the table: each series over time, and the range of its values. All have one
// logarithmic scale.
import { startsIn } from './store.js';
import { svg } from './dom.js';

const width = 80;
const height = 18;
const columns = 40;

// scaleOf returns the function that maps a value to its place on the scale of rows, from 0 to 1.
export function scaleOf(rows) {
  let low = Infinity;
  let high = 0;
  for (const r of rows) {
    if (r.percentiles[0] > 0) low = Math.min(low, r.percentiles[0]);
    high = Math.max(high, r.max || 0);
  }
  const from = Math.log(Math.min(low, high) / 2);
  const span = Math.log(high) - from;
  return v => (v > 0 ? Math.min(Math.max((Math.log(v) - from) / span, 0.03), 1) : 0);
}

// sparkline returns the path of bars that show the highest value of points in each column of the
// time [from, to).
export function sparkline(points, from, to, scale) {
  const highest = new Float64Array(columns).fill(NaN);
  const column = (to - from) / columns;
  for (const p of startsIn(points, from, to)) {
    const last = Math.min(Math.ceil((p.end - from) / column) - 1, columns - 1);
    let i = Math.min(Math.floor((p.start - from) / column), columns - 1);
    do {
      if (!(highest[i] >= p.value)) highest[i] = p.value;
    } while (++i <= last);
  }
  let path = '';
  highest.forEach((v, i) => {
    if (!Number.isNaN(v))
      path +=
        'M' +
        i * 2 +
        ' ' +
        height +
        'V' +
        (height * (1 - scale(v))).toFixed(1) +
        'h2V' +
        height +
        'z';
  });
  return path;
}

// rangeOf returns the path of a bar from the median to the maximum of a row, with a mark at the
// 99th percentile.
export function rangeOf(row, scale) {
  if (!row.count) return '';
  const [from, mark, to] = [row.percentiles[0], row.percentiles[2], row.max].map(
    v => width * scale(v),
  );
  const bar = (a, b) =>
    b > a ? 'M' + a.toFixed(1) + ' 7H' + b.toFixed(1) + 'v6H' + a.toFixed(1) + 'z' : '';
  return bar(from, mark - 1) + bar(mark + 1, to) + 'M' + (mark - 1).toFixed(1) + ' 3h2v14h-2z';
}

// pictureOf returns a path as a picture.
export const pictureOf = (d, fill) =>
  svg(
    'svg',
    { width, height, viewBox: [0, 0, width, height].join(' '), 'aria-hidden': true },
    svg('path', { d, fill }),
  );
