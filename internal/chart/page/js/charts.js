// The charts: lines or a heat map over time, and percentile curves.
import { scaleFor, short } from './numbers.js';
import {
  relativeStep,
  linearTicks,
  logTicks,
  relativeTicks,
  clockTicks,
  severalDays,
  ninesTicks,
  nines,
} from './ticks.js';
import { startsIn, heatOf, rateOf, ranIn, mergedStep, mergedPoints } from './store.js';
import { stroke, dot } from './canvas.js';
import { lanesOf, laneHeight, shadePhases, drawLanes } from './phases.js';

// A Range is the lowest and the highest value above 0 that an axis must show, and whether there are
// zeros.
class Range {
  constructor() {
    Object.assign(this, { low: Infinity, high: 0, zeros: false });
  }
  add(v) {
    if (v > 0) {
      this.low = Math.min(this.low, v);
      this.high = Math.max(this.high, v);
    } else if (v === 0) this.zeros = true;
  }
  get any() {
    return this.high > 0 || this.zeros;
  }
}

// valueAxis returns the axis of values of a chart as its description what says. Most limits the
// number of labels. At maps a value to [0, 1], and inverse maps back. The axis ends a little beyond
// the values, so that no line lies on the frame.
function valueAxis(what, range, log, most) {
  const axis = innerAxis(what, range, what.log || log, most);
  const edge = 0.015;
  const inside = 1 - 2 * edge;
  return {
    ...axis,
    at: v => edge + inside * axis.at(v),
    inverse: p => axis.inverse(Math.min(Math.max((p - edge) / inside, 0), 1)),
  };
}

function innerAxis(fixed, range, log, most) {
  const { unit } = fixed;
  let { low, high } = range;
  const exact = fixed.high !== undefined || fixed.low !== undefined;
  if (fixed.high !== undefined) high = fixed.high;
  if (!log) {
    const from = fixed.low || 0;
    const scale = scaleFor(unit, high);
    const { ticks, end } = linearTicks(scale, from, high, exact, most);
    return {
      unit: scale.unit,
      ticks,
      at: v => (v - from) / (end - from),
      inverse: p => from + p * (end - from),
    };
  }
  if (!(high > 0)) {
    low = 1;
    high = 10;
  }
  if (fixed.low > 0) low = fixed.low;
  const axis = logTicks(unit, low, high, exact, most);
  const { from, to, ticks } = axis;
  // Zero stands below the rest, at a distance that no value can have.
  const zero = range.zeros && !exact ? from / (to / from) ** 0.08 : from;
  const span = Math.log(to / zero);
  if (zero < from) ticks.unshift({ value: 0, label: '0' });
  return {
    unit: unit[0] === '=' ? unit.slice(1) : '',
    ticks,
    log: true,
    at: v => Math.log(Math.max(v, zero) / zero) / span,
    inverse: p => {
      const v = zero * Math.exp(p * span);
      return v < from ? 0 : v;
    },
  };
}

// timeLines returns the number of lines of a label of time: the time of the day, the time since the
// start, and the date if there are several dates. A log without dates has only the time since its
// start.
const timeLines = data => (!data.dated ? 1 : data.absolute || !severalDays(data) ? 2 : 3);

function timeAxis(data, from, to, width) {
  const zone = { name: data.zone, offsets: data.offsets };
  const span = to - from;
  const axis =
    timeLines(data) > 1
      ? clockTicks(
          from / 1000,
          to / 1000,
          data.origin / 1000,
          zone,
          !data.absolute,
          Math.max(2, Math.floor(width / 100)),
        )
      : relativeTicks(from / 1000, to / 1000, Math.max(2, Math.floor(width / 80)));
  for (const t of axis.ticks) t.value *= 1000;
  return { ...axis, at: t => (t - from) / span, inverse: p => from + p * span };
}

// bandOf returns the lowest and the highest value of the first lines of all series together, by
// column of time.
function bandOf(series, from, to, columns) {
  const low = new Float64Array(columns).fill(Infinity);
  const high = new Float64Array(columns).fill(-Infinity);
  const width = (to - from) / columns;
  for (const s of series)
    for (const p of startsIn(s.lines[0].points, from, to)) {
      const first = Math.floor((p.start - from) / width);
      const last = Math.min(Math.max(Math.ceil((p.end - from) / width) - 1, first), columns - 1);
      for (let i = first; i <= last; i++) {
        low[i] = Math.min(low[i], p.value);
        high[i] = Math.max(high[i], p.value);
      }
    }
  return { low, high, width };
}

