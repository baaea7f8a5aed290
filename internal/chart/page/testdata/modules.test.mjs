// Tests of the script's modules, without a browser.
import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as numbers from './numbers.js';
import * as ticks from './ticks.js';
import * as store from './store.js';
import { Chart } from './canvas.js';
import * as charts from './charts.js';
import { View } from './state.js';
import * as overview from './overview.js';
import * as table from './table.js';
import * as tiles from './tiles.js';
import * as confidence from './confidence.js';
import * as phases from './phases.js';

for (const g of JSON.parse(readFileSync('golden.json'))) {
  test(`${g.rule} ${g.low} to ${g.high} ${g.unit || g.zone || ''}`, () => {
    const unit = g.unit || '';
    const scale = numbers.scaleFor(unit, g.high);
    const zone = { name: g.zone, offsets: g.offsets };
    const simple = {
      number: () => numbers.number(g.high),
      short: () => numbers.short(g.high),
      value: () => numbers.value(unit, g.high),
      handy: () => numbers.handy(unit, g.high),
    }[g.rule];
    if (simple) return assert.deepEqual([simple()], g.want);
    const got = {
      linear: () => ({
        ...ticks.linearTicks(scale, g.low, g.high, g.exact, g.most),
        title: numbers.titled(scale, 'value'),
      }),
      log: () => ticks.logTicks(unit, g.low, g.high, g.exact, g.most),
      relative: () => ticks.relativeTicks(g.low, g.high, g.most),
      clock: () => ticks.clockTicks(g.low, g.high, g.origin, zone, Boolean(g.since), g.most),
      nines: () => ({ ticks: ticks.ninesTicks(g.high, g.most) }),
    }[g.rule]();
    const labelled = got.ticks.filter(t => t.label);
    assert.deepEqual(
      labelled.map(t => t.label),
      g.want,
    );
    labelled.forEach((t, i) =>
      assert.ok(
        Math.abs(t.value - g.at[i]) <= 1e-9 * Math.abs(g.at[i]),
        `${t.value} at ${g.at[i]}`,
      ),
    );
    if (g.title) assert.equal(got.title, g.title);
  });
}

const series = async () => {
  const s = store.newSeries({ label: 'a', group: '', rest: false }, ['max']);
  store.addRows([s], await store.unpack(readFileSync('rows.txt', 'latin1')));
  return s;
};

test('rows', async () => {
  const s = await series();
  assert.deepEqual(
    s.windows.map(w => [w.start, w.begin, w.end, w.intervals, w.count, w.source]),
    [
      [500, 500, 1500, 2, 0, 0],
      [1000, 999, 1998, 1, 300, 2],
    ],
  );
  assert.deepEqual(s.lines[0].points, [
    { start: 1000, end: 1999, value: 7.25, gap: true },
    { start: 2000, end: 3000, value: 8, gap: false },
  ]);
});

test('sums', async () => {
  const s = await series();
  const sum = store.sumOf(s, 0, 3000);
  assert.deepEqual([sum.count, sum.min, sum.max, sum.intervals], [300, 2.5, 100, 3]);
  const row = store.tableOf([s], 0, 3000, [50, 99.9])[0];
  assert.deepEqual([row.perSecond, row.mean, row.percentiles], [300 / 1.498, 10, [100, 100]]);
  assert.deepEqual(store.tableOf([s], 1000.5, 3000, [50]), []);
  const curve = store.curveOf(sum);
  assert.equal(curve.v.at(-1), 100);
  assert.equal(curve.x.at(-1), Math.log10(600));
});

test('heat maps lose nothing', async () => {
  const s = await series();
  const place = v => Math.min(Math.max(Math.log10(v) / 3, 0), 1);
  for (const [columns, rows] of [
    [7, 11],
    [1, 1],
    [300, 200],
  ]) {
    const lengths = store.ranIn([s], 500, 3000, {}, 500, 2500 / columns, columns);
    const sum = store
      .heatOf([s], 500, 3000, columns, rows, place, lengths)
      .reduce((sum, rate, i) => sum + (rate * lengths[Math.floor(i / rows)]) / 1000, 0);
    assert.ok(Math.abs(sum - 300) < 1e-6, `${sum} values`);
  }
});

