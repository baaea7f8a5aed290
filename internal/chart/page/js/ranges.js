// The comparison of the view with an earlier choice of the reader, the range page.before.
import { startsIn, tableOf } from './store.js';
import { levels } from './table.js';
import { changesOf, changeText } from './confidence.js';
import { page } from './page.js';
import { timeText } from './times.js';

// maxAtOnce is the number of windows up to which a comparison takes no noticeable time.
const maxAtOnce = 2000;

// The last comparison: its ranges and series as text (of), and its changes. Pending is the text of
// a comparison that is not computed yet.
const comparison = { of: '', pending: '', changes: [] };

// apart reports whether a range does not overlap the view. Otherwise they are not compared.
const apart = ([from, to]) => to <= page.view.from || page.view.to <= from;

// withChanges returns rows with their changes since page.before. If the comparison takes a while,
// it returns rows as they are, lets the page show that it compares, and calls shown after that. The
// first drawing waits for the comparison, since a print waits for that drawing.
export function withChanges(rows, shown) {
  const { data, view, series, before } = page;
  comparison.pending = '';
  if (!apart(before)) return rows;
  const ranges = [before, [view.from, view.to]];
  const counts = series.map(s => ranges.map(range => startsIn(s.windows, ...range).length));
  const of = JSON.stringify([ranges, series.map((s, i) => [s.label, counts[i]]), data.origin]);
  const compare = () => {
    comparison.changes = changesOf(series, ...ranges, levels, data);
    comparison.of = of;
  };
  const windows = counts.flat().reduce((sum, count) => sum + count, 0);
  if (comparison.of !== of && document.readyState === 'complete' && windows > maxAtOnce) {
    comparison.pending = of;
    // After the next frame, the page has shown that it compares.
    requestAnimationFrame(() =>
      setTimeout(() => {
        if (comparison.pending !== of || !page.before) return;
        compare();
        shown();
      }),
    );
    return rows;
  }
  if (comparison.of !== of) compare();
  const old = new Map(tableOf(page.all, ...before, levels, data.ran).map(r => [r.label, r]));
  const texts = new Map(
    comparison.changes.map(({ label, changes }) => [
      label,
      Object.fromEntries(Object.entries(changes).map(([key, change]) => [key, changeText(change)])),
    ]),
  );
  return rows.map(r =>
    old.has(r.label) ? { ...r, before: old.get(r.label), believed: texts.get(r.label) } : r,
  );
}

// comparedText says what is compared, and how.
export function comparedText() {
  const [from, to] = page.before;
  const range = timeText(from, true) + ' to ' + timeText(to - 1, true);
  if (!apart(page.before)) return 'Drag over a chart to choose what to compare with ' + range + '.';
  if (comparison.pending) return 'Comparing with ' + range + ' …';
  const bounded = comparison.changes.some(r =>
    Object.values(r.changes).some(change => change.low !== null),
  );
  const intervals =
    ': in brackets, the interval that has the true change in 95% of cases, computed from the counts of the windows here. ~: within the noise. !: beyond, not proven.';
  return (
    'Changes are those from ' +
    range +
    ', as of hdrdiff for two runs' +
    (bounded ? intervals : '.') +
    ' ?: too little data to judge, such as less than two minutes.'
  );
}
