// The controls: buttons, keys, and the pointer in the charts.
import { element } from './dom.js';
import { page } from './page.js';
import { media, dress } from './look.js';
import { readChoices } from './address.js';
import { changed, go, chase, pause, solo } from './changes.js';
import { panels, chartsOverTime } from './panels.js';
import { pointer, drawSoon, drawPointer } from './pointer.js';
import { choice, buildTable, saveCSV } from './summary.js';

// flip turns on or off what a name of the page stands for.
function flip(name) {
  page[name] = !page[name];
  changed();
}

// zoom zooms around the time that is drawSoon at, or around the middle.
function zoom(factor) {
  const { view } = page;
  go(() => view.zoom(factor, pointer.time ?? (view.from + view.to) / 2));
}

// The actions of buttons, by the ids of these, and of keys.
const actions = {
  whole: () => (page.data.live ? chase(0) : go(() => page.view.show(page.data.from, page.data.to))),
  back: () => go(() => page.view.back()),
  left: () => go(() => page.view.pan(-0.5)),
  right: () => go(() => page.view.pan(0.5)),
  in: () => zoom(0.5),
  out: () => zoom(2),
  compare: () => {
    const { data, view } = page;
    if (!page.timed || data.compared) return;
    if (page.before) {
      page.before = null;
      changed();
      return;
    }
    page.before = [view.from, view.to];
    go(() => view.show(view.whole.from, view.whole.to));
  },
  log: () => flip('log'),
  heat: () => flip('heat'),
  facets: () => flip('facets'),
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

// showHighest zooms to the highest interval in the column that is drawSoon at.
function showHighest() {
  const highest = drawPointer();
  if (highest) go(() => page.view.around(highest.start, highest.end));
}

function place(chart, event) {
  const box = chart.over.getBoundingClientRect();
  pointer.x = event.clientX - box.left;
  pointer.y = event.clientY - box.top;
}

// stepped returns where the arrow keys move a place in a chart: by a step inside [from, to], or to
// an end if now is null. Another key leaves the place.
function stepped(event, now, from, to, step) {
  const sign = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!sign) return now;
  event.preventDefault();
  if (now === null) return sign > 0 ? from : to;
  return Math.min(Math.max(now + sign * step * (event.shiftKey ? 10 : 1), from), to);
}

// listenTime lets a chart over time answer to the pointer and to keys.
function listenTime(chart) {
  const { over } = chart;
  const point = event => {
    pointer.chart = chart;
    place(chart, event);
    pointer.time = chart.atX(pointer.x);
    drawSoon();
  };
  over.addEventListener('pointermove', point);
  over.addEventListener('pointerdown', event => {
    point(event);
    pointer.dragFrom = pointer.time;
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener('pointerup', event => {
    point(event);
    const { time, dragFrom } = pointer;
    pointer.dragFrom = null;
    if (dragFrom === null) return;
    if (Math.abs(chart.px(dragFrom) - chart.px(time)) > 5)
      go(() => page.view.show(Math.min(dragFrom, time), Math.max(dragFrom, time)));
    else if (event.pointerType !== 'touch') showHighest();
  });
  over.addEventListener('pointerleave', event => {
    pointer.dragFrom = null;
    // After a tap, the place stays.
    if (event.pointerType !== 'touch') pointer.time = null;
    drawSoon();
  });
  over.addEventListener('dblclick', actions.whole);
  over.addEventListener('keydown', event => {
    pointer.chart = chart;
    if (event.key === 'Enter') showHighest();
    const { from, to } = page.view;
    pointer.time = stepped(event, pointer.time, from, to, (to - from) / 100);
    if (pointer.time === null) return;
    pointer.x = chart.px(pointer.time);
    if (!pointer.y) pointer.y = (chart.plot.top + chart.plot.bottom) / 2;
    if (chart !== panels.time)
      pointer.y += ({ ArrowUp: -3, ArrowDown: 3 }[event.key] || 0) * (event.shiftKey ? 10 : 1);
    drawSoon();
  });
}

function listenCurve(chart) {
  const { over } = chart;
  over.addEventListener('pointermove', event => {
    place(chart, event);
    pointer.nines = chart.atX(pointer.x);
    pointer.value = chart.atY(pointer.y);
    drawSoon();
  });
  over.addEventListener('pointerleave', event => {
    if (event.pointerType !== 'touch') pointer.nines = pointer.value = null;
    drawSoon();
  });
  over.addEventListener('keydown', event => {
    pointer.nines = stepped(event, pointer.nines, 0, chart.x.inverse(1), 0.1);
    drawSoon();
  });
}

// listenKeys lets the keys of the page act wherever the focus is, but not in a field.
function listenKeys() {
  addEventListener('keydown', event => {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === element('find')) return;
    if (key === 'Escape') {
      pointer.time = pointer.nines = pointer.value = null;
      drawSoon();
    } else if (/^[1-9]$/.test(key)) {
      if (page.all[key - 1]) solo(page.all[key - 1]);
    } else if (keys[key]) actions[keys[key]]();
    else if (key === 'p' && page.data.live) pause();
  });
}

// listen lets all controls act.
export function listen() {
  for (const chart of chartsOverTime) listenTime(chart);
  listenCurve(panels.curve);
  listenKeys();
  for (const id of Object.keys(actions)) element(id).addEventListener('click', actions[id]);
  element('find').addEventListener('input', buildTable);
  element('more').addEventListener('click', () => {
    choice.most = Infinity;
    buildTable();
  });
  addEventListener('hashchange', () => {
    readChoices();
    page.view.follow(location.hash);
    page.draw(true);
  });
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    element('summary-section').style.minHeight = '';
    page.draw();
  });
  for (const query of [media.dark, media.print])
    query.addEventListener('change', () => {
      dress();
      page.draw(true);
    });
}
