// The address of the page: its fragment holds the view, and the choices of the reader that differ
// from those of the data. A link leads to what the reader sees.
import { page } from './page.js';

// readChoices takes the choices from the address, without the view.
export function readChoices() {
  const { data, all, view } = page;
  const chosen = new URLSearchParams(location.hash.slice(1));
  const flag = (name, usual) => (chosen.has(name) ? chosen.get(name) === '1' : usual);
  const show = new Set(chosen.getAll('show'));
  const hide = new Set(chosen.getAll('hide'));
  page.log = flag('log', data.log);
  page.heat = flag('heat', data.heat);
  page.rest = flag('rest', true);
  page.facets = flag('facets', Boolean(data.facets));
  for (const s of all) s.shown = s.rest ? show.has(s.label) : !hide.has(s.label);
  const [from, to] =
    chosen
      .get('with')
      ?.split(',')
      .map(t => Number(t) * 1000) ?? [];
  page.before = data.compared ? null : view.snap(from, to + 1);
}

// saveState puts the view and the choices into the address.
export function saveState() {
  const { data, before } = page;
  const parts = [page.view.address];
  const flag = (name, usual) => {
    if (page[name] !== usual) parts.push(name + '=' + Number(page[name]));
  };
  if (before) parts.push('with=' + before[0] / 1000 + ',' + (before[1] - 1) / 1000);
  flag('log', data.log);
  flag('heat', data.heat);
  flag('rest', true);
  flag('facets', Boolean(data.facets));
  for (const s of page.all)
    if (s.shown === s.rest) parts.push((s.rest ? 'show=' : 'hide=') + encodeURIComponent(s.label));
  setAddress(['t', 'last', 'with', 'log', 'heat', 'rest', 'facets', 'show', 'hide'], parts);
}

// addressOf returns the fragment of the address with parts instead of its parts with some names.
export function addressOf(names, parts) {
  const others = location.hash
    .slice(1)
    .split('&')
    .filter(part => !names.includes(part.split('=')[0]));
  return [...parts, ...others].filter(part => part).join('&');
}

// setAddress puts into the address what addressOf returns.
export function setAddress(names, parts) {
  const address = addressOf(names, parts);
  history.replaceState(null, '', address ? '#' + address : location.pathname + location.search);
}
