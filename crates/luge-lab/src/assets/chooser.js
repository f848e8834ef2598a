// What to run: something that ships, or one's own program, data and options.

import { html } from "./draw.js";

const CHOOSER_OPTIONS = [["landscape", "landscapes", "Landscape"], ["carrier", "carriers", "Carrier"], ["engine", "engines", "Engine"], ["precision", "precisions", "Precision"]];

/** Fills the list of programs that ship. */
export function mountShipped(store, select, open) {
  store.on(["catalogue", "choice"], ({ catalogue, choice }) => {
    if (!catalogue) return;
    const group = (kind, label) => html("optgroup", { label }, catalogue.shipped.filter(one => one.group === kind).map(one => html("option", { value: one.id, selected: one.id === choice }, one.about)));
    const own = choice ? [] : [html("option", { value: "", selected: true }, "Your own program")];
    select.replaceChildren(...own, group("sled", "Learners in Sled"), group("learner", "Learners as Turing machines"), group("machine", "Machines by themselves"));
  });
  select.addEventListener("change", () => {
    const found = store.state.catalogue.shipped.find(one => one.id === select.value);
    if (found) open(found.request, found.id);
  });
}

/** The dialog for one's own program. */
export function mountChooser(store, dialog, open) {
  const gutter = html("div", { class: "gutter", "aria-hidden": "true" });
  const text = html("textarea", { id: "program", spellcheck: "false", "aria-label": "Program", "aria-describedby": "findings" });
  const findings = html("ul", { class: "findings", id: "findings", role: "alert" });
  const field = (id, label, control) => html("label", { for: id }, label, control);
  const kind = html("select", { id: "language" }, html("option", { value: "machine" }, "machine"), html("option", { value: "sled" }, "Sled"));
  const format = html("select", { id: "file-format" });
  const input = html("input", { id: "input", placeholder: "blank", spellcheck: "false" });
  const csv = html("textarea", { id: "csv", class: "csv", spellcheck: "false", placeholder: "x,y\n1,2.5\n…   (empty: the machine runs by itself)", "aria-label": "Data as CSV" });
  const target = html("input", { id: "target", placeholder: "y" });
  const primary = html("input", { id: "primary", value: "linear" });
  const numbers = html("input", { id: "numbers", value: "fix:4.4" });
  const selects = Object.fromEntries(CHOOSER_OPTIONS.map(([name]) => [name, html("select", { id: `option-${name}` })]));
  const run = html("button", { type: "submit", class: "primary", id: "run" }, "Run");
  const form = html("form", { method: "dialog" },
    html("h2", { id: "chooser-title" }, "Your own program"),
    html("div", { class: "editor" }, gutter, text), findings,
    html("div", { class: "fields" }, field("language", "Language", kind), field("file-format", "Format", format), field("input", "Input, tape by tape, | between", input), CHOOSER_OPTIONS.map(([name, , label]) => field(`option-${name}`, label, selects[name]))),
    html("label", { class: "block", for: "csv" }, "Data to learn from", csv),
    html("div", { class: "fields" }, field("target", "Target column", target), field("primary", "Network to train", primary), field("numbers", "Number format", numbers)),
    html("div", { class: "buttons" }, html("button", { type: "button", id: "cancel", onclick: () => dialog.close() }, "Cancel"), run));
  dialog.replaceChildren(form);

  const number = (marks = new Map()) => {
    const lines = text.value.split("\n").length;
    gutter.replaceChildren(...Array.from({ length: lines }, (_, i) => html("div", { class: marks.get(i + 1) ?? "" }, String(i + 1))));
    gutter.scrollTop = text.scrollTop;
  };
  text.addEventListener("input", () => { number(); findings.replaceChildren(); });
  text.addEventListener("scroll", () => { gutter.scrollTop = text.scrollTop; });
  form.addEventListener("submit", event => {
    event.preventDefault();
    findings.replaceChildren();
    const data = csv.value.trim() ? { text: csv.value, target: target.value.split(",").map(name => name.trim()).filter(Boolean), features: null } : null;
    const request = {
      name: null, source: { kind: kind.value, text: text.value, format: format.value || null }, input: input.value ? input.value.split("|") : [],
      data, primary: primary.value, format: numbers.value, ...Object.fromEntries(CHOOSER_OPTIONS.map(([name]) => [name, selects[name].value])),
    };
    store.set({ pending: true });
    open(request, null);
  });

  const fillIn = request => {
    text.value = request.source.text;
    kind.value = request.source.kind;
    format.value = request.source.format ?? "";
    input.value = (request.input ?? []).join("|");
    csv.value = request.data?.text ?? "";
    target.value = request.data?.target.join(",") ?? "";
    [primary.value, numbers.value] = [request.primary, request.format];
    for (const [name] of CHOOSER_OPTIONS) selects[name].value = request[name];
    findings.replaceChildren();
    number();
  };
  store.on(["catalogue"], ({ catalogue }) => {
    if (!catalogue) return;
    format.replaceChildren(html("option", { value: "" }, "told from the text"), ...catalogue.formats.map(slug => html("option", { value: slug }, slug)));
    for (const [name, list] of CHOOSER_OPTIONS) selects[name].replaceChildren(...catalogue[list].map(word => html("option", { value: word }, word)));
  });
  store.on(["refusal"], ({ refusal, request }) => {
    if (!refusal) return;
    if (!dialog.open) {
      if (request) fillIn(request);
      dialog.showModal();
    }
    const marks = new Map(refusal.findings.map(one => [one.line, one.severity === "error" ? "bad" : "odd"]));
    number(marks);
    const item = one => html("li", { class: one.severity, "data-line": one.line }, html("span", { class: "where" }, `line ${one.line}:${one.column}`), one.message, one.label ? ` (${one.label})` : "", one.help ? html("span", { class: "help" }, one.help) : "");
    findings.replaceChildren(html("li", {}, refusal.message), ...refusal.findings.map(item));
    const first = refusal.findings[0];
    if (first) {
      const before = text.value.split("\n").slice(0, first.line - 1).join("\n").length;
      const start = before + (first.line > 1 ? 1 : 0);
      text.focus();
      text.setSelectionRange(start, start + (text.value.split("\n")[first.line - 1]?.length ?? 0));
      text.scrollTop = Math.max(0, (first.line - 4) * 19.5);
      gutter.scrollTop = text.scrollTop;
    }
  });
  store.on(["opening"], ({ pending, opening }) => {
    if (!pending || !opening) return;
    store.set({ pending: false });
    dialog.close();
  });
  return () => {
    if (store.state.request) fillIn(store.state.request);
    if (!dialog.open) dialog.showModal();
    text.focus();
  };
}
