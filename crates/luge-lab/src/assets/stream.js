// A run on a stream: samples that pass, those that are taken, the memory, the loss and the result.

import { mountTheme, openFigures } from "./ask.js";
import { axes, count, drawing, html, numeral, path, room, say, scale, stepTick, svg, ticks } from "./draw.js";
import { saveButtons } from "./export.js";
import { claimList } from "./result.js";
import { foundWords, lossOfStreamWords, memoryWords, sampleWords, takenWords } from "./stream_captions.js";

const byId = id => document.getElementById(id);
const record = byId("record");
let recording = null, at = 0, timer = null;

const tone = value => (value > 0 ? "tone-plus" : value < 0 ? "tone-minus" : "tone-none");
const strength = (value, most) => (value === 0 ? 1 : 0.25 + 0.75 * Math.min(1, Math.abs(value) / most));
const isBits = values => values.every(value => value === 0 || value === 1);

/** Rows of numbers as coloured cells; `marks` are rows that stand out, `gap` the column before which there is a gap. */
function cells(rows, label, { width, gap, numbers = false, marks = new Set(), names = [] }) {
  const n = rows[0]?.length ?? 0, side = Math.max(3, Math.min(numbers ? 46 : 26, (width - 90) / (n + 1)));
  const high = numbers ? 26 : Math.min(side, 22), most = Math.max(1e-9, ...rows.flat().map(Math.abs)), left = names.length ? 78 : 2;
  const x = column => left + column * side + (column >= gap ? side / 2 : 0);
  const grid = rows.map((row, r) => row.map((value, c) => [
    svg("rect", { x: x(c), y: r * high + 2, width: Math.max(1, side - 1), height: high - 1, "fill-opacity": strength(value, most), class: `${tone(value)}${marks.has(r) ? " cell-now" : ""}` }),
    numbers && side > 17 ? svg("text", { x: x(c) + side / 2, y: r * high + high / 2 + 6, class: "cell-number", "text-anchor": "middle" }, String(+value.toFixed(3)).replace("-", "−")) : "",
  ]));
  const words = names.map((name, r) => svg("text", { x: left - 6, y: r * high + high / 2 + 6, "text-anchor": "end", class: "cell-name" }, name));
  return drawing(x(n) + side, rows.length * high + 4, label, grid, words);
}

function drawSample(moment, took, width) {
  const { n_features: n } = recording, numbers = n <= 16;
  const row = [...moment.x.slice(0, n), ...moment.y.slice(0, 1)];
  return cells([row], `The sample of step ${count(moment.step)}: features ${row.slice(0, n).map(numeral).join(" ")}, label ${numeral(row[n])}; it ${took ? "is taken" : "passes"}`, { width, gap: n, numbers, names: [took ? "taken" : "passes"] });
}

function drawTaken(moment, width) {
  const { n_features: n, takes } = recording, rows = takes.slice(Math.max(0, moment.taken - 40), moment.taken);
  if (!rows.length) return html("p", { class: "none" }, "None yet.");
  return cells(rows.map(take => [...take.x.slice(0, n), take.y[0]]), `${count(moment.taken)} samples taken, the newest below: features, then the label`, { width, gap: n, marks: new Set([rows.length - 1]) });
}

function drawMemory(moment, width) {
  const { n_features: n } = recording;
  return html("div", {},
    cells([moment.memory], `The memory holds ${moment.memory.map(numeral).join(" ")}`, { width, gap: n, numbers: moment.memory.length <= 16, names: ["memory X"] }),
    cells([moment.theta], `theta is ${moment.theta.map(numeral).join(" ")}`, { width, gap: moment.theta.length, numbers: moment.theta.length <= 16, names: ["theta"] }));
}

function drawLoss(moment, width) {
  const height = 230, frame = [64, 12, width - 12, height - 44];
  const log = value => Math.log10(value + 1), most = Math.max(...recording.moments.map(one => log(one.loss)), 0.5);
  const x = scale(0, recording.steps || 1, frame[0], frame[2]), y = scale(0, most * 1.05, frame[3], frame[1]);
  const marks = Array.from({ length: Math.floor(most) + 1 }, (_, power) => power).filter((_, i, all) => i % Math.ceil(all.length / 5) === 0);
  return drawing(width, height, `The loss over ${count(recording.steps)} steps; now ${numeral(moment.loss)}`,
    axes(frame, { x, y, xTicks: ticks(0, recording.steps || 1, width > 500 ? 5 : 3), yTicks: marks, xName: "gradient steps, a sample each", yName: "loss", xWords: stepTick, yWords: power => (power > 3 ? `10${[...String(power)].map(digit => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}` : count(10 ** power - 1)) }),
    recording.takes.map(take => svg("line", { x1: x(take.step), x2: x(take.step), y1: frame[3] - 9, y2: frame[3], class: "take-mark" })),
    svg("path", { d: path(recording.moments.map(one => [x(one.step), y(log(one.loss))])), class: "curve" }),
    svg("line", { x1: x(moment.step), x2: x(moment.step), y1: frame[1], y2: frame[3], class: "now" }), svg("circle", { cx: x(moment.step), cy: y(log(moment.loss)), r: 5, class: "now-dot" }));
}

