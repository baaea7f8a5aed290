// The page: what stands in it, and what keys and pointer do.
import { value, between, number, short, significant } from './numbers.js';
import { relativeStep, relativeStyle, clockText, severalDays, nines } from './ticks.js';
import {
  unpack,
  newSeries,
  addRows,
  startsIn,
  extremesOf,
  longest,
  recordedAt,
  verdictsOf,
  Sum,
  sumOf,
  curveOf,
  tableOf,
} from './store.js';
import { View } from './state.js';
import { Chart, stroke, dot } from './canvas.js';
import {
  drawTime,
  drawHeat,
  drawRange,
  drawFindings,
  withDue,
  dueDash,
  drawWorst,
  drawRates,
  drawCurve,
  heightOn,
  strokeCurve,
  valueAt,
  heatAt,
  rateText,
  isArea,
  areaShare,
  colourOf,
} from './charts.js';
import { changesOf, changeText } from './confidence.js';
import { latestOf, lightsOf, lagText, mostTiled } from './tiles.js';
import { connect } from './live.js';
import { scaleOf, sparkline, rangeOf, draw } from './overview.js';
import { columnsOf, textOf, changeOf, sorted, worstOf, csvOf, rowOf, levels } from './table.js';

const element = id => document.getElementById(id);
const make = (kind, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(kind), properties);
  made.append(...children);
  return made;
};
const named = label => label || 'untagged';

const page = {
  data: null,
  view: null,
  log: false,
  heat: false,
  facets: false,
  theme: null,
  series: [],
  band: [],
  before: null,
  scaled: showHeat,
};
let data;
let store = [];
let view;
let hasTime;

// load takes all data: those of the page, of a server that goes on, or of logs that were dropped.
// What the reader chose stays.
async function load(next) {
  const rows = await unpack(next.rows);
  const old = view;
  const shift = old ? data.origin - next.origin : 0;
  data = page.data = next;
  store = next.series.map(s => newSeries(s, next.measures));
  addRows(store, rows);
  hasTime = store.some(s => s.windows.length || s.lines.some(l => l.points.length));
  view = page.view = new View({ from: next.from, to: next.to }, next);
  if (old) {
    [view.from, view.to] = view.snap(old.from + shift, old.to + shift) || [next.from, next.to];
    view.past = old.past.map(range => range.map(t => t + shift));
  }
  choose();
  element('time-section').hidden = !hasTime;
  buildFindings();
  element('caption').textContent = next.caption;
  for (const id of ['in', 'heat', 'back', 'whole', 'left', 'right', 'out'])
    element(id).hidden = !hasTime;
  element('compare').hidden = !hasTime || Boolean(data.compared); // of two logs, these are compared
  element('facets').hidden = !hasTime || store.length < 2;
  element('all').hidden = store.length < 2;
  element('csv').hidden = !store.length;
  element('notes').replaceChildren(...next.notes.map(note => make('div', { textContent: note })));
}

// buildFindings shows what the logs show: the most important above, and a list of all. Lights say
// how the limits of a live page are.
function buildFindings() {
  const { top, findings } = data;
  element('result').replaceChildren(...top.map(text => make('div', {}, ...worded(text))));
  const list = element('findings');
  const old = [...list.querySelectorAll('a')];
  const links = findings.map(linked);
  if (old.length === links.length && links.every(a => a.href))
    links.forEach(({ href, textContent, onclick }, i) =>
      Object.assign(old[i], { href, textContent, onclick }),
    ); // a click, or the focus, must not miss what is replaced
  else list.replaceChildren(...links.map(a => make('li', {}, a)));
  element('found').hidden = findings.length <= top.length;
  if (data.live)
    element('lights').replaceChildren(
      ...lightsOf(findings).map(({ weight, word, limit, sentence }) =>
        make('li', { className: weight, title: sentence }, make('i'), word + ' ' + limit),
      ),
    );
}

// worded returns a sentence with the word of a verdict in its colour.
function worded(sentence) {
  const [, word, rest] = /^(FAILS|NOT PROVEN|HOLDS)(:.*)$/.exec(sentence) || [];
  return word
    ? [make('strong', { className: word.toLowerCase(), textContent: word }), rest]
    : [sentence];
}

// linked returns a finding, as a link to its time and its tag if it has some.
function linked(finding) {
  const whole = view.whole;
  const at = time => Math.min(Math.max(time - data.origin, whole.from), whole.to);
  const parts = [];
  if (finding.startMs !== undefined) {
    const from = at(finding.startMs);
    const to = at(finding.endMs ?? finding.startMs);
    const around = Math.max(to - from, (whole.to - whole.from) / 50);
    parts.push(
      't=' +
        at(finding.startMs - around) / 1000 +
        ',' +
        at((finding.endMs ?? finding.startMs) + around) / 1000,
    );
  }
  const own = store.find(s => s.label === finding.tag);
  if (finding.tag && own && store.length - 1 <= mostHidden) {
    for (const s of store)
      if (s !== own && !s.rest) parts.push('hide=' + encodeURIComponent(s.label));
    if (store.some(s => s.rest)) parts.push('rest=0');
    if (own.rest) parts.push('show=' + encodeURIComponent(own.label));
  }
  const text =
    finding.sentence +
    (finding.option && !finding.sentence.includes(finding.option) ? ' ' + finding.option : '');
  if (!parts.length || !hasTime) return make('span', { textContent: text });
  return make('a', {
    href: '#' + parts.join('&'),
    textContent: text,
    onclick: event => {
      event.preventDefault(); // what else the address has stays
      location.hash = addressOf(['t', 'last', 'rest', 'show', 'hide'], parts);
    },
  });
}
const mostHidden = 40; // series that a link names

// The page's address holds what the reader chose: the view, and what differs from what the page
// shows at first. Choose takes all but the view from there, and remember puts it there.
function choose() {
  const chosen = new URLSearchParams(location.hash.slice(1));
  const flag = (name, usual) => (chosen.has(name) ? chosen.get(name) === '1' : usual);
  const show = new Set(chosen.getAll('show'));
  const hide = new Set(chosen.getAll('hide'));
  [page.log, page.heat, bandShown] = [
    flag('log', data.log),
    flag('heat', data.heat),
    flag('rest', true),
  ];
  for (const s of store) s.shown = s.rest ? show.has(s.label) : !hide.has(s.label);
  page.facets = flag('facets', Boolean(data.facets));
  const [from, to] =
    chosen
      .get('with')
      ?.split(',')
      .map(t => Number(t) * 1000) ?? [];
  page.before = data.compared ? null : view.snap(from, to + 1);
}

