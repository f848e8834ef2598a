// What to run: something that ships, or one's own program, data and options.

import { html } from "./draw.js";
import { jobBody } from "./state.js";

const CHOOSER_OPTIONS = [["landscape", "landscapes", "Landscape"], ["carrier", "carriers", "Carrier"], ["engine", "engines", "Engine"], ["precision", "precisions", "Precision"]];

/** A small learner and a small table to begin with. */
const STARTER = {
  text: `// A line through the data, by stochastic gradient descent. Change it, or the table below, and press Run.
const ROUNDS = 8;

learner mine(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; M + 1] {
    for round in 0..ROUNDS {
        for sample in data {
            let error = y - theta[0];
            for i in 0..M { error -= x[i] * theta[i + 1]; }
            let step = error >> 3;
            theta[0] += step;
            for i in 0..M { theta[i + 1] += x[i] * step; }
        }
    }
}
`,
  csv: "hours,score\n0.5,1\n1,1.5\n1.5,2.25\n2,2.5\n2.5,3.25\n3,3.5\n",
};

const starterJob = () => ({ train: { source: { name: "your program", text: STARTER.text, extension: "sled" }, data: { csv: { name: "your data", text: STARTER.csv, target: ["score"] } }, primary: "linear", options: { format: "fix:6.6" } } });

/** Fills the list of programs that ship. */
export function mountShipped(store, select, open) {
  store.on(["catalogue", "choice"], ({ catalogue, choice }) => {
    if (!catalogue) return;
    const group = (kind, label) => html("optgroup", { label }, catalogue.shipped.filter(one => one.group === kind).map(one => html("option", { value: one.id, selected: one.id === choice, title: one.about }, one.title)));
    const own = choice ? [] : [html("option", { value: "", selected: true }, "Your own program")];
    select.replaceChildren(...own, group("sled", "Learners in Sled"), group("learner", "Learners as Turing machines"), group("machine", "Machines by themselves"));
  });
  select.addEventListener("change", () => {
    const found = store.state.catalogue.shipped.find(one => one.id === select.value);
    if (found) open(found.job, found.id);
  });
}

/** A table in two: every so many rows one is kept for testing. */
export function splitRows(table, percent) {
  const [head, ...rows] = table.trim().split(/\r?\n/);
  const tested = i => Math.floor((i + 1) * percent / 100) > Math.floor(i * percent / 100);
  const part = keep => [head, ...rows.filter((_, i) => tested(i) === keep)].join("\n") + "\n";
  // Of a few rows a small share may be none.
  return rows.some((_, i) => tested(i)) ? { training: part(false), testing: part(true) } : null;
}

