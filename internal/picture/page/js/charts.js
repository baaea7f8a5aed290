// The charts: lines or a heat map over time, and percentile curves.
import { scaleFor, short } from './numbers.js';
import { linearTicks, logTicks, relativeTicks, clockTicks, ninesTicks, nines } from './ticks.js';
import { startsIn, heatOf, ratesOf } from './store.js';
import { stroke, dot } from './canvas.js';

// A Range is what values an axis must show.
class Range {
  constructor() { Object.assign(this, { low: Infinity, high: 0, zeros: false }); }
  add(v) { if (v > 0) { this.low = Math.min(this.low, v); this.high = Math.max(this.high, v); } else if (v === 0) this.zeros = true; }
  get any() { return this.high > 0 || this.zeros; }
}

// valueAxis returns the axis of values of a chart: at maps a value to 0..1, and inverse maps back. It ends a little beyond the
// values, so that no line lies on the frame.
function valueAxis(what, range, log, most) {
  const axis = innerAxis(what, range, what.log || log, most), edge = 0.015, inside = 1 - 2 * edge;
  return { ...axis, at: v => edge + inside * axis.at(v), inverse: p => axis.inverse(Math.min(Math.max((p - edge) / inside, 0), 1)) };
}

function innerAxis(fixed, range, log, most) {
  const { unit } = fixed;
  let { low, high } = range;
  const exact = fixed.high !== undefined || fixed.low !== undefined;
  if (fixed.high !== undefined) high = fixed.high;
  if (!log) {
    const from = fixed.low || 0, scale = scaleFor(unit, high), { ticks, end } = linearTicks(scale, from, high, exact, most);
    return { unit: scale.unit, ticks, at: v => (v - from) / (end - from), inverse: p => from + p * (end - from) };
  }
  if (!(high > 0)) { low = 1; high = 10; }
  if (fixed.low > 0) low = fixed.low;
  const axis = logTicks(unit, low, high, exact, most), { from, to, ticks } = axis;
  // Zero stands below the rest, at a distance that no value can have.
  const zero = range.zeros && !exact ? from / (to / from) ** 0.08 : from, span = Math.log(to / zero);
  if (zero < from) ticks.unshift({ value: 0, label: '0' });
  return { unit: '', ticks, log: true, at: v => Math.log(Math.max(v, zero) / zero) / span, inverse: p => { const v = zero * Math.exp(p * span); return v < from ? 0 : v; } };
}

function timeAxis(data, from, to, width) {
  const zone = { name: data.zone, offsets: data.offsets }, span = to - from;
  const axis = data.absolute ? clockTicks(from / 1000, to / 1000, data.origin / 1000, zone, Math.max(2, Math.floor(width / 100)))
    : relativeTicks(from / 1000, to / 1000, Math.max(2, Math.floor(width / 80)));
  for (const t of axis.ticks) t.value *= 1000;
  return { ...axis, at: t => (t - from) / span, inverse: p => from + p * span };
}

// bandOf returns, by column, the lowest and the highest value of the first lines of series.
function bandOf(series, from, to, columns) {
  const low = new Float64Array(columns).fill(Infinity), high = new Float64Array(columns).fill(-Infinity), width = (to - from) / columns;
  for (const s of series) for (const p of startsIn(s.lines[0].points, from, to)) {
    const first = Math.floor((p.start - from) / width), last = Math.min(Math.max(Math.ceil((p.end - from) / width) - 1, first), columns - 1);
    for (let i = first; i <= last; i++) { low[i] = Math.min(low[i], p.value); high[i] = Math.max(high[i], p.value); }
  }
  return { low, high, width };
}

// drawChart draws a chart as its description says. Range has the values that its axis shows. X makes the horizontal axis for a
// width. Paint draws the data, and over what lies over them.
function drawChart(chart, page, what, range, x, paint, over) {
  const { theme } = page, { any } = range;
  what.limits.forEach(l => range.add(l.value));
  chart.y = valueAxis(what, range, page.log, Math.max(2, Math.floor((chart.plot.bottom - chart.plot.top) / 45)));
  chart.fit(what.limits.map(l => l.label));
  chart.x = x(chart.plot.right - chart.plot.left);
  chart.axes(theme, chart.x.title, what.name);
  chart.clip();
  if (any) paint();
  else chart.message(theme, what.empty);
  over();
  chart.g.restore();
  chart.labelLimits(theme, what.limits);
}

