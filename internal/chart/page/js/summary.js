// The table of the time in view.
import { nines } from './ticks.js';
import { verdictsOf, sumOf, tableOf, named } from './store.js';
import { valueAt, colourOf } from './charts.js';
import { element, make } from './dom.js';
import { scaleOf, sparkline, rangeOf, pictureOf } from './overview.js';
import { columnsOf, textOf, changeOf, sorted, csvOf, rowOf, levels } from './table.js';
import { page } from './page.js';
import { media } from './look.js';
import { solo } from './changes.js';
import { withChanges } from './ranges.js';
import { describe } from './describe.js';

// What the reader chose: the order of rows, { key, descending } with the key of a column, or null
// for the usual one; and how many rows are shown at most.
export const choice = { order: null, most: 8 };

// A table of fewer rows has no field to find some.
const maxUnsearched = 8;

// rowsInView returns the rows of the time in view, with what they are compared with.
function rowsInView() {
  const { data, view, all } = page;
  if (!page.timed) {
    const rows = all.filter(s => s.curve).map(s => rowOf(s, l => valueAt(s.curve, nines(l / 100))));
    return withOther(rows);
  }
  if (view.isWhole && data.summary.length) return withOther(data.summary);
  const places = new Map(data.summary.map((r, i) => [r.label, i]));
  const placeOf = r => places.get(r.label) ?? 0;
  const rows = tableOf(all, view.from, view.to, levels, data.ran);
  return withOther(rows.sort((a, b) => placeOf(a) - placeOf(b)));
}

function withOther(rows) {
  if (page.data.compared) return withFirstLog(rows);
  if (!page.before) return rows;
  return withChanges(rows, () => {
    buildTable();
    describe();
  });
}

// withFirstLog attaches to each row of the second log the row of the first with the same tag, and
// their changes. Both rows of a tag stand together, and the tag with the highest maximum comes first.
function withFirstLog(rows) {
  const { data, view, all } = page;
  const [, second] = data.compared;
  const groups = new Map(all.map(s => [s.label, s.group]));
  const pairs = new Map(); // by tag
  for (const r of rows) {
    const group = groups.get(r.label);
    const tag = r.label.slice((group ?? '').length);
    const pair = pairs.get(tag) || pairs.set(tag, {}).get(tag);
    pair[group === second ? 'after' : 'before'] = r;
  }
  for (const pair of pairs.values()) {
    const { before, after } = pair;
    if (before && after)
      pair.after = { ...after, before, changed: view.isWhole && data.changed?.[after.label] };
  }
  const highest = pair => Math.max(pair.before?.max || 0, pair.after?.max || 0);
  return [...pairs.values()]
    .sort((a, b) => highest(b) - highest(a))
    .flatMap(pair => [pair.before, pair.after].filter(r => r));
}

const fewSeries = () => page.all.length < maxUnsearched;
const seriesByLabel = () => new Map(page.all.map(s => [s.label, s]));

// arranged returns a table of rows: those that the reader looks for, in order, the columns, and the
// order with its column if there is one.
function arranged(rows) {
  const { data, view, all, timed } = page;
  const wanted = fewSeries() ? '' : element('find').value.toLowerCase();
  const { limits } = data.curves;
  rows = rows.filter(r => named(r.label).toLowerCase().includes(wanted));
  if (timed && limits.length) {
    const byLabel = seriesByLabel();
    rows = rows.map(r => ({
      ...r,
      verdicts: verdictsOf(sumOf(byLabel.get(r.label), view.from, view.to), limits),
    }));
  }
  const columns = columnsOf(rows, data.unit, limits, media.narrow.matches).filter(
    column => timed || rows.some(r => textOf(column, r)),
  );
  const usual = all.length > 1 && !data.compared ? { key: 'max', descending: true } : null;
  const order = choice.order ?? usual;
  const by = order && columns.find(column => column.key === order.key);
  if (by) rows = sorted(rows, by, order.descending);
  return { rows, columns, order, by };
}

// headOf returns the titles of the table, which are buttons that sort it.
function headOf({ columns, order, by }) {
  return columns.map((column, i) => {
    const ordered = column === by;
    const th = make('th', { scope: 'col' });
    if (ordered) th.setAttribute('aria-sort', order.descending ? 'descending' : 'ascending');
    th.append(
      make('button', {
        type: 'button',
        textContent: column.name + (ordered ? (order.descending ? ' ▾' : ' ▴') : ''),
        onclick: () => {
          choice.order = { key: column.key, descending: ordered ? !order.descending : i > 0 };
          buildTable();
          element('summary').tHead.querySelectorAll('button')[i].focus();
        },
      }),
    );
    return th;
  });
}

// bodyOf returns rows of a table as elements.
export function bodyOf(rows, columns) {
  return rows.map(r =>
    make(
      'tr',
      {},
      ...columns.map((column, i) => {
        const textContent = textOf(column, r);
        if (!i) return make('th', { textContent, scope: 'row' });
        const change = changeOf(column, r);
        return make(
          'td',
          {
            className: textContent === 'fails' ? 'fails' : '',
            title: change && r.before ? 'before: ' + textOf(column, r.before) : '',
          },
          textContent,
          ...(change ? [make('div', { textContent: change })] : []),
        );
      }),
    ),
  );
}

// addPictures puts into the first cell of each row a button for the tag, and pictures of its line
// and of the range of its values.
function addPictures(body, rows) {
  const { view, theme } = page;
  const byLabel = seriesByLabel();
  const scale = scaleOf(rows);
  body.forEach((row, i) => {
    const r = rows[i];
    const s = byLabel.get(r.label);
    const name = make('button', {
      type: 'button',
      textContent: named(r.label),
      title: 'this series alone, or all again',
      onclick: () => {
        solo(s);
        element('toggles').scrollIntoView();
      },
    });
    const pictures = [
      sparkline(s.lines[0].points, view.from, view.to, scale),
      rangeOf(r, scale),
    ].map(path => pictureOf(path, colourOf(theme, s)));
    row.cells[0].replaceChildren(make('div', {}, name, make('span', {}, ...pictures)));
  });
}

export function buildTable() {
  const { data } = page;
  const all = rowsInView();
  const section = element('summary-section');
  section.hidden = !all.length && !data.summary.length;
  element('find').hidden = fewSeries();
  const arrangement = arranged(all);
  const { rows, columns } = arrangement;
  const head = headOf(arrangement);
  const body = bodyOf(rows.slice(0, choice.most), columns);
  if (page.timed && !data.lines.rate) addPictures(body, rows);
  element('summary').tHead.replaceChildren(make('tr', {}, ...head));
  element('summary').tBodies[0].replaceChildren(...body);
  // A table that becomes shorter leaves what is below it where it is.
  section.style.minHeight =
    Math.max(section.getBoundingClientRect().height, parseFloat(section.style.minHeight) || 0) +
    'px';
  const more = element('more');
  more.hidden = rows.length <= choice.most;
  more.textContent = 'all ' + rows.length + ' rows';
}

// save lets the browser save parts as a file.
export function save(parts, type, name) {
  const href = URL.createObjectURL(new Blob(parts, { type }));
  make('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

export function saveCSV() {
  const { data, view } = page;
  const { rows } = arranged(rowsInView());
  const time = view.isWhole ? '' : ' ' + view.range;
  save([csvOf(rows, data.unit)], 'text/csv', document.title + time + '.csv');
}