// drawChart draws a chart as the description what says. Range has the values of the data. X returns
// the horizontal axis for a width. Paint draws the data, and over draws in front of them. The
// labels of beside, which are limits, have room beside the chart.
function drawChart(chart, page, what, range, x, paint, over, beside = what.limits) {
  const { theme } = page;
  const { any } = range;
  what.limits.forEach(l => range.add(l.value));
  chart.y = valueAxis(
    what,
    range,
    page.log,
    Math.max(2, Math.floor((chart.plot.bottom - chart.plot.top) / 45)),
  );
  chart.fit(beside.map(l => l.label));
  chart.x = x(chart.plot.right - chart.plot.left);
  chart.axes(theme, chart.x.title, what.name);
  chart.clip();
  if (any) paint();
  else chart.message(theme, what.empty);
  over();
  chart.g.restore();
  chart.labelLimits(theme, what.limits);
}

// The heights of the charts over time, as parts of the page's height.
const rateShare = 0.25;
const timeShare = 0.45;
const heatShare = 0.4;
const changeShare = 0.9;

// facetShare is the least height of a facet, as a part of the page's height.
const facetShare = 1 / 9;

// heightOn returns the page's height at which the charts over time together are space pixels high.
export function heightOn(space, page) {
  const { data, heat, facets } = page;
  const parts = facets ? facetsOf(page).length : 1;
  return (
    (space - laneHeight * lanesOf(data).length) /
    (rateShare +
      Math.max(timeShare, parts * facetShare) +
      (data.compared && heat
        ? changeShare
        : Math.max(heatShare, parts <= maxMaps ? parts * facetShare : 0)))
  );
}

// fitting returns a title, or as much of its end as fits a width. Tags mostly differ at the end.
function fitting(g, title, width) {
  let cut = title;
  while (cut.length > 1 && g.measureText(cut).width > width) cut = '…' + cut.slice(2);
  return cut;
}

// facetsOf returns the facets of a chart: a part of the page for each title, with its series, and a
// part for the band.
function facetsOf({ series, band }) {
  const parts = [...new Set(series.map(s => s.facet))].map(title => ({
    title,
    series: series.filter(s => s.facet === title),
    band: [],
  }));
  return [
    ...parts,
    ...(band.length ? [{ title: 'the other ' + band.length, series: [], band }] : []),
  ];
}

// drawOverTime draws a chart over time, whose height is a share of the page's height. If there are
// several parts, it draws them below each other with the same axes. Paint draws the data of a part:
// it gets the page with the series of the part. Over and the other arguments are those of
// drawChart. Only the last chart over time has the labels of time. Lanes stand above the chart.
function drawOverTime(chart, page, what, range, share, parts, paint, over, lanes = []) {
  const { data, view } = page;
  const above = laneHeight * lanes.length;
  const paintOver = part => {
    shadePhases(chart, page.theme, data);
    paint(part);
  };
  const below = !chart.last ? 12 : 31 + 15 * timeLines(data);
  const height = page.height * share;
  const beside = [...data.lines.limits, ...data.cells.limits];
  const axis = width => {
    const time = timeAxis(data, view.from, view.to, width);
    return chart.last ? time : { ...time, title: null };
  };
  if (parts.length < 2) {
    chart.begin(Math.round(height) + above + below, below);
    chart.plot.top += above;
    drawChart(chart, page, what, range, axis, () => paintOver(page), over, beside);
    return drawLanes(chart, page.theme, lanes);
  }
  const high = Math.max(height / parts.length, page.height * facetShare);
  const g = chart.begin(Math.round(high * parts.length) + above + below + 10, below);
  const top = 10 + above;
  const { theme } = page;
  const end = chart.plot.bottom;
  what.limits.forEach(l => range.add(l.value));
  chart.y = valueAxis(what, range, page.log, 3);
  chart.fit(
    beside.map(l => l.label),
    high - 19,
  );
  chart.x = axis(chart.plot.right - chart.plot.left);
  chart.places = new Map();
  parts.forEach((part, i) => {
    const last = i === parts.length - 1;
    Object.assign(chart.plot, {
      top: top + i * high + 16,
      bottom: last ? end : top + (i + 1) * high - 3,
    });
    for (const s of part.change ? [] : part.series) chart.places.set(s, { ...chart.plot });
    chart.axes(theme, last ? chart.x.title : null, i === parts.length >> 1 ? what.name : null);
    Object.assign(g, { textAlign: 'left', textBaseline: 'bottom', fillStyle: theme.text });
    g.fillText(
      fitting(g, part.title, chart.width - chart.plot.left - 2),
      chart.plot.left + 2,
      chart.plot.top,
    );
    chart.clip();
    paintOver({ ...page, ...part });
    g.restore();
  });
  Object.assign(chart.plot, { top, bottom: end });
  over();
  drawLanes(chart, page.theme, lanes);
}