// drawTime draws the chart over time. Page has the data, the view, the series to draw and the look.
export function drawTime(chart, page) {
  const { data, view, theme, series, band, heat } = page, { from, to } = view, what = heat ? data.cells : data.lines, range = new Range();
  chart.begin(page.height, data.absolute ? 60 : 46);
  const shown = [...series, ...band];
  for (const s of shown) {
    if (heat) for (const w of startsIn(s.windows, from, to)) { if (w.count) { range.add(w.min); range.add(w.max); } }
    else for (const line of s.lines) for (const p of startsIn(line.points, from, to)) range.add(p.value);
  }
  if (page.facets && !heat && shown.length > 1) return drawFacets(chart, page, what, range);
  drawChart(chart, page, what, range, width => timeAxis(data, from, to, width), () => {
    if (heat) drawHeat(chart, page, shown);
    else drawLines(chart, page, what);
  }, () => {
    for (const l of what.limits) drawLevel(chart, theme, l);
    drawMarks(chart, theme, data.marks.filter(m => m.time >= from && m.time <= to));
  });
}

// drawFacets draws a small chart for each series, and one for the band, above one axis of time. The places of the chart are where
// those of series are.
function drawFacets(chart, page, what, range) {
  const { data, view, theme, series, band } = page, below = data.absolute ? 60 : 46, rows = [...series, ...band.length ? [null] : []];
  const high = Math.max((page.height - below - 10) / rows.length, page.height / 9), g = chart.begin(Math.round(high * rows.length) + below + 10, below), end = chart.plot.bottom;
  what.limits.forEach(l => range.add(l.value));
  chart.y = valueAxis(what, range, page.log, 3);
  chart.fit([]);
  chart.x = timeAxis(data, view.from, view.to, chart.plot.right - chart.plot.left);
  chart.places = new Map();
  rows.forEach((s, i) => {
    const last = i === rows.length - 1;
    Object.assign(chart.plot, { top: 10 + i * high + 16, bottom: last ? end : 10 + (i + 1) * high - 3 });
    chart.places.set(s, { ...chart.plot });
    chart.axes(theme, last ? chart.x.title : null, i === rows.length >> 1 ? what.name : null);
    Object.assign(g, { textAlign: 'left', textBaseline: 'bottom', fillStyle: theme.text });
    g.fillText(s ? s.label || 'untagged' : 'the other ' + band.length, chart.plot.left + 2, chart.plot.top);
    chart.clip();
    drawLines(chart, { view, theme, series: s ? [s] : [], band: s ? [] : band }, what);
    for (const l of what.limits) drawLevel(chart, theme, l);
    g.restore();
  });
  Object.assign(chart.plot, { top: 10, bottom: end });
  drawMarks(chart, theme, data.marks.filter(m => m.time >= view.from && m.time <= view.to));
}

function drawLevel(chart, theme, limit) {
  chart.dashed(theme.limit, [[chart.plot.left, chart.py(limit.value)], [chart.plot.right, chart.py(limit.value)]]);
}

// markRows is the number of rows of texts at marks. Others are counted in one more row.
const markRows = 5;

// drawMarks draws marks, each in the highest row where no other text stands.
export function drawMarks(chart, theme, marks) {
  const { g, plot } = chart, ends = Array(markRows).fill(-Infinity), left = [];
  Object.assign(g, { strokeStyle: theme.faint, lineWidth: 1, fillStyle: theme.text, textBaseline: 'top', textAlign: 'left' });
  const write = (text, x, row) => {
    const width = g.measureText(text).width, from = x + width + 10 > plot.right ? x - width - 4 : x + 4;
    if (from < ends[row]) return false;
    g.fillText(text, from, plot.top + 3 + 16 * row);
    ends[row] = from + width + 8;
    return true;
  };
  for (const m of [...marks].sort((a, b) => a.time - b.time)) {
    const x = chart.px(m.time);
    stroke(g, [[x, plot.top], [x, plot.bottom]]);
    if (ends.some((_, row) => write(m.text, x, row))) continue;
    if (left.length && x < left.at(-1).x + 80) left.at(-1).count++;
    else left.push({ x, count: 1 });
  }
  ends.push(-Infinity);
  for (const { x, count } of left) write('and ' + count + ' more', x, markRows);
}

