// What a reader changes by buttons, keys and links. Each change stands in the address, and is
// drawn.
import { page } from './page.js';
import { saveState } from './address.js';

// changed must be called after a choice in page changed. It puts the choices into the address, and
// draws.
export function changed() {
  saveState();
  page.draw(true);
}

// go calls change. If change moved the view, the view stops following the end of a live page.
export function go(change) {
  if (page.timed && change()) chase(null);
}

// chase lets the view of a live page follow the end of the data: with the last so many
// milliseconds, or all for 0. Null stops that.
export function chase(tail) {
  page.view.chase(tail);
  saveState();
  page.draw();
}

export const pause = () => chase(page.view.tail === null ? page.view.lastTail : null);

// solo shows one series alone. If it is alone already, or for null, all are shown again.
export function solo(s) {
  const alone = !s || (s.shown && !page.rest && page.all.every(o => o === s || !o.shown));
  for (const o of page.all) o.shown = alone ? !o.rest : o === s;
  page.rest = alone;
  changed();
}