// drawTime draws lines over time. It returns the length of the windows of the lines in
// milliseconds, or 0 if the lines show each interval.
export function drawTime(chart, page) {
  const { data, view, theme, series, band, facets } = page;
  const { from, to } = view;
  const range = new Range();
  const step = data.lines.rate ? 0 : mergedStep(series, from, to);
  const what = step
    ? {
        ...data.lines,
        name: data.lines.name.replace('each interval', 'each ' + relativeStep(step)),
      }
    : data.lines;
  for (const s of series)
    for (const line of s.lines)
      line.drawn = step
        ? mergedPoints(startsIn(s.windows, from, to), line.name, step, data.origin)
        : startsIn(line.points, from, to);
  for (const s of [...series, ...band])
    for (const line of s.lines)
      for (const p of line.drawn || startsIn(line.points, from, to)) range.add(p.value);
  drawOverTime(
    chart,
    page,
    what,
    range,
    timeShare,
    facets ? facetsOf(page) : [],
    part => {
      drawLines(chart, part, what);
      for (const l of what.limits) drawLevel(chart, theme, l);
    },
    () =>
      drawMarks(
        chart,
        theme,
        data.marks.filter(m => m.time >= from && m.time <= to),
      ),
    lanesOf(data),
  );
  return step;
}

function drawLevel(chart, theme, limit) {
  chart.dashed(theme.limit, [
    [chart.plot.left, chart.py(limit.value)],
    [chart.plot.right, chart.py(limit.value)],
  ]);
}

// markRows is the number of rows of texts at marks. One more row counts the marks whose text has no
// room.
const markRows = 5;

// drawMarks draws a line at each mark, and its text in the highest row that has room.
export function drawMarks(chart, theme, marks) {
  const { g, plot } = chart;
  const ends = Array(markRows).fill(-Infinity);
  const left = [];
  Object.assign(g, {
    strokeStyle: theme.faint,
    lineWidth: 1,
    fillStyle: theme.text,
    textBaseline: 'top',
    textAlign: 'left',
  });
  const write = (text, x, row) => {
    const width = g.measureText(text).width;
    const from = x + width + 10 > plot.right ? x - width - 4 : x + 4;
    if (from < ends[row]) return false;
    g.fillText(text, from, plot.top + 3 + 16 * row);
    ends[row] = from + width + 8;
    return true;
  };
  for (const m of [...marks].sort((a, b) => a.time - b.time)) {
    const x = chart.px(m.time);
    stroke(g, [
      [x, plot.top],
      [x, plot.bottom],
    ]);
    if (ends.some((_, row) => write(m.text, x, row))) continue;
    if (left.length && x < left.at(-1).x + 80) left.at(-1).count++;
    else left.push({ x, count: 1 });
  }
  ends.push(-Infinity);
  for (const { x, count } of left) write('and ' + count + ' more', x, markRows);
}

// drawRange shades a range of time between two vertical lines.
export function drawRange(chart, theme, view, [from, to]) {
  if (to <= view.from || from >= view.to) return;
  const { g, plot } = chart;
  const [left, right] = [from, to].map(t => chart.px(Math.min(Math.max(t, view.from), view.to)));
  Object.assign(g, {
    fillStyle: theme.faint,
    strokeStyle: theme.text,
    lineWidth: 1,
    globalAlpha: 0.15,
  });
  g.fillRect(left, plot.top, right - left, plot.bottom - plot.top);
  g.globalAlpha = 1;
  for (const x of [left, right])
    stroke(g, [
      [x, plot.top],
      [x, plot.bottom],
    ]);
}

