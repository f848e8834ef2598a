// The program: a table of rules for busy beavers, else its text with the current line. A click sets a breakpoint.

import { count, html, say, shortName, svg } from "./draw.js";
import { jobBody } from "./state.js";
import { inScope, valueWords } from "./variables.js";

const BEAVER = /^[0-9LRA-Z-]{6}(?:[0-9LRA-Z-]{3})*(?:_[0-9LRA-Z-]{6}(?:[0-9LRA-Z-]{3})*)*$/;

function rulesTable(text, state, toggle) {
  const { opening, moment, stops } = state;
  const rows = text.trim().split("_").map(row => row.match(/.{3}/g));
  const name = i => String.fromCharCode(65 + i);
  const here = opening.states[moment.state]?.name;
  const tape = moment.tapes[0], symbol = tape && tape.head !== null ? tape.symbols[tape.head - tape.first] : null;
  const head = html("tr", {}, html("th", { scope: "col" }, "in state"), rows[0].map((_, i) => html("th", { scope: "col", class: i === symbol ? "at" : "" }, `reads ${i}`)));
  const body = rows.map((row, i) => {
    const id = opening.states.findIndex(one => one.name === name(i));
    const button = toggle ? html("button", { type: "button", "aria-pressed": stops.states.includes(id), title: "Stop playing in this state", onclick: () => toggle(id) }, name(i)) : name(i);
    return html("tr", {}, html("th", { scope: "row", class: name(i) === here ? "at" : "" }, button), row.map((rule, read) => html("td", { class: name(i) === here && read === symbol ? "at" : "" }, rule)));
  });
  return html("table", { class: "rules" }, html("thead", {}, head), html("tbody", {}, body));
}

function programListing(text, state, toggle) {
  const { opening, stops, profile } = state;
  const spent = new Map(profile?.lines ?? []), most = profile?.lines[0]?.[1] ?? 1;
  const rows = text.replace(/\n$/, "").split("\n").slice(0, 2000).map((code, i) => {
    const line = i + 1;
    const states = opening.states.flatMap((one, id) => (one.line === line ? [id] : []));
    const stop = states.length > 0 && states.every(id => stops.states.includes(id));
    const no = states.length && toggle
      ? html("button", { type: "button", class: "no", "aria-pressed": stop, "aria-label": `Line ${line}: stop playing here`, title: "Stop playing here", onclick: () => states.forEach(toggle) }, String(line))
      : html("span", { class: "no" }, String(line));
    const steps = spent.get(line), share = steps ? steps / profile.steps : 0;
    const bar = svg("svg", { class: "spent", viewBox: "0 0 56 14", width: 56, height: 14, "aria-hidden": "true" }, steps ? [svg("rect", { x: 0, y: 2, width: Math.max(1, 22 * steps / most), height: 10 }), svg("text", { x: 54, y: 11, "text-anchor": "end" }, `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`)] : "");
    const title = steps ? `${count(steps)} of ${count(profile.steps)} steps` : undefined;
    return html("div", { class: `row${stop ? " stops" : ""}`, "data-line": line, title }, no, profile ? bar : "", html("span", { class: "code" }, code), html("span", { class: "beside" }));
  });
  return html("div", { class: "listing", tabindex: "0", role: "region", "aria-label": "Program text" }, rows);
}

/** What a line of a Sled program reads and writes, with its values. */
export function lineValues(code, { moment, opening }) {
  const bare = code.replace(/\/\/.*/, "");
  const [target] = bare.match(/^\s*(?:let\s+)?[A-Za-z_]\w*(?=[^=<>!]*(?:[-+*/]?=)(?!=))/) ?? [];
  const written = target?.replace(/^\s*(?:let\s+)?/, "");
  const words = new Set(bare.match(/[A-Za-z_]\w*/g) ?? []);
  const shown = [];
  opening.variables.forEach((info, i) => {
    if (words.has(info.name) && inScope(info, moment.line)) shown.push({ name: info.name, words: valueWords(info, moment.variables[i] ?? []), writes: info.name === written });
  });
  const { lesson } = opening, at = moment.sample;
  if (at !== null && at !== undefined && lesson?.x[at]) {
    if (words.has("x")) shown.push({ name: "x", words: `[${lesson.x[at].map(value => +value.toFixed(4)).join(", ")}]` });
    if (words.has("y")) shown.push({ name: "y", words: lesson.y[at].length === 1 ? String(lesson.y[at][0]) : `[${lesson.y[at].join(", ")}]` });
  }
  return shown.sort((a, b) => Number(Boolean(b.writes)) - Number(Boolean(a.writes)));
}

function markLine(listing, state) {
  const { moment, opening } = state;
  const at = listing.querySelector(`.row[data-line="${moment.line}"]`);
  listing.querySelectorAll(".row.at").forEach(row => {
    if (row === at) return;
    row.classList.remove("at");
    row.lastChild.replaceChildren();
  });
  if (!at) return;
  at.classList.add("at");
  const values = opening.variables.length ? lineValues(at.querySelector(".code").textContent, state) : [];
  at.lastChild.replaceChildren("◀ ", ...values.map(({ name, words, writes }) => html("span", { class: writes ? "writes" : "reads" }, `${writes ? "→ " : ""}${name} = ${words}`)));
  const place = at.offsetTop - listing.offsetTop;
  if (place < listing.scrollTop || place > listing.scrollTop + listing.clientHeight * 0.85) listing.scrollTop = place - listing.clientHeight / 3;
}

/** Draws the program; without `setStops` it has no breakpoints. */
export function mountSource(store, root, words, setStops) {
  let drawn = "";
  const flip = id => {
    const { states } = store.state.stops;
    setStops({ ...store.state.stops, states: states.includes(id) ? states.filter(one => one !== id) : [...states, id] });
  };
  const toggle = setStops ? flip : null;
  store.on(["moment", "opening", "stops", "job", "profile"], state => {
    const { moment, opening, job, stops, profile } = state;
    if (!moment || !opening || !job) return;
    const { text, extension } = jobBody(job).source;
    const beaver = BEAVER.test(text.trim());
    const symbol = moment.tapes[0]?.symbols[moment.tapes[0].head - moment.tapes[0].first];
    const key = JSON.stringify([text, beaver ? [moment.state, symbol] : "", stops.states, opening.states.length, Boolean(profile)]);
    const where = extension === "sled" && moment.line ? `At line **${moment.line}**` : `In state **${shortName(opening.states[moment.state]?.name ?? "–")}**`;
    const stopWords = !toggle ? "" : beaver ? "; click a state to stop there" : " Click a line number with a state to stop there.";
    say(words, `${where}. ${beaver ? `A rule says what to write, where to move and which state follows${stopWords}.` : `${profile ? "Beside each line is its share of all steps." : ""}${stopWords}`}`);
    if (key !== drawn) {
      drawn = key;
      const scrolled = root.querySelector(".listing")?.scrollTop ?? 0;
      const listing = beaver ? rulesTable(text, state, toggle) : programListing(text, state, toggle);
      root.replaceChildren(listing);
      if (!beaver) listing.scrollTop = scrolled;
    }
    if (!beaver) markLine(root.firstChild, state);
  }, root);
}