// drawWorst numbers moments above their maxima. Numbers that would overlap stand side by side.
export function drawWorst(chart, theme, moments) {
  const { g } = chart, radius = 8, taken = [];
  Object.assign(g, { textAlign: 'center', textBaseline: 'middle' });
  moments.forEach((m, i) => {
    const plot = chart.places ? [...chart.places].find(([s]) => s?.label === m.label)?.[1] : chart.plot;
    if (!plot) return;
    const { top, bottom } = chart.plot, left = plot.left + radius, right = plot.right - radius;
    Object.assign(chart.plot, plot);
    let x = Math.min(Math.max(chart.px(m.peak), left), right), y = Math.max(chart.py(m.value) - radius - 2, plot.top + radius);
    Object.assign(chart.plot, { top, bottom });
    while (taken.some(t => Math.abs(t[0] - x) < 2 * radius && Math.abs(t[1] - y) < 2 * radius)) {
      if ((x += 2 * radius + 1) > right) { x = left; y += 2 * radius; }
    }
    taken.push([x, y]);
    g.fillStyle = theme.text;
    dot(g, x, y, radius);
    g.fillStyle = theme.background;
    g.fillText(i + 1, x, y + 1);
  });
}

function drawLines(chart, { view, theme, series, band }, what) {
  const { g, plot } = chart, { from, to } = view;
  if (band.length) {
    const columns = Math.min(Math.round(plot.right - plot.left), 1000), { low, high } = bandOf(band, from, to, columns), step = (plot.right - plot.left) / columns;
    g.fillStyle = theme.band;
    for (let i = 0; i < columns; i++) {
      if (low[i] > high[i]) continue;
      const top = chart.py(high[i]);
      g.fillRect(plot.left + i * step, top, step + 0.5, Math.max(chart.py(low[i]) - top, 1));
    }
  }
  if (what.breaches) drawBreaches(chart, what.limits, view, theme, series);
  for (const s of series) s.lines.forEach((line, n) => {
    const points = startsIn(line.points, from, to), lengths = points.map(p => p.end - p.start).sort((a, b) => a - b);
    const slack = (lengths[lengths.length >> 1] || 0) / 2, few = points.length <= 40, dots = [];
    Object.assign(g, { strokeStyle: theme.lines[s.colours[n]], fillStyle: theme.lines[s.colours[n]], lineWidth: points.length > 1000 ? 1.1 : 1.7 });
    g.setLineDash(points.length > 1000 ? [] : s.dashes[n]);
    g.beginPath();
    points.forEach((p, i) => {
      const x = chart.px((p.start + p.end) / 2), y = chart.py(p.value);
      const starts = i === 0 || p.gap, ends = i + 1 === points.length || points[i + 1].gap;
      if (starts) g.moveTo(chart.px(p.start), y);
      else g.lineTo(chart.px(p.start), y);
      g.lineTo(chart.px(p.end), y);
      if (starts && ends) dots.push([x, y]);
      if (few && slack > 0) dots.push([x, y]);
    });
    g.stroke();
    g.setLineDash([]);
    for (const [x, y] of dots) dot(g, x, y, 2.5);
  });
}

// drawBreaches shades the times in which a line is above a limit that holds for it.
function drawBreaches(chart, limits, view, theme, series) {
  const { g, plot } = chart, columns = new Uint8Array(Math.ceil(plot.right - plot.left) + 1);
  for (const s of series) for (const line of s.lines) {
    const highest = Math.min(...limits.filter(l => !l.percentile || line.name === l.percentile + '%').map(l => l.value));
    for (const p of startsIn(line.points, view.from, view.to)) {
      if (p.value > highest) columns.fill(1, Math.floor(chart.px(p.start) - plot.left), Math.max(Math.ceil(chart.px(p.end) - plot.left), 1));
    }
  }
  Object.assign(g, { fillStyle: theme.limit, globalAlpha: 0.14 });
  columns.forEach((on, i) => { if (on) g.fillRect(plot.left + i, plot.top, 1, plot.bottom - plot.top); });
  g.globalAlpha = 1;
}

function drawHeat(chart, page, series) {
  const { g, plot, y } = chart, { view, theme } = page, cell = 3;
  const columns = Math.ceil((plot.right - plot.left) / cell), rows = Math.ceil((plot.bottom - plot.top) / cell);
  const rate = heatOf(series, view.from, view.to, columns, rows, y.at);
  let most = 0, least = Infinity;
  for (const r of rate) if (r > 0) { most = Math.max(most, r); least = Math.min(least, r); }
  least = Math.max(least, most / 1e5);
  chart.heat = { rate, columns, rows, cell };
  page.scaled(least, most);
  const part = r => most > least ? Math.min(Math.max(Math.log(r / least) / Math.log(most / least), 0), 1) : 1;
  // An image with a dot for each cell is drawn larger: that takes a tenth of the time of one rectangle for each.
  const image = new OffscreenCanvas(columns, rows), small = image.getContext('2d'), dots = small.createImageData(columns, rows);
  const colours = theme.heat.map(c => [1, 3, 5].map(at => parseInt(c.slice(at, at + 2), 16)));
  for (let i = 0; i < rate.length; i++) {
    if (rate[i]) dots.data.set([...colours[Math.round(part(rate[i]) * (colours.length - 1))], 255], 4 * ((rows - 1 - i % rows) * columns + Math.floor(i / rows)));
  }
  small.putImageData(dots, 0, 0);
  g.imageSmoothingEnabled = false;
  g.drawImage(image, plot.left, plot.bottom - rows * cell, columns * cell, rows * cell);
}

