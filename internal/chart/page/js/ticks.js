// Ticks of axes. The rules are those of Go's package axis. Its testdata/golden.json tests both. A
// tick has a value and a label. The label of a minor tick is empty.
import { number, shorts, handy, spelling } from './numbers.js';

const power10 = e => Number('1e' + e);

function roundStep(span, most) {
  const rough = span / Math.max(most, 1);
  const power = power10(Math.floor(Math.log10(rough)));
  for (const m of [1, 2, 5]) if (rough <= m * power * (1 + 1e-9)) return m * power;
  return 10 * power;
}

function multiples(low, high, step) {
  const all = [];
  for (let i = Math.ceil(low / step - 1e-6); i <= high / step + 1e-6; i++) all.push(i * step);
  return all;
}

// linearTicks returns the ticks of an axis that begins at low and ends at the first tick past high,
// or at high itself if exact is set.
export function linearTicks(scale, low, high, exact, most) {
  const from = low / scale.divide;
  let to = high / scale.divide;
  if (!(to > from)) to = from + 1;
  const step = roundStep(to - from, most);
  if (!exact) to = Math.ceil(to / step - 1e-9) * step;
  const label = scale.unit || step < 1e-6 ? spelling(step, to) : shorts(to);
  const ticks = multiples(from, to, step).map(v => ({
    value: v * scale.divide,
    label: v === 0 ? '0' : label(v),
  }));
  return { ticks, end: to * scale.divide };
}

function roundDown(v) {
  const e = Math.floor(Math.log10(v) + 1e-12);
  for (const m of [5, 2]) if (v >= m * power10(e) * (1 - 1e-9)) return m * power10(e);
  return power10(e);
}

function roundUp(v) {
  const e = Math.floor(Math.log10(v) + 1e-12);
  for (const m of [1, 2, 5]) if (v <= m * power10(e) * (1 + 1e-9)) return m * power10(e);
  return power10(e + 1);
}

// logTicks returns the ticks of a logarithmic axis for values from lowest to highest, both above 0.
export function logTicks(unit, lowest, highest, exact, most) {
  if (highest <= lowest * 1.0001) {
    lowest /= 2;
    highest *= 2;
  }
  const from = exact ? lowest : roundDown(lowest);
  const to = exact ? highest : roundUp(highest);
  const decades = Math.log10(to / from);
  const every = Math.max(1, Math.ceil(decades / most));
  const ticks = [];
  const fixed = spelling(from, to);
  const last = Math.ceil(Math.log10(to) - 1e-9);
  const lowestPower = Math.ceil(Math.log10(from) - 1e-9);
  // If at most one of these powers lies on the axis, labels begin at its first power.
  const few = Math.ceil(lowestPower / every) * every + every > Math.floor(Math.log10(to) + 1e-9);
  const first = few ? lowestPower : 0;
  for (let e = Math.floor(Math.log10(from) + 1e-9); e <= last; e++)
    for (let digit = 1; digit <= 9; digit++) {
      const v = digit * power10(e);
      if (v < from * (1 - 1e-9) || v > to * (1 + 1e-9)) continue;
      let labelled = digit === 1 && (e - first) % every === 0;
      if (every === 1 && most > 2 && decades / Math.log10(2) <= 2 * most)
        labelled = labelled || digit === 2 || digit === 5;
      if (labelled) ticks.push({ value: v, label: unit[0] !== '=' ? handy(unit, v) : fixed(v) });
      else if (!(decades > 2 * most || (decades > 8 && digit > 1)))
        ticks.push({ value: v, label: '' });
    }
  return { ticks, from, to };
}

const day = 86400;
export const steps = [
  0.001,
  0.002,
  0.005,
  0.01,
  0.02,
  0.05,
  0.1,
  0.2,
  0.5,
  1,
  2,
  5,
  10,
  15,
  30,
  60,
  120,
  300,
  600,
  900,
  1800,
  3600,
  7200,
  10800,
  21600,
  43200,
  day,
  2 * day,
  7 * day,
];

// relativeStep prints a length in milliseconds as hours, minutes or seconds.
export const relativeStep = ms =>
  ms % 3600000 === 0
    ? ms / 3600000 + ' h'
    : ms % 60000 === 0
      ? ms / 60000 + ' min'
      : ms / 1000 + ' s';

// timeStep returns the distance of ticks of an axis of time, in seconds: the smallest round
// distance with no more than most ticks. If only one tick or none lies in the first nine tenths,
// where labels surely have room, it returns the next smaller distance.
function timeStep(from, to, most) {
  const span = to - from;
  const n = steps.findIndex(s => span <= s * most * (1 + 1e-9));
  if (n < 0) return Math.max(roundStep(span / day, most), 1) * day;
  return n > 0 && multiples(from, to - span / 10, steps[n]).length < 2 ? steps[n - 1] : steps[n];
}

const pad = (n, width = 2) => String(n).padStart(width, '0');