test('a sum goes on', async () => {
  const s = await series();
  const fresh = (from, to) => ({ ...store.sumOf({ windows: s.windows }, from, to) });
  for (const [from, to] of [
    [0, 600],
    [0, 3000],
    [0, 1000],
    [600, 3000],
    [0, 3000],
  ])
    assert.deepEqual({ ...store.sumOf(s, from, to) }, fresh(from, to));
  const more = await store.unpack(readFileSync('rows.txt', 'latin1'));
  store.addRows([s], more); // some of them before the end
  assert.equal(s.windows.spliced, 2);
  assert.deepEqual({ ...store.sumOf(s, 0, 3000) }, fresh(0, 3000));
  assert.equal(store.sumOf(s, 0, 3000).count, 600);
});

test('digits that are known', () => {
  for (const [low, high, want] of [
    [4.0321, 4.0632, '4 to 4.1'],
    [4.06, 4.09, '4.1'],
    [5, 5, '5'],
    [123.41, 123.44, '123.4'],
    [99.2, 100.4, '99 to 100'],
  ]) {
    assert.equal(numbers.known(low, high, 5), want);
    assert.equal(numbers.between('ms', low, high), want + ' ms');
  }
});

test('merged lines', async () => {
  const s = await series();
  const one = store.mergedPoints(s.windows, 'max', 10000, 0);
  const [point] = store.mergedPoints(s.windows, 'p50', 10000, 0);
  assert.deepEqual(one, [{ start: 999, end: 1998, value: 100, gap: true }]);
  assert.equal(point.value, store.tableOf([s], 0, 3000, [50])[0].percentiles[0]);
  const windows = [0, 1, 2, 5, 6].map(n => ({
    ...s.windows[1],
    begin: n * 1000,
    end: n * 1000 + 1000,
    max: n,
  }));
  assert.deepEqual(
    store.mergedPoints(windows, 'max', 2000, 0).map(p => [p.start, p.value, p.gap]),
    [
      [0, 1, true],
      [2000, 2, false],
      [5000, 5, false],
      [6000, 6, false],
    ],
  );
  assert.deepEqual(
    store.mergedPoints(windows, 'max', 1000, 0).map(p => p.gap),
    [true, false, false, true, false],
  );
  assert.equal(
    store.mergedStep(
      [{ windows: Array.from({ length: 2000 }, (_, n) => ({ start: n * 1000 })) }],
      0,
      2e6,
    ),
    5000,
  );
  assert.equal(store.mergedStep([s], 0, 3000), 0);
});

test('the view', () => {
  const view = new View({ from: 0, to: 100000 }, {});
  assert.ok(view.show(26000, 31000.4));
  assert.equal(view.address, 't=26,30.999');
  assert.ok(view.pan(0.5) && view.pan(-10));
  assert.equal(view.address, 't=0,4.999');
  assert.ok(view.back() && view.back() && view.back() && !view.back());
  assert.ok(view.isWhole);
  view.follow('#t=99,200');
  assert.equal(view.address, 't=99,99.999');
  // As -s and -e: an interval that starts at the second number belongs to the view.
  view.follow('#t=20,49');
  const starts = Array.from({ length: 100 }, (_, n) => ({ start: 1000 * n }));
  assert.equal(store.startsIn(starts, view.from, view.to).length, 30);
  const { from, to } = view;
  view.follow('#' + view.address);
  assert.deepEqual([view.from, view.to], [from, to]);
  view.follow('#rubbish');
  assert.ok(view.isWhole);
  const windows = new View(
    { from: 0, to: 100000 },
    { window: 16000, windowAt: -3000, recent: { from: 80000, window: 1000 } },
  );
  windows.follow('#t=26,31');
  assert.deepEqual([windows.from, windows.to], [13000, 45000]);
  windows.follow('#t=26,85.5');
  assert.deepEqual([windows.from, windows.to], [13000, 86000]);
  windows.follow('#t=81.2,85.5');
  assert.deepEqual([windows.from, windows.to], [81000, 86000]);
  windows.follow('#t=13,44.999');
  assert.deepEqual([windows.from, windows.to], [13000, 45000]);
});