function remember() {
  const parts = [
    tail === null ? view.address(data.live) : tail && data.live ? 'last=' + tail / 1000 : '',
  ];
  const flag = (name, on, usual) => {
    if (on !== usual) parts.push(name + '=' + Number(on));
  };
  if (page.before) parts.push('with=' + page.before[0] / 1000 + ',' + (page.before[1] - 1) / 1000);
  flag('log', page.log, data.log);
  flag('heat', page.heat, data.heat);
  flag('rest', bandShown, true);
  flag('facets', page.facets, Boolean(data.facets));
  for (const s of store)
    if (s.shown === s.rest) parts.push((s.rest ? 'show=' : 'hide=') + encodeURIComponent(s.label));
  keep(['t', 'last', 'with', 'log', 'heat', 'rest', 'facets', 'show', 'hide'], parts);
}

// addressOf returns the page's address with parts in the place of those with some names, and keep
// puts it there.
function addressOf(names, parts) {
  const others = location.hash
    .slice(1)
    .split('&')
    .filter(part => !names.includes(part.split('=')[0]));
  return [...parts, ...others].filter(part => part).join('&');
}

function keep(names, parts) {
  const address = addressOf(names, parts);
  history.replaceState(null, '', address ? '#' + address : location.pathname + location.search);
}

const timeChart = new Chart(element('time'), element('time-over'));
const curveChart = new Chart(element('curve'), element('curve-over'));
const rateChart = new Chart(element('rate'), element('rate-over'));
const heatChart = new Chart(element('heat-map'), element('heat-over'));
// Which most labels need: a wider one takes a second drawing.
for (const chart of [rateChart, timeChart, heatChart]) chart.usual = 80;
let timeCharts = [];
let rates = []; // the charts over time that are shown, and the lines of the one of rates
const pointer = {
  chart: timeChart,
  time: null,
  nines: null,
  value: null,
  dragFrom: null,
  x: 0,
  y: 0,
};
const mostWorst = 5; // moments that are marked
let worstShown = ''; // as a text
let bandShown = true;
let curves = [];
let rows = [];
let sortBy = null;
let mostRows = 8;

// ---- theme ----

const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const printing = matchMedia('print');
const narrow = matchMedia('(max-width: 600px)');

function dress() {
  const name = printing.matches ? 'light' : data.theme || (prefersDark.matches ? 'dark' : 'light');
  page.theme = data.themes[name];
  // A sheet has room for the charts over time.
  page.height = printing.matches ? Math.min(data.height, heightOn(430, page)) : data.height;
  for (const part of ['background', 'text', 'faint', 'grid', 'limit', 'holds'])
    document.documentElement.style.setProperty('--' + part, page.theme[part]);
  document.documentElement.style.colorScheme = name;
  buildToggles();
}

// ---- drawing: all for a new view, and the pointer alone once a frame ----

function drawAll() {
  page.series = store.filter(s => s.shown);
  page.band = bandShown ? store.filter(s => s.rest && !s.shown) : [];
  for (const scale of document.querySelectorAll('.scale')) scale.hidden = true;
  if (hasTime) drawTimes();
  curves = page.series
    .map(s => [
      s,
      s.windows.length ? curveOf(sumOf(s, view.from, view.to)) : s.curve,
      (view.isWhole && s.corrected) || null,
    ])
    .filter(([, c]) => c && c.x.length);
  drawCurve(curveChart, page, curves, Math.round(page.height * 0.8));
  buildTable();
  if (data.live) {
    buildTiles();
    buildLatest();
  }
  describe();
  drawPointer();
}

// drawTimes draws the charts over time, with numbers at the worst moments of the view, and lists
// these.
function drawTimes() {
  element('rates').hidden = data.lines.rate;
  element('heats').hidden = !page.heat;
  timeCharts = [rateChart, timeChart, heatChart].filter(
    chart => !chart.canvas.parentElement.hidden,
  );
  for (const chart of timeCharts) chart.indent = 0;
  const draw = () => {
    for (const chart of timeCharts) chart.last = chart === timeCharts.at(-1);
    if (!data.lines.rate) rates = drawRates(rateChart, page);
    drawTime(timeChart, page);
    if (page.heat) drawHeat(heatChart, page);
  };
  draw();
  const left = Math.max(...timeCharts.map(chart => chart.plot.left));
  if (timeCharts.some(chart => chart.plot.left < left)) {
    for (const chart of timeCharts) chart.indent = left;
    draw();
  }
  if (page.heat && heatChart.heats.some(heat => heat.before))
    showScale('change', page.theme.change, data.change.ticks, data.change.title);
  for (const chart of timeCharts) drawFindings(chart, page);
  if (page.before) for (const chart of timeCharts) drawRange(chart, page.theme, view, page.before);
  const shown = new Set([...page.series, ...page.band].map(s => s.label));
  const { worst, measures } = data;
  const moments = worst
    .filter(m => m.peak >= view.from && m.peak < view.to && shown.has(m.label))
    .slice(0, mostWorst);
  const on = measures.includes('max') && !data.lines.rate ? timeChart : heatChart;
  const marked = timeCharts.includes(on) ? moments : [];
  // A chart that was never drawn has no context.
  if (marked.length) drawWorst(on, page.theme, marked);
  const list = marked.map(m => {
    const length = m.end - m.start;
    // Timers are late.
    const seconds = length < 1000 ? length / 1000 : Math.round(length / 100) / 10;
    const text = [
      'at ' + timeText(m.start) + ' for ' + value('s', seconds),
      value(data.unit, m.value),
      m.name,
    ]
      .filter(part => part)
      .join(' · ');
    return make(
      'li',
      {},
      make('button', {
        type: 'button',
        textContent: text,
        onclick: () => go(() => view.around(m.start, m.end)),
      }),
    );
  });
  const key = JSON.stringify([marked, list.map(item => item.textContent)]);
  // Otherwise a click would miss what a live page replaces.
  if (worstShown !== key) element('worst').replaceChildren(...list);
  worstShown = key;
}

