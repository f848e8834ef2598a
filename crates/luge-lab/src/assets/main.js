// Puts the page together: one state, one view per card, one way to the server.

import { mountTheme, transportOfPage } from "./ask.js";
import { mountBoundary } from "./boundary.js";
import { mountChooser, mountShipped } from "./chooser.js";
import { mountControls, mountKeys, togglePlay } from "./controls.js";
import { count, marked, say } from "./draw.js";
import { mountEdges } from "./edges.js";
import { connect, fromHash, replay, STORY, toHash } from "./link.js";
import { mountLoss } from "./loss.js";
import { mountNetwork } from "./network.js";
import { mountResult } from "./result.js";
import { mountSettings } from "./settings.js";
import { mountSimplex } from "./simplex.js";
import { mountSource } from "./source.js";
import { mountSpacetime } from "./spacetime.js";
import { createStore, lookCommand } from "./state.js";
import { mountSurface } from "./surface.js";
import { mountTapes, tapeRadius } from "./tapes.js";
import { mountTour } from "./tour.js";
import { mountVariables } from "./variables.js";

const byId = id => document.getElementById(id);
const store = createStore({ speed: null, rate: null, preparing: null, tape: null, radius: 12, stops: { states: [], loss: null }, moment: null, opening: null, choice: null, zoom: null, features: null, surfaceOpen: false, trial: null });
const record = byId("record");
let wanted = null;

let sender = () => {};
const send = command => sender(command);

function setStops(stops) {
  store.set({ stops });
  send({ do: "break", states: stops.states, loss: stops.loss });
}

function look() {
  const radius = tapeRadius(byId("tapes-card").clientWidth - 36);
  if (radius !== store.state.radius) {
    store.set({ radius });
    send(lookCommand(store.state));
  }
}

function openJob(job, choice, step = 0, heldOut = null) {
  store.set({ job, choice, heldOut, stops: { states: [], loss: null }, tape: null, features: null });
  send({ do: "open", job, step, held_out: heldOut });
}

mountTheme(byId("theme"));
mountControls(store, byId("bar"), send, setStops);
mountResult(store, byId("result"), byId("result-say"));
mountVariables(store, byId("variables-card"), byId("variables"), byId("variables-say"));
mountTapes(store, byId("tapes"), byId("tapes-say"));
mountSurface(store, byId("surface"), byId("surface-say"), send);
mountEdges(store, byId("edges"), byId("edges-say"));
mountLoss(store, byId("loss"), byId("loss-say"), send);
mountSimplex(store, byId("simplex"), byId("simplex-say"));
mountSpacetime(store, byId("spacetime"), byId("spacetime-say"), send);
mountNetwork(store, byId("network"), byId("network-say"));
mountBoundary(store, byId("boundary-card"), byId("boundary"), byId("boundary-say"), send);
mountSource(store, byId("source"), byId("source-say"), record ? null : setStops);

store.on(["opening"], ({ opening }) => {
  if (!opening) return;
  document.title = `${opening.name}: Luge lab`;
  // Of programs whose variables have names the bits are folded away, of all others they are the picture.
  byId("tapes-fold").open = !opening.variables.length;
  document.body.classList.toggle("learner", Boolean(opening.lesson));
  document.body.classList.toggle("mapped", (opening.lesson?.features.length ?? 0) > 1);
  const trained = opening.lesson ? `learns from ${count(opening.lesson.n_samples)} samples as ${opening.lesson.format}, ` : "";
  say(byId("facts"), `**${opening.name}**: ${trained}landscape ${opening.landscape}, ${count(opening.n_vertices)} vertices, ${count(opening.n_units)} units; engine ${opening.engine}, ${opening.precision}${opening.noise ? `, noise ${opening.noise * 100} %` : ""}`);
});
// What is drawn first comes all at once.
store.on(["moment", "overview", "boundary"], ({ moment, overview, boundary }) => {
  if (moment && overview && (boundary || byId("boundary-card").hidden)) document.body.classList.remove("starting");
});
store.on(["notice"], ({ notice }) => {
  byId("notice").hidden = !notice;
  byId("notice").replaceChildren(...marked(notice ?? ""));
});
// Until the run that was asked for is there, the old one is not passed off as it.
let waits = null;
store.on(["preparing"], ({ preparing, choice, catalogue }) => {
  clearInterval(waits);
  document.body.classList.toggle("preparing", Boolean(preparing));
  byId("preparing").hidden = !preparing;
  if (!preparing) return;
  const name = catalogue?.shipped.find(one => one.id === choice)?.title ?? "your program";
  const tell = () => { const since = Math.floor((performance.now() - preparing.since) / 1000); byId("preparing").textContent = `Preparing ${name}: its machine, its network, its run${since ? `, ${since} s` : ""} …`; };
  tell();
  waits = setInterval(tell, 1000);
});
new ResizeObserver(() => {
  look();
  store.set({ width: window.innerWidth });
}).observe(document.querySelector("main"));

