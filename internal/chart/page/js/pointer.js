// The pointer: where the reader points in a chart, by mouse, finger or keys, and lines through that
// place in all charts.
import { Sum, recordedAt, curveOf } from './store.js';
import { stroke } from './canvas.js';
import { strokeCurve, colourOf } from './charts.js';
import { page } from './page.js';
import { panels, shownOverTime } from './panels.js';
import { pixelOf, readTime, readRates, readCurve } from './readout.js';

export const pointer = {
  chart: panels.time, // the chart over time that had the pointer last
  time: null,
  nines: null, // a place on the axis of the curves
  value: null, // a value at the curves
  dragFrom: null, // the time at which a drag began
  x: 0,
  y: 0,
  scheduled: false,
};

// drawSoon draws the pointer in the next frame.
export function drawSoon() {
  if (pointer.scheduled) return;
  pointer.scheduled = true;
  requestAnimationFrame(() => {
    pointer.scheduled = false;
    drawPointer();
  });
}

// drawCross clears the upper canvas of a chart, and draws a vertical line at x and a horizontal one
// at y there, unless they are null. It returns the context.
function drawCross(chart, x, y) {
  const g = chart.clear(chart.over);
  const { plot } = chart;
  Object.assign(g, { strokeStyle: page.theme.faint, lineWidth: 1 });
  if (x !== null)
    stroke(g, [
      [x, plot.top],
      [x, plot.bottom],
    ]);
  if (y !== null && y >= plot.top && y <= plot.bottom)
    stroke(g, [
      [plot.left, y],
      [plot.right, y],
    ]);
  return g;
}

// drawPointer draws the pointer in all charts. A value at the curves is a line in the charts over
// time, and a time has its own curves. It returns what readTime returns.
export function drawPointer() {
  const { time, nines, value, dragFrom } = pointer;
  const { curve, rate, heat } = panels;
  const over = drawCross(curve, nines === null ? null : curve.px(nines), null);
  let worst = null;
  if (page.timed && panels.time.plot) {
    const valued = page.data.lines.rate ? [heat] : [panels.time, heat];
    const contexts = new Map();
    for (const chart of shownOverTime()) {
      const y = valued.includes(chart) && value !== null && !chart.places ? chart.py(value) : null;
      const g = drawCross(chart, time === null ? null : chart.px(time), y);
      if (dragFrom !== null) shadeDrag(chart, g, chart.px(dragFrom), chart.px(time));
      contexts.set(chart, g);
    }
    worst = readTime(contexts.get(panels.time), pointer);
    readRates(contexts.get(rate), time);
    if (time !== null) drawCurvesAt(over, time);
  }
  readCurve(pointer);
  return worst;
}

function shadeDrag({ plot }, g, from, to) {
  Object.assign(g, { globalAlpha: 0.2, fillStyle: page.theme.faint });
  g.fillRect(Math.min(from, to), plot.top, Math.abs(to - from), plot.bottom - plot.top);
  g.globalAlpha = 1;
}

// drawCurvesAt draws the percentile curves of the windows at a time, thinly.
function drawCurvesAt(g, time) {
  panels.curve.clip(g);
  for (const s of page.series) {
    const w = recordedAt(s.windows, time, page.view, pixelOf(panels.time));
    if (!w || !w.count) continue;
    const sum = Object.assign(new Sum(), { count: w.count, max: w.max });
    sum.add(w);
    g.globalAlpha = 0.55;
    strokeCurve(panels.curve, g, curveOf(sum), colourOf(page.theme, s), [2, 3]);
  }
  g.globalAlpha = 1;
  g.restore();
}