// drawFindings hatches times without values, and marks the beats of a rhythm on the axis of time.
export function drawFindings(chart, { data, view, theme }) {
  const { g, plot } = chart;
  const at = t => chart.px(t - data.origin);
  for (const { kind, startMs, endMs, figures } of data.findings) {
    if (kind === 'gap')
      hatch(chart, theme, Math.max(at(startMs), plot.left), Math.min(at(endMs), plot.right));
    if (
      kind !== 'rhythm' ||
      ((plot.right - plot.left) * figures.periodMs) / (view.to - view.from) < 3 * beat
    )
      continue;
    g.fillStyle = theme.text;
    for (let t = startMs; t <= endMs + figures.periodMs / 2; t += figures.periodMs) {
      const x = at(t);
      const y = plot.bottom;
      if (x < plot.left || x > plot.right) continue;
      g.beginPath();
      for (const [dx, dy] of [
        [-beat, 0],
        [beat, 0],
        [0, -2 * beat],
      ])
        g.lineTo(x + dx, y + dy);
      g.fill();
    }
  }
}

// Sizes in pixels: half the width of a beat, and the distance of the lines that hatch.
const beat = 3;
const hatched = 8;

// hatch hatches a chart between left and right.
function hatch({ g, plot }, theme, left, right) {
  if (right <= left) return;
  const { top, bottom } = plot;
  g.save();
  g.beginPath();
  g.rect(left, top, right - left, bottom - top);
  g.clip();
  Object.assign(g, { strokeStyle: theme.faint, lineWidth: 0.5 });
  for (let x = left - (left % hatched) - (bottom - top); x < right; x += hatched)
    stroke(g, [
      [x, bottom],
      [x + bottom - top, top],
    ]);
  g.restore();
}

// drawWorst numbers moments above their maxima. A number that has no room there stands below, with
// a line to its maximum.
export function drawWorst(chart, theme, moments) {
  const { g } = chart;
  const radius = 8;
  const taken = [];
  Object.assign(g, { textAlign: 'center', textBaseline: 'middle' });
  moments.forEach((m, i) => {
    const plot = chart.places
      ? [...chart.places].find(([s]) => s.label === m.label)?.[1]
      : chart.plot;
    if (!plot) return;
    const { top, bottom } = chart.plot;
    Object.assign(chart.plot, plot);
    const peak = [chart.px(m.peak), chart.py(m.value)];
    const x = Math.min(Math.max(peak[0], plot.left + radius), plot.right - radius);
    Object.assign(chart.plot, { top, bottom });
    let y = peak[1] - radius - 2;
    if (y < plot.top + radius) y = peak[1] + radius + 4;
    while (taken.some(t => Math.abs(t[0] - x) < 2 * radius && Math.abs(t[1] - y) < 2 * radius))
      y = Math.max(y, peak[1]) + 2 * radius;
    taken.push([x, y]);
    Object.assign(g, { fillStyle: theme.text, strokeStyle: theme.text, lineWidth: 1 });
    if (y > peak[1]) stroke(g, [[x, y], peak]);
    dot(g, x, y, radius);
    g.fillStyle = theme.background;
    g.fillText(i + 1, x, y + 1);
  });
}

// colourOf returns the colour of a series. A series whose lines have different colours, since these
// stand for percentiles, has the colour of text.
const oneColour = s => s.colours.every(c => c === s.colours[0]);
export const colourOf = (theme, s) => (oneColour(s) ? theme.lines[s.colours[0]] : theme.text);

// isArea reports whether a line is the upper edge of a pale area. The line of maxima is, unless it
// is the only line of the series.
export const isArea = ({ lines }, { name }) => lines.length > 1 && name === 'max';
export const areaShare = 0.12;