test('a live view follows the end', () => {
  const view = new View({ from: 0, to: 100000 }, { live: true });
  const grow = to => {
    view.whole.to = to;
    view.toEnd();
    return [view.from, view.to];
  };
  view.follow('#last=60');
  assert.deepEqual(grow(120000), [60000, 120000]);
  assert.equal(view.address, 'last=60');
  view.chase(null);
  assert.deepEqual(grow(130000), [60000, 120000]);
  assert.equal(view.address, 't=60,119.999');
  view.chase(view.lastTail);
  assert.deepEqual(grow(140000), [80000, 140000]);
  // The data come again, with another origin.
  const next = new View({ from: -5000, to: 145000 }, { live: true });
  next.continue(view, -5000);
  assert.deepEqual([next.from, next.to, next.lastTail], [75000, 135000, 60000]);
  next.toEnd();
  assert.deepEqual([next.from, next.to], [85000, 145000]);
  view.follow('#t=1,2');
  assert.deepEqual(grow(150000), [1000, 2001]);
  view.follow('');
  assert.deepEqual(grow(160000), [0, 160000]);
  assert.equal(view.address, '');
});

test('rates', async () => {
  const s = await series();
  const rates = store.rateOf([s], 0, 3000, 3).points;
  assert.deepEqual(
    rates.map(p => [p.start, p.end, p.gap]),
    [
      [500, 1500, true],
      [1500, 1999, false],
    ],
  );
  assert.ok(
    Math.abs(rates.reduce((sum, p) => sum + (p.value * (p.end - p.start)) / 1000, 0) - 300) < 1e-9,
  );
  const second = (start, count) => ({ start, begin: start, end: start + 1000, count });
  const two = [{ windows: [second(0, 100), second(3000, 300)] }, { windows: [second(500, 200)] }];
  assert.deepEqual(
    store.rateOf(two, 0, 4000, 8).points.map(p => [p.start, p.end, p.value, p.gap]),
    [
      [0, 1000, 200, true],
      [1000, 1500, 200, false],
      [3000, 4000, 300, true],
    ],
  );
  assert.deepEqual(store.rateOf(two, 4000, 5000, 8).points, []);
});

test('a gap has no values', () => {
  const view = { from: 0, to: 600000 };
  const second = n => ({ start: 1000 * n, end: 1000 * n + 1000, value: n });
  const at = (all, t) => store.recordedAt(all, t, view, 500)?.value;
  const points = [198, 199, 220, 221].map(second);
  assert.deepEqual(
    [199500, 200400, 200600, 210000, 213000, 219400, 219600, 220500].map(t => at(points, t)),
    [199, 199, undefined, undefined, undefined, undefined, 220, 220],
  );
  assert.equal(at([{ start: 5000, end: 5000, value: 7 }], 9000), 7); // an interval without a length
});

test('no dip beside a gap', () => {
  // 600 s, without intervals from 201 to 220 s: no column has a part of the gap, and columns are
  // whole seconds.
  const windows = Array.from({ length: 600 }, (_, n) => ({
    start: 1000 * n,
    begin: 1000 * n,
    end: 1000 * n + 1000,
    count: 300,
  })).filter(w => w.start < 201000 || w.start >= 220000);
  for (const most of [1000, 400, 290, 170]) {
    const { points, width, whole } = store.rateOf([{ windows }], 0, 600000, most);
    assert.equal(width, 1000 * whole);
    for (const p of points)
      assert.ok(Math.abs(p.value - 300) < 1e-6, `${p.value} a second at ${p.start}`);
    assert.ok(points.some(p => p.end === 201000) && points.some(p => p.gap && p.start === 220000));
  }
});