function sexagesimal(v, step, hours, seconds) {
  const ms = Math.round(Math.abs(v) * 1000);
  const s = Math.floor(ms / 1000);
  return (
    (v < 0 && ms > 0 ? '-' : '') +
    (hours ? Math.floor(s / 3600) + ':' + pad(Math.floor(s / 60) % 60) : Math.floor(s / 60)) +
    (seconds ? ':' + pad(s % 60) : '') +
    (step < 1 ? '.' + pad(ms % 1000, 3) : '')
  );
}

// relativeStyle returns the title of an axis of seconds since the start, and the function that
// prints a time on it.
export function relativeStyle(from, to, step) {
  const furthest = Math.max(Math.abs(from), Math.abs(to));
  if (furthest <= 180) return ['time since start (s)', number];
  if (step >= day) return ['time since start (days)', v => number(v / day)];
  if (step < 60 && furthest >= 3600)
    return ['time since start (h:min:s)', v => sexagesimal(v, step, true, true)];
  if (furthest < 3600) return ['time since start (min:s)', v => sexagesimal(v, step, false, true)];
  return ['time since start (h:min)', v => sexagesimal(v, step, true, false)];
}

export function relativeTicks(from, to, most) {
  const step = timeStep(from, to, most);
  const [title, label] = relativeStyle(from, to, step);
  return {
    step,
    title,
    ticks: multiples(from, to, step).map(v => ({ value: v, label: label(v) })),
  };
}

// offsetAt returns how many seconds a zone is ahead of UTC at a time in seconds since the epoch.
export function offsetAt(zone, t) {
  let offset = 0;
  zone.offsets.forEach(([from, seconds], i) => {
    if (i === 0 || from <= t) offset = seconds;
  });
  return offset;
}

// clockText prints a time in seconds since the epoch as precisely as a step of an axis needs: as a
// date, or as a time of the day.
export function clockText(zone, t, step) {
  const iso = new Date(Math.round((t + offsetAt(zone, t)) * 1000)).toISOString();
  if (step >= day) return iso.slice(0, 10);
  return iso.slice(11, step < 1 ? 23 : step < 60 ? 19 : 16);
}

// severalDays reports whether the first and the last time of a page have different dates.
export const severalDays = data =>
  clockText(data, (data.from + data.origin) / 1000, day) !==
  clockText(data, (data.to + data.origin) / 1000, day);

// clockTicks returns the ticks of an axis of clock times. Origin is the clock time of 0, in seconds
// since the epoch. The first line of a label is the clock time. If since is set, the next line is
// the time since the start. The first tick of each day has a line with the date. If since is set
// and all ticks have one date, it stands in the title instead.
export function clockTicks(from, to, origin, zone, since, most) {
  const step = timeStep(from + origin, to + origin, most);
  const below = since && step < day;
  const first = clockText(zone, from + origin, day);
  const one = below && first === clockText(zone, to + origin, day);
  const title =
    (one ? 'time on ' + first : 'time') +
    ' (' +
    zone.name +
    ')' +
    (below ? ', since start (h:min:s)' : '');
  const offset = offsetAt(zone, from + origin);
  let date = one ? first : '';
  const ticks = [];
  for (const local of multiples(from + origin + offset, to + origin + offset, step)) {
    const t = local - offsetAt(zone, local - offset);
    const today = clockText(zone, t, day);
    // The zone has no such hour on this day.
    if (ticks.length && t - origin <= ticks[ticks.length - 1].value) continue;
    let label = clockText(zone, t, step);
    if (below)
      label += '\n' + sexagesimal(step < 1 ? t - origin : Math.round(t - origin), step, true, true);
    if (step < day && today !== date) label += '\n' + (date = today);
    ticks.push({ value: t - origin, label });
  }
  return { step, title, ticks };
}

// nines returns where a part of the values stands on an axis of nines: 0.9 at 1, 0.99 at 2.
export const nines = part => -Math.log10(1 - part);

function ninesLabel(n) {
  return n === 0 ? '0%' : n === 1 ? '90%' : n === 2 ? '99%' : '99.' + '9'.repeat(n - 2) + '%';
}

// ninesTicks returns the ticks of an axis of nines that ends at last. Labels are at least gap nines
// apart. If only one of 0% and 50% has room for a label, it is 50%.
export function ninesTicks(last, gap) {
  const ticks = [];
  let labelled = -Infinity;
  for (let n = 0; n <= last + 1e-9; n++) {
    const far = n - labelled >= gap * Math.max(1, (n + 4) / 8);
    if (far) labelled = n;
    ticks.push({ value: n, label: far ? ninesLabel(n) : '' });
    if (n === 0) {
      const room = gap < 1 - nines(0.5);
      if (room) labelled = nines(0.5);
      if (room && gap >= nines(0.5)) ticks[0].label = '';
      ticks.push({ value: nines(0.5), label: room ? '50%' : '' });
    }
    for (const part of [0.5, 0.8]) {
      const v = n - Math.log10(1 - part);
      if (n > 0 && v < last) ticks.push({ value: v, label: '' });
    }
  }
  return ticks;
}