function drawLines(chart, { view, theme, series, band }, what) {
  const { g, plot } = chart;
  const { from, to } = view;
  if (band.length) {
    const columns = Math.min(Math.round(plot.right - plot.left), 1000);
    const { low, high } = bandOf(band, from, to, columns);
    const step = (plot.right - plot.left) / columns;
    g.fillStyle = theme.band;
    for (let i = 0; i < columns; i++) {
      if (low[i] > high[i]) continue;
      const top = chart.py(high[i]);
      g.fillRect(plot.left + i * step, top, step + 0.5, Math.max(chart.py(low[i]) - top, 1));
    }
  }
  if (what.breaches) drawBreaches(chart, what.limits, view, theme, series);
  // Draw areas first, so that lines are in front of them.
  const all = series
    .flatMap(s => s.lines.map((line, n) => ({ s, n, line, area: isArea(s, line) })))
    .sort((a, b) => b.area - a.area);
  for (const { s, n, line, area } of all) {
    const points = line.drawn || startsIn(line.points, from, to);
    const lengths = points.map(p => p.end - p.start).sort((a, b) => a - b);
    const slack = (lengths[lengths.length >> 1] || 0) / 2;
    const few = points.length <= 40;
    const dots = [];
    Object.assign(g, {
      strokeStyle: theme.lines[s.colours[n]],
      fillStyle: theme.lines[s.colours[n]],
      lineWidth: points.length > 1000 ? 1.1 : 1.7,
    });
    g.setLineDash(
      points.length > 1000 || (chart.places && s.lines.length === 1) ? [] : s.dashes[n],
    );
    if (area) {
      g.globalAlpha = areaShare;
      for (const p of points)
        g.fillRect(
          chart.px(p.start),
          chart.py(p.value),
          chart.px(p.end) - chart.px(p.start),
          plot.bottom - chart.py(p.value),
        );
      g.globalAlpha = 1;
    }
    g.beginPath();
    points.forEach((p, i) => {
      const x = chart.px((p.start + p.end) / 2);
      const y = chart.py(p.value);
      const starts = i === 0 || p.gap || area;
      const ends = i + 1 === points.length || points[i + 1].gap;
      if (starts) g.moveTo(chart.px(p.start), y);
      else g.lineTo(chart.px(p.start), y);
      g.lineTo(chart.px(p.end), y);
      if (starts && ends && !area) dots.push([x, y]);
      if (few && slack > 0 && !area) dots.push([x, y]);
    });
    g.stroke();
    g.setLineDash([]);
    for (const [x, y] of dots) dot(g, x, y, 2.5);
  }
}

// drawBreaches shades the times in which a line is above its lowest limit. A limit of a percentile
// is one of the lines of that percentile, and other limits are limits of all lines.
function drawBreaches(chart, limits, view, theme, series) {
  const { g, plot } = chart;
  const columns = new Uint8Array(Math.ceil(plot.right - plot.left) + 1);
  for (const s of series)
    for (const line of s.lines) {
      const lowestLimit = Math.min(
        ...limits.filter(l => !l.percentile || line.name === 'p' + l.percentile).map(l => l.value),
      );
      for (const p of startsIn(line.points, view.from, view.to)) {
        if (p.value > lowestLimit)
          columns.fill(
            1,
            Math.floor(chart.px(p.start) - plot.left),
            Math.max(Math.ceil(chart.px(p.end) - plot.left), 1),
          );
      }
    }
  Object.assign(g, { fillStyle: theme.limit, globalAlpha: 0.14 });
  columns.forEach((on, i) => {
    if (on) g.fillRect(plot.left + i, plot.top, 1, plot.bottom - plot.top);
  });
  g.globalAlpha = 1;
}

// maxMaps is the number of series up to which facets have a heat map each.
const maxMaps = 4;

// Sizes of heat maps: a cell is about so many pixels wide and high, a cell of a difference is so
// many cells wide and high, and stripes are so many pixels apart.
const cell = 3;
const changeCells = 3;
const stripe = 3;

// comparedOf returns the parts of a heat map of two compared logs: before, after and the
// difference. There is no part unless both logs have series.
function comparedOf({ data: { compared }, series, band }) {
  if (!compared) return [];
  const parts = ['before', 'after'].map((name, n) => ({
    title: name + ': ' + compared[n],
    ...Object.fromEntries(
      Object.entries({ series, band }).map(([kind, all]) => [
        kind,
        all.filter(s => s.group === compared[n]),
      ]),
    ),
  }));
  return parts.every(p => p.series.length + p.band.length)
    ? [...parts, { ...parts[1], title: 'after / before', change: true }]
    : [];
}

// coarser returns the values per second and the lengths of columns in larger cells, for a
// difference.
function coarser({ columns, rows, rate, lengths: all }) {
  const high = rows / changeCells;
  const lengths = new Float64Array(columns / changeCells);
  const sums = new Float64Array(lengths.length * high);
  all.forEach((length, n) => {
    lengths[Math.floor(n / changeCells)] += length;
  });
  rate.forEach((r, i) => {
    const n = Math.floor(i / rows);
    const to = Math.floor(n / changeCells);
    if (r) sums[to * high + Math.floor((i % rows) / changeCells)] += (r * all[n]) / lengths[to];
  });
  return { rate: sums, lengths };
}