let waiting = false;

function pointed() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    drawPointer();
  });
}

function drawPointer() {
  const { theme } = page;
  const lines = (chart, x, y) => {
    const g = chart.clear(chart.over);
    const { plot } = chart;
    Object.assign(g, { strokeStyle: theme.faint, lineWidth: 1 });
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
  };
  const at = { time: pointer.time, value: pointer.value };
  const g2 = lines(curveChart, pointer.nines === null ? null : curveChart.px(pointer.nines), null);
  if (hasTime) {
    // The value that is pointed at among the curves is a line in the timeline, and the time that is
    // pointed at there has its own curves.
    const drawn = new Map(
      timeCharts.map(chart => {
        const valued =
          chart !== rateChart &&
          !(chart === timeChart && data.lines.rate) &&
          at.value !== null &&
          !chart.places;
        const g = lines(
          chart,
          at.time === null ? null : chart.px(at.time),
          valued ? chart.py(at.value) : null,
        );
        if (pointer.dragFrom !== null) {
          const from = chart.px(pointer.dragFrom);
          const x = chart.px(at.time);
          const { plot } = chart;
          Object.assign(g, { globalAlpha: 0.2, fillStyle: theme.faint });
          g.fillRect(Math.min(from, x), plot.top, Math.abs(x - from), plot.bottom - plot.top);
          g.globalAlpha = 1;
        }
        return [chart, g];
      }),
    );
    readTime(drawn.get(timeChart));
    const over = drawn.get(rateChart);
    element('rate-readout').replaceChildren(
      ...(at.time === null || !over
        ? []
        : rates.flatMap(s =>
            readLine(rateChart, over, s, s.lines[0].points, 0, named(s.label), rateText),
          )),
    );
    if (at.time !== null) drawMoment(g2, at.time);
  }
  readCurve();
}

// drawMoment draws the percentile curves of the windows at a time, thinly.
function drawMoment(g, t) {
  curveChart.clip(g);
  for (const s of page.series) {
    const w = recordedAt(s.windows, t, view, pixelOf(timeChart));
    if (!w || !w.count) continue;
    const sum = Object.assign(new Sum(), { count: w.count, max: w.max });
    sum.add(w);
    g.globalAlpha = 0.55;
    strokeCurve(curveChart, g, curveOf(sum), colourOf(page.theme, s), [2, 3]);
  }
  g.globalAlpha = 1;
  g.restore();
}

// pixelOf returns the time of a pixel of a chart.
const pixelOf = chart => (view.to - view.from) / (chart.plot.right - chart.plot.left);

// ---- texts ----

function timeText(t, fine) {
  const length = (view.to - view.from) / 1000;
  const step = fine ? 0.001 : length < 10 ? 0.1 : 1;
  if (data.dated) {
    const at = (t + data.origin) / 1000;
    return (severalDays(data) ? clockText(data, at, 86400) + ' ' : '') + clockText(data, at, step);
  }
  return (
    relativeStyle(data.from / 1000, data.to / 1000, step)[1](
      fine ? t / 1000 : Math.round(t / 1000 / step) * step,
    ) + (Math.max(Math.abs(data.from), Math.abs(data.to)) <= 180000 ? ' s' : '')
  );
}

// dateText returns the date and the zone of times of the day, nothing if the log has no dates.
function dateText() {
  if (!data.dated) return '';
  return (
    ' (' +
    (severalDays(data) ? '' : clockText(data, data.origin / 1000, 86400) + ', ') +
    data.zone +
    ')'
  );
}

function item(colour, text) {
  const mark = make('i');
  mark.style.background = colour;
  return make('span', {}, mark, text);
}

// readLine returns what the column of a line shows that is pointed at, and marks the highest point,
// which it passes to found.
function readLine(chart, g, s, points, n, name, text, found = () => {}) {
  const t = pointer.time;
  const pixel = pixelOf(chart);
  const { low, high } = extremesOf(points, t - pixel, t + pixel, longest(points));
  const p = high || recordedAt(points, t, view, pixel);
  if (!p) return [];
  found(p);
  const colour = (g.fillStyle = page.theme.lines[s.colours[n]] || page.theme.text);
  const { top, bottom } = chart.plot;
  Object.assign(chart.plot, chart.places?.get(s));
  dot(g, chart.px((p.start + p.end) / 2), chart.py(p.value), 3.5);
  Object.assign(chart.plot, { top, bottom });
  return [
    item(
      colour,
      name +
        ' ' +
        (low && text(low.value) !== text(p.value) ? text(low.value) + ' to ' : '') +
        text(p.value),
    ),
  ];
}

// worst is the highest of what the column shows that is pointed at.
let worst = null;

// logOf returns the log that has the maximum of an interval, if the page knows it.
function logOf({ series, start, end, value }) {
  const w = startsIn(series.windows, start - longest(series.windows), end + 1).find(
    w => w.max === value,
  );
  return data.sources && w && data.sources[w.source - 1];
}