if (record) {
  document.body.classList.add("recorded");
  for (const id of ["choose", "tour", "to-explain", "to-streams", "copy", "shipped", "stops", "settings", "offer", "foot-tour"]) byId(id).remove();
  byId("surface-fold").open = true;
  sender = replay(store, JSON.parse(record.textContent));
  mountKeys(store, send, () => {});
} else {
  sender = connect(store, await transportOfPage());
  const startTour = mountTour(store, byId("stop"), byId("offer"), openJob, send);
  mountSettings(store, byId("settings"), openJob);
  mountShipped(store, byId("shipped"), openJob);
  byId("choose").addEventListener("click", mountChooser(store, byId("chooser"), openJob));
  byId("tour").addEventListener("click", startTour);
  mountKeys(store, send, startTour);
  const restore = () => {
    wanted = fromHash(location.hash, store.state.catalogue);
    if (wanted.broken) store.set({ notice: `This link is broken: ${wanted.broken}. Shown is what can be read of it.`, keepNotice: true });
    store.set({ job: wanted.job, choice: wanted.choice, heldOut: wanted.heldOut, speed: wanted.speed, tape: wanted.tape, stops: wanted.stops });
    send({ do: "open", job: wanted.job, step: wanted.step, held_out: wanted.heldOut });
    send({ do: "break", states: wanted.stops.states, loss: wanted.stops.loss });
    send(lookCommand(store.state));
  };
  store.on(["catalogue"], restore);
  // The first visit is shown what happens; a link shows what it says, and nothing moves where that is not wanted.
  let unasked = !location.hash && !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  store.on(["moment"], ({ moment, choice, tour }) => {
    if (!unasked || !moment) return;
    unasked = false;
    if (choice === STORY && moment.step === 0 && (tour ?? null) === null) togglePlay(store, send);
  });
  store.on(["overview"], ({ overview }) => {
    if (!overview?.done && !(wanted?.zoom && overview?.steps >= wanted.zoom.steps[1])) return;
    if (wanted?.zoom) {
      store.set({ zoom: wanted.zoom });
      send({ do: "zoom", ...wanted.zoom });
      wanted.zoom = null;
    }
  });
  let written = "";
  const write = () => {
    if (!store.state.opening || !store.state.moment || store.state.playing) return;
    written = toHash(store.state);
    if (location.hash !== written) history.replaceState(null, "", written);
  };
  let writing = null;
  store.on(["moment", "stops", "speed", "tape", "zoom", "playing"], () => {
    clearTimeout(writing);
    writing = setTimeout(write, 150);
  });
  window.addEventListener("hashchange", () => { if (location.hash !== written) restore(); });
  byId("copy").addEventListener("click", async () => {
    write();
    try {
      await navigator.clipboard.writeText(location.href);
      byId("copy").textContent = "Copied";
    } catch {
      byId("copy").textContent = "In the address bar";
    }
    setTimeout(() => { byId("copy").textContent = "Link"; }, 1500);
  });
}