test('timers are early and late', () => {
  const jitter = n => [0, 2, -1][n % 3];
  const windows = Array.from({ length: 12 }, (_, n) => ({
    start: 1000 * n + jitter(n),
    begin: 1000 * n + jitter(n),
    end: 1000 * n + 1000,
    count: 2,
  }));
  for (const p of store.rateOf([{ windows }], 0, 13000, 400).points)
    assert.ok(Math.abs(p.value / 2 - 1) < 0.003, `${p.value} a second at ${p.start}`);
});

test('rates have the steps of the windows', () => {
  // Windows of 10 s, of which the first and the last one are short. A view can end within a window.
  const starts = [3700, ...Array.from({ length: 10 }, (_, n) => 10000 * n + 10000)];
  const ends = [...starts.slice(1), 103571];
  const windows = starts.map((start, n) => ({ start, begin: start, end: ends[n], count: n + 1 }));
  for (const [from, to] of [
    [26000, 61001],
    [61882, 93571],
    [30000, 90001],
    [90000, 90001],
    [0, 103571],
    [0, 15000],
    [95000, 103571],
  ]) {
    const want = windows.filter(w => w.start >= from && w.start < to);
    const { points } = store.rateOf([{ windows }], from, to, 400);
    assert.deepEqual(
      points.map(p => [p.start, p.end]),
      want.map(w => [w.start, w.end]),
    );
    points.forEach((p, n) =>
      assert.ok(
        Math.abs((p.value * (p.end - p.start)) / 1000 - want[n].count) < 1e-9,
        `${p.value} a second at ${p.start}`,
      ),
    );
  }
  const [, second] = store.rateOf([{ windows }], 26000, 61001, 2).points;
  assert.deepEqual([second.start, second.end, second.value], [50000, 70000, 0.65]);
});

test('rates count the time in which logs ran', () => {
  // Runs of a minute each night, whose second has another group beside it.
  const run = start =>
    Array.from({ length: 60 }, (_, n) => ({
      start: start + 1000 * n,
      begin: start + 1000 * n,
      end: start + 1000 * n + 1000,
      count: 200,
      intervals: 1,
      min: 1,
      max: 1,
      sum: 200,
      bytes: [],
      at: 0,
      to: 0,
      layout: { half: 1, shift: 0, unit: 1 },
    }));
  const day = 86400000;
  const nights = { label: 'a', group: '', windows: [0, 1, 2].flatMap(n => run(n * day)) };
  const ran = { '': [0, 1, 2].map(n => [n * day, n * day + 60000]) };
  for (const [from, to, most] of [
    [0, 3 * day, 400],
    [0, 3 * day, 3],
    [day, 2 * day, 400],
    [day - 5000, day + 30000, 400],
  ]) {
    const rates = store.rateOf([nights], from, to, most, ran).points;
    assert.ok(rates.length);
    for (const p of rates)
      assert.ok(Math.abs(p.value - 200) < 1e-6, `${p.value} a second at ${p.start}`);
  }
  assert.equal(store.tableOf([nights], 0, 3 * day, [50], ran)[0].perSecond, 200);
  assert.equal(store.tableOf([nights], 30000, 2 * day, [50], ran)[0].perSecond, 200);
});

test('logs run as long as in a heat map', () => {
  // the golden file is that of the grid in Go
  for (const { name, from, to, columns, ran, lengths } of JSON.parse(readFileSync('ran.json'))) {
    const windows = spans =>
      spans.flatMap(([begin, end]) =>
        Array.from({ length: (end - begin) / 1000 }, (_, n) => ({
          start: begin + 1000 * n,
          begin: begin + 1000 * n,
          end: begin + 1000 * n + 1000,
        })),
      );
    const series = Object.entries(ran).map(([group, spans]) => ({
      group,
      windows: windows(spans),
    }));
    assert.deepEqual(
      [...store.ranIn(series, from, to, ran, from, (to - from) / columns, columns)],
      lengths,
      name,
    );
  }
});