function readTime(g) {
  const out = [];
  const t = pointer.time;
  const onHeat = pointer.chart === heatChart;
  const text = v => (data.lines.rate && !onHeat ? rateText(v) : value(data.unit, v));
  const worse = (s, p, v, figure) => {
    if (p && (!worst || v > worst.value))
      worst = { series: s, start: p.start, end: p.end, value: v, figure };
  };
  worst = null;
  if (t !== null) {
    const pixel = pixelOf(timeChart);
    const cell = onHeat && page.heat && heatAt(heatChart, pointer.x, pointer.y);
    if (cell) {
      const { rate, before } = cell;
      const ratio =
        rate && before ? ', ' + significant(rate / before, 3) + ' times as many per second' : '';
      const values = count => {
        const whole = Math.round(count); // a slot may lie in several rows
        return count > 0 && !whole
          ? 'less than 1 value'
          : whole === 1
            ? '1 value'
            : number(whole) + ' values';
      };
      out.push(
        make('span', {}, timeText(cell.from) + ' to ' + timeText(cell.to)),
        make('span', {}, value(data.unit, cell.low) + ' to ' + value(data.unit, cell.high)),
        make(
          'span',
          {},
          before === undefined
            ? values(cell.count)
            : 'before ' + values(cell.countBefore) + ', after ' + values(cell.count) + ratio,
        ),
      );
      for (const s of page.series) {
        const { high } = extremesOf(
          s.windows,
          Math.min(cell.from, t - pixel),
          Math.max(cell.to, t + pixel),
          longest(s.windows),
          w => w.max,
        );
        worse(s, high, high?.max, 'maximum');
      }
    } else {
      out.push(make('span', {}, timeText(t)));
      for (const s of page.series)
        s.lines.forEach((line, n) => {
          const name = s.lines.length > 1 ? named(s.label) + ' ' + line.name : named(s.label);
          out.push(
            ...readLine(timeChart, g, s, line.drawn || line.points, n, name, text, p => {
              const exact =
                (page.merged &&
                  extremesOf(line.points, p.start, p.end - 1, longest(line.points)).high) ||
                p; // an interval of the window
              worse(s, exact, exact.value, line.name === 'max' ? 'maximum' : line.name);
            }),
          );
        });
      if (!worst) out.push(make('span', {}, 'no values'));
    }
    if (worst)
      out.push(
        make(
          'span',
          {},
          'highest ' +
            worst.figure +
            ': ' +
            text(worst.value) +
            ', ' +
            [named(worst.series.label), logOf(worst), timeText(worst.start)]
              .filter(part => part)
              .join(', ') +
            ' to ' +
            timeText(worst.end),
        ),
      );
  }
  element('readout').replaceChildren(...out);
}

function readCurve() {
  const out = [];
  const x = pointer.nines;
  if (x !== null) {
    out.push(make('span', {}, (100 - 100 * 10 ** -x).toFixed(Math.max(1, Math.ceil(x))) + '%'));
    for (const [s, curve, corrected] of curves) {
      const v = valueAt(curve, x);
      const due = corrected && valueAt(corrected, x);
      if (v !== null)
        out.push(
          item(
            colourOf(page.theme, s),
            named(s.label) + ' ' + between(data.unit, valueAt(curve, x, curve.lows), v),
          ),
        );
      if (due)
        out.push(
          item(
            colourOf(page.theme, s),
            named(s.label) + ' ' + value(data.unit, due) + ' ' + withDue,
          ),
        );
    }
  }
  const box = element('curve-readout');
  const { left, right, top } = curveChart.plot ?? {};
  box.replaceChildren(...out);
  if (x === null) return;
  const at = curveChart.px(x);
  const beside =
    at + 14 + box.offsetWidth > right ? Math.max(at - 14 - box.offsetWidth, left) : at + 14;
  Object.assign(box.style, {
    left: beside + 'px',
    top: Math.max(Math.min(pointer.y, curveChart.plot.bottom - box.offsetHeight), top) + 'px',
  });
}

// spoken says what the lines show, for who cannot see them: of which series they are, and the
// highest value.
function spoken() {
  const most = 6;
  const { series } = page;
  let top = null;
  for (const s of series)
    for (const { name, points } of s.lines) {
      const { high } = extremesOf(points, view.from, view.to, longest(points));
      if (high && !(high.value <= top?.value))
        top = { name, series: s, start: high.start, value: high.value };
    }
  const text = v => (data.lines.rate ? rateText(v) : value(data.unit, v));
  const names =
    series
      .slice(0, most)
      .map(s => named(s.label))
      .join(', ') + (series.length > most ? ' and ' + (series.length - most) + ' more' : '');
  const highest = top
    ? '; highest ' +
      top.name +
      ' ' +
      text(top.value) +
      ' of ' +
      named(top.series.label) +
      ' at ' +
      timeText(top.start)
    : '';
  return element('time-title').textContent + ': ' + names + highest;
}

// describe says which span and which precision the page shows.
function describe() {
  element('time-over').setAttribute('aria-label', spoken());
  const whole = view.isWhole;
  const span =
    timeText(view.from, true) + ' to ' + timeText(whole ? view.to : view.last, true) + dateText();
  const recent = data.recent
    ? ', and of ' +
      relativeStep(data.recent.window) +
      ' from ' +
      timeText(data.recent.from, true) +
      ' on'
    : '';
  const windows = data.window
    ? ' Several intervals share a row of the page: the view begins and ends at windows of ' +
      relativeStep(data.window) +
      recent +
      '.'
    : '';
  element('range').textContent =
    (whole
      ? 'The whole range, ' + span + '. Drag to zoom.'
      : 'The intervals that start from ' + span + '.') +
    (page.merged ? ' Lines show windows of ' + relativeStep(page.merged) + '.' : '') +
    ratedText() +
    (whole && !data.live ? '' : windows);
  element('result').classList.toggle('part', !whole);
  element('curve-title').textContent = whole ? 'Percentiles' : 'Percentiles of the time in view';
  element('summary-title').textContent = whole ? 'Summary' : 'Summary of the time in view';
  element('precision').textContent = !hasTime
    ? 'The numbers are those of the curves. For a percentile between two points of a curve, it is that of the second.'
    : whole && data.summary.length
      ? 'All numbers are as precise as the log.'
      : 'Percentiles have ' +
        data.digits +
        ' significant digits, as the curves. All other numbers are as precise as the log.';
  if (hasTime && !data.lines.rate && !narrow.matches)
    element('precision').textContent +=
      ' Beside a tag stand its line over time, and the range of its values from p50 to the maximum with a mark at p99, on one logarithmic scale.';
  for (const id of ['whole', 'left', 'right', 'out']) use(id, !whole);
  use('back', view.past.length);
  use('all', !bandShown || store.some(s => s.shown === s.rest));
  if (page.before) element('precision').textContent += ' ' + comparedText();
  use('compare', !whole || page.before);
  element('compare').setAttribute('aria-pressed', Boolean(page.before));
  element('log').setAttribute('aria-pressed', page.log);
  element('heat').setAttribute('aria-pressed', page.heat);
  element('facets').setAttribute('aria-pressed', page.facets);
}

