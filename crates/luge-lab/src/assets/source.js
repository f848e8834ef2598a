// The program: a table of rules for busy beavers, else its text with the current line. A click sets a breakpoint.

import { count, html, say, svg } from "./draw.js";
import { jobBody } from "./state.js";

const BEAVER = /^[0-9LRA-Z-]{6}(?:[0-9LRA-Z-]{3})*(?:_[0-9LRA-Z-]{6}(?:[0-9LRA-Z-]{3})*)*$/;

function rulesTable(text, state, toggle) {
  const { opening, moment, stops } = state;
  const rows = text.trim().split("_").map(row => row.match(/.{3}/g));
  const name = i => String.fromCharCode(65 + i);
  const here = opening.states[moment.state]?.name;
  const tape = moment.tapes[0], symbol = tape && tape.head !== null ? tape.symbols[tape.head - tape.first] : null;
  const head = html("tr", {}, html("th", {}, ""), rows[0].map((_, i) => html("th", { scope: "col", class: i === symbol ? "at" : "" }, `reads ${i}`)));
  const body = rows.map((row, i) => {
    const id = opening.states.findIndex(one => one.name === name(i));
    const on = stops.states.includes(id);
    const button = html("button", { type: "button", "aria-pressed": on, title: "Stop playing in this state", onclick: () => toggle(id) }, name(i));
    return html("tr", {}, html("th", { scope: "row", class: name(i) === here ? "at" : "" }, button), row.map((rule, read) => html("td", { class: name(i) === here && read === symbol ? "at" : "" }, rule)));
  });
  return html("table", { class: "rules" }, head, body);
}

function programListing(text, state, toggle) {
  const { moment, opening, stops, profile } = state;
  const spent = new Map(profile?.lines ?? []), most = profile?.lines[0]?.[1] ?? 1;
  const rows = text.replace(/\n$/, "").split("\n").slice(0, 2000).map((code, i) => {
    const line = i + 1;
    const states = opening.states.flatMap((one, id) => (one.line === line ? [id] : []));
    const stop = states.length > 0 && states.every(id => stops.states.includes(id));
    const no = states.length
      ? html("button", { type: "button", class: "no", "aria-pressed": stop, title: "Stop playing here", onclick: () => states.forEach(toggle) }, String(line))
      : html("span", { class: "no" }, String(line));
    const steps = spent.get(line), share = steps ? steps / profile.steps : 0;
    const bar = svg("svg", { class: "spent", viewBox: "0 0 56 14", width: 56, height: 14, "aria-hidden": "true" }, steps ? [svg("rect", { x: 0, y: 2, width: Math.max(1, 22 * steps / most), height: 10 }), svg("text", { x: 54, y: 11, "text-anchor": "end" }, `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`)] : "");
    const title = steps ? `${count(steps)} of ${count(profile.steps)} steps` : undefined;
    return html("div", { class: `row${moment.line === line ? " at" : ""}${stop ? " stops" : ""}`, "data-line": line, title }, no, profile ? bar : "", html("span", { class: "code" }, code));
  });
  return html("div", { class: "listing", tabindex: "0", "aria-label": "Program text" }, rows);
}

/** Draws the program. */
export function mountSource(store, root, words, setStops) {
  let drawn = "";
  const toggle = id => {
    const { states } = store.state.stops;
    setStops({ ...store.state.stops, states: states.includes(id) ? states.filter(one => one !== id) : [...states, id] });
  };
  store.on(["moment", "opening", "stops", "job", "profile"], state => {
    const { moment, opening, job, stops, profile } = state;
    if (!moment || !opening || !job) return;
    const { text, extension } = jobBody(job).source;
    const beaver = BEAVER.test(text.trim());
    const symbol = moment.tapes[0]?.symbols[moment.tapes[0].head - moment.tapes[0].first];
    const key = JSON.stringify([text, moment.state, beaver ? symbol : moment.line, stops.states, opening.states.length, Boolean(profile)]);
    if (key === drawn) return;
    drawn = key;
    const where = extension === "sled" && moment.line ? `At line **${moment.line}**` : `In state **${opening.states[moment.state]?.name ?? "–"}**`;
    say(words, `${where}. ${beaver ? "A rule says what to write, where to move and which state follows; click a state to stop there." : `${profile ? "Beside each line is its share of all steps. " : ""}Click a line number with a state to stop there.`}`);
    const listing = beaver ? rulesTable(text, state, toggle) : programListing(text, state, toggle);
    const scrolled = root.querySelector(".listing")?.scrollTop ?? 0;
    root.replaceChildren(listing);
    if (beaver) return;
    listing.scrollTop = scrolled;
    const at = listing.querySelector(".row.at");
    if (at && (at.offsetTop - listing.offsetTop < listing.scrollTop || at.offsetTop - listing.offsetTop > listing.scrollTop + listing.clientHeight - 30)) listing.scrollTop = at.offsetTop - listing.offsetTop - listing.clientHeight / 3;
  });
}
