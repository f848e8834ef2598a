// Puts the page together: one state, one view per card, one way to the server.

import { mountBoundary } from "./boundary.js";
import { mountChooser, mountShipped } from "./chooser.js";
import { mountControls, mountKeys } from "./controls.js";
import { count, say } from "./draw.js";
import { mountEdges } from "./edges.js";
import { connect, fromHash, replay, toHash } from "./link.js";
import { mountLoss } from "./loss.js";
import { mountNetwork } from "./network.js";
import { mountSimplex } from "./simplex.js";
import { mountSource } from "./source.js";
import { mountSpacetime } from "./spacetime.js";
import { createStore } from "./state.js";
import { mountTapes, tapeRadius } from "./tapes.js";
import { mountTour } from "./tour.js";

const byId = id => document.getElementById(id);
const store = createStore({ speed: 2, tape: null, radius: 12, stops: { states: [], loss: null }, moment: null, opening: null, choice: null, zoom: null });
const record = byId("record");
let wanted = null;

let sender = () => {};
const send = command => sender(command);

function setStops(stops) {
  store.set({ stops });
  send({ do: "break", states: stops.states, loss: stops.loss });
}

function look() {
  const radius = tapeRadius(byId("tapes").clientWidth);
  if (radius !== store.state.radius) {
    store.set({ radius });
    send({ do: "look", radius, tape: store.state.tape ?? 0 });
  }
}

function openJob(job, choice, step = 0) {
  store.set({ job, choice, stops: { states: [], loss: null }, tape: null });
  send({ do: "open", job, step });
}

function theme(name) {
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = name ?? (dark ? "dark" : "light");
}

theme(null);
mountControls(store, byId("bar"), send, setStops);
mountTapes(store, byId("tapes"), byId("tapes-say"));
mountEdges(store, byId("edges"), byId("edges-say"));
mountLoss(store, byId("loss"), byId("loss-say"), send);
mountSimplex(store, byId("simplex"), byId("simplex-say"));
mountSpacetime(store, byId("spacetime"), byId("spacetime-say"), send);
mountNetwork(store, byId("network"), byId("network-say"));
mountBoundary(store, byId("boundary-card"), byId("boundary"), byId("boundary-say"));
mountSource(store, byId("source"), byId("source-say"), setStops);

store.on(["opening"], ({ opening }) => {
  if (!opening) return;
  document.title = `${opening.name}: Luge lab`;
  const trained = opening.lesson ? `learns from ${count(opening.lesson.n_samples)} samples, ` : "";
  say(byId("facts"), `**${opening.name}**: ${trained}landscape ${opening.landscape}, ${count(opening.n_vertices)} vertices, ${count(opening.n_units)} units in ${opening.n_layers} layers; engine ${opening.engine}, ${opening.precision}`);
});
store.on(["notice"], ({ notice }) => {
  byId("notice").hidden = !notice;
  byId("notice").textContent = notice ?? "";
});
byId("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
new ResizeObserver(() => {
  look();
  store.set({ width: window.innerWidth });
}).observe(document.querySelector("main"));

if (record) {
  document.body.classList.add("recorded");
  for (const id of ["choose", "tour", "copy", "shipped", "stops"]) byId(id).remove();
  sender = replay(store, JSON.parse(record.textContent));
  mountKeys(store, send, () => {});
} else {
  sender = connect(store);
  const startTour = mountTour(store, byId("stop"), openJob, send);
  mountShipped(store, byId("shipped"), openJob);
  byId("choose").addEventListener("click", mountChooser(store, byId("chooser"), openJob));
  byId("tour").addEventListener("click", startTour);
  mountKeys(store, send, startTour);
  const restore = () => {
    wanted = fromHash(location.hash, store.state.catalogue);
    store.set({ job: wanted.job, choice: wanted.choice, speed: wanted.speed, tape: wanted.tape, stops: wanted.stops });
    send({ do: "open", job: wanted.job, step: wanted.step });
    send({ do: "break", states: wanted.stops.states, loss: wanted.stops.loss });
  };
  store.on(["catalogue"], restore);
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
