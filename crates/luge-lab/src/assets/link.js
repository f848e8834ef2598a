// The way to the server, or to a recorded run; and the address that restores a view.

/** Opens the socket; what comes in goes into the store. */
export function connect(store) {
  const socket = new WebSocket(`ws://${location.host}/socket`);
  const waiting = [];
  const send = command => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(command));
    else if (socket.readyState === WebSocket.CONNECTING) waiting.push(command);
  };
  socket.addEventListener("open", () => waiting.splice(0).forEach(send));
  socket.addEventListener("message", event => {
    const told = JSON.parse(event.data);
    receive(store, told);
    if (told.kind === "moment") requestAnimationFrame(() => send({ do: "drawn" }));
  });
  socket.addEventListener("close", () => store.set({ notice: "The connection to luge has ended. Start `luge lab` again and reload the page." }));
  return send;
}

function receive(store, told) {
  const fields = {
    catalogue: () => ({ catalogue: told.catalogue }),
    opened: () => ({ opening: told.opening, moment: null, around: undefined, overview: null, picture: null, boundary: null, profile: null, refusal: null, notice: null, zoom: null }),
    refused: () => ({ refusal: told.refusal }),
    moment: () => ({ moment: told.moment, playing: told.playing, busy: told.busy, perSecond: told.per_second, hit: told.hit }),
    around: () => ({ around: told.around }),
    overview: () => ({ overview: told.overview }),
    picture: () => ({ picture: told.picture }),
    boundary: () => ({ boundary: told.boundary }),
    profile: () => ({ profile: told.profile }),
    failed: () => ({ notice: told.message }),
  }[told.kind];
  if (fields) store.set(fields());
}

/** A recorded run in place of a server: the nearest recorded moment is shown. */
export function replay(store, record) {
  const { moments, pictures } = record;
  let at = 0, timer = null;
  const show = index => {
    at = Math.max(0, Math.min(moments.length - 1, index));
    const { moment, around, boundary } = moments[at];
    store.set({ moment, around: around ?? undefined, ...(boundary ? { boundary } : {}) });
  };
  const nearest = step => {
    let best = 0;
    moments.forEach(({ moment }, i) => { if (Math.abs(moment.step - step) < Math.abs(moments[best].moment.step - step)) best = i; });
    return best;
  };
  const pause = () => {
    clearInterval(timer);
    timer = null;
    store.set({ playing: false });
  };
  const acts = {
    seek: ({ step }) => { pause(); show(nearest(step)); },
    step: ({ by }) => { pause(); show(at + Math.sign(by) * Math.min(Math.abs(by), 10)); },
    play: ({ speed }) => {
      pause();
      store.set({ playing: true });
      timer = setInterval(() => { if (at + 1 >= moments.length) pause(); else show(at + 1); }, Math.max(40, 1000 / (speed ?? 30)));
    },
    pause,
    look: ({ tape }) => { if (pictures[tape]) store.set({ picture: pictures[tape] }); },
    break: () => {}, zoom: () => {}, open: () => {}, drawn: () => {},
  };
  store.set({ opening: record.opening, job: record.job, overview: record.overview, profile: record.profile, picture: pictures[0] ?? null, choice: null });
  show(0);
  return command => acts[command.do]?.(command);
}

function toText(bytes) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(bytes))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromText(text) {
  return new TextDecoder().decode(Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), one => one.charCodeAt(0)));
}

/** The view as an address. */
export function toHash(state) {
  const parts = new URLSearchParams();
  if (state.choice) parts.set("p", state.choice);
  const shipped = state.catalogue?.shipped.find(one => one.id === state.choice)?.job;
  if (state.job && JSON.stringify(shipped) !== JSON.stringify(state.job)) parts.set("job", toText(JSON.stringify(state.job)));
  if (state.moment) parts.set("step", String(state.moment.step));
  if (state.speed !== 2) parts.set("speed", String(state.speed));
  if (state.tape !== null) parts.set("tape", String(state.tape));
  if (state.stops.states.length) parts.set("stop", state.stops.states.join("."));
  if (state.stops.loss !== null) parts.set("loss", String(state.stops.loss));
  if (state.zoom) parts.set("zoom", [...state.zoom.steps, ...state.zoom.cells].join("."));
  return "#" + parts;
}

/** What an address asks for. */
export function fromHash(hash, catalogue) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (name, otherwise) => (parts.has(name) && Number.isFinite(Number(parts.get(name))) ? Number(parts.get(name)) : otherwise);
  let job = null, choice = parts.get("p");
  if (parts.has("job")) {
    try { job = JSON.parse(fromText(parts.get("job"))); } catch { job = null; }
    if (!job?.trace?.source && !job?.train?.source) job = null;
  }
  const shipped = catalogue.shipped.find(one => one.id === choice) ?? (job ? null : catalogue.shipped.find(one => one.id === "mean"));
  if (job) choice = null;
  else ({ job, id: choice } = shipped);
  const zoom = (parts.get("zoom") ?? "").split(".").map(Number);
  return {
    job, choice, step: Math.max(0, Math.min(1e12, Math.round(number("step", 0)))), speed: number("speed", 2), tape: number("tape", null),
    stops: { states: (parts.get("stop") ?? "").split(".").filter(Boolean).map(Number).filter(Number.isInteger), loss: number("loss", null) },
    zoom: zoom.length === 4 && zoom.every(Number.isInteger) ? { steps: zoom.slice(0, 2), cells: zoom.slice(2) } : null,
  };
}
