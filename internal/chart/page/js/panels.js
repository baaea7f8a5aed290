// The charts of the page, and what the last drawing showed in them.
import { short, significant } from './numbers.js';
import { sumOf, curveOf } from './store.js';
import { Chart } from './canvas.js';
import { drawTime, drawHeat, drawRange, drawFindings, drawRates, drawCurve } from './charts.js';
import { element, make } from './dom.js';
import { page } from './page.js';

const chartOf = (id, over) => new Chart(element(id), element(over));

export const panels = {
  rate: chartOf('rate', 'rate-over'),
  time: chartOf('time', 'time-over'),
  heat: chartOf('heat-map', 'heat-over'),
  curve: chartOf('curve', 'curve-over'),
  rates: null, // what drawRates returned
  merged: 0, // the length of windows that drawTime returned
  curves: [], // as drawCurve gets them
};

export const chartsOverTime = [panels.rate, panels.time, panels.heat];

// Most labels need this room. If a label needs more, all charts are drawn twice.
for (const chart of chartsOverTime) chart.usual = 80;

// shownOverTime returns the charts over time that the page shows.
export const shownOverTime = () =>
  chartsOverTime.filter(chart => !chart.canvas.parentElement.hidden);

// drawTimeCharts draws the charts over time, all with the same room to the left.
export function drawTimeCharts() {
  const { data, view, theme, before } = page;
  element('rates').hidden = data.lines.rate;
  element('heats').hidden = !page.heat;
  const charts = shownOverTime();
  let scale = null;
  const draw = indent => {
    for (const chart of charts) {
      chart.indent = indent;
      chart.last = chart === charts.at(-1);
    }
    if (!data.lines.rate) panels.rates = drawRates(panels.rate, page);
    panels.merged = drawTime(panels.time, page);
    if (page.heat) scale = drawHeat(panels.heat, page);
  };
  draw(0);
  const left = Math.max(...charts.map(chart => chart.plot.left));
  if (charts.some(chart => chart.plot.left < left)) draw(left);
  showHeatScale(scale);
  showScale(
    'change',
    page.heat && panels.heat.heats.some(heat => heat.before) && data.change,
    theme.change,
  );
  for (const chart of charts) {
    drawFindings(chart, page);
    if (before) drawRange(chart, theme, view, before);
  }
}

// drawCurves draws the percentile curves of the time in view.
export function drawCurves() {
  const { view } = page;
  panels.curves = page.series
    .map(s => [
      s,
      s.windows.length ? curveOf(sumOf(s, view.from, view.to)) : s.curve,
      (view.isWhole && s.corrected) || null,
    ])
    .filter(([, curve]) => curve && curve.x.length);
  drawCurve(panels.curve, page, panels.curves, Math.round(page.height * 0.8));
}

// showHeatScale shows the scale of a heat map, from the lowest to the highest values per second.
function showHeatScale(scale) {
  if (!scale) return showScale('scale', null);
  const { low, high } = scale;
  const ticks = [];
  let last = -Infinity;
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high) + 1; e++)
    for (const digit of high / low < 1000 ? [1, 2, 5] : [1]) {
      const v = Number(digit + 'e' + e);
      const part = high > low ? Math.log(v / low) / Math.log(high / low) : 1;
      if (part < -1e-9 || part > 1 + 1e-9 || part - last < 0.08) continue;
      last = part;
      ticks.push({ part, label: short(v) });
    }
  // A short scale can lie between two round numbers.
  if (last < 0.5) ticks.push({ part: 1, label: significant(high, 4) });
  showScale('scale', { ticks, title: 'values per second' }, page.theme.heat);
}

// showScale shows a scale of colours below the charts, or hides it if it is null. A tick stands at
// a part of the scale, from 0 to 1.
function showScale(id, scale, colours) {
  const box = element(id);
  box.hidden = !scale;
  if (!scale) return;
  const [bar, labels] = box.children;
  const text = (textContent, left) => {
    const made = make('span', { textContent });
    made.style.left = 100 * left + '%';
    return made;
  };
  bar.style.background = 'linear-gradient(to right,' + colours.join(',') + ')';
  const name = text(scale.title, 0.5);
  name.style.top = '1.6rem';
  labels.replaceChildren(...scale.ticks.map(t => text(t.label, t.part)), name);
}