// ratedText says which windows the values per second are those of, if they are longer than an
// interval.
function ratedText() {
  const { width, whole } = page.rated || {};
  if (data.lines.rate || !(whole > 1)) return '';
  // Timers are late, so the width is rounded.
  return (
    ' Values per second are those of windows of ' +
    relativeStep(width < 1000 ? Math.round(width) : Math.round(width / 100) * 100) +
    '.'
  );
}

// use shows a button that can be used now.
function use(id, usable) {
  const button = element(id);
  if (!usable && button === document.activeElement) element('in').focus();
  button.classList.toggle('unused', !usable);
}

// showHeat shows the scale of a heat map.
function showHeat(least, most) {
  const ticks = [];
  let last = -Infinity;
  for (let e = Math.floor(Math.log10(least)); e <= Math.log10(most) + 1; e++)
    for (const digit of most / least < 1000 ? [1, 2, 5] : [1]) {
      const v = Number(digit + 'e' + e);
      const part = most > least ? Math.log(v / least) / Math.log(most / least) : 1;
      if (part < -1e-9 || part > 1 + 1e-9 || part - last < 0.08) continue;
      last = part;
      ticks.push({ part, label: short(v) });
    }
  // Of a few values, whose rates are alike.
  if (last < 0.5) ticks.push({ part: 1, label: significant(most, 4) });
  showScale('scale', page.theme.heat, ticks, 'values per second');
}

function showScale(id, colours, ticks, title) {
  const box = element(id);
  const [bar, labels] = box.children;
  const text = (textContent, left) => {
    const made = make('span', { textContent });
    made.style.left = 100 * left + '%';
    return made;
  };
  box.hidden = false;
  bar.style.background = 'linear-gradient(to right,' + colours.join(',') + ')';
  const name = text(title, 0.5);
  name.style.top = '1.6rem';
  labels.replaceChildren(...ticks.map(t => text(t.label, t.part)), name);
}

// ---- series ----

function shape(kind, properties, ...inside) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', kind);
  for (const [name, v] of Object.entries(properties)) made.setAttribute(name, v);
  made.append(...inside);
  return made;
}

const pathSwatch = (d, look) =>
  shape('svg', { width: 34, height: 12, 'aria-hidden': true }, shape('path', { d, ...look }));

function swatch(colour, dash, thick, area) {
  const line = shape('line', {
    x1: 0,
    x2: 34,
    y1: 6,
    y2: 6,
    stroke: colour,
    'stroke-width': thick,
    'stroke-dasharray': dash.join(' '),
  });
  const below = area
    ? [shape('rect', { y: 6, width: 34, height: 6, fill: colour, 'fill-opacity': areaShare })]
    : [];
  return shape('svg', { width: 34, height: 12, 'aria-hidden': true }, line, ...below);
}

function toggle(label, text, pressed, picture, act) {
  const button = make('button', { type: 'button', onclick: act }, picture, text);
  button.dataset.series = label;
  button.setAttribute('aria-pressed', pressed);
  return button;
}

function buildToggles() {
  const { theme } = page;
  const rest = store.filter(s => s.rest);
  const bar = store
    .filter(s => !s.rest || s.shown)
    .map(s =>
      toggle(
        s.label,
        named(s.label),
        s.shown,
        swatch(colourOf(theme, s), s.colours.length > 1 ? [] : s.dashes[0], 2),
        event => {
          if (event.shiftKey) solo(s);
          else {
            s.shown = !s.shown;
            changed();
          }
        },
      ),
    );
  if (rest.length)
    bar.push(
      toggle('', 'the other ' + rest.length, bandShown, swatch(theme.band, [], 10), () => {
        bandShown = !bandShown;
        changed();
      }),
    );
  if (store.length && data.measures.length > 1)
    data.measures.forEach((name, n) => {
      const several = store.length > 1;
      bar.push(
        make(
          'span',
          { className: 'name' },
          swatch(
            several ? theme.faint : theme.lines[store[0].colours[n]],
            store[0].dashes[n],
            2,
            isArea(store[0], { name }),
          ),
          name,
        ),
      );
    });
  const legend = (text, picture) => bar.push(make('span', { className: 'name' }, picture, text));
  const finds = kind => data.findings.some(f => f.kind === kind);
  if (hasTime && data.lines.breaches && data.lines.limits.length) {
    const shade = swatch(theme.limit, [], 12);
    shade.style.opacity = 0.14; // as in the chart
    legend('above a limit', shade);
  }
  if (store.some(s => s.corrected)) legend(withDue, swatch(theme.faint, dueDash, 2));
  if (hasTime && finds('gap'))
    legend(
      'no values',
      pathSwatch('M0 12L12 0M8 12L20 0M16 12L28 0M24 12L34 2', { stroke: theme.faint }),
    );
  if (hasTime && finds('rhythm'))
    legend('beat', pathSwatch('M14 12h6l-3 -6z', { fill: theme.text }));
  const focused = document.activeElement && document.activeElement.dataset.series;
  element('toggles').replaceChildren(...bar);
  if (focused !== undefined && focused !== null)
    bar.find(b => b.dataset && b.dataset.series === focused)?.focus();
}

function changed() {
  remember();
  buildToggles();
  drawAll();
}

// solo shows one series alone. If it is alone already, or for null, all are shown again.
function solo(s) {
  const alone = !s || (s.shown && !bandShown && store.every(o => o === s || !o.shown));
  for (const o of store) o.shown = alone ? !o.rest : o === s;
  bandShown = alone;
  changed();
}

// ---- table ----