function drawFound() {
  const { answer, theta, hidden, judged } = recording, rows = [theta], names = ["found"];
  if (hidden.length === theta.length) { rows.unshift(hidden); names.unshift("hidden"); }
  const seal = html("p", { class: `seal ${answer.certified ? "holds" : "fails"}` }, html("b", {}, answer.certified ? "Certified:" : "Not certified:"), ` ${answer.verdict.replace(/^(yes|NO): /, "")}`);
  return [
    cells(rows, names.map((name, i) => `${name}: ${rows[i].map(numeral).join(" ")}`).join("; "), { width: room(byId("found")), gap: theta.length, numbers: theta.length <= 16 && !isBits(theta), names }),
    judged ? html("p", {}, `On ${count(judged[1])} new samples the network is right ${count(judged[0])} times.`) : "",
    seal, claimList(answer.claims)];
}

/** Draws a moment. */
function show(place) {
  at = Math.max(0, Math.min(recording.moments.length - 1, place));
  const moment = recording.moments[at], took = recording.takes.some(take => take.step === moment.step);
  byId("scrub").value = at;
  byId("scrub").setAttribute("aria-valuetext", `step ${moment.step}`);
  byId("where").textContent = `step ${count(moment.step)} of ${count(recording.steps)}`;
  document.body.dataset.step = moment.step;
  const put = (id, words, drawn) => { say(byId(`${id}-say`), words); byId(id).replaceChildren(drawn, html("div", { class: "under" }, saveButtons(() => byId(id).querySelector("svg"), () => `luge-stream-${id}`))); };
  put("sample", sampleWords(moment, took, recording), drawSample(moment, took, room(byId("sample"))));
  put("taken", takenWords(moment, recording), drawTaken(moment, room(byId("taken"))));
  put("memory", memoryWords(moment, recording), drawMemory(moment, room(byId("memory"))));
  put("stream-loss", lossOfStreamWords(moment, recording), drawLoss(moment, room(byId("stream-loss"))));
  if (at + 1 === recording.moments.length) pause();
}

function pause() {
  clearInterval(timer);
  timer = null;
  byId("play").textContent = "Play";
}

function play() {
  if (timer) { pause(); return; }
  if (at + 1 >= recording.moments.length) show(0);
  byId("play").textContent = "Pause";
  timer = setInterval(() => show(at + 1), Math.max(40, 30_000 / recording.moments.length));
}

function open(opened) {
  recording = opened;
  byId("recording").hidden = false;
  document.title = `${recording.name}: a stream in Luge's lab`;
  say(byId("facts"), `**${recording.name}**: ${count(recording.steps)} gradient steps on as many ${recording.batch > 1 ? `batches of ${recording.batch}` : "samples"}, ${count(recording.taken)} taken`);
  byId("scrub").max = recording.moments.length - 1;
  say(byId("found-say"), foundWords(recording));
  byId("found").replaceChildren(...drawFound());
  byId("found").dataset.certified = String(recording.answer.certified);
  show(0);
}

mountTheme(byId("theme"));
byId("scrub").addEventListener("input", () => { pause(); show(Number(byId("scrub").value)); });
byId("back").addEventListener("click", () => { pause(); show(at - 1); });
byId("forth").addEventListener("click", () => { pause(); show(at + 1); });
byId("play").addEventListener("click", play);
byId("next-take").addEventListener("click", () => {
  pause();
  const next = recording.moments.findIndex((moment, i) => i > at && recording.takes.some(take => take.step === moment.step));
  show(next < 0 ? recording.moments.length - 1 : next);
});
document.addEventListener("keydown", event => {
  if (!recording || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, button, a, summary")) return;
  const act = { " ": play, ArrowRight: () => { pause(); show(at + 1); }, ArrowLeft: () => { pause(); show(at - 1); } }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
let width = 0;
new ResizeObserver(() => { if (recording && width !== window.innerWidth) show(at); width = window.innerWidth; }).observe(document.querySelector("main"));

if (record) {
  for (const id of ["learner", "to-lab"]) byId(id).remove();
  open(JSON.parse(record.textContent));
} else {
  const complain = message => { byId("notice").hidden = !message; byId("notice").textContent = message ?? ""; };
  const { ask, catalogue } = await openFigures(complain);
  const { streams } = await catalogue, choice = byId("learner");
  choice.replaceChildren(...streams.map(({ id, about }) => html("option", { value: id }, `${id}: ${about}`)));
  const load = async () => {
    const parts = new URLSearchParams(location.hash.slice(1)), learner = streams.some(one => one.id === parts.get("p")) ? parts.get("p") : streams[0].id;
    // A first look does not wait for the longest run.
    if (!location.hash && learner === "parity") parts.set("draw", "parity:bits=16,hidden=8");
    choice.value = learner;
    complain(parts.get("p") && learner !== parts.get("p") ? `This link is broken: no learner ${parts.get("p")} ships. Shown is ${learner}.` : null);
    pause();
    byId("preparing").hidden = false;
    byId("preparing").textContent = `Training ${learner} on its stream …`;
    try {
      open(await ask({ name: "stream", learner, ...(parts.get("draw") ? { draw: parts.get("draw") } : {}), seed: Number(parts.get("seed")) || 0 }));
    } catch (error) {
      complain(error.message);
    }
    byId("preparing").hidden = true;
  };
  choice.addEventListener("change", () => { location.hash = `p=${choice.value}`; });
  window.addEventListener("hashchange", load);
  await load();
}
