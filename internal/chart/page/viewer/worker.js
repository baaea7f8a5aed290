// The worker of the viewer. It compiles the code of package internal/viewer/wasm, and makes the
// data of a page from files.

const isReady = new Promise(done => {
  globalThis.hdrkitReady = done;
});

// unascii85 decodes ascii85: five digits, of which "!" is 0, are four bytes. The text has v instead
// of <.
function unascii85(text) {
  const digits = text.replaceAll('z', '!!!!!').replaceAll('v', '<');
  const bytes = new Uint8Array(Math.floor((digits.length * 4) / 5));
  for (let i = 0, at = 0; at < bytes.length; i += 5) {
    let n = 0;
    // The last group may have fewer digits.
    for (let k = i; k < i + 5; k++) n = n * 85 + (digits.charCodeAt(k) || 117) - 33;
    for (let shift = 24; shift >= 0; shift -= 8) bytes[at++] = n >>> shift;
  }
  return bytes;
}

// unpack decodes and decompresses the code.
async function unpack(text) {
  const packed = new Blob([unascii85(text)]).stream();
  return new Response(packed.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

// start runs the code and returns its module. The code is a text, or the module that an earlier
// worker compiled.
async function start(code) {
  const module = typeof code === 'string' ? await WebAssembly.compile(await unpack(code)) : code;
  const go = new Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  go.run(instance).then(() =>
    postMessage({ error: 'The logs need more memory than this browser has.', messages: [] }),
  ); // it never ends otherwise
  await isReady;
  globalThis.memory = instance.exports.mem;
  return module;
}

const reader = new FileReaderSync();
let started;

onmessage = async ({ data: { code, warm, files, request } }) => {
  try {
    if (warm) {
      await start(warm);
      return hdrkitWarm(() => postMessage({}));
    }
    if (code) {
      started = start(code);
      postMessage({ module: await started });
      return;
    }
    await started;
    const read = (file, at, size) => {
      try {
        return new Uint8Array(reader.readAsArrayBuffer(files[file].file.slice(at, at + size)));
      } catch (error) {
        return error.message;
      } // it is a folder, or was changed
    };
    hdrkit(
      JSON.stringify(request),
      files.map(({ name, file }) => ({ name, size: file.size })),
      read,
      share => postMessage({ share }),
      answer =>
        postMessage(
          { ...answer, memory: memory.buffer.byteLength },
          answer.rows ? [answer.rows.buffer] : [],
        ),
    );
  } catch (error) {
    postMessage({ error: String(error), messages: [] });
  }
};
