// The way to the server, or to a recorded run; and the address that restores a view.

/** Connects the store with the engines; what comes in goes into the store. Whoever asks for a run gets its messages alone. */
export function connect(store, transport) {
  let ticket = 0;
  const send = transport(told => {
    if ((told.kind === "opened" || told.kind === "refused") && (told.ticket ?? ticket) !== ticket) return;
    // Until the run that was asked for is there, others have nothing to say.
    if (store.state.preparing && !["catalogue", "opened", "refused", "failed"].includes(told.kind)) return;
    receive(store, told);
    if (told.kind === "moment") requestAnimationFrame(() => send({ do: "drawn" }));
  });
  return command => {
    if (command.do !== "open") { send(command); return; }
    ticket += 1;
    store.set({ preparing: { since: performance.now() }, proof: undefined, playing: false, rate: null });
    send({ ...command, ticket });
  };
}

function receive(store, told) {
  const fields = {
    catalogue: () => ({ catalogue: withStory(told.catalogue) }),
    opened: () => ({ preparing: null, opening: told.opening, moment: null, around: undefined, overview: null, picture: null, boundary: null, profile: null, proof: undefined, nearby: null, surface: undefined, refusal: null, notice: store.state.keepNotice ? store.state.notice : null, keepNotice: false, zoom: null }),
    refused: () => ({ preparing: null, refusal: told.refusal }),
    moment: () => ({ moment: told.moment, playing: told.playing, busy: told.busy, perSecond: told.per_second, hit: told.hit }),
    around: () => ({ around: told.around }),
    overview: () => ({ overview: told.overview }),
    picture: () => ({ picture: told.picture }),
    boundary: () => ({ boundary: told.boundary }),
    nearby: () => ({ nearby: told.nearby }),
    surface: () => ({ surface: told.surface }),
    proof: () => ({ proof: told.proof }),
    profile: () => ({ profile: told.profile }),
    failed: () => ({ notice: told.message, preparing: null }),
  }[told.kind];
  if (fields) store.set(fields());
}

/** What the page opens with. */
export const STORY = "two_features";

/** The perceptron on two columns of its table, so that its boundary is a line one can see. */
function withStory(catalogue) {
  const whole = catalogue.shipped.find(one => one.id === "perceptron");
  if (!whole || catalogue.shipped.some(one => one.id === STORY)) return catalogue;
  const { train } = whole.job;
  const job = { train: { ...train, data: { csv: { ...train.data.csv, features: ["petal_length", "petal_width"] } } } };
  return { ...catalogue, shipped: [{ ...whole, id: STORY, title: `${whole.title}, two features`, job }, ...catalogue.shipped] };
}

/** A recorded run in place of a server: the nearest recorded moment is shown. */
export function replay(store, record) {
  const { moments, pictures } = record;
  const steps = moments.at(-1).moment.step;
  let at = 0, timer = null;
  const show = index => {
    at = Math.max(0, Math.min(moments.length - 1, index));
    const { moment, around, boundary, nearby, surface } = moments[at];
    store.set({ moment, around: around ?? undefined, nearby, surface: surface ?? undefined, ...(boundary ? { boundary } : {}) });
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
      // Recorded moments lie far apart in a long run: as many of them as come to be passed, at most sixty a second.
      const apart = moments.length > 1 ? (moments.at(-1).moment.step - moments[0].moment.step) / (moments.length - 1) : 1;
      const wait = Math.max(16, 1000 * apart / (speed ?? 1e12));
      timer = setInterval(() => { if (at + 1 >= moments.length) pause(); else show(at + 1); }, Math.min(wait, 1000));
    },
    pause,
    look: ({ tape }) => { if (pictures[tape] && store.state.picture?.tape !== tape) store.set({ picture: pictures[tape] }); },
    zoom: ({ steps, cells }) => {
      const whole = pictures[store.state.tape ?? 0] ?? pictures[0];
      store.set({ picture: steps ? cropped(whole, steps, cells) : whole });
    },
    break: () => {}, open: () => {}, drawn: () => {},
  };
  store.set({ preparing: null, opening: record.opening, job: record.job, overview: record.overview, profile: record.profile, proof: record.proof, picture: pictures[0] ?? null, choice: null, recorded: { n: moments.length, steps } });
  show(0);
  return command => acts[command.do]?.(command);
}

/** A part of a recorded picture: the rows and columns that lie in it. */
function cropped(picture, [from, to], [first, last]) {
  const rows = picture.steps.flatMap((step, i) => (step >= from && step <= to ? [i] : []));
  const cells = picture.last - picture.first + 1, column = cell => Math.round((cell - picture.first) / cells * picture.width);
  const left = Math.max(0, column(first)), right = Math.min(picture.width, Math.max(left + 1, column(last + 1)));
  if (!rows.length) return picture;
  const bytes = atob(picture.rgb), part = rows.map(row => bytes.slice(3 * (row * picture.width + left), 3 * (row * picture.width + right)));
  const cellAt = place => picture.first + Math.round(place / picture.width * cells);
  return { ...picture, width: right - left, steps: rows.map(row => picture.steps[row]), heads: rows.map(row => picture.heads[row]), first: cellAt(left), last: cellAt(right) - 1, rgb: btoa(part.join("")), zoomed: true };
}

function toText(bytes) {
  return btoa(Array.from(new TextEncoder().encode(bytes), byte => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
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
  if (state.heldOut) parts.set("heldout", toText(state.heldOut));
  if (state.moment) parts.set("step", String(state.moment.step));
  if (state.speed !== null) parts.set("speed", String(state.speed));
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
  let job = null, choice = parts.get("p"), broken = null, heldOut = null;
  const find = id => catalogue.shipped.find(one => one.id === id);
  if (choice && !find(choice)) broken = `there is no program \`${choice}\``;
  if (parts.has("job")) {
    try { job = JSON.parse(fromText(parts.get("job"))); } catch { job = null; }
    if (!job?.trace?.source && !job?.train?.source) [job, broken] = [null, "its program cannot be read"];
  }
  if (parts.has("heldout")) try { heldOut = fromText(parts.get("heldout")); } catch { broken ??= "the rows held out cannot be read"; }
  const body = one => one?.trace ?? one?.train;
  // A program that ships, run otherwise than it comes.
  if (job) choice = body(find(choice)?.job)?.source.text === body(job).source.text ? choice : null;
  else ({ job, id: choice } = find(choice) ?? find(STORY) ?? catalogue.shipped[0]);
  for (const name of ["step", "speed", "tape", "loss"]) if (parts.has(name) && number(name, null) === null) broken ??= `\`${name}\` is no number`;
  const known = ["p", "job", "step", "speed", "tape", "stop", "loss", "zoom", "heldout"], odd = [...parts.keys()].find(name => !known.includes(name));
  if (odd) broken ??= `it asks for \`${odd}\`, which means nothing here`;
  const zoom = (parts.get("zoom") ?? "").split(".").map(Number);
  return {
    job, choice, heldOut, broken, step: Math.max(0, Math.min(1e12, Math.round(number("step", 0)))), speed: number("speed", null), tape: number("tape", null),
    stops: { states: (parts.get("stop") ?? "").split(".").filter(Boolean).map(Number).filter(Number.isInteger), loss: number("loss", null) },
    zoom: zoom.length === 4 && zoom.every(Number.isInteger) ? { steps: zoom.slice(0, 2), cells: zoom.slice(2) } : null,
  };
}
