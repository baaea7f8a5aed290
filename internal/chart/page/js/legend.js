// The legend: buttons that show and hide series, and what the lines and shades of the charts mean.
import { named } from './store.js';
import { colourOf, isArea, areaShare, withDue, dueDash } from './charts.js';
import { element, make, svg } from './dom.js';
import { page } from './page.js';
import { changed, solo } from './changes.js';

// swatch returns a picture of a line, which is the edge of an area if area is set.
function swatch(colour, dash, thick, area) {
  const line = svg('line', {
    x1: 0,
    x2: 34,
    y1: 6,
    y2: 6,
    stroke: colour,
    'stroke-width': thick,
    'stroke-dasharray': dash.join(' '),
  });
  const below = area
    ? [svg('rect', { y: 6, width: 34, height: 6, fill: colour, 'fill-opacity': areaShare })]
    : [];
  return framed(line, ...below);
}

const framed = (...shapes) => svg('svg', { width: 34, height: 12, 'aria-hidden': true }, ...shapes);

function toggle(label, text, pressed, picture, onclick) {
  const button = make('button', { type: 'button', onclick }, picture, text);
  button.dataset.series = label;
  button.setAttribute('aria-pressed', pressed);
  return button;
}

export function buildToggles() {
  const { data, all, theme } = page;
  const rest = all.filter(s => s.rest);
  const bar = all
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
      toggle('', 'the other ' + rest.length, page.rest, swatch(theme.band, [], 10), () => {
        page.rest = !page.rest;
        changed();
      }),
    );
  const explain = (text, picture) => bar.push(make('span', { className: 'name' }, picture, text));
  const [first] = all;
  if (first && data.measures.length > 1)
    data.measures.forEach((name, n) => {
      const colour = all.length > 1 ? theme.faint : theme.lines[first.colours[n]];
      explain(name, swatch(colour, first.dashes[n], 2, isArea(first, { name })));
    });
  const finds = kind => page.timed && data.findings.some(f => f.kind === kind);
  if (page.timed && data.lines.breaches && data.lines.limits.length) {
    const shade = swatch(theme.limit, [], 12);
    shade.style.opacity = 0.14; // as in the chart
    explain('above a limit', shade);
  }
  if (all.some(s => s.corrected)) explain(withDue, swatch(theme.faint, dueDash, 2));
  if (finds('gap')) {
    const d = 'M0 12L12 0M8 12L20 0M16 12L28 0M24 12L34 2';
    explain('no values', framed(svg('path', { d, stroke: theme.faint })));
  }
  if (finds('rhythm'))
    explain('beat', framed(svg('path', { d: 'M14 12h6l-3 -6z', fill: theme.text })));
  const focused = document.activeElement?.dataset.series;
  element('toggles').replaceChildren(...bar);
  if (focused !== undefined) bar.find(b => b.dataset.series === focused)?.focus();
}
