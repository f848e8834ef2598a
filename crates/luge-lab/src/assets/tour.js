// Five stops that explain the idea with the page itself.

import { html } from "./draw.js";

const STOPS = [
  { card: "tapes-card", program: "bb4", step: 0, title: "A tape made of weights", text: "This is a network's weights, drawn as the tape of a Turing machine. Every cell is a number that training may change: +1 and −1 stand for the symbols. The head is a weight as well." },
  { card: "edges-card", program: "bb4", step: 10, title: "The loss does the work", text: "The loss is carved so that from every vertex one slide leads down: to the machine's next state and the symbol it will read. Gradient descent just follows it. Press → a few times and watch." },
  { card: "loss-card", program: "bb4", step: 107, title: "One gradient step, one machine step", text: "While the machine runs the loss stays inside its band. When it halts the loss falls below the level at which training stops: 107 machine steps, 107 gradient steps." },
  { card: "spacetime-card", program: "bb5", step: 40000000, title: "Forty million steps", text: "The five-state busy beaver makes 47,176,870 steps. This is gradient step 40,000,000 of them, reached from a kept frame nearby. Drag over the picture to look closer." },
  { card: "network-card", program: "mean", step: 40, title: "A learner inside a network", text: "Here the machine reads labels and computes their mean. The first step copies the labels into z; then the gradient runs the machine; when it halts, φ switches over and the network is the one the machine has found. Press End." },
];

/** The tour: starts, and says how to leave it. */
export function mountTour(store, box, open, send) {
  let at = -1;
  const leave = () => {
    at = -1;
    box.hidden = true;
    document.querySelectorAll(".card.lit").forEach(card => card.classList.remove("lit"));
    store.set({ tour: null });
  };
  const go = place => {
    if (place < 0 || place >= STOPS.length) { leave(); return; }
    at = place;
    const stop = STOPS[at];
    const { state } = store;
    const found = state.catalogue?.shipped.find(one => one.id === stop.program);
    if (found && state.choice !== stop.program) open(found.job, found.id, stop.step);
    else send({ do: "seek", step: stop.step });
    document.querySelectorAll(".card.lit").forEach(card => card.classList.remove("lit"));
    const card = document.getElementById(stop.card);
    card.classList.add("lit");
    card.scrollIntoView({ block: "center", behavior: "instant" });
    const back = html("button", { type: "button", id: "tour-back", onclick: () => go(at - 1), disabled: at === 0 }, "Back");
    const next = html("button", { type: "button", id: "tour-next", class: "primary", onclick: () => go(at + 1) }, at + 1 === STOPS.length ? "Done" : "Next");
    box.replaceChildren(html("h3", {}, stop.title), html("p", {}, stop.text), html("div", { class: "buttons" }, html("span", {}, `${at + 1} of ${STOPS.length}`), html("button", { type: "button", id: "tour-end", onclick: leave }, "End"), back, next));
    box.hidden = false;
    next.focus({ preventScroll: true });
    store.set({ tour: at });
  };
  document.addEventListener("keydown", event => { if (event.key === "Escape" && at >= 0) leave(); });
  return () => go(0);
}