function buildTable() {
  const place = new Map(data.summary.map((r, i) => [r.label, i]));
  const at = r => place.get(r.label) ?? 0;
  rows = !hasTime
    ? store.filter(s => s.curve).map(s => rowOf(s, l => valueAt(s.curve, nines(l / 100))))
    : view.isWhole && data.summary.length
      ? data.summary
      : tableOf(store, view.from, view.to, levels, data.ran).sort((a, b) => at(a) - at(b));
  if (data.compared) rows = withBefore(rows);
  else if (page.before) rows = withRange(rows);
  element('summary-section').hidden = !rows.length && !data.summary.length;
  const few = store.length < 8; // of which the eye finds one
  element('find').hidden = few;
  const wanted = few ? '' : element('find').value.toLowerCase();
  const { limits } = data.curves;
  rows = rows.filter(r => named(r.label).toLowerCase().includes(wanted));
  if (hasTime && limits.length) {
    const byLabel = new Map(store.map(s => [s.label, s]));
    rows = rows.map(r => ({
      ...r,
      verdicts: verdictsOf(sumOf(byLabel.get(r.label), view.from, view.to), limits),
    }));
  }
  const columns = columnsOf(rows, data.unit, limits, narrow.matches).filter(
    column => hasTime || rows.some(r => textOf(column, r)),
  );
  if (!sortBy && store.length > 1 && !data.compared) sortBy = { key: 'max', descending: true };
  const by = sortBy && columns.find(column => column.key === sortBy.key);
  if (by) rows = sorted(rows, by, sortBy.descending);
  const head = columns.map((column, i) => {
    const sortedHere = column === by;
    const th = make('th', { scope: 'col' });
    if (sortedHere) th.setAttribute('aria-sort', sortBy.descending ? 'descending' : 'ascending');
    th.append(
      make('button', {
        type: 'button',
        textContent: column.name + (sortedHere ? (sortBy.descending ? ' ▾' : ' ▴') : ''),
        onclick: () => {
          sortBy = sortedHere
            ? { ...sortBy, descending: !sortBy.descending }
            : { key: column.key, descending: i > 0 };
          buildTable();
          element('summary').tHead.querySelectorAll('button')[i].focus();
        },
      }),
    );
    return th;
  });
  const body = bodyOf(rows.slice(0, mostRows), columns);
  if (hasTime && !data.lines.rate) {
    const byLabel = new Map(store.map(s => [s.label, s]));
    const scale = scaleOf(rows);
    body.forEach((row, i) => {
      const r = rows[i];
      const s = byLabel.get(r.label);
      const colour = colourOf(page.theme, s);
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
      ].map(path => draw(path, colour));
      row.cells[0].replaceChildren(make('div', {}, name, make('span', {}, ...pictures)));
    });
  }
  element('summary').tHead.replaceChildren(make('tr', {}, ...head));
  element('summary').tBodies[0].replaceChildren(...body);
  const more = element('more');
  const section = element('summary-section');
  section.style.minHeight =
    Math.max(section.getBoundingClientRect().height, parseFloat(section.style.minHeight) || 0) +
    'px'; // what is below stays where it is
  more.hidden = rows.length <= mostRows;
  more.textContent = 'all ' + rows.length + ' rows';
}

// withBefore gives the rows of the second one of two logs those of the first, and how they differ.
// Those of a tag stand together, the tag with the highest maximum first.
function withBefore(rows) {
  const [, after] = data.compared;
  const groups = new Map(store.map(s => [s.label, s.group]));
  const tags = new Map();
  for (const r of rows) {
    const group = groups.get(r.label);
    const tag = r.label.slice((group ?? '').length);
    const pair = tags.get(tag) || tags.set(tag, {}).get(tag);
    pair[group === after ? 'after' : 'before'] = r;
  }
  for (const pair of tags.values()) {
    if (pair.before && pair.after)
      pair.after = {
        ...pair.after,
        before: pair.before,
        changed: view.isWhole && data.changed?.[pair.after.label],
      };
  }
  const highest = pair => Math.max(pair.before?.max || 0, pair.after?.max || 0);
  return [...tags.values()]
    .sort((a, b) => highest(b) - highest(a))
    .flatMap(pair => [pair.before, pair.after].filter(r => r));
}

// The ranges that are compared do not overlap, and comparedAs has what the last comparison was of,
// so that it is not made again. A comparison of more than mostAtOnce windows takes a moment:
// comparing has what it is of, while the page says that it computes. The first drawing waits, since
// a print waits for that.
const apart = ([from, to]) => to <= view.from || view.to <= from;
const mostAtOnce = 2000;
let comparedAs = '';
let comparing = '';
let compared = [];

// withRange gives rows how they differ from the range before, once that is computed.
function withRange(rows) {
  comparing = '';
  if (!apart(page.before)) return rows;
  const ranges = [page.before, [view.from, view.to]];
  const counts = page.series.map(s => ranges.map(range => startsIn(s.windows, ...range).length));
  const key = JSON.stringify([
    ranges,
    page.series.map((s, i) => [s.label, counts[i]]),
    data.origin,
  ]);
  const compute = () => {
    compared = changesOf(page.series, ...ranges, levels, data);
    comparedAs = key;
  };
  if (
    comparedAs !== key &&
    document.readyState === 'complete' &&
    counts.flat().reduce((sum, count) => sum + count, 0) > mostAtOnce
  ) {
    comparing = key;
    requestAnimationFrame(() =>
      setTimeout(() => {
        // The page shows that it compares by now.
        if (comparing !== key || !page.before) return;
        compute();
        buildTable();
        describe();
      }),
    );
    return rows;
  }
  if (comparedAs !== key) compute();
  const before = new Map(tableOf(store, ...page.before, levels, data.ran).map(r => [r.label, r]));
  const texts = ({ changes }) =>
    Object.entries(changes).map(([key, change]) => [key, changeText(change)]);
  const believed = new Map(compared.map(r => [r.label, Object.fromEntries(texts(r))]));
  return rows.map(r =>
    before.has(r.label)
      ? { ...r, before: before.get(r.label), believed: believed.get(r.label) }
      : r,
  );
}

