// The table of summaries, and its text as CSV.
import { scaleFor, titled, significant, known } from './numbers.js';

export const levels = [50, 90, 99, 99.9, 99.99];

// rowOf returns the row of a series of which only the curve is known, and valueAt its value at a percentile.
export function rowOf({ label, curve }, valueAt) {
  const max = curve.v.at(-1);
  return { label, count: curve.total, percentiles: levels.map(l => valueAt(l) ?? max), max };
}

// columnsOf returns the columns of a table of rows: a title, and how to get a value and print it.
export function columnsOf(rows, unit, limits = []) {
  const scale = scaleFor(unit, Math.max(0, ...rows.map(r => r.max || 0)));
  const digitsOf = v => scale.unit ? 5 : Number.isInteger(v) ? 15 : 7;
  const valued = (name, get, lowOf = get) => ({ name: titled(scale, name), get, text: (v, r) => known(lowOf(r) / scale.divide, v / scale.divide, digitsOf(v)) });
  const whole = v => v.toLocaleString('en-US');
  return [
    { name: 'tag', get: r => r.label || 'untagged', text: v => v },
    { name: 'intervals', get: r => r.intervals, text: whole },
    { name: 'values', get: r => r.count, text: whole },
    { name: 'values/s', get: r => r.perSecond, text: v => significant(v, 6) },
    valued('min', r => r.min), valued('mean', r => r.mean),
    ...levels.map((l, i) => valued('p' + l, r => r.percentiles[i], r => (r.lows || r.percentiles)[i])), valued('max', r => r.max),
    ...limits.map((l, i) => ({ name: l.label, get: r => r.verdicts?.[i], text: v => ({ 1: 'holds', 0: '~', '-1': 'fails' })[v] })),
  ];
}

// textOf returns what a cell shows: nothing where there is no value.
export function textOf(column, row) {
  const v = column.get(row);
  return v === null || v === undefined || Number.isNaN(v) || v === Infinity ? '' : column.text(v, row);
}

// sorted returns rows by a column, highest numbers first at first.
export function sorted(rows, column, descending) {
  const order = (a, b) => typeof a === 'string' ? a.localeCompare(b, 'en') : (a ?? -1) - (b ?? -1);
  return [...rows].sort((a, b) => (descending ? -1 : 1) * order(column.get(a), column.get(b)));
}

// csvOf returns the table as CSV, with exact numbers. A text that a spreadsheet would evaluate begins with an apostrophe.
export function csvOf(rows, unit) {
  const quoted = text => '"' + text.replace(/^[=+\-@\t\r]/, "'$&").replace(/"/g, '""') + '"';
  const named = name => titled(scaleFor(unit, 1), name);
  const head = ['tag', 'intervals', 'values', 'values/s', ...['min', 'mean', ...levels.map(l => 'p' + l), 'max'].map(named)];
  const lines = rows.map(r => [quoted(r.label), r.intervals, r.count, r.perSecond, r.min, r.mean, ...r.percentiles, r.max]
    .map(v => v === null || v === undefined || v === Infinity || Number.isNaN(v) ? '' : v).join(','));
  return [head.map(quoted).join(','), ...lines].join('\r\n') + '\r\n';
}