// drawHeat draws a heat map over time, with lines of p50, p99 and the percentiles that have limits.
// Two compared logs have a map each, and their difference below. The difference depends on the
// view, so the page computes it as package draw does. DrawHeat returns the lowest and the highest
// values per second of the scale, or null if the maps are empty.
export function drawHeat(chart, page) {
  const { data, view, theme, series, band, facets } = page;
  const { from, to } = view;
  const what = data.cells;
  const range = new Range();
  const maps = facets && series.length <= maxMaps ? facetsOf(page) : comparedOf(page);
  let length = 0;
  for (const s of [...series, ...band])
    for (const w of startsIn(s.windows, from, to))
      if (w.count) {
        range.add(w.min);
        range.add(w.max);
        length = Math.max(length, w.end - w.begin);
      }
  chart.heats = [];
  let shown = null;
  drawOverTime(
    chart,
    page,
    what,
    range,
    maps.at(-1)?.change ? changeShare : heatShare,
    maps,
    part => {
      const plot = { ...chart.plot };
      const size = { wide: plot.right - plot.left, high: plot.bottom - plot.top };
      const [first, second] = chart.heats;
      let [columns, rows] = [size.wide, size.high].map(
        length => changeCells * Math.max(Math.ceil(length / cell / changeCells), 1),
      );
      let cells;
      let before;
      if (first) ({ columns, rows } = first);
      if (part.change) {
        [before, cells] = [first, second].map(coarser);
        [columns, rows] = [columns, rows].map(n => n / changeCells);
      } else {
        const all = [...part.series, ...part.band];
        const lengths = ranIn(all, from, to, data.ran, from, (to - from) / columns, columns);
        cells = { rate: heatOf(all, from, to, columns, rows, chart.y.at, lengths), lengths };
      }
      chart.heats.push({
        plot,
        columns,
        rows,
        wide: size.wide / columns,
        high: size.high / rows,
        ...cells,
        before: before?.rate,
        lengthsBefore: before?.lengths,
      });
    },
    () => {
      let most = 0;
      for (const { rate, before } of chart.heats)
        if (!before) for (const r of rate) most = Math.max(most, r);
      if (!most) return;
      // The scale begins at one value in a cell.
      const least = Math.min(
        Math.max(1000 / Math.max(length, ...chart.heats[0].lengths), most / 1e5),
        most,
      );
      shown = { low: least, high: most };
      const part = r =>
        !r ? NaN : most > least ? Math.log(r / least) / Math.log(most / least) : 1;
      const levels = [
        ...new Set([50, 99, ...what.limits.map(l => l.percentile).filter(p => p > 0 && p < 100)]),
      ];
      for (const heat of chart.heats)
        paintHeat(
          chart,
          theme,
          levels,
          heat,
          heat.before ? (r, i) => changePart(data.change, r / heat.before[i]) : part,
        );
      if (!chart.places) for (const l of what.limits) drawLevel(chart, theme, l);
      drawMarks(
        chart,
        theme,
        data.marks.filter(m => m.time >= from && m.time <= to).map(m => ({ ...m, text: '' })),
      );
    },
  );
  return shown;
}