// comparedText says what is compared, and how.
function comparedText() {
  const [from, to] = page.before;
  const range = timeText(from, true) + ' to ' + timeText(to - 1, true);
  if (!apart(page.before)) return 'Drag over a chart to choose what to compare with ' + range + '.';
  if (comparing) return 'Comparing with ' + range + ' …';
  const bounded = compared.some(r => Object.values(r.changes).some(change => change.low !== null));
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

function bodyOf(rows, columns) {
  return rows.map(r =>
    make(
      'tr',
      {},
      ...columns.map((column, i) => {
        const textContent = textOf(column, r);
        const change = changeOf(column, r);
        const parts = change ? [make('div', { textContent: change })] : [];
        return i
          ? make(
              'td',
              {
                className: textContent === 'fails' ? 'fails' : '',
                title: change && r.before ? 'before: ' + textOf(column, r.before) : '',
              },
              textContent,
              ...parts,
            )
          : make('th', { textContent, scope: 'row' });
      }),
    ),
  );
}

// buildTiles shows the figures of the latest window of a live page, each above a picture of those
// before.
function buildTiles() {
  const { level, tiles } = latestOf(
    [...page.series, ...page.band],
    data.origin,
    data.step,
    data.findings.some(f => f.kind === 'same'),
  );
  const tile = (name, key, text, of = tile => tile[key]) => {
    const now = of(tiles.at(-1));
    const points = tiles
      .map((tile, start) => ({ start, end: start + 1, value: of(tile)?.value }))
      .filter(p => Number.isFinite(p.value));
    const most = Math.max(...points.map(p => p.value));
    const picture = draw(
      sparkline(points, 0, mostTiled, v => (most ? v / most : 0)),
      page.theme.faint,
    );
    picture.setAttribute('preserveAspectRatio', 'none');
    const whose = now?.series && store.length > 1 ? ' of ' + named(now.series.label) : '';
    const what = name + whose + ', last ' + relativeStep(data.step);
    return make(
      'div',
      { className: 'tile' },
      make('div', { textContent: what, title: what }),
      make('strong', {
        textContent: now && Number.isFinite(now.value) ? text(now.value, now.low) : '-',
      }),
      picture,
    );
  };
  const inUnit = v => value(data.unit, v);
  const all = [
    tile('p' + level, 'high', (high, low) => between(data.unit, low, high)),
    tile('rate', 'rate', rateText),
    tile('maximum', 'max', inUnit),
  ];
  if (store.some(s => s.failed))
    all.push(tile('failures', 'failed', v => significant(100 * v, 2) + '%'));
  element('tiles').replaceChildren(...(store.length ? all : []));
}

// mostLatest is the number of tags of the latest window.
const mostLatest = 12;

// buildLatest shows the numbers of the latest window of a live page, the worst tags first, whether
// they have a line or not.
function buildLatest() {
  const series = [...page.series, ...page.band];
  const last = series.map(s => s.windows.at(-1)).filter(w => w);
  const table = element('latest');
  const start = Math.max(...last.map(w => w.start));
  const half = Math.max(...last.map(w => w.end - w.begin)) / 2;
  const rows = tableOf(
    series.map(({ label, group, windows }) => ({ label, group, windows })),
    start - half,
    Infinity,
    levels,
  );
  const columns = columnsOf(rows, data.unit).filter(column =>
    ['tag', '/s', 'p50', 'p99', 'max'].includes(column.key),
  );
  const part = rows.length > mostLatest ? `, the worst ${mostLatest} of ${rows.length} tags` : '';
  table.caption.textContent = rows.length
    ? 'The latest window, from ' + timeText(start) + part
    : '';
  table.tHead.replaceChildren(
    make(
      'tr',
      {},
      ...(rows.length
        ? columns.map(column => make('th', { scope: 'col', textContent: column.name }))
        : []),
    ),
  );
  table.tBodies[0].replaceChildren(
    ...bodyOf(
      worstOf(
        rows,
        columns.find(column => column.key === 'p99'),
        mostLatest,
      ),
      columns,
    ),
  );
}

function saveCSV() {
  const url = URL.createObjectURL(new Blob([csvOf(rows, data.unit)], { type: 'text/csv' }));
  make('a', {
    href: url,
    download: document.title + (view.isWhole ? '' : ' ' + view.address()) + '.csv',
  }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// ---- what readers do ----

// go runs a change of the view, and shows it and its address if it is another one.
function go(change) {
  if (!hasTime || !change()) return;
  follow(null);
  remember();
  drawAll();
}

const actions = {
  whole: () => (data.live ? chase(0) : go(() => view.show(data.from, data.to))),
  back: () => go(() => view.back()),
  left: () => go(() => view.pan(-0.5)),
  right: () => go(() => view.pan(0.5)),
  in: () => go(() => view.zoom(0.5, pointer.time ?? (view.from + view.to) / 2)),
  out: () => go(() => view.zoom(2, pointer.time ?? (view.from + view.to) / 2)),
  worst: () => {
    drawPointer();
    if (worst) go(() => view.around(worst.start, worst.end));
  },
  compare: () => {
    if (!hasTime || data.compared) return;
    if (page.before) {
      page.before = null;
      changed();
      return;
    }
    page.before = [view.from, view.to];
    go(() => view.show(view.whole.from, view.whole.to));
  },
  log: () => {
    page.log = !page.log;
    changed();
  },
  heat: () => {
    page.heat = !page.heat;
    changed();
  },
  facets: () => {
    page.facets = !page.facets;
    changed();
  },
  all: () => solo(null),
  csv: saveCSV,
};
const keys = {
  0: 'whole',
  b: 'back',
  a: 'left',
  d: 'right',
  '+': 'in',
  '=': 'in',
  '-': 'out',
  l: 'log',
  h: 'heat',
  f: 'facets',
  n: 'all',
  c: 'csv',
  m: 'compare',
};

function place(chart, event) {
  const box = chart.over.getBoundingClientRect();
  pointer.x = event.clientX - box.left;
  pointer.y = event.clientY - box.top;
}

// step moves the pointer of a chart from the keyboard.
function step(event, now, from, to, by) {
  const sign = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!sign) return now;
  event.preventDefault();
  return now === null
    ? sign > 0
      ? from
      : to
    : Math.min(Math.max(now + sign * by * (event.shiftKey ? 10 : 1), from), to);
}

// listenTime lets a chart over time answer to the pointer and to keys.
function listenTime(chart) {
  const { over } = chart;
  const point = event => {
    pointer.chart = chart;
    place(chart, event);
    pointer.time = chart.atX(pointer.x);
    pointed();
  };
  over.addEventListener('pointermove', point);
  over.addEventListener('pointerdown', event => {
    point(event);
    pointer.dragFrom = pointer.time;
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener('pointerup', event => {
    point(event);
    const from = pointer.dragFrom;
    const moved = from !== null && Math.abs(chart.px(from) - chart.px(pointer.time)) > 5;
    pointer.dragFrom = null;
    if (moved) go(() => view.show(Math.min(from, pointer.time), Math.max(from, pointer.time)));
    else if (from !== null && event.pointerType !== 'touch') actions.worst();
  });
  over.addEventListener('pointerleave', event => {
    pointer.dragFrom = null;
    // What was tapped stays.
    if (event.pointerType !== 'touch') pointer.time = null;
    pointed();
  });
  over.addEventListener('dblclick', actions.whole);
  over.addEventListener('keydown', event => {
    pointer.chart = chart;
    if (event.key === 'Enter') actions.worst();
    pointer.time = step(event, pointer.time, view.from, view.to, (view.to - view.from) / 100);
    if (pointer.time === null) return;
    pointer.x = chart.px(pointer.time);
    if (!pointer.y) pointer.y = (chart.plot.top + chart.plot.bottom) / 2;
    if (chart !== timeChart)
      pointer.y += ({ ArrowUp: -3, ArrowDown: 3 }[event.key] || 0) * (event.shiftKey ? 10 : 1);
    pointed();
  });
}

function listen() {
  const under = element('curve-over');
  for (const chart of [rateChart, timeChart, heatChart]) listenTime(chart);
  under.addEventListener('pointermove', event => {
    place(curveChart, event);
    pointer.nines = curveChart.atX(pointer.x);
    pointer.value = curveChart.atY(pointer.y);
    pointed();
  });
  under.addEventListener('pointerleave', event => {
    if (event.pointerType !== 'touch') pointer.nines = pointer.value = null;
    pointed();
  });
  under.addEventListener('keydown', event => {
    pointer.nines = step(event, pointer.nines, 0, curveChart.x.inverse(1), 0.1);
    pointed();
  });
  for (const id of Object.keys(actions)) element(id)?.addEventListener('click', actions[id]);
  addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === element('find')) return;
    if (event.key === 'Escape') {
      pointer.time = pointer.nines = pointer.value = null;
      pointed();
    } else if (/^[1-9]$/.test(event.key)) {
      if (store[event.key - 1]) solo(store[event.key - 1]);
    } else if (keys[event.key]) actions[keys[event.key]]();
    else if (event.key === 'p' && data.live) pause();
  });
  addEventListener('hashchange', () => {
    choose();
    view.follow(location.hash);
    follow(tailOf(location.hash));
    buildToggles();
    drawAll();
  });
  element('find').addEventListener('input', buildTable);
  element('more').addEventListener('click', () => {
    mostRows = Infinity;
    buildTable();
  });
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth !== width) {
      width = innerWidth;
      element('summary-section').style.minHeight = '';
      drawAll();
    }
  });
  const redress = () => {
    dress();
    drawAll();
  };
  prefersDark.addEventListener('change', redress);
  printing.addEventListener('change', redress);
}

