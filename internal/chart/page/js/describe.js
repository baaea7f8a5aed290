// The sentences about the view, and the state of the buttons.
import { value } from './numbers.js';
import { relativeStep } from './ticks.js';
import { extremesOf, longest, named } from './store.js';
import { rateText } from './charts.js';
import { element } from './dom.js';
import { media } from './look.js';
import { page } from './page.js';
import { timeText, dateText } from './times.js';
import { panels } from './panels.js';
import { comparedText } from './ranges.js';

// maxSpoken is the largest number of series that spoken names.
const maxSpoken = 6;

// spoken returns what the lines show, for a screen reader: their series, and the highest value.
function spoken() {
  const { data, view, series } = page;
  let top = null;
  for (const s of series)
    for (const { name, points } of s.lines) {
      const { high } = extremesOf(points, view.from, view.to, longest(points));
      if (high && !(high.value <= top?.value))
        top = { name, label: s.label, start: high.start, value: high.value };
    }
  const text = v => (data.lines.rate ? rateText(v) : value(data.unit, v));
  const names = series
    .slice(0, maxSpoken)
    .map(s => named(s.label))
    .join(', ');
  const more = series.length > maxSpoken ? ' and ' + (series.length - maxSpoken) + ' more' : '';
  const highest = top
    ? '; highest ' +
      top.name +
      ' ' +
      text(top.value) +
      ' of ' +
      named(top.label) +
      ' at ' +
      timeText(top.start)
    : '';
  return element('time-title').textContent + ': ' + names + more + highest;
}

// rangeText says which time the page shows, and how long the windows of the charts are, unless each
// is one interval.
function rangeText() {
  const { data, view } = page;
  const whole = view.isWhole;
  const span =
    timeText(view.from, true) + ' to ' + timeText(whole ? view.to : view.last, true) + dateText();
  const { recent } = data;
  const windows =
    ' Several intervals share a row of the page: the view begins and ends at windows of ' +
    relativeStep(data.window) +
    (recent
      ? ', and of ' + relativeStep(recent.window) + ' from ' + timeText(recent.from, true) + ' on'
      : '') +
    '.';
  return (
    (whole
      ? 'The whole range, ' + span + '. Drag to zoom.'
      : 'The intervals that start from ' + span + '.') +
    (panels.merged ? ' Lines show windows of ' + relativeStep(panels.merged) + '.' : '') +
    ratesText() +
    (data.window && (data.live || !whole) ? windows : '')
  );
}

// ratesText says how long the windows of the values per second are, unless each is one interval.
function ratesText() {
  const { width, whole } = panels.rates || {};
  if (page.data.lines.rate || !(whole > 1)) return '';
  // Timers are late, so the width is rounded.
  const rounded = width < 1000 ? Math.round(width) : Math.round(width / 100) * 100;
  return ' Values per second are those of windows of ' + relativeStep(rounded) + '.';
}

// precisionText says how precise the numbers of the table are, and what else is in it.
function precisionText() {
  const { data, view, timed, before } = page;
  const precise = !timed
    ? 'The numbers are those of the curves. For a percentile between two points of a curve, it is that of the second.'
    : view.isWhole && data.summary.length
      ? 'All numbers are as precise as the log.'
      : 'Percentiles have ' +
        data.digits +
        ' significant digits, as the curves. All other numbers are as precise as the log.';
  const pictures =
    ' Beside a tag stand its line over time, and the range of its values from p50 to the maximum with a mark at p99, on one logarithmic scale.';
  return (
    precise +
    (timed && !data.lines.rate && !media.narrow.matches ? pictures : '') +
    (before ? ' ' + comparedText() : '')
  );
}

// describe shows the sentences, and which buttons can be used and are pressed.
export function describe() {
  const { view, before } = page;
  const whole = view.isWhole;
  element('time-over').setAttribute('aria-label', spoken());
  element('range').textContent = rangeText();
  element('result').classList.toggle('part', !whole);
  element('curve-title').textContent = whole ? 'Percentiles' : 'Percentiles of the time in view';
  element('summary-title').textContent = whole ? 'Summary' : 'Summary of the time in view';
  element('precision').textContent = precisionText();
  for (const id of ['whole', 'left', 'right', 'out']) setUsable(id, !whole);
  setUsable('back', view.past.length);
  setUsable('all', !page.rest || page.all.some(s => s.shown === s.rest));
  setUsable('compare', !whole || before);
  element('compare').setAttribute('aria-pressed', Boolean(before));
  for (const id of ['log', 'heat', 'facets']) element(id).setAttribute('aria-pressed', page[id]);
}

// setUsable shows whether a button can be used now. The focus leaves a button that cannot.
function setUsable(id, usable) {
  const button = element(id);
  if (!usable && button === document.activeElement) element('in').focus();
  button.classList.toggle('unused', !usable);
}