test('verdicts', async () => {
  const s = await series();
  const sum = store.sumOf(s, 0, 3000);
  const { low, high } = store.slotRange(s.layout, 514);
  for (const [percentile, value, want] of [
    [0, 100, 1],
    [0, 99.9, -1],
    [1, 2, -1],
    [100, 100, 1],
    [100, 90, -1],
  ]) {
    assert.deepEqual(
      store.verdictsOf(sum, [{ percentile, value }]),
      [want],
      `${percentile} ${value}`,
    );
  }
  assert.ok(low < high);
  const part = { ...sum, counts: new Float64Array(600), count: 1, max: high, layout: s.layout };
  part.counts[514] = 1;
  assert.deepEqual(store.verdictsOf(part, [{ percentile: 50, value: (low + high) / 2 }]), [0]);
});

test('texts at marks do not overlap', () => {
  const texts = [];
  const draw = {
    beginPath() {},
    moveTo() {},
    lineTo() {},
    stroke() {},
    measureText: text => ({ width: 7 * text.length }),
    fillText: (text, x, y) => texts.push({ text, x, y, end: x + 7 * text.length }),
  };
  const chart = { g: draw, plot: { left: 50, right: 1000, top: 10, bottom: 500 }, px: t => t };
  const marks = [...Array(20).keys()].map(n => ({
    time: 300 + (n % 3),
    text: `node${n}.hdr is silent`,
  }));
  charts.drawMarks(chart, {}, [
    ...marks,
    { time: 990, text: 'at the end' },
    { time: 60, text: 'at the start' },
  ]);
  assert.equal(texts.length, 8);
  assert.ok(texts.some(t => t.text === 'and 15 more') && texts.every(t => t.end <= 1000));
  for (const a of texts)
    for (const b of texts)
      assert.ok(a === b || a.y !== b.y || a.end <= b.x || b.end <= a.x, `${a.text} and ${b.text}`);
});

test('the overview', () => {
  const rows = [
    { count: 9, percentiles: [1, 2, 4, 8, 16], max: 16 },
    { count: 9, percentiles: [2, 3, 4, 5, 6], max: 64 },
  ];
  const scale = overview.scaleOf(rows);
  assert.equal(scale(64), 1);
  assert.ok(scale(1) < scale(4) && scale(4) < scale(16) && scale(0) === 0);
  const points = [
    { start: 0, end: 1000, value: 64 },
    { start: 3000, end: 3000, value: 1 },
    { start: 9000, end: 10000, value: 16 },
  ];
  const columns = overview.sparkline(points, 0, 10000, scale).split('M').slice(1);
  assert.equal(columns.length, 4 + 1 + 4);
  assert.ok(columns[0].startsWith('0 18V0.0') && columns.at(-1).startsWith('78 18V'));
  assert.equal(overview.rangeOf({ count: 0, percentiles: [0, 0, 0, 0, 0], max: 0 }, scale), '');
  assert.match(overview.rangeOf(rows[0], scale), /^M11\.4 7H33.*M.* 7H57.*h2v14h-2z$/);
});