// paintHeat draws the cells of a heat map in the colours of a scale, of which part returns the
// place from 0 to 1. Ratios with 0 are beyond an end of the scale, and their cells have stripes.
// Levels are the percentiles that have a line.
function paintHeat(chart, theme, levels, { plot, columns, rows, wide, high, rate, before }, part) {
  const { g } = chart;
  const scale = before ? theme.change : theme.heat;
  const tall = before ? changeCells * cell : 1;
  // Enlarge a small image that has a dot for each cell, or a row of dots for each stripe. A
  // rectangle for each cell takes ten times as long.
  const image = new OffscreenCanvas(columns, rows * tall);
  const small = image.getContext('2d');
  const dots = small.createImageData(columns, rows * tall);
  const colours = scale.map(c => [1, 3, 5].map(at => parseInt(c.slice(at, at + 2), 16)));
  for (let i = 0; i < rate.length; i++) {
    const p = part(rate[i], i);
    if (Number.isNaN(p)) continue;
    const colour = [...colourAt(colours, p), 255];
    const top = (rows - 1 - (i % rows)) * tall;
    const step = Number.isFinite(p) ? 1 : stripe;
    for (let y = top; y < top + tall; y += step)
      dots.data.set(colour, 4 * (y * columns + Math.floor(i / rows)));
  }
  small.putImageData(dots, 0, 0);
  g.save();
  g.beginPath();
  g.rect(plot.left, plot.top, plot.right - plot.left, plot.bottom - plot.top);
  g.clip();
  g.imageSmoothingEnabled = false;
  g.drawImage(image, plot.left, plot.top, columns * wide, rows * high);
  let taken = Infinity; // by a label
  for (const level of before ? [] : levels) {
    let last = null;
    let before = false;
    g.beginPath();
    for (let n = 0; n < columns; n++) {
      const own = rate.subarray(n * rows, (n + 1) * rows);
      const wanted = (own.reduce((a, b) => a + b, 0) * level) / 100;
      const x = plot.left + n * wide;
      let row = 0;
      for (let seen = own[0]; seen < wanted * (1 - 1e-9); seen += own[row]) row++;
      const y = plot.bottom - (row + 0.5) * high;
      if (wanted && before) g.lineTo(x, y);
      else if (wanted) g.moveTo(x, y);
      if ((before = wanted > 0)) {
        g.lineTo(x + wide, y);
        last = y;
      }
    }
    for (const [strokeStyle, lineWidth] of [
      [theme.background, 3],
      [theme.text, 1.2],
    ]) {
      Object.assign(g, { strokeStyle, lineWidth });
      g.stroke();
    }
    if (last === null || plot.bottom - plot.top < 80 || Math.abs(last - taken) < 16) continue;
    taken = last;
    Object.assign(g, {
      fillStyle: theme.text,
      strokeStyle: theme.background,
      lineWidth: 3,
      textAlign: 'right',
      textBaseline: 'bottom',
    });
    for (const draw of ['strokeText', 'fillText'])
      g[draw]('p' + level, plot.right - 4, Math.max(last - 2, plot.top + 15));
  }
  g.restore();
}

// heatAt returns the cell of a heat map at a pixel: its time, its range of values, the values per
// second (rate), and how many values it has (count). A cell of a difference also has rate and count
// of the log before.
export function heatAt(chart, x, y) {
  const heat = chart.heats.find(({ plot }) => y >= plot.top && y <= plot.bottom);
  if (!heat || !heat.columns) return null;
  const { rate, before, lengths, lengthsBefore, columns, rows, wide, high, plot } = heat;
  const column = Math.floor((x - plot.left) / wide);
  const row = Math.floor((plot.bottom - y) / high);
  if (column < 0 || row < 0 || column >= columns || row >= rows) return null;
  const time = c => chart.x.inverse(c / columns);
  const value = r => chart.y.inverse(r / rows);
  const at = column * rows + row;
  const count = (rates, lengths) => rates && (rates[at] * lengths[column]) / 1000;
  return {
    rate: rate[at],
    before: before?.[at],
    count: count(rate, lengths),
    countBefore: count(before, lengthsBefore),
    from: time(column),
    to: time(column + 1),
    low: value(row),
    high: value(row + 1),
  };
}

// changePart returns the place of a ratio on a scale of ratios: from 0 to 1, or beyond them.
const changePart = ({ most }, ratio) => 0.5 + Math.log(ratio) / Math.log(most) / 2;

// colourAt returns the colour at a place on a scale. Beyond 0 and 1, it is the colour of that end.
const colourAt = (colours, part) =>
  colours[Math.round(Math.min(Math.max(part, 0), 1) * (colours.length - 1))];

// maxRates is the number of series up to which each has a line of its values per second.
const maxRates = 7;

// drawRates draws the values per second of each series and of all together. It returns the lines.
// Of the line of all together it also returns how many milliseconds (width) and how many windows
// (whole) share a point.
export function drawRates(chart, page) {
  const { view, series, band } = page;
  const { from, to } = view;
  const range = new Range();
  const columns = 400;
  const all = [...series, ...band];
  const theme = { ...page.theme, lines: [...page.theme.lines, page.theme.text] };
  const ratesOf = list => rateOf(list, from, to, columns, page.data.ran);
  const lineOf = (s, { points }) => ({ ...s, lines: [{ name: '', points }] });
  const lines =
    series.length > maxRates || all.length < 2 ? [] : series.map(s => lineOf(s, ratesOf([s])));
  const total = { label: 'total', colours: [page.theme.lines.length], dashes: [[]] };
  const together = ratesOf(all);
  lines.push(
    lineOf(
      all.length !== 1 ? total : oneColour(all[0]) ? all[0] : { ...total, label: all[0].label },
      together,
    ),
  );
  for (const s of lines) for (const p of s.lines[0].points) range.add(p.value);
  range.add(0);
  const what = { ...page.data.rates, log: false };
  drawOverTime(
    chart,
    { ...page, log: false },
    what,
    range,
    rateShare,
    [],
    () => drawLines(chart, { view, theme, series: lines, band: [] }, what),
    () => {},
  );
  return { lines, width: together.width, whole: together.whole };
}

