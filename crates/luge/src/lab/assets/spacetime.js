// The tape over time, time downwards: drag over a part to see all its cells, click to go to a step.

import { count, html, say } from "./draw.js";

function paintPicture(canvas, picture) {
  const { width, steps, rgb } = picture;
  const bytes = atob(rgb), height = steps.length;
  canvas.width = Math.max(1, width);
  canvas.height = Math.max(1, height);
  const pen = canvas.getContext("2d"), image = pen.createImageData(canvas.width, canvas.height);
  for (let i = 0; i < width * height; i++) {
    image.data[4 * i] = bytes.charCodeAt(3 * i);
    image.data[4 * i + 1] = bytes.charCodeAt(3 * i + 1);
    image.data[4 * i + 2] = bytes.charCodeAt(3 * i + 2);
    image.data[4 * i + 3] = 255;
  }
  pen.putImageData(image, 0, 0);
}

/** Draws the space-time picture. */
export function mountSpacetime(store, root, words, send) {
  const canvas = html("canvas", { role: "img", "aria-label": "Space-time picture" });
  const marker = html("div", { class: "marker" }), band = html("div", { class: "band-select", hidden: true });
  const stage = html("div", { class: "stage", tabindex: "0", "aria-label": "Space-time picture: drag to zoom, click to go to a step" }, canvas, marker, band);
  const tape = html("select", { "aria-label": "Tape of the picture" });
  const whole = html("button", { type: "button", onclick: () => zoom(null) }, "Whole run");
  const closer = html("button", { type: "button", onclick: () => zoomBy(0.25) }, "Zoom in");
  const legend = html("span", {});
  root.replaceChildren(stage, html("div", { class: "under" }, closer, whole, tape, legend));
  let drag = null;

  const zoom = part => {
    store.set({ zoom: part });
    send(part ? { do: "zoom", steps: part.steps, cells: part.cells } : { do: "zoom", steps: null, cells: null });
    if (!part) send({ do: "look", radius: store.state.radius, tape: store.state.tape });
  };
  const zoomBy = factor => {
    const { picture, moment } = store.state;
    if (!picture || !moment) return;
    const from = picture.steps[0], to = picture.steps.at(-1), middle = Math.min(Math.max(moment.step, from), to);
    const half = Math.max(20, (to - from) * factor / 2), reach = Math.max(8, (picture.last - picture.first) * factor / 2);
    const head = moment.tapes[store.state.tape]?.head ?? (picture.first + picture.last) / 2;
    zoom({ steps: [Math.max(0, Math.round(middle - half)), Math.round(middle + half)], cells: [Math.round(head - reach), Math.round(head + reach)] });
  };
  const spot = event => {
    const box = stage.getBoundingClientRect();
    return [Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)), Math.min(1, Math.max(0, (event.clientY - box.top) / box.height))];
  };
  const stepAt = share => {
    const { steps } = store.state.picture;
    return steps[Math.min(steps.length - 1, Math.floor(share * steps.length))];
  };
  const cellAt = share => {
    const { first, last } = store.state.picture;
    return Math.floor(first + share * (last - first + 1));
  };
  stage.addEventListener("pointerdown", event => { if (store.state.picture) drag = spot(event); });
  stage.addEventListener("pointermove", event => {
    if (!drag) return;
    const [x, y] = spot(event);
    band.hidden = Math.abs(x - drag[0]) + Math.abs(y - drag[1]) < 0.03;
    Object.assign(band.style, { left: `${Math.min(x, drag[0]) * 100}%`, top: `${Math.min(y, drag[1]) * 100}%`, width: `${Math.abs(x - drag[0]) * 100}%`, height: `${Math.abs(y - drag[1]) * 100}%` });
  });
  stage.addEventListener("pointerup", event => {
    if (!drag) return;
    const [x, y] = spot(event), [a, b] = drag, moved = !band.hidden;
    drag = null;
    band.hidden = true;
    if (!moved) { send({ do: "seek", step: stepAt(y) }); return; }
    zoom({ steps: [stepAt(Math.min(y, b)), stepAt(Math.max(y, b))], cells: [cellAt(Math.min(x, a)), cellAt(Math.max(x, a))] });
  });
  stage.addEventListener("pointerleave", () => { drag = null; band.hidden = true; });
  tape.addEventListener("change", () => {
    store.set({ tape: Number(tape.value), zoom: null });
    send({ do: "look", radius: store.state.radius, tape: store.state.tape });
  });

  store.on(["opening"], ({ opening, tape: chosen }) => {
    if (!opening) return;
    tape.replaceChildren(...opening.tapes.map((one, i) => html("option", { value: i, selected: i === chosen }, `tape ${one.name}`)));
    tape.hidden = opening.tapes.length < 2;
  });
  store.on(["picture", "opening"], ({ picture, opening }) => {
    if (!picture || !opening) return;
    paintPicture(canvas, picture);
    const info = opening.tapes[picture.tape];
    legend.replaceChildren(...info.symbols.slice(0, 6).flatMap((symbol, i) => {
      const swatch = html("span", { class: "swatch" });
      swatch.style.background = `rgb(${info.colours[i].join()})`;
      return [swatch, ` ${symbol === " " ? "␣" : symbol}  `];
    }), "red: head");
    say(words, `Cells ${count(picture.first)} to ${count(picture.last)}, steps ${count(picture.steps[0] ?? 0)} to ${count(picture.steps.at(-1) ?? 0)}${picture.zoomed ? ", a part" : ""}. Drag over a part to zoom, click to go there.`.replaceAll("-", "−"));
    root.dataset.rows = String(picture.steps.length);
  });
  store.on(["picture", "moment"], ({ picture, moment }) => {
    if (!picture || !moment || !picture.steps.length) return;
    const from = picture.steps[0], to = picture.steps.at(-1);
    marker.hidden = moment.step < from || moment.step > to;
    const row = picture.steps.findLastIndex(step => step <= moment.step);
    marker.style.top = `${(row + 0.5) / picture.steps.length * 100}%`;
  });
}
