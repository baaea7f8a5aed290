// The texts for the place that the reader points at, and the dots at what they are about.
import { value, between, number, significant } from './numbers.js';
import { startsIn, extremesOf, longest, recordedAt, named } from './store.js';
import { dot } from './canvas.js';
import { withDue, valueAt, heatAt, rateText, colourOf } from './charts.js';
import { element, make } from './dom.js';
import { page } from './page.js';
import { timeText } from './times.js';
import { panels } from './panels.js';

const part = textContent => make('span', { textContent });

function item(colour, text) {
  const mark = make('i');
  mark.style.background = colour;
  return make('span', {}, mark, text);
}

// pixelOf returns how many milliseconds a pixel of a chart over time has.
export const pixelOf = ({ plot }) => (page.view.to - page.view.from) / (plot.right - plot.left);

// readPoint returns the highest of the points in the column of pixels at a time, or the one that is
// near it, and the lowest in the column. Both are null if there is none.
function readPoint(chart, points, time) {
  const pixel = pixelOf(chart);
  const { low, high } = extremesOf(points, time - pixel, time + pixel, longest(points));
  return { low, high: high || recordedAt(points, time, page.view, pixel) };
}

// itemOf returns the text of a line of a series at a time, and draws a dot at the point. G is the
// context of the upper canvas.
function itemOf(chart, g, s, n, { low, high }, name, text) {
  const colour = (g.fillStyle = page.theme.lines[s.colours[n]] || page.theme.text);
  const { top, bottom } = chart.plot;
  Object.assign(chart.plot, chart.places?.get(s));
  dot(g, chart.px((high.start + high.end) / 2), chart.py(high.value), 3.5);
  Object.assign(chart.plot, { top, bottom });
  const from = low && text(low.value) !== text(high.value) ? text(low.value) + ' to ' : '';
  return item(colour, name + ' ' + from + text(high.value));
}

// sourceOf returns the log that has the maximum of an interval, if the page knows it.
function sourceOf({ series, start, end, value }) {
  const w = startsIn(series.windows, start - longest(series.windows), end + 1).find(
    w => w.max === value,
  );
  return page.data.sources && w && page.data.sources[w.source - 1];
}

// cellTexts returns what a cell of a heat map holds.
function cellTexts({ from, to, low, high, rate, before, count, countBefore }) {
  const { unit } = page.data;
  const values = n => {
    const whole = Math.round(n); // a slot may lie in several rows
    if (n > 0 && !whole) return 'less than 1 value';
    return whole === 1 ? '1 value' : number(whole) + ' values';
  };
  const ratio =
    rate && before ? ', ' + significant(rate / before, 3) + ' times as many per second' : '';
  return [
    timeText(from) + ' to ' + timeText(to),
    value(unit, low) + ' to ' + value(unit, high),
    before === undefined
      ? values(count)
      : 'before ' + values(countBefore) + ', after ' + values(count) + ratio,
  ];
}

// readTime shows what the charts over time have at a place of the pointer. It returns the interval
// or the point with the highest value there, or null.
export function readTime(g, { chart, time, x, y }) {
  const { data, heat } = page;
  const parts = [];
  const onHeat = chart === panels.heat;
  const text = v => (data.lines.rate && !onHeat ? rateText(v) : value(data.unit, v));
  let worst = null;
  const compare = (series, p, value, figure) => {
    if (!worst || value > worst.value)
      worst = { series, start: p.start, end: p.end, value, figure };
  };
  const cell = time !== null && onHeat && heat && heatAt(panels.heat, x, y);
  if (cell) {
    parts.push(...cellTexts(cell).map(part));
    const pixel = pixelOf(panels.time);
    for (const s of page.series) {
      const from = Math.min(cell.from, time - pixel);
      const to = Math.max(cell.to, time + pixel);
      const { high } = extremesOf(s.windows, from, to, longest(s.windows), w => w.max);
      if (high) compare(s, high, high.max, 'maximum');
    }
  } else if (time !== null) {
    parts.push(part(timeText(time)));
    for (const s of page.series)
      s.lines.forEach((line, n) => {
        const point = readPoint(panels.time, line.drawn || line.points, time);
        if (!point.high) return;
        const name = s.lines.length > 1 ? named(s.label) + ' ' + line.name : named(s.label);
        parts.push(itemOf(panels.time, g, s, n, point, name, text));
        const { start, end } = point.high;
        // A merged window has the interval that is its maximum.
        const exact =
          (panels.merged && extremesOf(line.points, start, end - 1, longest(line.points)).high) ||
          point.high;
        compare(s, exact, exact.value, line.name === 'max' ? 'maximum' : line.name);
      });
    if (!worst) parts.push(part('no values'));
  }
  if (worst) {
    const where = [named(worst.series.label), sourceOf(worst), timeText(worst.start)];
    parts.push(
      part(
        'highest ' +
          worst.figure +
          ': ' +
          text(worst.value) +
          ', ' +
          where.filter(part => part).join(', ') +
          ' to ' +
          timeText(worst.end),
      ),
    );
  }
  element('readout').replaceChildren(...parts);
  return worst;
}

// readRates shows the values per second at a time. G is null if the chart is not shown.
export function readRates(g, time) {
  const parts = [];
  if (g && time !== null)
    for (const s of panels.rates.lines) {
      const point = readPoint(panels.rate, s.lines[0].points, time);
      if (point.high) parts.push(itemOf(panels.rate, g, s, 0, point, named(s.label), rateText));
    }
  element('rate-readout').replaceChildren(...parts);
}

// readCurve shows the values of the curves at a place on the axis of nines, beside the pointer.
export function readCurve({ nines, y }) {
  const parts = [];
  const { unit } = page.data;
  if (nines !== null) {
    parts.push(part((100 - 100 * 10 ** -nines).toFixed(Math.max(1, Math.ceil(nines))) + '%'));
    for (const [s, curve, corrected] of panels.curves) {
      const add = text => parts.push(item(colourOf(page.theme, s), named(s.label) + ' ' + text));
      const v = valueAt(curve, nines);
      const due = corrected && valueAt(corrected, nines);
      if (v !== null) add(between(unit, valueAt(curve, nines, curve.lows), v));
      if (due) add(value(unit, due) + ' ' + withDue);
    }
  }
  const box = element('curve-readout');
  box.replaceChildren(...parts);
  if (nines === null) return;
  const { left, right, top, bottom } = panels.curve.plot;
  const x = panels.curve.px(nines);
  const beside =
    x + 14 + box.offsetWidth > right ? Math.max(x - 14 - box.offsetWidth, left) : x + 14;
  Object.assign(box.style, {
    left: beside + 'px',
    top: Math.max(Math.min(y, bottom - box.offsetHeight), top) + 'px',
  });
}