/** Files may be dropped anywhere on the page. */
function mountDrop(take) {
  document.addEventListener("dragover", event => {
    if (![...event.dataTransfer.items].some(item => item.kind === "file")) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  for (const end of ["dragleave", "drop"]) document.addEventListener(end, () => document.body.classList.remove("dropping"));
  document.addEventListener("drop", async event => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    for (const file of event.dataTransfer.files) await take(file);
  });
}

/** The dialog for one's own program. */
export function mountChooser(store, dialog, open) {
  const gutter = html("div", { class: "gutter", "aria-hidden": "true" });
  const text = html("textarea", { id: "program", spellcheck: "false", "aria-label": "Program", "aria-describedby": "findings" });
  const findings = html("ul", { class: "findings", id: "findings" });
  const field = (id, label, control) => html("label", { for: id }, label, control);
  const language = html("select", { id: "language" });
  const input = html("input", { id: "input", placeholder: "blank", spellcheck: "false" });
  const csv = html("textarea", { id: "csv", class: "csv", spellcheck: "false", placeholder: "x,y\n1,2.5\n…   (empty: the machine runs by itself)", "aria-label": "Data as CSV" });
  const target = html("input", { id: "target", placeholder: "y" });
  const primary = html("input", { id: "primary", value: "linear" });
  const numbers = html("input", { id: "numbers", value: "fix:4.4" });
  const selects = Object.fromEntries(CHOOSER_OPTIONS.map(([name]) => [name, html("select", { id: `option-${name}` })]));
  const split = html("select", { id: "split" }, [["0", "none"], ["10", "10 %"], ["20", "20 %"], ["30", "30 %"], ["50", "50 %"]].map(([value, words]) => html("option", { value }, words)));
  const programFile = html("input", { type: "file", id: "program-file", accept: ".tm,.bb,.morphett,.yaml,.yml,.tms,.jff,.sled,.txt" });
  const csvFile = html("input", { type: "file", id: "csv-file", accept: ".csv,text/csv" });
  const run = html("button", { type: "submit", class: "primary", id: "run" }, "Run");
  const form = html("form", { method: "dialog" },
    html("h2", { id: "chooser-title" }, "Your own program"),
    html("p", { class: "say" }, "A learner in Sled and a table to learn from, or a Turing machine by itself. ", html("button", { type: "button", id: "displayed", onclick: () => { if (store.state.job) fillIn(store.state.job); } }, "Take the program on display")),
    html("div", { class: "fields" }, field("program-file", "Program or machine from a file, or drop one on the page", programFile), field("csv-file", "Data from a CSV file", csvFile)),
    html("div", { class: "editor" }, gutter, text), html("div", { role: "alert" }, findings),
    html("div", { class: "fields" }, field("language", "Language", language), field("input", "Input, tape by tape, | between", input), CHOOSER_OPTIONS.map(([name, , label]) => field(`option-${name}`, label, selects[name]))),
    html("label", { class: "block", for: "csv" }, "Data to learn from", csv),
    html("div", { class: "fields" }, field("target", "Target column", target), field("primary", "Network to train", primary), field("numbers", "Number format", numbers), field("split", "Rows held out for testing", split)),
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
    const source = { name: "your program", text: text.value, extension: language.value || null };
    const { landscape, carrier, engine, precision } = Object.fromEntries(CHOOSER_OPTIONS.map(([name]) => [name, selects[name].value]));
    const csvData = { name: "your data", text: csv.value, target: target.value.split(",").map(name => name.trim()).filter(Boolean) };
    const job = csv.value.trim()
      ? { train: { source, data: { csv: csvData }, primary: primary.value, options: { landscape, carrier, engine, precision, format: numbers.value } } }
      : { trace: { source, input: input.value ? input.value.split("|") : [], options: { landscape, manner: { engine, precision } } } };
    const heldOut = job.train && split.value !== "0" ? splitRows(csv.value, Number(split.value)) : null;
    if (heldOut) job.train.data.csv.text = heldOut.training;
    store.set({ pending: true });
    open(job, null, 0, heldOut?.testing ?? null);
  });

  const take = async file => {
    if (!text.value && store.state.job) fillIn(store.state.job);
    const content = await file.text(), extension = file.name.split(".").pop().toLowerCase();
    if (extension === "csv") {
      csv.value = content;
      // The last column is what most tables are about.
      if (!target.value) target.value = content.split("\n")[0].trim().split(",").at(-1).trim();
    } else {
      text.value = content;
      language.value = extension;
      if (language.selectedIndex < 0) language.value = "";
      number();
    }
    findings.replaceChildren();
    if (!dialog.open) dialog.showModal();
  };
  for (const input of [programFile, csvFile]) input.addEventListener("change", () => { if (input.files[0]) take(input.files[0]); });
  mountDrop(take);

  const fillIn = job => {
    const { source, input: laid, data, primary: network, options } = jobBody(job);
    const chosen = { ...options, ...options?.manner };
    text.value = source.text;
    // Extensions that are no format's own name are told from the text as well.
    language.value = source.extension ?? "";
    if (language.selectedIndex < 0) language.value = "";
    input.value = (laid ?? []).join("|");
    csv.value = data?.csv?.text ?? "";
    target.value = data?.csv?.target.join(",") ?? "";
    [primary.value, numbers.value] = [network ?? "linear", chosen.format ?? "fix:4.4"];
    for (const [name] of CHOOSER_OPTIONS) selects[name].value = chosen[name] ?? selects[name].options[0].value;
    findings.replaceChildren();
    number();
  };
  store.on(["catalogue"], ({ catalogue }) => {
    if (!catalogue) return;
    language.replaceChildren(html("option", { value: "" }, "machine, format told from its text"), html("option", { value: "sled" }, "Sled"), ...catalogue.formats.map(slug => html("option", { value: slug }, `machine, ${slug}`)));
    for (const [name, list] of CHOOSER_OPTIONS) selects[name].replaceChildren(...catalogue[list].map(word => html("option", { value: word }, word)));
  });
  store.on(["refusal"], ({ refusal, job, trial }) => {
    if (!refusal || trial) return;
    if (!dialog.open) {
      if (job) fillIn(job);
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
    // Next to a learner that ships one begins with a small one; one's own program, or a machine, is taken up again.
    const { job, choice } = store.state;
    if (job) fillIn(choice && job.train ? starterJob() : job);
    if (!dialog.open) dialog.showModal();
    text.focus();
  };
}
