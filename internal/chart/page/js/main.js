// The page: it takes the data that it has at first, and those that come later.
import { unpack, newSeries, addRows } from './store.js';
import { View } from './state.js';
import { lagText } from './tiles.js';
import { connect } from './live.js';
import { element, make } from './dom.js';
import { page } from './page.js';
import { readChoices } from './address.js';
import { chase, pause } from './changes.js';
import { timeText } from './times.js';
import { dress } from './look.js';
import { buildFindings } from './findings.js';
import { buildToggles } from './legend.js';
import { listen } from './controls.js';

// load takes all data: those of the page, of a server that goes on, or of logs that were dropped.
// The view stays at its time, unless fresh is set. The address keeps the choices.
async function load(data, fresh) {
  const rows = await unpack(data.rows);
  const { view: old, data: oldData } = page;
  const all = data.series.map(s => newSeries(s, data.measures));
  addRows(all, rows);
  const timed = all.some(s => s.windows.length || s.lines.some(l => l.points.length));
  const view = new View({ from: data.from, to: data.to }, data);
  if (old && !fresh) view.continue(old, oldData.origin - data.origin);
  Object.assign(page, { data, all, timed, view });
  readChoices();
  buildFindings();
  element('time-section').hidden = !timed;
  for (const id of ['in', 'heat', 'back', 'whole', 'left', 'right', 'out'])
    element(id).hidden = !timed;
  element('compare').hidden = !timed || Boolean(data.compared); // two logs are compared already
  element('facets').hidden = !timed || all.length < 2;
  element('all').hidden = all.length < 2;
  element('csv').hidden = !all.length;
  element('caption').textContent = data.caption;
  element('notes').replaceChildren(...data.notes.map(note => make('div', { textContent: note })));
}

// begin shows the first data.
async function begin(data) {
  await load(data);
  page.view.follow(location.hash);
  dress();
  listen();
  if (data.live) listenLive();
  page.draw(true);
}

// paced returns a function that calls draw in a later frame: once if it was called several times
// until then, and at most half of the time if draw takes long.
function paced(draw) {
  let waiting = false;
  let restUntil = 0;
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(
      () =>
        requestAnimationFrame(begun => {
          waiting = false;
          draw();
          restUntil = 2 * performance.now() - begun;
        }),
      restUntil - performance.now(),
    );
  };
}

// listenLive lets a live page get what its server sends, and its buttons act.
function listenLive() {
  element('live').hidden = false;
  element('range').setAttribute('aria-live', 'off'); // it changes all the time
  for (const button of element('tail').querySelectorAll('[data-span]'))
    button.addEventListener('click', () => chase(Number(button.dataset.span)));
  element('pause').addEventListener('click', pause);
  element('inputs').textContent = 'Waiting for intervals.';
  const draw = paced(() => page.draw());
  const moved = () => {
    page.view.toEnd();
    draw();
  };
  const status = liveStatus();
  connect('events', {
    connected: yes => {
      element('connection').textContent = yes
        ? 'connected'
        : 'The connection is lost. Trying again.';
    },
    all: async data => {
      await load(data);
      dress();
      buildToggles();
      if (data.inputs) status(data);
      moved();
    },
    rows: async update => {
      const { data, all, view } = page;
      addRows(all, await unpack(update.rows));
      data.to = view.whole.to = Math.max(view.whole.to, update.to);
      data.marks = update.marks;
      status(update);
      if (update.findings) {
        Object.assign(data, { findings: update.findings, top: update.top });
        buildFindings();
      }
      if (all.length) moved();
    },
  });
}

// liveStatus returns a function that shows the state of the logs. The page shows each second how
// far the logs are behind.
function liveStatus() {
  let count = 0; // of logs
  let readUntil = null; // by the clock of this machine, the time up to which all logs are read
  const showLag = () => {
    element('lag').textContent =
      count +
      (count === 1 ? ' log' : ' logs') +
      (readUntil === null ? '' : ', ' + lagText(Date.now() - readUntil));
  };
  setInterval(showLag, 1000);
  return ({ inputs, logs, now, end }) => {
    const states = inputs.map(i => i.name + ' ' + i.state);
    element('inputs').replaceChildren(
      ...inputs.map((i, n) =>
        make('span', { textContent: states[n] + ', until ' + timeText(i.end) }),
      ),
    );
    const quiet = element('silent');
    if (quiet.textContent !== states.join(', ')) quiet.textContent = states.join(', ');
    count = logs;
    readUntil = end === null ? null : Date.now() - (now - end);
    showLag();
  };
}
