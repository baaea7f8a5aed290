// The latest window of a live page: tiles with its figures, and a table of its tags.
import { value, between, significant } from './numbers.js';
import { relativeStep } from './ticks.js';
import { tableOf, named } from './store.js';
import { rateText } from './charts.js';
import { element, make } from './dom.js';
import { sparkline, pictureOf } from './overview.js';
import { columnsOf, worstOf, levels } from './table.js';
import { latestOf, maxTiled } from './tiles.js';
import { page } from './page.js';
import { timeText } from './times.js';
import { bodyOf } from './summary.js';

// buildTiles shows figures of the latest window, each above a picture of the windows before.
export function buildTiles() {
  const { data, all, theme } = page;
  const { level, tiles } = latestOf(
    [...page.series, ...page.band],
    data.origin,
    data.step,
    data.findings.some(f => f.kind === 'same'),
  );
  const tile = (name, key, text) => {
    const now = tiles.at(-1)[key];
    const points = tiles
      .map((tile, start) => ({ start, end: start + 1, value: tile[key]?.value }))
      .filter(p => Number.isFinite(p.value));
    const most = Math.max(...points.map(p => p.value));
    const picture = pictureOf(
      sparkline(points, 0, maxTiled, v => (most ? v / most : 0)),
      theme.faint,
    );
    picture.setAttribute('preserveAspectRatio', 'none');
    const whose = now?.series && all.length > 1 ? ' of ' + named(now.series.label) : '';
    const title = name + whose + ', last ' + relativeStep(data.step);
    return make(
      'div',
      { className: 'tile' },
      make('div', { textContent: title, title }),
      make('strong', {
        textContent: now && Number.isFinite(now.value) ? text(now.value, now.low) : '-',
      }),
      picture,
    );
  };
  const shown = [
    tile('p' + level, 'high', (high, low) => between(data.unit, low, high)),
    tile('rate', 'rate', rateText),
    tile('maximum', 'max', v => value(data.unit, v)),
  ];
  if (all.some(s => s.failed))
    shown.push(tile('failures', 'failed', v => significant(100 * v, 2) + '%'));
  element('tiles').replaceChildren(...(all.length ? shown : []));
}

// maxLatest is the number of tags that the table shows.
const maxLatest = 12;

// buildLatest shows the table, with the worst tags first. The tags in the band are among them.
export function buildLatest() {
  const series = [...page.series, ...page.band];
  const last = series.map(s => s.windows.at(-1)).filter(w => w);
  const table = element('latest');
  const start = Math.max(...last.map(w => w.start));
  const half = Math.max(...last.map(w => w.end - w.begin)) / 2;
  // Copies of the series keep tableOf from replacing the cached sums of the view.
  const alone = series.map(({ label, group, windows }) => ({ label, group, windows }));
  const rows = tableOf(alone, start - half, Infinity, levels);
  const columns = rows.length
    ? columnsOf(rows, page.data.unit).filter(({ key }) =>
        ['tag', '/s', 'p50', 'p99', 'max'].includes(key),
      )
    : [];
  const part = rows.length > maxLatest ? `, the worst ${maxLatest} of ${rows.length} tags` : '';
  table.caption.textContent = rows.length
    ? 'The latest window, from ' + timeText(start) + part
    : '';
  table.tHead.replaceChildren(
    make('tr', {}, ...columns.map(({ name }) => make('th', { scope: 'col', textContent: name }))),
  );
  const p99 = columns.find(({ key }) => key === 'p99');
  table.tBodies[0].replaceChildren(...bodyOf(worstOf(rows, p99, maxLatest), columns));
}
