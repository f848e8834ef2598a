// The story in stops: each one idea and one picture. It is offered when somebody comes for the first time.

import { html, marked } from "./draw.js";
import { STORY } from "./link.js";
import { jobBody, runLength } from "./state.js";

const SEEN = "luge-tour-seen";

const onLandscape = landscape => job => ({ trace: { ...job.trace, options: { ...job.trace.options, landscape } } });

const STOPS = [
  { card: "loss-card", more: "corners", program: "bb2", vary: onLandscape("internal"), step: 0, play: 1, title: "A loss that falls step by step", text: "A Turing machine with two states, turned into a loss. Every corner of a simplex is one configuration of the machine, and the loss is carved so that the corner after it lies lower. Gradient descent has nothing else to do than to fall: six steps, six steps of the machine. Watch the yellow dot." },
  { card: "tapes-card", more: "tapes", program: "bb4", step: 34, title: "Tapes made of weights", text: "A corner for every configuration is too many. So the cells become weights as well: +1 and −1 stand for the symbols, the head is a weight, and the corners are only state and symbol. The red arrow is this step's gradient: it writes the cell." },
  { card: "edges-card", program: "bb4", step: 34, title: "Why it goes where it goes", text: "From this corner the loss falls steepest along the blue line, to the machine's next state and the symbol it will read. Everything else rises, or falls less. One step of fixed length jumps there. Press → a few times and watch." },
  { card: "surface-card", program: "bb4", step: 34, surface: true, title: "The landscape itself", text: "The same loss over the triangle between here, the successor and the best rival. Turn it with the mouse or the arrow keys. On landscape `plain`, which the settings at the top of the page offer, there are bowls that move instead of slides and barriers." },
  { card: "boundary-card", more: "lines", program: STORY, step: 1, play: "half", title: "A learner inside a network", text: "Now the machine is a learner: Rosenblatt's perceptron, a short program, on two columns of the irises. Gradient descent on ½|F(x) − y|² runs it, and the boundary moves as the learner corrects itself. When it halts, the network is what the learner has found." },
  { card: "result-card", program: STORY, step: 1e12, title: "The result, and its proof", text: "What was learned, in the columns' own names, and how many rows are right. Each tick is a claim that was checked: every gradient step is the machine's step, and automatic differentiation makes the same ones." },
  { card: "source-card", program: STORY, step: 20000, title: "And a sample at a time?", text: "Here the network has all rows before it. `luge stream` trains on fresh batches instead, one sample a step, as SGD does: the machine takes a sample when it is ready for one, and the others pass. The link **Streams** at the top of the page shows one, and **Explanation** has figures that you can change. That ends the tour: choose another program, or bring your own." },
];

/** Scrolls to a card so that the box at the bottom of the window does not lie on it: the card's head stands at the top. */
function reveal(card) {
  if (!card) return;
  const bar = document.getElementById("bar"), stuck = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
  window.scrollTo({ top: Math.max(0, card.getBoundingClientRect().top + window.scrollY - stuck - 8), behavior: "instant" });
}

/** The tour: how to start it; where it was never taken, it is offered. */
export function mountTour(store, box, offer, open, send) {
  let at = -1;
  const remember = () => { try { localStorage.setItem(SEEN, "yes"); } catch { /* a page that may not keep anything offers the tour again */ } };
  const leave = () => {
    at = -1;
    box.hidden = true;
    document.body.classList.remove("touring");
    document.querySelectorAll(".card.lit").forEach(card => card.classList.remove("lit"));
    store.set({ tour: null });
  };
  const show = stop => {
    const found = store.state.catalogue?.shipped.find(one => one.id === stop.program);
    if (!found) return;
    const job = stop.vary ? stop.vary(found.job) : found.job;
    if (JSON.stringify(jobBody(job)) === JSON.stringify(jobBody(store.state.job))) send({ do: "seek", step: stop.step });
    else open(job, found.id, stop.step);
    if (stop.surface) document.getElementById("surface-fold").open = true;
    const speed = stop.play === "half" ? null : stop.play;
    if (stop.play) waiting = { stop, speed };
  };
  // A stop that plays begins once its run, and for "half a minute" its length, is known.
  let waiting = null;
  store.on(["moment"], ({ moment, playing }) => {
    if (!waiting || at < 0 || !moment || playing) return;
    const length = runLength(store.state);
    if (waiting.speed === null && !length) return;
    store.set({ rate: waiting.speed ?? Math.max(1, length / 30) });
    waiting = null;
    send({ do: "play", speed: store.state.rate });
  });
  const go = place => {
    waiting = null;
    if (place < 0 || place >= STOPS.length) { leave(); return; }
    at = place;
    const stop = STOPS[at];
    show(stop);
    document.querySelectorAll(".card.lit").forEach(card => card.classList.remove("lit"));
    const card = document.getElementById(stop.card);
    card.classList.add("lit");
    reveal(card);
    const back = html("button", { type: "button", id: "tour-back", onclick: () => go(at - 1), disabled: at === 0 }, "Back");
    const next = html("button", { type: "button", id: "tour-next", class: "primary", onclick: () => go(at + 1) }, at + 1 === STOPS.length ? "Done" : "Next");
    const leaving = at + 1 === STOPS.length ? "" : html("button", { type: "button", id: "tour-end", onclick: leave }, "Leave the tour");
    box.replaceChildren(html("h3", { id: "stop-title" }, stop.title), html("p", {}, marked(stop.text), stop.more ? [" ", html("a", { href: `explain.html#${stop.more}-card` }, "Change it yourself.")] : ""), html("div", { class: "buttons" }, html("span", {}, `${at + 1} of ${STOPS.length}`), leaving, back, next));
    box.hidden = false;
    document.body.classList.add("touring");
    reveal(card);
    next.focus({ preventScroll: true });
    store.set({ tour: at });
  };
  // A card that appears with its run is where the eye should be.
  store.on(["boundary", "proof", "surface"], () => { if (at >= 0) reveal(document.querySelector(".card.lit")); });
  document.addEventListener("keydown", event => { if (event.key === "Escape" && at >= 0) leave(); });
  const start = () => {
    remember();
    offer.hidden = true;
    go(0);
  };
  let seen = null;
  try { seen = localStorage.getItem(SEEN); } catch { seen = null; }
  offer.hidden = seen === "yes";
  offer.querySelector("#offer-tour").addEventListener("click", start);
  offer.querySelector("#offer-no").addEventListener("click", () => { remember(); offer.hidden = true; });
  return start;
}