test('the table', () => {
  const rows = [
    {
      label: '=1+1',
      intervals: 2,
      count: 300000,
      perSecond: null,
      min: 1,
      mean: 2,
      percentiles: [1, 2, 3, 4, 5],
      max: 12345.678,
    },
    {
      label: 'b',
      intervals: 9,
      count: 100000,
      perSecond: 0.5,
      min: 1,
      mean: 2,
      percentiles: [1, 2, 3, 4, 5],
      max: 6,
    },
  ];
  const columns = table.columnsOf(rows, 'ms');
  assert.equal(columns.at(-1).name, 'max (s)');
  assert.equal(table.textOf(columns.at(-1), rows[0]), '12.346');
  assert.equal(table.textOf(columns[3], rows[0]), '-');
  const after = { ...rows[1], before: rows[0] };
  const texts = row => columns.map(column => table.changeOf(column, row));
  assert.deepEqual(texts(rows[1]).join(''), '');
  assert.deepEqual(texts(after), [
    '',
    '',
    '-66.7%',
    '',
    '?+0.0%',
    '?+0.0%',
    '?+0.0%',
    '?+0.0%',
    '?+0.0%',
    '?+0.0%',
    '?+0.0%',
    '?-99.95%',
  ]);
  assert.deepEqual(
    texts({ ...after, changed: { '/s': '?+2.0%', p50: '~+1% (-2..+3)', max: '?+4.0%' } }),
    ['', '', '', '', '', '', '~+1% (-2..+3)', '', '', '', '', '?+4.0%'],
  );
  const p99 = columns.find(column => column.key === 'p99');
  const some = { ...rows[1], count: 50 };
  const believed = { p99: '?-97.8%' }; // none of 50 values lies above p99
  assert.deepEqual(
    [
      table.textOf(p99, some),
      table.changeOf(p99, { ...some, before: rows[0], believed }),
      table.changeOf(p99, { ...rows[0], before: some, believed }),
    ],
    ['-', '', ''],
  );
  assert.deepEqual(
    table.sorted(rows, columns[1], true).map(r => r.label),
    ['b', '=1+1'],
  );
  assert.deepEqual(
    table.worstOf(rows, columns[1], 1).map(r => r.label),
    ['b'],
  );
  assert.equal(table.worstOf(rows, undefined, 1)[0], rows[0]);
  assert.match(
    table.csvOf(rows, 'ms'),
    /^"tag","intervals","values","values\/s","min \(ms\)".*\r\n"'=1\+1",2,300000,,1,2,1,2,3,4,5,12345.678\r\n/,
  );
});

test('a row without values has none, and one of few has no high percentile', () => {
  const none = {
    label: 'a',
    intervals: 2,
    count: 0,
    perSecond: 0,
    min: 0,
    mean: 0,
    percentiles: [0, 0, 0, 0, 0],
    max: 0,
  };
  const few = {
    label: 'b',
    intervals: 2,
    count: 3,
    perSecond: 1,
    min: 5,
    mean: 7,
    percentiles: [7, 9, 9, 9, 9],
    max: 9,
  };
  const curve = { label: 'c', count: 12, percentiles: [7, 8, 9, 9, 9], max: 9 };
  const texts = row => table.columnsOf([few], 'ms').map(column => table.textOf(column, row));
  assert.deepEqual(texts(none), ['a', '2', '0', '0', '-', '-', '-', '-', '-', '-', '-', '-']);
  assert.deepEqual(texts(few), ['b', '2', '3', '1', '5', '7', '7', '-', '-', '-', '-', '9']);
  assert.deepEqual(texts(curve), ['c', '', '12', '', '', '', '7', '8', '-', '-', '-', '9']);
  assert.match(table.csvOf([none], 'ms'), /\r\n"a",2,0,0,,,,,,,,\r\n$/);
});

test('a chart that is narrower than its labels is not less than nothing', () => {
  const chart = new Chart({}, {});
  Object.assign(chart, {
    g: { measureText: text => ({ width: 8 * text.length }) },
    plot: { left: 0, right: 4 },
    y: { at: () => 0, ticks: [{ label: '1,000 ms' }] },
  });
  chart.fit(['a long name']);
  assert.equal(chart.plot.right - chart.plot.left, 1);
});

