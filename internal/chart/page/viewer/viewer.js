// The viewer: a page without data. It takes files, and lets a worker make their pages, which it
// shows.
const optionNames = ['unit', 'in', 'p', 'incT', 'excT', 's', 'e', 'agg', 'sla', 'logs'];
const usualUnit = 'ms';
let logs = [];
let refused = []; // { name, file }, and texts about what is none
let worker;
let warming;
let reading = false;
let workerURL;
let compiled;
let saved = null;

// startWorker starts one ahead. Memory of WebAssembly never shrinks, so each answer ends a worker.
function startWorker() {
  workerURL ||= URL.createObjectURL(
    new Blob([element('worker').textContent], { type: 'text/javascript' }),
  );
  worker?.terminate();
  worker = new Worker(workerURL);
  worker.onmessage = ({ data }) => take(data).catch(error => fail(String(error)));
  worker.onerror = event => fail(event.message || 'The browser does not run the code.');
  worker.postMessage({ code: compiled || element('wasm').textContent });
}

// warm lets another worker read a log of its own, until the browser has optimised the code for all:
// to read a log of 40 MB then takes 0.3 s less.
function warm(module) {
  warming = new Worker(workerURL);
  warming.onmessage = ({ data: { error } }) => {
    if (!error) document.documentElement.dataset.warm = 'true'; // for tests
    warming.terminate();
  };
  warming.onerror = () => warming.terminate();
  warming.postMessage({ warm: module });
}

async function take({ module, share, before, rows, after, table, messages, error, memory }) {
  if (module) {
    if (!compiled && navigator.hardwareConcurrency > 1) warm(module);
    compiled = module;
  } else if (share !== undefined) progress(share);
  else {
    if (error) return fail(error, messages);
    stop();
    say(messages);
    const begin = '<script id="data" type="application/json">';
    const next = JSON.parse(
      before.slice(before.indexOf(begin) + begin.length) +
        after.slice(0, after.indexOf('<' + '/script>')),
    );
    next.rows = rows;
    saved = { before, rows, after };
    element('save').disabled = false;
    await show(next);
    element('table-text').hidden = !table;
    element('table-text').lastElementChild.textContent = table;
    Object.assign(document.documentElement.dataset, {
      memory,
      ready: Math.round(performance.now()),
    }); // for tests
  }
}

// show shows a page, in the place of the one that is shown.
async function show(next) {
  document.body.classList.add('shown');
  document.title = element('title').textContent = next.title;
  const sameLogs = namesOf(logs) === shownLogs;
  shownLogs = namesOf(logs);
  if (!page.data) return begin(next);
  choice.order = null;
  await load(next, !sameLogs);
  dress();
  changed();
}

let shownLogs = '';

// ---- what is read ----

function read() {
  delete document.documentElement.dataset.ready;
  say([]);
  for (const [, field] of fields()) field.removeAttribute('aria-invalid');
  element('save').disabled = true;
  if (reading) stop();
  warming?.terminate();
  if (!logs.length) return hide();
  reading = true;
  element('reading').hidden = false;
  progress(0);
  const { unit, logs: together, ...others } = options();
  const request = {
    ...others,
    unit: unit === 'log' ? '' : unit || usualUnit,
    compare: together === 'compare',
    by: together === 'apart' ? 'input,tag' : '',
  };
  worker.postMessage({ files: logs, request });
}

// stop ends what is being read.
function stop() {
  reading = false;
  element('reading').hidden = true;
  startWorker();
}

// base64 returns bytes as text, in parts that a call can take.
function base64(bytes) {
  if (bytes.toBase64) return bytes.toBase64();
  let text = '';
  for (let at = 0; at < bytes.length; at += 3 << 10)
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + (3 << 10))));
  return text;
}

function hide() {
  document.body.classList.remove('shown');
  element('table-text').hidden = true;
}

function progress(share) {
  const size = logs.reduce((all, log) => all + log.file.size, 0);
  element('reading').firstElementChild.value = share;
  element('share').textContent =
    'reading ' + (size / 1e6).toFixed(1) + ' MB: ' + Math.round(100 * share) + '%';
}

