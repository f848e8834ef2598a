// The engines in workers of this page, in place of the server's socket: one worker for the run on display, one for its proof,
// and one for each figure of the explanation.

const place = name => new URL(name, import.meta.url);

async function compile() {
  const found = await fetch(place("luge.wasm"));
  // Some hosts serve modules without their media type.
  try { return await WebAssembly.compileStreaming(found.clone()); } catch { return WebAssembly.compile(await found.arrayBuffer()); }
}

/** A connection to the engines, for `connect`. */
export function openEngines(hear) {
  const module = compile();
  module.catch(error => hear({ kind: "failed", message: `The engines of this page cannot be loaded: ${error.message}` }));
  const start = told => {
    const worker = new Worker(place("worker.js"));
    let ended = false;
    worker.onmessage = ({ data }) => { if (!ended) told(JSON.parse(data)); };
    worker.onerror = error => told({ kind: "failed", message: `A worker of this page has failed: ${error.message}` });
    module.then(code => worker.postMessage(code)).catch(() => {});
    return { do: (task, command) => module.then(() => worker.postMessage({ task, command })).catch(() => {}), end: () => { ended = true; worker.terminate(); } };
  };
  // A proof that is early waits until its run is open.
  let early = null;
  const heard = told => {
    hear(told);
    if (told.kind === "opened") { early?.forEach(hear); early = null; }
  };
  const proved = told => { if (early) early.push(told); else hear(told); };
  const figures = new Map();
  let run = start(heard), prover = null;
  run.do("greet");
  return command => {
    if (command.do === "figure") {
      const { name } = command.figure;
      if (!figures.has(name)) figures.set(name, start(hear));
      figures.get(name).do("prove", command);
      return;
    }
    if (command.do === "open") {
      if (prover) { run.end(); prover.end(); run = start(heard); }
      [early, prover] = [[], start(proved)];
      prover.do("prove", command);
    }
    run.do("hear", command);
  };
}

// A file that was loaded once is cached. Where a page must not store anything, it is loaded again.
try { navigator.serviceWorker?.register(place("offline.js")).catch(() => {}); } catch { /* a frame without an origin */ }
