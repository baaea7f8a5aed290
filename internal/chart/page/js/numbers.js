// Numbers and units as text. The rules are those of Go's package axis. Its testdata/golden.json
// tests both.
export const timeUnits = [
  ['ns', 1e-9],
  ['µs', 1e-6],
  ['ms', 1e-3],
  ['s', 1],
];
const manyDigits = 1e7;
const fewDigits = 1e-6;

function unitSeconds(unit) {
  const own = timeUnits.find(u => u[0] === unit);
  return own ? own[1] : 0;
}

// scaleFor returns the unit in which values up to highest are shown, and the number to divide them
// by. A unit that begins with an equals sign is fixed.
export function scaleFor(unit, highest) {
  if (unit[0] === '=') return { unit: unit.slice(1), divide: 1 };
  const seconds = unitSeconds(unit);
  if (!seconds || (highest >= 0.1 && highest < 10000) || !(highest > 0)) return { unit, divide: 1 };
  let best = timeUnits[0];
  for (const u of timeUnits) if ((highest * seconds) / u[1] >= 1) best = u;
  return { unit: best[0], divide: best[1] / seconds };
}

export const titled = (scale, name) => (scale.unit ? name + ' (' + scale.unit + ')' : name);

function scientific(v) {
  const [mantissa, exponent] = v.toExponential(3).split('e');
  return Number(mantissa) + 'e' + Number(exponent);
}

function grouped(text) {
  const [whole, fraction] = text.split('.');
  return whole.replace(/\B(?=(\d{3})+$)/g, ',') + (fraction ? '.' + fraction : '');
}

function digits(v, most, long) {
  const size = Math.abs(v);
  if (v === 0) return '0';
  if (size >= long || size < fewDigits) return scientific(v);
  const text = v.toFixed(Math.max(0, most - 1 - Math.floor(Math.log10(size))));
  return grouped(text.includes('.') ? text.replace(/\.?0+$/, '') : text);
}

// number prints a number with as many digits as it needs, at most seven.
export const number = v => digits(v, 7, manyDigits);

// spelling returns the function that prints the numbers of an axis. Smallest is the step between
// them. All have an exponent if smallest or largest needs one.
export const spelling = (smallest, largest) =>
  smallest < fewDigits * (1 - 1e-9) || largest >= manyDigits ? scientific : number;

// value prints a value with its unit, to four significant digits.
export function value(unit, v) {
  const s = scaleFor(unit, v);
  return s.unit ? digits(v / s.divide, 4, 1e15) + ' ' + s.unit : digits(v, 4, 1e15);
}

// between prints a value that lies between low and high, with its unit.
export function between(unit, low, high) {
  const s = scaleFor(unit, high);
  const text = known(low / s.divide, high / s.divide, s.unit ? 4 : 6);
  return s.unit ? text + ' ' + s.unit : text;
}

// significant prints v with at most n significant digits, without an exponent below 1e15.
export const significant = (v, n) => digits(v, n, 1e15);

// known prints a value of which only bounds are known: the digits that both bounds have after
// rounding, from two to most digits. If the bounds differ already in two digits, it prints both.
export function known(low, high, most) {
  for (let n = most; n >= 2; n--)
    if (significant(low, n) === significant(high, n)) return significant(high, n);
  return significant(low, 2) + ' to ' + significant(high, 2);
}

const thousands = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];

// shorts returns the function that prints the numbers of an axis in few characters. All have the
// same letter, such as k for thousands. If largest is below 10,000, they have none.
export function shorts(largest) {
  const own = largest < 1e15 && thousands.find(([size]) => largest >= Math.max(size, 10000));
  return own ? v => number(v / own[0]) + own[1] : number;
}

// short prints a number in few characters, with k, M, G or T for thousands and up.
export function short(v) {
  const own = Math.abs(v) < 1e15 && thousands.find(([size]) => Math.abs(v) >= size);
  return own ? number(v / own[0]) + own[1] : number(v);
}

// handy prints a round value with its unit. Instead of a unit of time that is not fixed, it takes
// the largest unit in which the value is at least 1.
export function handy(unit, v) {
  if (unit[0] === '=') return number(v) + ' ' + unit.slice(1);
  const seconds = unitSeconds(unit);
  if (!seconds) return short(v);
  let best = timeUnits[0];
  for (const u of timeUnits) if (v * seconds >= u[1] * (1 - 1e-9)) best = u;
  return number((v * seconds) / best[1]) + ' ' + best[0];
}