// heatAt returns the values per second, the time and the values of the cell at a place.
export function heatAt(chart, x, y) {
  const { rate, columns, rows, cell } = chart.heat, { plot } = chart;
  const column = Math.floor((x - plot.left) / cell), row = Math.floor((plot.bottom - y) / cell);
  if (column < 0 || row < 0 || column >= columns || row >= rows) return null;
  const width = columns * cell, time = c => chart.x.inverse(c * cell / (plot.right - plot.left)), value = r => chart.y.inverse(r * cell / (plot.bottom - plot.top));
  return { rate: rate[column * rows + row], from: time(column), to: time(column + 1), low: value(row), high: value(row + 1), width };
}

// drawRates draws the values per second of the series below the chart over time, on the same axis of time.
export function drawRates(chart, page, above) {
  const { data, view, theme } = page, { from, to } = view, range = new Range();
  chart.begin(Math.round(page.height * 0.4), data.absolute ? 60 : 46);
  chart.indent = above.plot.left;
  chart.plot.right = above.plot.right;
  const series = page.series.map(s => ({ ...s, lines: [{ name: '', points: ratesOf(s) }] }));
  for (const s of series) for (const p of startsIn(s.lines[0].points, from, to)) range.add(p.value);
  range.add(0);
  drawChart(chart, { ...page, log: false }, { ...data.rates, log: false }, range, width => timeAxis(data, from, to, width), () => drawLines(chart, { view, theme, series, band: [] }, data.rates), () => {});
}

// drawCurve draws percentile curves: [series, curve] each.
export function drawCurve(chart, page, curves) {
  const { data, theme } = page, what = data.curves, range = new Range();
  const g = chart.begin(Math.round(page.height * 0.8), 46);
  let last = 2;
  for (const [, curve] of curves) {
    last = Math.max(last, curve.x[curve.x.length - 1]);
    curve.v.forEach(v => range.add(v));
  }
  const axis = width => ({ ticks: ninesTicks(last, 64 * last / width), title: 'percentile', at: x => x / last, inverse: p => p * last });
  drawChart(chart, page, what, range, axis, () => {
    if (what.baseline) {
      Object.assign(g, { strokeStyle: theme.faint, lineWidth: 1.6 });
      stroke(g, [[chart.plot.left, chart.py(what.baseline)], [chart.plot.right, chart.py(what.baseline)]]);
    }
    for (const [s, curve] of curves) strokeCurve(chart, g, curve, theme.lines[s.colours[0]], s.dashes.length > 1 ? [] : s.dashes[0]);
  }, () => drawSteps(chart, theme, what.limits, last));
}

export function strokeCurve(chart, g, curve, colour, dash) {
  Object.assign(g, { strokeStyle: colour, fillStyle: colour, lineWidth: 1.8 });
  g.setLineDash(dash);
  const end = curve.x.length - 1;
  stroke(g, curve.x.map((x, i) => [chart.px(x), chart.py(curve.v[i])]));
  g.setLineDash([]);
  dot(g, chart.px(curve.x[end]), chart.py(curve.v[end]), 3);
}

// drawSteps draws service levels: each percentile's up to it, and those of all values across the chart.
function drawSteps(chart, theme, limits, last) {
  let at = chart.plot.left;
  const points = [];
  for (const l of limits) {
    const y = chart.py(l.value);
    if (!l.percentile) { drawLevel(chart, theme, l); continue; }
    const to = l.percentile < 100 ? chart.px(Math.min(nines(l.percentile / 100), last)) : chart.plot.right;
    points.push([at, y], [to, y]);
    at = to;
  }
  if (points.length) chart.dashed(theme.limit, points);
}

// valueAt returns the value of a curve where it stands at x on the axis of nines.
export function valueAt(curve, x) {
  const i = curve.x.findIndex(at => at >= x - 1e-9);
  return i < 0 ? null : curve.v[i];
}

export const rateText = r => short(Number(r.toPrecision(3))) + '/s';
