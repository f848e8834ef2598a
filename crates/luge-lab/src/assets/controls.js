// Play, pause, step, speed, jump, breakpoints, and the keyboard.

import { speedWords } from "./captions.js";
import { count, html, numeral, rough, svg, tick } from "./draw.js";
import { runLength } from "./state.js";

const ICONS = {
  first: "M4 4H6.5V16H4ZM16 4V16L7 10Z", back: "M15 4V16L5 10Z", play: "M5 3V17L17 10Z", pause: "M5 4H8.6V16H5ZM11.4 4H15V16H11.4Z", forth: "M5 4V16L15 10Z", last: "M13.5 4H16V16H13.5ZM4 4V16L13 10Z",
};

function icon(name) {
  return svg("svg", { viewBox: "0 0 20 20", width: 17, height: 17, "aria-hidden": "true", class: "icon" }, svg("path", { d: ICONS[name] }));
}

const SPEEDS = [1, 2, 4, 8, 15, 30, 60, 200, 1e3, 1e4, 1e5, 1e6, 1e7, null];

/** The speed that a place of the slider means. */
export function speedAt(place) {
  return SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, place))];
}

/** The steps per second at which a run plays: as chosen, else so that it takes half a minute, but no slower than one can watch. */
export function playSpeed(state) {
  if (state.rate) return state.rate;
  return state.speed === null ? Math.max(4, (runLength(state) ?? 0) / 30) : speedAt(state.speed);
}

/** The place of the slider that is nearest to a speed. */
function placeOf(speed) {
  if (speed === null) return SPEEDS.length - 1;
  const far = place => Math.abs(Math.log(SPEEDS[place] / speed));
  return SPEEDS.slice(0, -1).reduce((best, _, place) => (far(place) < far(best) ? place : best), 0);
}