test('a label that would overlap the one below it goes', () => {
  const chart = new Chart({}, {});
  const ticks = [0, 0.1, 0.5, 0.55, 1].map(value => ({ value, label: String(value) }));
  Object.assign(chart, {
    g: { measureText: text => ({ width: 8 * text.length }) },
    plot: { left: 0, right: 400 },
    y: { at: v => v, ticks },
  });
  chart.fit([], 100);
  assert.deepEqual(
    ticks.map(t => t.label),
    ['0', '', '0.5', '', '1'],
  );
});

test('looks', () => {
  const theme = { text: 'black', lines: ['blue', 'red'] };
  const percentiles = { colours: [0, 1], lines: [{ name: 'p99' }, { name: 'max' }] };
  assert.equal(charts.colourOf(theme, { colours: [1, 1] }), 'red');
  assert.equal(charts.colourOf(theme, percentiles), 'black');
  assert.deepEqual(
    percentiles.lines.map(l => charts.isArea(percentiles, l)),
    [false, true],
  );
  assert.equal(charts.isArea({ lines: [{ name: 'max' }] }, { name: 'max' }), false);
});

// windowOf returns a window from a time on with counts of values below 64.
const windowOf = (begin, counts, end = begin + 1000) => {
  const bytes = [];
  const values = Object.keys(counts).map(Number);
  const count = values.reduce((sum, v) => sum + counts[v], 0);
  let next = 0;
  for (const v of values) {
    if (v > next) bytes.push(2 * (v - next) - 1);
    for (let n = 2 * counts[v], more = true; more; n >>= 7)
      bytes.push((more = n > 127) ? (n % 128) + 128 : n);
    next = v + 1;
  }
  return {
    start: begin,
    begin,
    end,
    intervals: 1,
    count,
    source: 0,
    min: values[0],
    max: values.at(-1),
    sum: 0,
    layout: { half: 7, shift: 0, unit: 1 },
    bytes,
    at: 0,
    to: bytes.length,
  };
};

test('tiles show the latest windows', () => {
  const of = (label, windows, failed) => ({ label, windows, failed });
  const read = of('read', [
    windowOf(0, { 9: 400 }, 10000),
    windowOf(10000, { 3: 300, 7: 1 }),
    windowOf(11000, { 4: 99, 5: 100, 6: 1 }),
  ]);
  const write = of('write', [windowOf(11000, { 2: 50, 8: 50 }), windowOf(11100, { 1: 1 })]);
  const failed = of('read/failed', [windowOf(11000, { 1: 2 })], true);
  const { level, tiles: all } = tiles.latestOf([read, write, failed], 500, 1000);
  const [before, now] = all.slice(-2);
  assert.equal(level, 99);
  assert.deepEqual(
    all.slice(0, -2).filter(tile => tile.high || tile.max || tile.rate),
    [],
  ); // the long window of older times
  assert.deepEqual(before, {
    high: { value: 3, low: 3, series: read },
    max: { value: 7, series: read },
    rate: { value: 301, series: null },
    failed: { value: 0 },
  });
  assert.deepEqual(now, {
    high: { value: 8, low: 8, series: write },
    max: { value: 8, series: write },
    rate: { value: 303, series: null },
    failed: { value: 2 / 303 },
  });
  assert.deepEqual(tiles.latestOf([read, write], 500, 1000, true).tiles.at(-1).rate, {
    value: 200,
    series: read,
  }); // they are the same requests
  // No value lies above p99.
  const few = tiles.latestOf([of('few', [windowOf(0, { 1: 9, 2: 10, 9: 1 })])], 0, 1000);
  assert.deepEqual([few.level, few.tiles.at(-1).high.value], [90, 2]);
});

