// The columns of the table of the time in view, and its text as CSV.
import { scaleFor, titled, significant, known } from './numbers.js';
import { rankOf, named } from './store.js';

export const levels = [50, 90, 99, 99.9, 99.99];

// rowOf returns the row of a series that has a curve but no windows. ValueAt returns the value of
// the curve at a percentile.
export function rowOf({ label, curve }, valueAt) {
  const max = curve.v.at(-1);
  return { label, count: curve.total, percentiles: levels.map(l => valueAt(l) ?? max), max };
}

// ifAny returns a function that returns a figure of a row, or null if the row has no values. The
// function of percentileOf also returns null if no value of the row is above the percentile.
const ifAny = get => r => (r.count ? get(r) : null);
const percentileOf = (i, get) => r =>
  r.count && rankOf(levels[i], r.count) < r.count ? get(r)[i] : null;

// columnsOf returns the columns of a table of rows. A column has a key, a title, whether it shows
// changes, and functions that get and print the figure of a row. A narrow table has percentiles and
// verdicts before counts.
export function columnsOf(rows, unit, limits = [], narrow = false) {
  const scale = scaleFor(unit, Math.max(0, ...rows.map(r => r.max || 0)));
  const digitsOf = v => (scale.unit ? 5 : Number.isInteger(v) ? 15 : 7);
  const valued = (key, get, lowOf = get) => ({
    key,
    name: titled(scale, key),
    changes: true,
    get,
    text: (v, r) => known(lowOf(r) / scale.divide, v / scale.divide, digitsOf(v)),
  });
  const plain = (key, get, text) => ({ key, name: key, get, text });
  const whole = v => v.toLocaleString('en-US');
  const tag = plain(
    'tag',
    r => named(r.label),
    v => v,
  );
  const counts = [
    plain('intervals', r => r.intervals, whole),
    { key: 'count', name: 'values', changes: true, get: r => r.count, text: whole },
    {
      key: '/s',
      name: 'values/s',
      changes: true,
      get: r => r.perSecond,
      text: v => significant(v, 6),
    },
    valued(
      'min',
      ifAny(r => r.min),
    ),
    valued(
      'mean',
      ifAny(r => r.mean),
    ),
  ];
  const figures = [
    ...levels.map((l, i) =>
      valued(
        'p' + l,
        percentileOf(i, r => r.percentiles),
        percentileOf(i, r => r.lows || r.percentiles),
      ),
    ),
    valued(
      'max',
      ifAny(r => r.max),
    ),
    ...limits.map((l, i) =>
      plain(
        l.label,
        r => r.verdicts?.[i],
        v => ({ 1: 'holds', 0: '~', '-1': 'fails' })[v],
      ),
    ),
  ];
  return narrow ? [tag, ...figures, ...counts] : [tag, ...counts, ...figures];
}

// textOf returns the text of a cell: "-" for a figure without a value, and nothing for a figure
// that the row does not know.
export function textOf(column, row) {
  const v = column.get(row);
  if (v === undefined) return '';
  return v === null || Number.isNaN(v) || v === Infinity ? '-' : column.text(v, row);
}

// changeOf returns the change of a figure since the log or the range before: as hdrdiff prints it,
// or in percent behind ? without an interval. The text is empty if a side does not have the figure.
export function changeOf({ key, changes, get }, { before, changed, believed, ...row }) {
  if (!before || !changes || get(row) === null || get(before) === null) return '';
  if (believed?.[key]) return believed[key];
  if (changed) return changed[key] ?? '';
  const percent = 100 * (get(row) / get(before) - 1);
  let decimals = 1; // more if a fall that leaves something would be one by 100%
  while (percent > -100 && decimals < 10 && (-percent).toFixed(decimals).startsWith('100'))
    decimals++;
  if (decimals > 9) decimals = 1;
  return Number.isFinite(percent)
    ? (key === 'count' ? '' : '?') +
        (percent > -0.05 ? '+' : '-') +
        Math.abs(percent).toFixed(decimals) +
        '%'
    : '';
}

// sorted returns the rows in the order of a column.
export function sorted(rows, column, descending) {
  const order = (a, b) =>
    typeof a === 'string' ? a.localeCompare(b, 'en') : (a ?? -1) - (b ?? -1);
  return [...rows].sort((a, b) => (descending ? -1 : 1) * order(column.get(a), column.get(b)));
}

// worstOf returns the rows with the highest values of a column, the highest first. Without a column
// it returns the first rows. Most limits the number of rows.
export function worstOf(rows, column, most) {
  return (column ? sorted(rows, column, true) : rows).slice(0, most);
}

// csvOf returns the table as CSV with unrounded numbers. An apostrophe before a tag keeps a
// spreadsheet from evaluating it.
export function csvOf(rows, unit) {
  const quoted = text => '"' + text.replace(/^[=+\-@\t\r]/, "'$&").replace(/"/g, '""') + '"';
  const named = name => titled(scaleFor(unit, 1), name);
  const head = [
    'tag',
    'intervals',
    'values',
    'values/s',
    ...['min', 'mean', ...levels.map(l => 'p' + l), 'max'].map(named),
  ];
  const lines = rows.map(r =>
    [
      quoted(r.label),
      r.intervals,
      r.count,
      r.perSecond,
      ...(r.count ? [r.min, r.mean] : ['', '']),
      ...levels.map((_, i) => (r.count ? r.percentiles[i] : '')),
      r.count ? r.max : '',
    ]
      .map(v => (v === null || v === undefined || v === Infinity || Number.isNaN(v) ? '' : v))
      .join(','),
  );
  return [head.map(quoted).join(','), ...lines].join('\r\n') + '\r\n';
}