/** Draws the controls. */
export function mountControls(store, root, send, setStops) {
  const { state } = store;
  const button = (id, label, act, kind = "") => html("button", { id, type: "button", class: kind, title: label, "aria-label": label, onclick: act }, icon(id));
  const end = () => send({ do: "seek", step: state.moment?.end?.step ?? Number.MAX_SAFE_INTEGER });
  const play = button("play", "Play or pause (space)", () => togglePlay(store, send), "play primary");
  const buttons = html("div", { class: "buttons" },
    button("first", "To the start (Home)", () => send({ do: "seek", step: 0 })), button("back", "One step back (left arrow)", () => send({ do: "step", by: -1 })), play,
    button("forth", "One step (right arrow)", () => send({ do: "step", by: 1 })), button("last", "To the end (End)", end));
  const step = html("input", { id: "step", inputmode: "numeric", "aria-label": "Step", value: "0" });
  const of = html("span", { class: "of", id: "of" });
  const form = html("form", { class: "goto" }, html("label", { for: "step" }, "Step"), step, of);
  form.addEventListener("submit", event => {
    event.preventDefault();
    const wanted = Number(step.value.replace(/[,_\s]/g, ""));
    if (Number.isFinite(wanted) && wanted >= 0) send({ do: "seek", step: Math.round(Math.min(wanted, 1e12)) });
    step.blur();
  });
  const speed = html("input", { id: "speed", type: "range", min: 0, max: SPEEDS.length - 1, step: 1, value: 2, "aria-label": "Speed" });
  const speedOut = html("output", { for: "speed" });
  speed.addEventListener("input", () => {
    store.set({ speed: Number(speed.value), rate: null });
    if (state.playing) send({ do: "play", speed: playSpeed(state) });
  });
  const scrub = html("input", { id: "scrub", class: "scrub", type: "range", min: 0, max: 1000, value: 0, "aria-label": "Place in the run" });
  let scrubbing = false;
  scrub.addEventListener("input", () => {
    scrubbing = true;
    const last = state.moment?.end?.step ?? state.moment?.front ?? 0;
    send({ do: "seek", step: Math.round(scrub.value / 1000 * last) });
  });
  scrub.addEventListener("change", () => { scrubbing = false; });
  const halfMinute = html("button", { id: "half-minute", type: "button", title: "Play to the end in thirty seconds" }, "Play in 30 s");
  halfMinute.addEventListener("click", () => {
    const end = runLength(state);
    if (!end || !state.moment) return;
    if (state.moment.step === end) send({ do: "seek", step: 0 });
    const left = state.moment.step === end ? end : end - state.moment.step;
    store.set({ rate: Math.max(1, left / 30) });
    send({ do: "play", speed: playSpeed(state) });
  });
  const pill = html("span", { class: "pill running", id: "phase" }, "…");
  const pace = html("span", { class: "of", id: "pace" });
  const stops = html("div", {});
  const details = html("details", { id: "stops" }, html("summary", {}, "Breakpoints"), stops);
  root.replaceChildren(buttons, form, html("span", { class: "speed" }, html("label", { for: "speed" }, "Speed"), speed, speedOut), halfMinute, scrub, pill, pace, details);

  store.on(["moment", "playing", "busy", "proof"], ({ moment, playing, busy, perSecond, hit }) => {
    if (!moment) return;
    if (play.dataset.shows !== String(Boolean(playing))) play.replaceChildren(icon(playing ? "pause" : "play"), playing ? " Pause" : " Play");
    play.dataset.shows = String(Boolean(playing));
    play.setAttribute("aria-pressed", String(Boolean(playing)));
    if (document.activeElement !== step) step.value = count(moment.step);
    const last = state.recorded && state.recorded.n <= state.recorded.steps ? `of ${count(state.recorded.steps)}, ${count(state.recorded.n)} recorded` : moment.end ? `of ${count(moment.end.step)}` : moment.front > moment.step ? `of ${count(moment.front)} so far` : "";
    of.textContent = last;
    if (!scrubbing) scrub.value = String(Math.round(1000 * moment.step / Math.max(1, moment.end?.step ?? moment.front)));
    const words = { running: "running", halted: "halted", labels: "reading labels", stopped: moment.end?.how ?? "stopped" };
    pill.className = `pill ${moment.phase}`;
    pill.textContent = hit ? `${words[moment.phase]}, breakpoint on the ${hit}` : words[moment.phase];
    pace.textContent = (playing || busy) && perSecond > 0 ? `${rough(perSecond)} steps/s` : `loss ${Math.abs(moment.loss) >= 1e6 ? tick(moment.loss) : numeral(moment.loss)}`;
    halfMinute.disabled = !runLength(state);
    scrub.setAttribute("aria-valuetext", `step ${count(moment.step)}`);
    buttons.querySelector("#back").disabled = moment.step === 0;
    buttons.querySelector("#forth").disabled = moment.end?.step === moment.step;
    root.dataset.step = String(moment.step);
  });
  store.on(["speed", "rate", "opening", "proof", "moment"], () => {
    const now = playSpeed(state), said = speedWords(now);
    if (speedOut.textContent === said) return;
    speed.value = String(placeOf(now));
    speedOut.textContent = said;
    speed.setAttribute("aria-valuetext", said);
  });
  store.on(["opening", "stops"], ({ opening, stops: set }) => {
    if (!opening) return;
    const level = html("input", { type: "number", step: "any", id: "stop-loss", value: set.loss ?? "", placeholder: numeral(opening.bounds.stop), "aria-label": "Stop when the loss falls to" });
    level.addEventListener("change", () => setStops({ ...state.stops, loss: level.value === "" ? null : Number(level.value) }));
    const one = (name, id) => {
      const box = html("input", { type: "checkbox", checked: set.states.includes(id) });
      box.addEventListener("change", () => setStops({ ...state.stops, states: box.checked ? [...state.stops.states, id] : state.stops.states.filter(other => other !== id) }));
      return html("label", {}, box, `state ${name}`);
    };
    stops.replaceChildren(html("label", {}, "loss at most", level), ...opening.states.slice(0, 200).map((each, id) => one(each.name, id)));
    details.firstChild.textContent = `Breakpoints${set.states.length + (set.loss === null ? 0 : 1) ? ` (${set.states.length + (set.loss === null ? 0 : 1)})` : ""}`;
  });
  store.on(["recorded"], ({ recorded }) => {
    // In a report of a long run the arrows go from one recorded moment to the next.
    const apart = Math.round(recorded.steps / Math.max(1, recorded.n - 1));
    const label = (id, text) => { for (const name of ["title", "aria-label"]) buttons.querySelector(id).setAttribute(name, text); };
    if (apart <= 1) return;
    label("#back", `To the recorded moment before, ${count(apart)} steps back (left arrow)`);
    label("#forth", `To the next recorded moment, ${count(apart)} steps on (right arrow)`);
    document.querySelector(".foot").textContent = `This report holds ${count(recorded.n)} of ${count(recorded.steps + 1)} steps: ← → go to the recorded moment before or after, ${count(apart)} steps away. Space plays, Home and End, G goes to the recorded moment nearest to a step.`;
  });
  store.set({ speed: state.speed });
}

/** Plays, or pauses. */
export function togglePlay(store, send) {
  const { state } = store;
  if (state.playing) { send({ do: "pause" }); return; }
  if (state.moment?.end && state.moment.step === state.moment.end.step) send({ do: "seek", step: 0 });
  send({ do: "play", speed: playSpeed(state) });
}

/** The keys of the page. */
export function mountKeys(store, send, tour) {
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input, textarea, select") && event.target.type !== "range") return;
    const by = event.shiftKey ? 10 : 1;
    const acts = {
      " ": () => { if (event.target.closest("button, summary")) return false; togglePlay(store, send); },
      ArrowLeft: () => { if (event.target.type === "range") return false; send({ do: "step", by: -by }); },
      ArrowRight: () => { if (event.target.type === "range") return false; send({ do: "step", by }); },
      Home: () => send({ do: "seek", step: 0 }),
      End: () => document.getElementById("last").click(),
      g: () => { document.getElementById("step").focus(); document.getElementById("step").select(); },
      t: tour,
    };
    const act = acts[event.key];
    if (act && act() !== false) event.preventDefault();
  });
}
