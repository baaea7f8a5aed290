// The worker of the viewer. It unpacks and compiles the code, which package internal/viewer/wasm describes, and makes a page of files.
// If they are large, it starts helpers: workers of the same code, to which it sends what they decode.

const isReady = new Promise(done => { globalThis.hdrkitReady = done; });

// unascii85 returns the bytes that ascii85 stands for: four by five digits, which begin at "!". The text has v for <.
function unascii85(text) {
  const digits = text.replaceAll('z', '!!!!!').replaceAll('v', '<'), bytes = new Uint8Array(Math.floor(digits.length * 4 / 5));
  for (let i = 0, at = 0; at < bytes.length; i += 5) {
    let n = 0;
    for (let k = i; k < i + 5; k++) n = n * 85 + (digits.charCodeAt(k) || 117) - 33; // the last ones may be left out
    for (let shift = 24; shift >= 0; shift -= 8) bytes[at++] = n >>> shift;
  }
  return bytes;
}

// unpack returns the code, of which the page has gzip.
async function unpack(text) {
  const packed = new Blob([unascii85(text)]).stream();
  return new Response(packed.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

// start runs the code, a text or a module that an earlier worker compiled. It returns the module.
async function start(code) {
  const module = typeof code === 'string' ? await WebAssembly.compile(await unpack(code)) : code;
  const go = new Go(), instance = await WebAssembly.instantiate(module, go.importObject);
  go.run(instance).then(() => postMessage({ error: 'The logs need more memory than this browser has.', messages: [] })); // it never ends otherwise
  await isReady;
  globalThis.memory = instance.exports.mem;
  return module;
}

// One worker reads small files as quickly. With more than mostHelpers, the memory of all is above 1.2 GB at worst.
const leastSize = 2 << 20, mostHelpers = 7;
const helpers = []; // each has the functions that wait for its answers
let script, helperURL; // of this file: the address that the page has is not for workers

// startHelpers starts a helper for each core.
function startHelpers(module, size) {
  const cores = navigator.hardwareConcurrency || 1;
  while (cores > 1 && size >= leastSize && helpers.length < Math.min(cores, mostHelpers)) {
    helperURL ||= URL.createObjectURL(script);
    const helper = { worker: new Worker(helperURL), waiting: [], size: 0 };
    const fail = text => {
      helper.failed = text;
      helper.waiting.splice(0).forEach(done => done(text));
    };
    helper.worker.onmessage = ({ data: { answer, size, error } }) => {
      if (error) return fail(error);
      if (!answer) return; // it is ready
      helper.size = size;
      helper.waiting.shift()(answer);
    };
    helper.worker.onerror = event => fail(event.message || 'A worker does not start.');
    helper.worker.postMessage({ code: module });
    helpers.push(helper);
  }
}

function help(number, message, done) {
  const { worker, waiting, failed } = helpers[number];
  if (failed) return done(failed);
  waiting.push(done);
  worker.postMessage({ message }, [message.buffer]);
}

const reader = new FileReaderSync();
let started;

onmessage = async ({ data: { code, warm, script: own, message, files, request } }) => {
  try {
    if (warm) {
      await start(warm);
      return hdrkitWarm(() => postMessage({}));
    }
    if (code) {
      script = own;
      started = start(code);
      postMessage({ module: await started });
      return;
    }
    const module = await started;
    if (message) {
      const answer = hdrkitHelp(message);
      postMessage({ answer, size: memory.buffer.byteLength }, [answer.buffer]);
      return;
    }
    startHelpers(module, files.reduce((all, { file }) => all + file.size, 0));
    const read = (file, at, size) => {
      try {
        return new Uint8Array(reader.readAsArrayBuffer(files[file].file.slice(at, at + size)));
      } catch (error) { return error.message; } // it is a folder, or was changed
    };
    const size = () => helpers.reduce((all, helper) => all + helper.size, memory.buffer.byteLength);
    hdrkit(JSON.stringify(request), files.map(({ name, file }) => ({ name, size: file.size })), read, helpers.length, help, share => postMessage({ share }),
      answer => postMessage({ ...answer, memory: size(), workers: 1 + helpers.filter(helper => helper.size).length }, answer.rows ? [answer.rows.buffer] : []));
  } catch (error) { postMessage({ error: String(error), messages: [] }); }
};
