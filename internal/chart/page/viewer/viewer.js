// The viewer, hdrkit.html: a page without data. It gives the files of the reader to a worker, which
// makes the data of a page from them, and shows these data.
const optionNames = ['unit', 'in', 'p', 'incT', 'excT', 's', 'e', 'agg', 'sla', 'logs'];
const usualUnit = 'ms';
let logs = [];
let refused = []; // { name, file }, and texts about what is none
let worker;
let warmWorker;
let reading = false;
let workerURL;
let compiled;
let saved = null;

// startWorker starts a new worker, which compiles its code before it gets files. A worker makes one
// page, since the memory of WebAssembly never shrinks.
function startWorker() {
  workerURL ||= URL.createObjectURL(
    new Blob([element('worker').textContent], { type: 'text/javascript' }),
  );
  worker?.terminate();
  worker = new Worker(workerURL);
  worker.onmessage = ({ data }) => takeAnswer(data).catch(error => showError(String(error)));
  worker.onerror = event => showError(event.message || 'The browser does not run the code.');
  worker.postMessage({ code: compiled || element('wasm').textContent });
}

// warmUp lets a second worker read a built-in log until the browser has optimised the code, for all
// workers. A log of 40 MB then takes 0.3 s less.
function warmUp(module) {
  warmWorker = new Worker(workerURL);
  warmWorker.onmessage = ({ data: { error } }) => {
    if (!error) document.documentElement.dataset.warm = 'true'; // for tests
    warmWorker.terminate();
  };
  warmWorker.onerror = () => warmWorker.terminate();
  warmWorker.postMessage({ warm: module });
}

async function takeAnswer({ module, share, before, rows, after, table, messages, error, memory }) {
  if (module) {
    if (!compiled && navigator.hardwareConcurrency > 1) warmUp(module);
    compiled = module;
  } else if (share !== undefined) showProgress(share);
  else {
    if (error) return showError(error, messages);
    stopReading();
    showMessages(messages);
    const begin = '<script id="data" type="application/json">';
    const next = JSON.parse(
      before.slice(before.indexOf(begin) + begin.length) +
        after.slice(0, after.indexOf('<' + '/script>')),
    );
    next.rows = rows;
    saved = { before, rows, after };
    element('save').disabled = false;
    await showPage(next);
    element('table-text').hidden = !table;
    element('table-text').lastElementChild.textContent = table;
    Object.assign(document.documentElement.dataset, {
      memory,
      ready: Math.round(performance.now()),
    }); // for tests
  }
}

// showPage shows the data of a page instead of those before.
async function showPage(next) {
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

function readLogs() {
  delete document.documentElement.dataset.ready;
  showMessages([]);
  for (const [, field] of fields()) field.removeAttribute('aria-invalid');
  element('save').disabled = true;
  if (reading) stopReading();
  warmWorker?.terminate();
  if (!logs.length) return hidePage();
  reading = true;
  element('reading').hidden = false;
  showProgress(0);
  const { unit, logs: together, ...others } = options();
  const request = {
    ...others,
    unit: unit === 'log' ? '' : unit || usualUnit,
    compare: together === 'compare',
    by: together === 'apart' ? 'input,tag' : '',
  };
  worker.postMessage({ files: logs, request });
}

// stopReading ends the worker, and starts the next one.
function stopReading() {
  reading = false;
  element('reading').hidden = true;
  startWorker();
}

// base64 returns bytes as text. It works in parts, since a call takes a limited number of
// arguments.
function base64(bytes) {
  if (bytes.toBase64) return bytes.toBase64();
  let text = '';
  for (let at = 0; at < bytes.length; at += 3 << 10)
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + (3 << 10))));
  return text;
}

function hidePage() {
  document.body.classList.remove('shown');
  element('table-text').hidden = true;
}

function showProgress(share) {
  const size = logs.reduce((all, log) => all + log.file.size, 0);
  element('reading').firstElementChild.value = share;
  element('share').textContent =
    'reading ' + (size / 1e6).toFixed(1) + ' MB: ' + Math.round(100 * share) + '%';
}

// showMessages shows the refused files and the errors, and then messages about the logs, as hdrsum
// prints them.
function showMessages(messages, failed = []) {
  const line = className => textContent => make('div', { textContent, className });
  element('messages').replaceChildren(
    ...[...refused, ...failed].map(line('fails')),
    ...messages.map(line('')),
  );
}

// showError ends reading and shows an error. If an option is wrong, its field is marked, and the
// page that was made with the options before stays. Otherwise the page is hidden.
function showError(text, messages = []) {
  stopReading();
  const [, field] =
    fields().find(
      ([name]) =>
        [' ', ':'].includes(text['-'.length + name.length]) && text.startsWith('-' + name),
    ) || [];
  if (field && namesOf(logs) === shownLogs) text += '. The page below has the options before.';
  else hidePage();
  field?.setAttribute('aria-invalid', 'true');
  field?.setAttribute('aria-errormessage', 'messages');
  showMessages(messages, [text]);
  document.documentElement.dataset.ready = Math.round(performance.now());
}

const namesOf = logs => logs.map(log => log.name).join('\n');

// addFiles adds files to the logs, and reads all. A file whose name another one has gets a number.
// Others are sentences about things that are no files.
function addFiles(files, others = []) {
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
  listLogs();
  readLogs();
}

function listLogs() {
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
            listLogs();
            readLogs();
          },
        }),
      ),
    ),
  );
}

// addDropped adds files that were dropped, but no folders: the browser does not let a page from a
// disk read folders.
function addDropped({ items, files }) {
  const folders = [...items]
    .map(item => item.webkitGetAsEntry?.())
    .filter(entry => entry?.isDirectory)
    .map(entry => entry.name);
  addFiles(
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

// takeOptions fills the fields from the address. It reports whether an option changed.
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
  setAddress(
    optionNames,
    Object.entries(options()).map(([name, text]) => text && name + '=' + encodeURIComponent(text)),
  );
  readLogs();
}

takeOptions();
startWorker();
element('files').addEventListener('change', event => {
  addFiles(event.target.files);
  event.target.value = '';
});
element('options').addEventListener('change', optionsChanged);
element('stop').addEventListener('click', () => {
  showError('Stopped.');
});
element('clear').addEventListener('click', () => {
  logs = [];
  listLogs();
  readLogs();
});
element('save').addEventListener('click', () => {
  const { before, rows, after } = saved;
  save([before, base64(rows), after], 'text/html', document.title + '.html');
});
addEventListener('hashchange', () => {
  if (takeOptions()) readLogs();
});
addEventListener('dragover', event => event.preventDefault());
addEventListener('drop', event => {
  event.preventDefault();
  addDropped(event.dataTransfer);
});
addEventListener('paste', ({ clipboardData, target }) => {
  if (clipboardData.files.length) return addFiles(clipboardData.files);
  const text = clipboardData.getData('text');
  if (target.tagName !== 'INPUT' && text) addFiles([new File([text], 'pasted.hdr')]);
});
element('paste').addEventListener('input', event => {
  event.target.value = '';
});
document.documentElement.dataset.waits = 'true'; // for tests
