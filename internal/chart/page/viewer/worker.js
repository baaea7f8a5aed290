// The worker of the viewer. It unpacks and compiles the code, which package internal/viewer/wasm describes, and makes a page of files.

const isReady = new Promise(done => { globalThis.hdrkitReady = done; });

function unbase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// unpack returns the code, of which the page has gzip.
async function unpack(text) {
  const packed = new Blob([unbase64(text)]).stream();
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

const reader = new FileReaderSync();
let started;

onmessage = async ({ data: { code, files, request } }) => {
  try {
    if (code) {
      started = start(code);
      postMessage({ module: await started });
      return;
    }
    await started;
    const read = (file, at, size) => {
      try {
        return new Uint8Array(reader.readAsArrayBuffer(files[file].file.slice(at, at + size)));
      } catch (error) { return error.message; } // it is a folder, or was changed
    };
    hdrkit(JSON.stringify(request), files.map(({ name, file }) => ({ name, size: file.size })), read, share => postMessage({ share }),
      answer => postMessage({ ...answer, memory: memory.buffer.byteLength }, answer.page ? [answer.page.buffer] : []));
  } catch (error) { postMessage({ error: String(error), messages: [] }); }
};