test('a light for each limit', () => {
  const of = (limit, weight, tag) => ({
    kind: 'limit',
    limit,
    weight,
    tag,
    sentence: { fails: 'FAILS', holds: 'HOLDS' }[weight] + ': p99 of ' + tag + '.',
  });
  const lights = tiles.lightsOf([
    of('p99<=1ms', 'fails', 'a'),
    { kind: 'gap', sentence: 'No values.' },
    of('p99<=1ms', 'holds', 'b'),
    of('max<=9s', 'holds', 'a'),
  ]);
  assert.deepEqual(
    lights.map(l => [l.weight, l.word, l.limit]),
    [
      ['fails', 'FAILS', 'p99<=1ms (1 of 2 tags)'],
      ['holds', 'HOLDS', 'max<=9s'],
    ],
  );
  assert.deepEqual([-5, 12400, 200000, 4 * 3600000, 1e9].map(tiles.lagText), [
    '0 s behind',
    '12 s behind',
    '3 min behind',
    '4 h behind',
    '12 days behind',
  ]);
});

test('changes', () => {
  for (const [t, freedom, p] of [
    [2.306004, 8, 0.05],
    [0.5, 3, 0.6514379],
    [12.7062, 1, 0.05],
  ])
    assert.ok(Math.abs(confidence.studentTail(t, freedom) / p - 1) < 1e-2, `${t}, ${freedom}`);
  assert.equal(confidence.studentTail(0, 8), 1);
  const texts = [
    [1.184, 1.17, 1.19, true],
    [0.99, 0.98, 1.01],
    [1.3, 1.1, 1.5, false],
    [1.2, null, null],
    [2, 0.5, Infinity],
    [0.5, 0, 1.5],
    [0.0004, 0.0003, 0.0005, true],
    [NaN, null, null],
  ].map(([ratio, low, high, proven]) => confidence.changeText({ ratio, low, high, proven }));
  assert.deepEqual(texts, [
    '+18.4% (+17.0..+19.0)',
    '~-1.0% (-2.0..+1.0)',
    '!+30% (+10..+50)',
    '?+20.0%',
    '~+100% (-50..no end)',
    '~-50% (-100..+50)',
    '-99.96% (-99.97..-99.95)',
    '',
  ]);
});

test('two ranges of a series', () => {
  // The values of the second range are a tenth higher, those of each second vary a little.
  const windows = Array.from({ length: 400 }, (_, n) =>
    windowOf(1000 * n, n < 200 ? { 20: 90 + (n % 7), 40: 8 } : { 22: 90 + (n % 5), 44: 9 }),
  );
  const s = { label: 'a', group: '', windows };
  const of = (before, after) =>
    confidence.changesOf([s], before, after, [50, 99], { origin: 500 })[0].changes;
  const { p50, '/s': rate } = of([0, 200000], [200000, 400000]);
  assert.ok(
    Math.abs(p50.ratio - 1.1) < 0.03 && p50.proven && p50.low > 1 && p50.high < 1.2,
    JSON.stringify(p50),
  );
  assert.ok(
    Math.abs(rate.ratio - 1) < 0.01 && rate.low > 0.99 && rate.high < 1.02,
    JSON.stringify(rate),
  );
  assert.equal(of([0, 100000], [200000, 400000]).p50.low, null); // less than two minutes
  assert.deepEqual(
    confidence.changesOf([s], [0, 200000], [400000, 500000], [50], { origin: 500 }),
    [],
  );
});

for (const g of JSON.parse(readFileSync('phases.json')))
  test(`phases: ${g.name}`, () => {
    const px = time => ((time - g.from) / (g.to - g.from)) * g.width;
    const chart = { px, plot: { left: 0, right: g.width } };
    const lanes = phases.lanesOf(g);
    assert.deepEqual(
      lanes.map(lane => lane.name),
      g.lanes.map(lane => lane.name),
    );
    lanes.forEach(({ times }, n) => {
      const bars = phases.barsOf(chart, times).flat();
      const want = g.lanes[n].bars.flat();
      assert.equal(bars.length, want.length);
      bars.forEach((at, i) => assert.ok(Math.abs(at - want[i]) < 1e-6, `${at} instead of ${want[i]}`));
    });
  });