// say shows what there is to say about logs, as hdrsum does, after what failed.
function say(messages, failed = []) {
  const line = className => textContent => make('div', { textContent, className });
  element('messages').replaceChildren(
    ...[...refused, ...failed].map(line('fails')),
    ...messages.map(line('')),
  );
}

// fail shows what failed. If it is an option, the field says so, and the page of the options before
// stays. Otherwise there is no page.
function fail(text, messages = []) {
  stop();
  const [, field] =
    fields().find(
      ([name]) =>
        [' ', ':'].includes(text['-'.length + name.length]) && text.startsWith('-' + name),
    ) || [];
  if (field && namesOf(logs) === shownLogs) text += '. The page below has the options before.';
  else hide();
  field?.setAttribute('aria-invalid', 'true');
  field?.setAttribute('aria-errormessage', 'messages');
  say(messages, [text]);
  document.documentElement.dataset.ready = Math.round(performance.now());
}

const namesOf = logs => logs.map(log => log.name).join('\n');

// add adds files to the logs. Files of one name get numbers. Others are texts about what is no
// file.
function add(files, others = []) {
  refused = others;
  for (const file of files) {
    if (
      logs.some(
        ({ file: f }) =>
          f.name === file.name && f.size === file.size && f.lastModified === file.lastModified,
      )
    )
      continue;
    let name = file.name;
    for (let n = 2; logs.some(log => log.name === name); n++)
      name = file.name.replace(/(\.[^.]*)?$/, '-' + n + '$1');
    logs.push({ name, file });
  }
  list();
  read();
}

function list() {
  element('viewer').classList.toggle('has-logs', logs.length > 0);
  element('logs').replaceChildren(
    ...logs.map(log =>
      make(
        'li',
        {},
        log.name + ' ',
        make('button', {
          type: 'button',
          textContent: '×',
          ariaLabel: 'without ' + log.name,
          onclick: () => {
            logs = logs.filter(other => other !== log);
            list();
            read();
          },
        }),
      ),
    ),
  );
}

// drop takes files, but no folders: a page from a disk may not look into them.
function drop({ items, files }) {
  const folders = [...items]
    .map(item => item.webkitGetAsEntry?.())
    .filter(entry => entry?.isDirectory)
    .map(entry => entry.name);
  add(
    [...files].filter(file => !folders.includes(file.name)),
    folders.map(name => name + ' is a folder: open it, and drop the logs in it'),
  );
}

// ---- options, which the address keeps ----

const fields = () =>
  optionNames.map(name => [name, element('options').querySelector('[name=' + name + ']')]);

function options() {
  return Object.fromEntries(fields().map(([name, field]) => [name, field.value.trim()]));
}

// takeOptions takes them from the address. It returns whether any is another one.
function takeOptions() {
  const chosen = new URLSearchParams(location.hash.slice(1));
  const before = JSON.stringify(options());
  for (const [name, field] of fields()) {
    field.value = chosen.get(name) ?? '';
    if (field.selectedIndex === -1) field.value = '';
  }
  return JSON.stringify(options()) !== before;
}

function optionsChanged() {
  keep(
    optionNames,
    Object.entries(options()).map(([name, text]) => text && name + '=' + encodeURIComponent(text)),
  );
  read();
}

takeOptions();
startWorker();
element('files').addEventListener('change', event => {
  add(event.target.files);
  event.target.value = '';
});
element('options').addEventListener('change', optionsChanged);
element('stop').addEventListener('click', () => {
  fail('Stopped.');
});
element('clear').addEventListener('click', () => {
  logs = [];
  list();
  read();
});
element('save').addEventListener('click', () => {
  const { before, rows, after } = saved;
  save([before, base64(rows), after], 'text/html', document.title + '.html');
});
addEventListener('hashchange', () => {
  if (takeOptions()) read();
});
addEventListener('dragover', event => event.preventDefault());
addEventListener('drop', event => {
  event.preventDefault();
  drop(event.dataTransfer);
});
addEventListener('paste', ({ clipboardData, target }) => {
  if (clipboardData.files.length) return add(clipboardData.files);
  const text = clipboardData.getData('text');
  if (target.tagName !== 'INPUT' && text) add([new File([text], 'pasted.hdr')]);
});
element('paste').addEventListener('input', event => {
  event.target.value = '';
});
document.documentElement.dataset.waits = 'true'; // for tests