// ---- a live page ----

// While a live page follows its end, tail is the length that it shows in milliseconds, 0 for all.
// Otherwise it is null.
let tail = null;
let chased = 0;

// tailOf returns the tail of a fragment of the page's address, such as #last=60.
function tailOf(fragment) {
  const found = /[#&]last=(\d+)/.exec(fragment);
  return found ? found[1] * 1000 : /[#&]t=/.test(fragment) ? null : 0;
}

// follow makes the view of a live page follow the end of the data, or stops that for null.
function follow(next) {
  if (!data.live) return;
  tail = next;
  chased = tail ?? chased;
  for (const button of element('tail').querySelectorAll('button')) {
    button.setAttribute(
      'aria-pressed',
      button.dataset.span ? tail === Number(button.dataset.span) : tail === null,
    );
  }
  atEnd();
}

function atEnd() {
  const { whole } = view;
  if (tail !== null)
    [view.from, view.to] = (tail && view.snap(whole.to - tail, whole.to)) || [whole.from, whole.to];
}

// chase follows the end, at an address of its own. Null pauses.
function chase(next) {
  follow(next);
  remember();
  drawAll();
}

function pause() {
  chase(tail === null ? chased : null);
}

// moved draws what came, once a frame. A view that was looked at stays.
// A page that takes long to draw is drawn half of the time at most.
let moving = false;
let rested = 0;
function moved() {
  atEnd();
  if (moving) return;
  moving = true;
  setTimeout(
    () =>
      requestAnimationFrame(begun => {
        moving = false;
        drawAll();
        rested = 2 * performance.now() - begun;
      }),
    rested - performance.now(),
  );
}

function live() {
  element('live').hidden = false;
  element('range').setAttribute('aria-live', 'off'); // it changes all the time
  for (const button of element('tail').querySelectorAll('[data-span]'))
    button.addEventListener('click', () => chase(Number(button.dataset.span)));
  element('pause').addEventListener('click', pause);
  let upTo = null;
  let count = 0; // the time of this machine up to which all of so many logs are read that go on
  const late = () => {
    element('lag').textContent =
      count +
      (count === 1 ? ' log' : ' logs') +
      (upTo === null ? '' : ', ' + lagText(Date.now() - upTo));
  };
  const status = ({ inputs, logs, now, end }) => {
    const quiet = inputs.map(i => i.name + ' ' + i.state).join(', ');
    element('inputs').replaceChildren(
      ...inputs.map(i =>
        make('span', { textContent: i.name + ' ' + i.state + ', until ' + timeText(i.end) }),
      ),
    );
    if (element('silent').textContent !== quiet) element('silent').textContent = quiet;
    [count, upTo] = [logs, end === null ? null : Date.now() - (now - end)];
    late();
  };
  setInterval(late, 1000);
  element('inputs').textContent = 'Waiting for intervals.';
  connect('events', {
    connected: yes => {
      element('connection').textContent = yes
        ? 'connected'
        : 'The connection is lost. Trying again.';
    },
    all: async next => {
      await load(next);
      dress();
      if (next.inputs) status(next);
      moved();
    },
    rows: async update => {
      addRows(store, await unpack(update.rows));
      data.to = view.whole.to = Math.max(view.whole.to, update.to);
      data.marks = update.marks;
      status(update);
      if (update.findings) {
        Object.assign(data, { findings: update.findings, top: update.top });
        buildFindings();
      }
      if (store.length) moved();
    },
  });
}

// begin shows the first data.
async function begin(next) {
  await load(next);
  view.follow(location.hash);
  dress();
  listen();
  if (data.live) {
    follow(tailOf(location.hash));
    live();
  }
  drawAll();
}
