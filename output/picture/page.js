'use strict';
(function () {
const data = JSON.parse(document.getElementById('data').textContent);
const theme = data.theme;
const element = id => document.getElementById(id);

// What is shown: which series, and which time, in seconds from the origin.
const view = { hidden: new Set(), from: data.from, to: data.to };

// ---- numbers ----

const timeUnits = [['ns', 1e-9], ['µs', 1e-6], ['ms', 1e-3], ['s', 1]];

// scaleFor returns the unit to show values up to highest in, and what to divide them by.
function scaleFor(highest) {
  const own = timeUnits.find(u => u[0] === data.unit);
  if (!own || highest <= 0 || (highest >= 0.1 && highest < 10000)) return { unit: data.unit, divide: 1 };
  let best = timeUnits[0];
  for (const u of timeUnits) if (highest * own[1] / u[1] >= 1) best = u;
  return { unit: best[0], divide: best[1] / own[1] };
}

function number(v, digits) {
  if (v === 0) return '0';
  const size = Math.abs(v);
  if (size >= 1e15 || size < 1e-6) return Number(v.toPrecision(digits || 3)).toExponential().replace('e+', 'e');
  const decimals = Math.max(0, (digits || 7) - 1 - Math.floor(Math.log10(size)));
  return v.toLocaleString('en-US', { maximumFractionDigits: Math.min(decimals, 20) });
}

function short(v) {
  for (const [size, name] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (Math.abs(v) >= size && Math.abs(v) < 1e15) return number(v / size, 4) + name;
  }
  return number(v, 4);
}

// withUnit prints a value to read off.
function withUnit(v) {
  if (data.type === 'throughput') return number(v, 4) + '/s';
  const s = scaleFor(v);
  return s.unit ? number(v / s.divide, 4) + ' ' + s.unit : number(v, 6);
}

// tickLabel prints a round value, with the handiest unit.
function tickLabel(v) {
  const own = data.type !== 'throughput' && timeUnits.find(u => u[0] === data.unit);
  if (!own) return short(v);
  let best = timeUnits[0];
  for (const u of timeUnits) if (v * own[1] >= u[1] * (1 - 1e-9)) best = u;
  return number(v * own[1] / best[1], 4) + ' ' + best[0];
}

function roundStep(span, most) {
  const rough = span / Math.max(most, 1), power = Math.pow(10, Math.floor(Math.log10(rough)));
  for (const m of [1, 2, 5]) if (rough <= m * power * (1 + 1e-9)) return m * power;
  return 10 * power;
}

function multiples(low, high, step) {
  const all = [];
  for (let i = Math.ceil(low / step - 1e-6); i <= high / step + 1e-6; i++) all.push(i * step);
  return all;
}

// ---- axes: each has a function at, from a value to 0..1, its inverse, and ticks ----

function linearAxis(highest, most) {
  const s = data.type === 'throughput' ? { unit: '', divide: 1 } : scaleFor(highest);
  const shown = highest > 0 ? highest / s.divide : 1, step = roundStep(shown, most), end = Math.ceil(shown / step - 1e-9) * step * s.divide;
  return {
    unit: s.unit, at: v => v / end, inverse: p => p * end,
    ticks: multiples(0, end / s.divide, step).map(v => ({ value: v * s.divide, label: s.unit ? number(v) : short(v) })),
  };
}

function logAxis(lowest, highest, zeros, most) {
  if (!(highest > 0)) { lowest = 1; highest = 10; }
  if (highest < lowest * 1.0001) { lowest /= 2; highest *= 2; }
  const from = Math.log10(lowest), to = Math.log10(highest), span = to - from;
  const bottom = zeros ? from - 0.08 * span : from;
  const ticks = zeros ? [{ value: 0, label: '0' }] : [];
  const every = Math.max(1, Math.ceil(span / most)), fine = span * 3 <= most;
  for (let e = Math.floor(from); e <= to; e++) {
    for (const digit of fine ? [1, 2, 5] : [1]) {
      const v = Number(digit + 'e' + e);
      if (e % every === 0 && Math.log10(v) >= from - 1e-9 && Math.log10(v) <= to + 1e-9) ticks.push({ value: v, label: tickLabel(v) });
    }
  }
  return { unit: '', ticks, from, at: v => (v > 0 ? Math.max(Math.log10(v), bottom) - bottom : 0) / (to - bottom), inverse: p => Math.pow(10, bottom + p * (to - bottom)) };
}

const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800,
  3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];

function pad(n, width) { return String(n).padStart(width || 2, '0'); }

function relative(t, step) {
  if (step >= 86400) return number(t / 86400) + ' d';
  const sign = t < -5e-4 ? '-' : '', ms = Math.round(Math.abs(t) * 1000), s = Math.floor(ms / 1000);
  const rest = step < 1 ? '.' + pad(ms % 1000, 3) : '';
  return s >= 3600 || step >= 3600 ? sign + Math.floor(s / 3600) + ':' + pad(Math.floor(s / 60) % 60) + ':' + pad(s % 60) + rest
    : sign + Math.floor(s / 60) + ':' + pad(s % 60) + rest;
}

function clock(t, step) {
  const iso = new Date(Math.round((t + data.origin) * 1000)).toISOString();
  if (step >= 86400) return iso.slice(0, 10);
  return iso.slice(11, step < 1 ? 23 : step < 60 ? 19 : 16);
}

const timeLabel = (t, step) => data.absolute ? clock(t, step) : relative(t, step);

function timeAxis(from, to, most) {
  const span = to - from;
  let step = steps.find(s => span <= s * most) || Math.max(1, roundStep(span / 86400, most)) * 86400;
  const origin = data.absolute ? data.origin : 0;
  let date = '';
  const ticks = multiples(from + origin, to + origin, step).map(t => {
    const tick = { value: t - origin, label: timeLabel(t - origin, step) };
    if (data.absolute && step < 86400) {
      const day = new Date(Math.round(t * 1000)).toISOString().slice(0, 10);
      if (day !== date) tick.below = date = day;
    }
    return tick;
  });
  return { step, ticks, at: t => (t - from) / span, inverse: p => from + p * span };
}

const nines = part => -Math.log10(1 - part);

function ninesLabel(n) { return n === 0 ? '0%' : n === 1 ? '90%' : n === 2 ? '99%' : '99.' + '9'.repeat(n - 2) + '%'; }

function ninesAxis(last, width) {
  const ticks = [];
  let labelled = -Infinity;
  for (let n = 0; n <= last; n++) {
    const far = (n - labelled) * width / last > 30 + 9 * n;
    if (far) labelled = n;
    ticks.push({ value: n, label: far ? ninesLabel(n) : '' });
    if (n === 0 && width / last > 220) ticks.push({ value: nines(0.5), label: '50%' });
  }
  return { ticks, at: x => x / last, inverse: p => p * last };
}

// ---- charts ----

// A chart is a canvas with axes, with room below for so many pixels of labels.
function chart(canvas, height, below) {
  const width = canvas.clientWidth || 600, ratio = window.devicePixelRatio || 1;
  canvas.style.height = height + 'px';
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = '13px "Liberation Sans", Arial, Helvetica, sans-serif';
  const plot = { left: 0, right: width - 16, top: 10, bottom: height - below };
  return { g, width, height, plot, x: null, y: null,
    px(v) { return plot.left + this.x.at(v) * (plot.right - plot.left); },
    py(v) { return plot.bottom - this.y.at(v) * (plot.bottom - plot.top); } };
}

function drawAxes(c, xTitle, yTitle) {
  const { g, plot } = c;
  g.strokeStyle = theme.grid;
  g.fillStyle = theme.text;
  g.lineWidth = 1;
  g.textBaseline = 'middle';
  g.textAlign = 'right';
  for (const t of c.y.ticks) {
    const y = Math.round(c.py(t.value)) + 0.5;
    stroke(g, [[plot.left, y], [plot.right, y]]);
    g.fillText(t.label, plot.left - 7, y);
  }
  g.textBaseline = 'top';
  for (const t of c.x.ticks) {
    if (!t.label) continue;
    const x = Math.round(c.px(t.value)) + 0.5, half = g.measureText(t.label).width / 2;
    stroke(g, [[x, plot.top], [x, plot.bottom]]);
    g.textAlign = x + half > c.width ? 'right' : x - half < 0 ? 'left' : 'center';
    g.fillText(t.label, x, plot.bottom + 7);
    if (t.below) g.fillText(t.below, x, plot.bottom + 22);
  }
  g.textAlign = 'center';
  g.fillText(xTitle, (plot.left + plot.right) / 2, c.height - 17);
  g.save();
  g.translate(2, (plot.top + plot.bottom) / 2);
  g.rotate(-Math.PI / 2);
  g.fillText(yTitle, 0, 0);
  g.restore();
  g.strokeStyle = theme.faint;
  stroke(g, [[plot.left + 0.5, plot.top], [plot.left + 0.5, plot.bottom + 0.5], [plot.right, plot.bottom + 0.5]]);
}

function stroke(g, points) {
  g.beginPath();
  points.forEach((p, i) => i ? g.lineTo(p[0], p[1]) : g.moveTo(p[0], p[1]));
  g.stroke();
}

// fit makes room for the labels of the vertical axis, and of limits.
function fit(c, limits) {
  const width = texts => Math.ceil(Math.max(0, ...texts.map(t => c.g.measureText(t).width)));
  c.plot.left = 32 + width(c.y.ticks.map(t => t.label));
  if (limits.length) c.plot.right = Math.floor(c.plot.right - width(limits.map(l => l.label)));
}

// labelLimits writes what limits are beside the chart, those that lie close above one another.
function labelLimits(c, limits) {
  c.g.textAlign = 'left';
  c.g.textBaseline = 'middle';
  c.g.fillStyle = theme.limit;
  let highest = Infinity;
  for (const l of [...limits].sort((a, b) => a.value - b.value)) {
    highest = Math.min(c.py(l.value), highest - 16);
    c.g.fillText(l.label, c.plot.right + 8, highest);
  }
}

function clip(c) {
  c.g.save();
  c.g.beginPath();
  c.g.rect(c.plot.left, c.plot.top - 2, c.plot.right - c.plot.left, c.plot.bottom - c.plot.top + 4);
  c.g.clip();
}

function message(c, text) {
  c.g.fillStyle = theme.faint;
  c.g.textAlign = 'center';
  c.g.fillText(text, (c.plot.left + c.plot.right) / 2, (c.plot.top + c.plot.bottom) / 2);
}

function drawLimit(c, limit, points) {
  c.g.strokeStyle = theme.limit;
  c.g.fillStyle = theme.limit;
  c.g.lineWidth = 1.3;
  c.g.setLineDash([5, 3]);
  stroke(c.g, points);
  c.g.setLineDash([]);
}

const shown = () => data.series.filter(s => !view.hidden.has(s.label));
const named = label => label || 'untagged';

// ---- the chart over time ----

// between returns the indexes of the points of a line that the view shows, and one more on either side.
function between(line) {
  const s = line.s;
  let low = 0, high = s.length;
  while (low < high) { const mid = (low + high) >> 1; if (s[mid] + line.d[mid] < view.from) low = mid + 1; else high = mid; }
  const first = low;
  high = s.length;
  while (low < high) { const mid = (low + high) >> 1; if (s[mid] <= view.to) low = mid + 1; else high = mid; }
  return [Math.max(first - 1, 0), Math.min(low + 1, s.length)];
}

function timeValues() {
  const r = { low: Infinity, high: 0, zeros: false };
  const add = v => { if (v > 0) { r.low = Math.min(r.low, v); r.high = Math.max(r.high, v); } else if (v === 0) r.zeros = true; };
  for (const s of shown()) for (const line of s.lines) {
    const [first, end] = between(line);
    for (let i = first; i < end; i++) if (line.s[i] <= view.to && line.s[i] + line.d[i] >= view.from) add(line.v[i]);
  }
  const rest = data.rest;
  if (rest && !view.hidden.has(rest.label)) for (let i = 0; i < rest.from.length; i++) {
    if (rest.to[i] >= view.from && rest.from[i] <= view.to) { add(rest.low[i]); add(rest.high[i]); }
  }
  r.any = r.high > 0 || r.zeros;
  data.limits.forEach(l => add(l.value));
  return r;
}

let timeChart;

function drawTime() {
  const c = timeChart = chart(element('time'), data.height, data.absolute ? 60 : 46);
  const most = Math.max(2, Math.floor((c.plot.bottom - c.plot.top) / 45));
  const values = data.type === 'heatmap' ? windowValues() : timeValues();
  const log = data.log || data.type === 'heatmap';
  c.y = log ? logAxis(values.low, values.high, values.zeros, most) : linearAxis(values.high, most);
  fit(c, data.limits);
  c.x = timeAxis(view.from, view.to, Math.max(2, Math.floor((c.plot.right - c.plot.left) / 100)));
  drawAxes(c, data.absolute ? 'time (UTC)' : 'time since start', data.valueName + (c.y.unit ? ' (' + c.y.unit + ')' : ''));
  clip(c);
  if (!values.any) message(c, 'no values were recorded');
  else if (data.type === 'heatmap') drawHeat(c);
  else drawLines(c);
  for (const l of data.limits) drawLimit(c, l, [[c.plot.left, c.py(l.value)], [c.plot.right, c.py(l.value)]]);
  c.g.restore();
  labelLimits(c, data.limits);
  if (pointer.time !== null) drawPointer(c);
}

function drawLines(c) {
  const { g } = c, rest = data.rest;
  if (rest && !view.hidden.has(rest.label)) {
    g.fillStyle = theme.band;
    for (let i = 0; i < rest.from.length; i++) {
      const x = c.px(rest.from[i]), top = c.py(rest.high[i]);
      g.fillRect(x, top, Math.max(c.px(rest.to[i]) - x + 0.5, 1), Math.max(c.py(rest.low[i]) - top, 1));
    }
  }
  for (const s of shown()) for (const line of s.lines) {
    const [first, end] = between(line);
    g.strokeStyle = g.fillStyle = s.colour;
    g.lineWidth = end - first > 1000 ? 1.1 : 1.7;
    g.setLineDash(line.dash);
    g.beginPath();
    const dots = [];
    for (let i = first; i < end; i++) {
      const x = c.px(line.s[i] + line.d[i] / 2), y = c.py(line.v[i]);
      const starts = i === first || line.gaps.has(i), ends = i + 1 === line.s.length || line.gaps.has(i + 1);
      if (starts && ends) { g.moveTo(c.px(line.s[i]), y); g.lineTo(c.px(line.s[i] + line.d[i]), y); dots.push([x, y]); }
      else if (starts) g.moveTo(x, y);
      else g.lineTo(x, y);
      if (end - first <= 40) dots.push([x, y]);
    }
    g.stroke();
    g.setLineDash([]);
    for (const [x, y] of dots) { g.beginPath(); g.arc(x, y, 2.5, 0, 7); g.fill(); }
  }
}

// ---- histograms by window of time ----

function bytesOf(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// eachSlot calls visit with the index and the count of every slot of a window that has one.
function eachSlot(w, n, visit) {
  const bytes = w.bytes;
  let at = w.offsets[n], index = -1;
  const end = w.offsets[n + 1];
  const varint = () => {
    let v = 0, scale = 1;
    for (;;) {
      const b = bytes[at++];
      v += (b & 127) * scale;
      if (b < 128) return v;
      scale *= 128;
    }
  };
  while (at < end) {
    index += varint() + 1;
    visit(index, varint());
  }
}

// slotRange returns the values that share a slot, in the unit of the page: from low up to, but without, end.
function slotRange(w, index) {
  const half = 1 << w.half, bucket = Math.max(Math.floor(index / half) - 1, 0), size = Math.pow(2, bucket + w.shift);
  const low = (index - bucket * half) * size;
  return { low: low * w.unit, high: (low + size - 1) * w.unit, end: (low + size) * w.unit };
}

function inView(w, n) {
  const middle = (w.start[n] + w.end[n]) / 2;
  return middle >= view.from && middle <= view.to;
}

// sumOf adds up the windows in view: counts by slot, their total, and the highest value, exactly.
function sumOf(w) {
  const counts = new Float64Array(w.slots);
  let total = 0, max = 0;
  for (let n = 0; n < w.start.length; n++) {
    if (!inView(w, n)) continue;
    eachSlot(w, n, (index, count) => { counts[index] += count; total += count; });
    max = Math.max(max, w.max[n]);
  }
  return { counts, total, max };
}

// heatWindows returns the windows of all series that are shown, those without a line among them.
function heatWindows() {
  const rest = data.rest && !view.hidden.has(data.rest.label) ? data.rest.windows : [];
  return [...shown().map(s => s.windows).filter(w => w), ...rest];
}

function windowValues() {
  const r = { low: Infinity, high: 0, zeros: false };
  for (const w of heatWindows()) {
    sumOf(w).counts.forEach((count, index) => {
      if (!count) return;
      const range = slotRange(w, index);
      if (range.low === 0) r.zeros = true;
      else { r.low = Math.min(r.low, range.low); r.high = Math.max(r.high, range.end); }
    });
  }
  r.any = r.high > 0 || r.zeros;
  return r;
}

function drawHeat(c) {
  const width = Math.round(c.plot.right - c.plot.left), height = Math.round(c.plot.bottom - c.plot.top), cell = 3;
  const columns = Math.ceil(width / cell), rows = Math.ceil(height / cell), rate = new Float64Array(columns * rows);
  const perColumn = (view.to - view.from) / columns;
  for (const w of heatWindows()) {
    for (let n = 0; n < w.start.length; n++) {
      const start = (w.start[n] - view.from) / perColumn, length = (w.end[n] - w.start[n]) / perColumn;
      const first = Math.max(0, Math.floor(start));
      const last = Math.min(columns - 1, length ? Math.ceil(start + length) - 1 : Math.floor(start));
      // What part of a column the window covers: only a part of its counts belongs there.
      const part = column => length ? (Math.min(start + length, column + 1) - Math.max(start, column)) / length : 1;
      eachSlot(w, n, (index, count) => {
        const r = slotRange(w, index);
        const bottom = Math.floor(c.y.at(r.low) * rows), top = Math.max(bottom, Math.ceil(c.y.at(r.low > 0 ? r.end : 0) * rows) - 1);
        for (let row = bottom; row <= Math.min(top, rows - 1); row++) for (let column = first; column <= last; column++) {
          rate[column * rows + row] += count * part(column) / perColumn / (top - bottom + 1);
        }
      });
    }
  }
  let most = 0, least = Infinity;
  for (const r of rate) if (r > 0) { most = Math.max(most, r); least = Math.min(least, r); }
  least = Math.max(least, most / 1e5);
  element('scale').textContent = most ? 'values per second: from ' + short(least) + ' to ' + short(most) : '';
  for (let i = 0; i < rate.length; i++) {
    if (!rate[i]) continue;
    const part = most > least ? Math.min(Math.max(Math.log(rate[i] / least) / Math.log(most / least), 0), 1) : 1;
    c.g.fillStyle = theme.heat[Math.round(part * (theme.heat.length - 1))];
    c.g.fillRect(c.plot.left + Math.floor(i / rows) * cell, c.plot.bottom - (i % rows + 1) * cell, cell, cell);
  }
}

// ---- percentile curves of the time in view ----

// curveOf returns the curve of a series as points on the axis of nines, the last of which is the maximum.
function curveOf(s) {
  if (!s.windows) return s.curve || null;
  const sum = sumOf(s.windows), x = [], v = [];
  let seen = 0;
  sum.counts.forEach((count, index) => {
    if (!count) return;
    const value = Math.min(slotRange(s.windows, index).high, sum.max);
    x.push(nines(seen / sum.total));
    v.push(value);
    seen += count;
    x.push(seen < sum.total ? nines(seen / sum.total) : Math.max(Math.log10(2 * sum.total), x[x.length - 1]));
    v.push(seen < sum.total ? value : sum.max);
  });
  return { x, v, total: sum.total };
}

let curveChart, curves = [];

function drawCurve() {
  const c = curveChart = chart(element('curve'), Math.round(data.height * 0.8), 46);
  curves = shown().map(s => ({ series: s, curve: curveOf(s) })).filter(p => p.curve && p.curve.x.length);
  const most = Math.max(2, Math.floor((c.plot.bottom - c.plot.top) / 45));
  let last = 2, low = Infinity, high = 0, zeros = false;
  for (const { curve } of curves) {
    last = Math.max(last, curve.x[curve.x.length - 1]);
    for (const v of curve.v) if (v > 0) { low = Math.min(low, v); high = Math.max(high, v); } else zeros = true;
  }
  const type = data.type;
  data.type = 'percentiles'; // values, not rates
  if (type !== 'throughput') for (const l of data.limits) { low = Math.min(low, l.value); high = Math.max(high, l.value); }
  c.y = data.log ? logAxis(low, high, zeros, most) : linearAxis(high, most);
  data.type = type;
  fit(c, type === 'throughput' ? [] : data.limits);
  c.x = ninesAxis(last, c.plot.right - c.plot.left);
  drawAxes(c, 'percentile', 'value' + (c.y.unit ? ' (' + c.y.unit + ')' : ''));
  if (!curves.length) message(c, 'no values were recorded');
  const { g } = c;
  for (const { series, curve } of curves) {
    g.strokeStyle = g.fillStyle = series.colour;
    g.lineWidth = 1.8;
    g.setLineDash(series.dash);
    stroke(g, curve.x.map((x, i) => [c.px(x), c.py(curve.v[i])]));
    g.setLineDash([]);
    const end = curve.x.length - 1;
    g.beginPath();
    g.arc(c.px(curve.x[end]), c.py(curve.v[end]), 3, 0, 7);
    g.fill();
  }
  if (type === 'throughput') return;
  drawSteps(c, last);
  labelLimits(c, data.limits);
}

function drawSteps(c, last) {
  let at = c.plot.left;
  const points = [];
  for (const l of data.limits) {
    const y = c.py(l.value);
    if (!l.percentile) { drawLimit(c, l, [[c.plot.left, y], [c.plot.right, y]]); continue; }
    const to = l.percentile < 100 ? c.px(Math.min(nines(l.percentile / 100), last)) : c.plot.right;
    points.push([at, y], [to, y]);
    at = to;
  }
  if (points.length) drawLimit(c, null, points);
}

// valueAt returns the value of a curve where it stands at x on the axis of nines.
function valueAt(curve, x) {
  for (let i = 0; i < curve.x.length; i++) if (curve.x[i] >= x) return curve.v[i];
  return null;
}

// ---- the pointer ----

const pointer = { time: null, dragFrom: null };

function nearest(line, t) {
  const [first, end] = between(line);
  let best = -1, distance = Infinity;
  for (let i = first; i < end; i++) {
    const d = t < line.s[i] ? line.s[i] - t : t > line.s[i] + line.d[i] ? t - line.s[i] - line.d[i] : 0;
    // Where thinning kept several points of a moment, the highest tells most.
    if (d < distance || d === distance && line.v[i] > line.v[best]) { best = i; distance = d; }
  }
  return best >= 0 && distance <= (view.to - view.from) / 100 + line.d[best] ? best : -1;
}

function item(colour, text) {
  const span = document.createElement('span'), dot = document.createElement('i');
  dot.style.background = colour;
  span.append(dot, text);
  return span;
}

function readTime() {
  const out = element('readout');
  out.replaceChildren();
  if (pointer.time === null) return;
  const step = Math.min(timeChart.x.step, 1) / (timeChart.x.step < 60 ? 10 : 1);
  const when = document.createElement('span');
  when.textContent = timeLabel(pointer.time, step);
  out.append(when);
  if (data.type === 'heatmap') {
    when.textContent += ', ' + withUnit(pointer.value);
    return;
  }
  for (const s of shown()) for (const line of s.lines) {
    const i = nearest(line, pointer.time);
    if (i < 0) continue;
    const name = s.lines.length > 1 ? named(s.label) + ' ' + line.name : named(s.label);
    out.append(item(s.colour, name + ' ' + withUnit(line.v[i])));
  }
}

function drawPointer(c) {
  const x = c.px(pointer.time);
  c.g.strokeStyle = theme.faint;
  c.g.lineWidth = 1;
  stroke(c.g, [[x, c.plot.top], [x, c.plot.bottom]]);
  if (pointer.dragFrom !== null) {
    const from = c.px(pointer.dragFrom);
    c.g.globalAlpha = 0.2;
    c.g.fillStyle = theme.faint;
    c.g.fillRect(Math.min(from, x), c.plot.top, Math.abs(x - from), c.plot.bottom - c.plot.top);
    c.g.globalAlpha = 1;
  }
}

function place(event) {
  const box = element('time').getBoundingClientRect(), { plot } = timeChart;
  const part = (event.clientX - box.left - plot.left) / (plot.right - plot.left);
  pointer.time = timeChart.x.inverse(Math.min(Math.max(part, 0), 1));
  pointer.value = timeChart.y.inverse((plot.bottom - event.clientY + box.top) / (plot.bottom - plot.top));
}

function show(from, to) {
  view.from = Math.max(from, data.from);
  view.to = Math.min(to, data.to);
  drawAll();
}

function listen() {
  const canvas = element('time');
  canvas.addEventListener('pointerdown', event => {
    place(event);
    pointer.dragFrom = pointer.time;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', event => { place(event); drawTime(); readTime(); });
  canvas.addEventListener('pointerup', event => {
    place(event);
    const from = pointer.dragFrom, moved = from !== null && Math.abs(timeChart.px(from) - timeChart.px(pointer.time)) > 5;
    pointer.dragFrom = null;
    if (moved) show(Math.min(from, pointer.time), Math.max(from, pointer.time));
  });
  canvas.addEventListener('pointerleave', () => { pointer.time = pointer.dragFrom = null; drawTime(); readTime(); });
  canvas.addEventListener('dblclick', () => show(data.from, data.to));
  element('whole').addEventListener('click', () => show(data.from, data.to));
  element('curve').addEventListener('pointermove', event => {
    const box = element('curve').getBoundingClientRect(), { plot } = curveChart;
    const x = curveChart.x.inverse((event.clientX - box.left - plot.left) / (plot.right - plot.left));
    const out = element('curve-readout');
    out.replaceChildren();
    if (x < 0) return;
    const at = document.createElement('span'), percent = 100 - 100 * Math.pow(10, -x);
    at.textContent = percent.toFixed(Math.max(1, Math.ceil(x))) + '%';
    out.append(at);
    for (const { series, curve } of curves) {
      const v = valueAt(curve, x);
      if (v !== null) out.append(item(series.colour, named(series.label) + ' ' + value(v)));
    }
  });
  element('curve').addEventListener('pointerleave', () => element('curve-readout').replaceChildren());
  let width = innerWidth;
  addEventListener('resize', () => { if (innerWidth !== width) { width = innerWidth; drawAll(); } });
}

// value prints a value, whatever the chart over time shows.
function value(v) {
  const s = scaleFor(v);
  return s.unit ? number(v / s.divide, 4) + ' ' + s.unit : number(v, 6);
}

// ---- the rest of the page ----

function swatch(colour, dash, band) {
  const space = 'http://www.w3.org/2000/svg', svg = document.createElementNS(space, 'svg'), line = document.createElementNS(space, 'line');
  svg.setAttribute('width', 34);
  svg.setAttribute('height', 12);
  for (const [name, v] of Object.entries({ x1: 0, x2: 34, y1: 6, y2: 6, stroke: colour, 'stroke-width': band ? 10 : 2, 'stroke-dasharray': dash.join(' ') })) {
    line.setAttribute(name, v);
  }
  svg.append(line);
  return svg;
}

function toggle(label, text, colour, dash, band) {
  const button = document.createElement('button');
  button.type = 'button';
  button.dataset.series = label;
  button.setAttribute('aria-pressed', 'true');
  button.append(swatch(colour, dash, band), text);
  button.addEventListener('click', () => {
    if (!view.hidden.delete(label)) view.hidden.add(label);
    button.setAttribute('aria-pressed', String(!view.hidden.has(label)));
    drawAll();
  });
  return button;
}

function buildToggles() {
  const bar = element('toggles');
  for (const s of data.series) bar.append(toggle(s.label, named(s.label), s.colour, s.dash, false));
  if (data.rest) bar.append(toggle(data.rest.label, data.rest.label, theme.band, [], true));
  const lines = data.series.length ? data.series[0].lines : [];
  if (lines.length > 1) for (const line of lines) {
    const name = document.createElement('span');
    name.className = 'name';
    name.append(swatch(theme.faint, line.dash, false), line.name);
    bar.append(name);
  }
}

// summaryOf returns the row of a series for the windows in view: as exact as its slots, but for count and maximum.
function summaryOf(s) {
  const w = s.windows, sum = sumOf(w);
  const row = { Label: s.label, Intervals: null, Count: sum.total, Seconds: view.to - view.from, Min: null, Mean: null, Max: sum.max };
  const levels = [['P50', 50], ['P90', 90], ['P99', 99], ['P999', 99.9], ['P9999', 99.99]];
  let seen = 0, total = 0, next = 0;
  sum.counts.forEach((count, index) => {
    if (!count) return;
    const r = slotRange(w, index);
    if (seen === 0) row.Min = r.low;
    seen += count;
    total += count * (r.low + r.end) / 2;
    while (next < levels.length && seen >= levels[next][1] / 100 * sum.total * (1 - 1e-15)) row[levels[next++][0]] = Math.min(r.high, sum.max);
  });
  row.Mean = total / sum.total;
  return row;
}

function buildTable(whole) {
  const rows = whole ? data.summary : data.series.filter(s => s.windows).map(summaryOf).filter(row => row.Count > 0);
  element('summary-section').hidden = !data.summary.length;
  if (!data.summary.length) return;
  element('summary-title').textContent = whole ? 'Summary' : 'Summary of the time in view';
  const scale = scaleFor(Math.max(0, ...rows.map(s => s.Max)));
  const unit = scale.unit ? ' (' + scale.unit + ')' : '';
  const columns = [['tag', s => named(s.Label)],
    ['values', s => s.Count.toLocaleString('en-US')],
    ['values/s', s => s.Seconds > 0 ? number(s.Count / s.Seconds, 4) : '']];
  if (whole) columns.splice(1, 0, ['intervals', s => number(s.Intervals)]);
  for (const [name, key] of [['min', 'Min'], ['mean', 'Mean'], ['50%', 'P50'], ['90%', 'P90'], ['99%', 'P99'], ['99.9%', 'P999'], ['99.99%', 'P9999'], ['max', 'Max']]) {
    columns.push([name + unit, s => number(s[key] / scale.divide, scale.unit ? 5 : 0)]);
  }
  const cells = (kind, texts) => {
    const row = document.createElement('tr');
    for (const text of texts) row.append(Object.assign(document.createElement(kind), { textContent: text }));
    return row;
  };
  element('summary').tHead.replaceChildren(cells('th', columns.map(c => c[0])));
  element('summary').tBodies[0].replaceChildren(...rows.map(s => cells('td', columns.map(c => c[1](s)))));
}

function drawAll() {
  const whole = view.from === data.from && view.to === data.to;
  element('whole').hidden = whole;
  if (data.hasTime) {
    drawTime();
    const step = view.to - view.from < 10 ? 0.1 : 1;
    element('range').textContent = whole ? 'drag to zoom, double-click for the whole range' : timeLabel(view.from, step) + ' to ' + timeLabel(view.to, step);
  }
  element('curve-title').textContent = whole ? 'Percentiles' : 'Percentiles of the time in view';
  drawCurve();
  buildTable(whole);
}

for (const s of data.series) for (const line of s.lines) line.gaps = new Set(line.gaps);
for (const w of [...data.series.map(s => s.windows), ...(data.rest ? data.rest.windows : [])]) {
  if (!w) continue;
  w.bytes = bytesOf(w.counts);
  w.offsets = [0];
  for (const size of w.sizes) w.offsets.push(w.offsets[w.offsets.length - 1] + size);
}
for (const name of ['background', 'text', 'faint', 'grid']) document.documentElement.style.setProperty('--' + name, theme[name]);
if (data.type === 'heatmap') element('scale').style.borderImage = 'linear-gradient(to right,' + theme.heat.join(',') + ') 1';
element('time-section').hidden = !data.hasTime;
for (const note of data.notes) {
  const line = document.createElement('div');
  line.textContent = note;
  element('notes').append(line);
}
buildToggles();
if (data.hasTime) listen();
drawAll();
}());