// The axis of values has room for the curves from minShown on, which is p10, as in package chart.
// Lower percentiles can be many powers of ten lower.
const minShown = nines(0.1);

// withDue is the name of a curve that includes the values that were due while a recorder waited,
// and dueDash its dashes.
export const withDue = 'with those that were due';
export const dueDash = [5, 4];

// drawCurve draws percentile curves in a chart of a height. Curves has [series, curve, corrected]
// for each series. Corrected includes the values that were due, or is null if the recorder did not
// wait.
export function drawCurve(chart, page, curves, height) {
  const { data, theme } = page;
  const what = data.curves;
  const range = new Range();
  const g = chart.begin(height, 46);
  let last = 2;
  for (const curve of curves.flatMap(([, ...both]) => both.filter(curve => curve))) {
    last = Math.max(last, curve.x[curve.x.length - 1]);
    curve.v.forEach((v, i) => {
      if (curve.x[i] >= minShown) range.add(v);
    });
  }
  const shows = v => v >= range.low || (v === 0 && range.zeros);
  const axis = width => ({
    ticks: ninesTicks(last, (64 * last) / width),
    title: 'percentile',
    at: x => x / last,
    inverse: p => p * last,
  });
  drawChart(
    chart,
    page,
    what,
    range,
    axis,
    () => {
      for (const [s, curve, corrected] of curves) {
        strokeCurve(
          chart,
          g,
          curve,
          colourOf(theme, s),
          s.dashes.length > 1 ? [] : s.dashes[0],
          shows,
        );
        if (corrected) strokeCurve(chart, g, corrected, colourOf(theme, s), dueDash, shows);
      }
    },
    () => drawSteps(chart, theme, what.limits, last),
  );
}

// strokeCurve draws a curve. It begins at the lower edge of the chart if its first values are below
// the axis. Shows reports whether a value is on the axis.
export function strokeCurve(chart, g, curve, colour, dash, shows = () => true) {
  Object.assign(g, { strokeStyle: colour, fillStyle: colour, lineWidth: 1.8 });
  g.setLineDash(dash);
  const end = curve.x.length - 1;
  const pixels = [];
  for (let i = 0; i <= end; i++) {
    const x = chart.px(curve.x[i]);
    if (i < end && !shows(curve.v[i])) continue;
    // A step of less than half a pixel is a slope.
    if (i % 2 && i < end && pixels.length && x - pixels.at(-1)[0] < 0.5) continue;
    if (i && !pixels.length) pixels.push([x, chart.plot.bottom]);
    pixels.push([x, chart.py(curve.v[i])]);
  }
  stroke(g, pixels);
  g.setLineDash([]);
  dot(g, chart.px(curve.x[end]), chart.py(curve.v[end]), 3);
}

// drawSteps draws limits. The line of a percentile's limit ends at the percentile, where that of
// the next percentile begins. A limit of all values crosses the chart.
function drawSteps(chart, theme, limits, last) {
  let at = chart.plot.left;
  const points = [];
  for (const l of limits) {
    const y = chart.py(l.value);
    if (!l.percentile) {
      drawLevel(chart, theme, l);
      continue;
    }
    const to =
      l.percentile < 100 ? chart.px(Math.min(nines(l.percentile / 100), last)) : chart.plot.right;
    points.push([at, y], [to, y]);
    at = to;
  }
  if (points.length) chart.dashed(theme.limit, points);
}

// valueAt returns the value of a curve at x on the axis of nines, or null beyond its end. The value
// is from list, which is one of the lists of the curve.
export function valueAt(curve, x, list = curve.v) {
  const i = curve.x.findIndex(at => at >= x - 1e-9);
  return i < 0 ? null : list[i];
}

export const rateText = r => short(Number(r.toPrecision(3))) + '/s';
