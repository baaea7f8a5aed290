// The worst moments of the view: numbers in a chart, and a list of buttons that zoom to them.
import { value } from './numbers.js';
import { drawWorst } from './charts.js';
import { element, make } from './dom.js';
import { page } from './page.js';
import { go } from './changes.js';
import { timeText } from './times.js';
import { panels, shownOverTime } from './panels.js';

const maxMoments = 5;
let listedMoments = ''; // the list as text

// showMoments marks the moments in the chart whose axis has their maxima, if the page shows it.
export function showMoments() {
  const { data, view } = page;
  const shown = new Set([...page.series, ...page.band].map(s => s.label));
  const chart = data.measures.includes('max') && !data.lines.rate ? panels.time : panels.heat;
  const moments = shownOverTime().includes(chart)
    ? data.worst
        .filter(m => m.peak >= view.from && m.peak < view.to && shown.has(m.label))
        .slice(0, maxMoments)
    : [];
  if (moments.length) drawWorst(chart, page.theme, moments);
  const list = moments.map(m =>
    make(
      'li',
      {},
      make('button', {
        type: 'button',
        textContent: textOfMoment(m),
        onclick: () => go(() => page.view.around(m.start, m.end)),
      }),
    ),
  );
  const text = JSON.stringify([moments, list.map(item => item.textContent)]);
  // A list that stays does not lose a click on a live page.
  if (listedMoments !== text) element('worst').replaceChildren(...list);
  listedMoments = text;
}

function textOfMoment({ start, end, value: v, name }) {
  const length = end - start;
  // Timers are late, so a length has no milliseconds above a second.
  const seconds = length < 1000 ? length / 1000 : Math.round(length / 100) / 10;
  return ['at ' + timeText(start) + ' for ' + value('s', seconds), value(page.data.unit, v), name]
    .filter(part => part)
    .join(' · ');
}
