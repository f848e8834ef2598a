// One run, or its proof, in a worker: the first message is the module, the others are the page's commands.

let engine = null, failure = null, timer = null;

const text = (at, length) => new TextDecoder().decode(new Uint8Array(engine.memory.buffer, at, length));
const page = {
  now: () => performance.now(),
  tell: (at, length) => postMessage(text(at, length)),
  fail: (at, length) => { failure = text(at, length); },
};

/** Calls a function of the module with a command as its input; an error ends this run and nothing else. */
function act(name, command) {
  try {
    if (command) {
      const bytes = new TextEncoder().encode(JSON.stringify(command)), at = engine.input(bytes.length);
      new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
    }
    return engine[name]();
  } catch (error) {
    postMessage(JSON.stringify({ kind: "failed", message: `This run has failed: ${failure ?? error.message}` }));
    engine = null;
    return -1;
  }
}

// Messages of the page arrive between two turns; a timer of 0 would wait for four milliseconds.
const soon = new MessageChannel();
soon.port1.onmessage = () => turn();

function turn() {
  clearTimeout(timer);
  if (!engine) return;
  const idle = act("turn");
  if (idle === 0) soon.port2.postMessage(null);
  else if (idle > 0) timer = setTimeout(turn, Math.min(idle, 1e6));
}

function obey({ task, command }) {
  if (task === "greet" || task === "prove") act(task, command);
  else if (command.do === "open") { act("open", command); turn(); }
  else { act("hear", command); clearTimeout(timer); timer = setTimeout(turn, 0); }
}

let ready = null;
onmessage = ({ data }) => {
  if (data instanceof WebAssembly.Module) ready = WebAssembly.instantiate(data, { page }).then(instance => { engine = instance.exports; });
  else ready.then(() => { if (engine) obey(data); });
};
