// The findings of the data, as sentences and links, and the limits of a live page as lights.
import { lightsOf } from './tiles.js';
import { element, make } from './dom.js';
import { page } from './page.js';
import { addressOf } from './address.js';

// buildFindings shows the most important findings at the top of the page, and a list of all.
export function buildFindings() {
  const { top, findings, live } = page.data;
  element('result').replaceChildren(...top.map(text => make('div', {}, ...coloured(text))));
  const list = element('findings');
  const old = [...list.querySelectorAll('a')];
  const links = findings.map(linkOf);
  // A live page keeps the elements, so that they keep clicks and the focus.
  if (old.length === links.length && links.every(a => a.href))
    links.forEach(({ href, textContent, onclick }, i) =>
      Object.assign(old[i], { href, textContent, onclick }),
    );
  else list.replaceChildren(...links.map(a => make('li', {}, a)));
  element('found').hidden = findings.length <= top.length;
  if (live)
    element('lights').replaceChildren(
      ...lightsOf(findings).map(({ weight, word, limit, sentence }) =>
        make('li', { className: weight, title: sentence }, make('i'), word + ' ' + limit),
      ),
    );
}

// coloured returns the parts of a sentence. The verdict that it begins with has its colour.
function coloured(sentence) {
  const [, word, rest] = /^(FAILS|NOT PROVEN|HOLDS)(:.*)$/.exec(sentence) || [];
  return word
    ? [make('strong', { className: word.toLowerCase(), textContent: word }), rest]
    : [sentence];
}

// maxHidden is the largest number of series that a link names in order to hide them.
const maxHidden = 40;

// linkOf returns the sentence of a finding. It links to the time and the tag of the finding, if it
// has one of them.
function linkOf(finding) {
  const { data, all, view } = page;
  const { whole } = view;
  const at = time => Math.min(Math.max(time - data.origin, whole.from), whole.to);
  const parts = [];
  const { startMs, endMs = startMs } = finding;
  if (startMs !== undefined) {
    const margin = Math.max(at(endMs) - at(startMs), (whole.to - whole.from) / 50);
    parts.push('t=' + at(startMs - margin) / 1000 + ',' + at(endMs + margin) / 1000);
  }
  const own = all.find(s => s.label === finding.tag);
  if (finding.tag && own && all.length - 1 <= maxHidden) {
    for (const s of all)
      if (s !== own && !s.rest) parts.push('hide=' + encodeURIComponent(s.label));
    if (all.some(s => s.rest)) parts.push('rest=0');
    if (own.rest) parts.push('show=' + encodeURIComponent(own.label));
  }
  const textContent =
    finding.sentence +
    (finding.option && !finding.sentence.includes(finding.option) ? ' ' + finding.option : '');
  if (!parts.length || !page.timed) return make('span', { textContent });
  return make('a', {
    href: '#' + parts.join('&'),
    textContent,
    onclick: event => {
      event.preventDefault(); // the other parts of the address stay
      location.hash = addressOf(['t', 'last', 'rest', 'show', 'hide'], parts);
    },
  });
}
