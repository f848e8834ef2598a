// The bar of settings: landscape, carrier, engine, numbers, precision and noise. A change runs the same program again.

import { html } from "./draw.js";
import { jobBody } from "./state.js";

const FORMATS = ["fix:2.0", "fix:3.2", "fix:4.4", "fix:4.8", "fix:6.0", "fix:8.4", "fix:8.6", "fix:8.8", "fix:10.6"];
const SIGMAS = [["", "none"], ["0.001", "0.1 %"], ["0.005", "0.5 %"], ["0.01", "1 %"], ["0.02", "2 %"], ["0.05", "5 %"], ["0.1", "10 %"], ["0.2", "20 %"]];

/** What a job asks for, whichever kind it is. */
export function jobOptions(job) {
  const { options } = jobBody(job);
  return { ...options, ...options?.manner };
}

/** The same job with one setting changed. */
export function withSetting(job, name, value) {
  const kind = job.trace ? "trace" : "train", body = job[kind], options = { ...body.options };
  const manner = { ...options.manner };
  const inManner = job.trace && ["engine", "precision", "noise"].includes(name);
  if (inManner) manner[name] = value;
  else options[name] = value;
  // Only the dense engine rounds and adds noise, and only it knows `internal`.
  const dense = (inManner ? manner : options).precision !== undefined && (inManner ? manner : options).precision !== "f64" || manner.noise || options.landscape === "internal";
  if (dense && name !== "engine") {
    if (job.trace) manner.engine = "auto";
    else options.engine = "auto";
  }
  if (job.trace) options.manner = manner;
  return { [kind]: { ...body, options } };
}

/** Draws the settings of the run at hand. */
export function mountSettings(store, root, open) {
  const pick = (name, label) => {
    const select = html("select", { id: `set-${name}` });
    select.addEventListener("change", () => change(name, select.value));
    return { select, field: html("label", { for: `set-${name}` }, html("span", {}, label), select) };
  };
  const fields = { landscape: pick("landscape", "Landscape"), carrier: pick("carrier", "Carrier"), engine: pick("engine", "Engine"), precision: pick("precision", "Arithmetic") };
  const format = html("input", { id: "set-format", list: "formats", spellcheck: "false", size: "8" });
  const formats = html("datalist", { id: "formats" }, FORMATS.map(value => html("option", { value })));
  const formatField = html("label", { for: "set-format" }, html("span", {}, "Numbers"), format, formats);
  format.addEventListener("change", () => change("format", format.value.trim()));
  const sigma = html("select", { id: "set-noise" }, SIGMAS.map(([value, words]) => html("option", { value }, words)));
  const again = html("button", { type: "button", id: "set-seed", title: "The same noise from another seed" }, "Another seed");
  const noiseField = html("label", { for: "set-noise" }, html("span", {}, "Noise on every step"), sigma);
  const noise = seed => (sigma.value ? [Number(sigma.value), seed] : null);
  sigma.addEventListener("change", () => change("noise", noise(0)));
  again.addEventListener("click", () => change("noise", noise((jobOptions(store.state.job).noise?.[1] ?? 0) + 1)));
  root.replaceChildren(...Object.values(fields).map(one => one.field), formatField, noiseField, again);

  const change = (name, value) => {
    const { job, choice, moment, heldOut } = store.state;
    store.set({ trial: { job, choice } });
    open(withSetting(job, name, value), choice, moment?.step ?? 0, heldOut);
  };
  store.on(["catalogue", "opening", "job"], ({ catalogue, opening, job }) => {
    root.hidden = !catalogue || !job;
    if (root.hidden) return;
    const lists = { landscape: catalogue.landscapes, carrier: catalogue.carriers, engine: catalogue.engines, precision: catalogue.precisions };
    const chosen = jobOptions(job);
    for (const [name, { select }] of Object.entries(fields)) {
      if (!select.options.length) select.replaceChildren(...lists[name].map(word => html("option", { value: word }, word)));
      select.value = chosen[name] ?? (name === "landscape" ? opening?.landscape : select.options[0].value);
      if (select.selectedIndex < 0) select.selectedIndex = 0;
    }
    fields.carrier.field.hidden = formatField.hidden = !job.train;
    noiseField.hidden = !job.trace;
    again.hidden = !job.trace || !chosen.noise;
    format.value = chosen.format ?? "fix:4.4";
    sigma.value = chosen.noise ? String(chosen.noise[0]) : "";
  });
  // What cannot be run is said, and the run before comes back.
  store.on(["refusal"], ({ refusal, trial, moment, heldOut }) => {
    if (!refusal || !trial) return;
    store.set({ trial: null, refusal: null, notice: `${refusal.message[0].toUpperCase()}${refusal.message.slice(1)}. The settings are as before.`, keepNotice: true });
    open(trial.job, trial.choice, moment?.step ?? 0, heldOut);
  });
  store.on(["opening"], ({ opening, trial }) => { if (opening && trial) store.set({ trial: null }); });
}
