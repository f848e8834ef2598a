// The tape over time, time downwards: drag over a part to see all its cells, click to go to a step.

import { count, html, say, stepTick, ticks } from "./draw.js";
import { lookCommand } from "./state.js";

const HEAD_COLOUR = "#e81e2c";
const LARGEST_CELL = 26;
const STEP_ROOM = 72;
const CELL_ROOM = 22;

function pictureImage({ width, steps, rgb }) {
  const bytes = atob(rgb), height = steps.length;
  const image = new ImageData(Math.max(1, width), Math.max(1, height));
  for (let i = 0; i < width * height; i++) {
    for (let part = 0; part < 3; part++) image.data[4 * i + part] = bytes.charCodeAt(3 * i + part);
    image.data[4 * i + 3] = 255;
  }
  const canvas = html("canvas", { width: image.width, height: image.height });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/** Paints the picture as large as it fits; says where it lies on the canvas. */
function paintPicture(canvas, picture) {
  const density = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth || 600, canvas.clientHeight || 340];
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  const rows = picture.steps.length, cells = picture.last - picture.first + 1;
  const across = Math.min(width - STEP_ROOM - 8, cells * LARGEST_CELL), down = Math.min(height - CELL_ROOM - 6, rows * LARGEST_CELL);
  const place = { left: STEP_ROOM + (width - STEP_ROOM - across) / 2, top: (height - CELL_ROOM - down) / 2, across, down };
  const pen = canvas.getContext("2d");
  pen.scale(density, density);
  pen.imageSmoothingEnabled = picture.width > across || rows > 1.5 * down;
  pen.imageSmoothingQuality = "high";
  pen.drawImage(pictureImage(picture), place.left, place.top, across, down);
  const wide = across / cells, tall = down / rows;
  pen.fillStyle = HEAD_COLOUR;
  picture.heads.forEach((head, row) => {
    if (head === null || head < picture.first || head > picture.last) return;
    const x = place.left + (head - picture.first) * wide, y = place.top + row * tall;
    // On large cells the mark is small, so that the symbol shows around it.
    const w = wide > 5 ? wide * 0.5 : Math.max(wide, 1), h = wide > 5 && tall > 5 ? tall * 0.5 : Math.max(tall, 1);
    pen.fillRect(x + (wide - w) / 2, y + (tall - h) / 2, w, h);
  });
  paintTicks(pen, picture, place);
  return place;
}

/** Steps at the left, cells below. */
function paintTicks(pen, { steps, first, last }, { left, top, across, down }) {
  pen.fillStyle = "#d5dce5";
  pen.font = "11px system-ui, sans-serif";
  pen.textAlign = "end";
  for (const step of ticks(steps[0] ?? 0, steps.at(-1) ?? 0, 5)) {
    const row = Math.max(0, steps.findLastIndex(at => at <= step)), y = top + (row + 0.5) / steps.length * down;
    pen.fillText(stepTick(step), left - 8, y + 4);
    pen.fillRect(left - 5, y, 4, 1);
  }
  pen.textAlign = "center";
  for (const cell of ticks(first, last, 5).filter(Number.isInteger)) {
    const x = left + (cell - first + 0.5) / (last - first + 1) * across;
    pen.fillText(count(cell).replace("-", "−"), x, top + down + 16);
    pen.fillRect(x, top + down + 1, 1, 4);
  }
}

function headSwatch() {
  const swatch = html("span", { class: "swatch" });
  swatch.style.background = HEAD_COLOUR;
  return swatch;
}

/** The tape that is shown if none is asked for: one that is written, and not only at the end. */
function liveliestTape(tapes) {
  const sled = tapes.some(tape => tape.name.startsWith("ruler"));
  const written = tapes.flatMap((tape, i) => (tape.read_only ? [] : [i]));
  return written.find(i => sled || tapes[i].name !== "theta") ?? written[0] ?? 0;
}

/** Draws the space-time picture. */
export function mountSpacetime(store, root, words, send) {
  const canvas = html("canvas", { role: "img", "aria-label": "The tape over time: cells across, steps downwards" });
  const marker = html("div", { class: "marker" }), band = html("div", { class: "band-select", hidden: true });
  const stage = html("div", { class: "stage", tabindex: "0", role: "group", "aria-label": "Space-time picture: drag to zoom, click to go to a step" }, canvas, marker, band);
  const tape = html("select", { "aria-label": "Tape of the picture" });
  const whole = html("button", { type: "button", onclick: () => zoom(null) }, "Whole run");
  const closer = html("button", { type: "button", onclick: () => zoomBy(0.25) }, "Zoom in");
  const legend = html("span", {});
  root.replaceChildren(stage, html("div", { class: "under" }, closer, whole, tape, legend));
  let drag = null, place = null;

  const zoom = part => {
    store.set({ zoom: part });
    send(part ? { do: "zoom", steps: part.steps, cells: part.cells } : { do: "zoom", steps: null, cells: null });
    if (!part) send(lookCommand(store.state));
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
    const box = stage.getBoundingClientRect(), share = (at, from, size) => Math.min(1, Math.max(0, (at - from) / size));
    return [share(event.clientX - box.left, place.left, place.across), share(event.clientY - box.top, place.top, place.down)];
  };
  const stepAt = share => {
    const { steps } = store.state.picture;
    return steps[Math.min(steps.length - 1, Math.floor(share * steps.length))];
  };
  const cellAt = share => {
    const { first, last } = store.state.picture;
    return Math.floor(first + share * (last - first + 1));
  };
  stage.addEventListener("pointerdown", event => { if (place) drag = spot(event); });
  stage.addEventListener("pointermove", event => {
    if (!drag) return;
    const [x, y] = spot(event);
    band.hidden = Math.abs(x - drag[0]) + Math.abs(y - drag[1]) < 0.03;
    const px = value => `${value}px`;
    Object.assign(band.style, { left: px(place.left + Math.min(x, drag[0]) * place.across), top: px(place.top + Math.min(y, drag[1]) * place.down), width: px(Math.abs(x - drag[0]) * place.across), height: px(Math.abs(y - drag[1]) * place.down) });
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
    send(lookCommand(store.state));
  });

  store.on(["opening"], ({ opening, tape: asked }) => {
    if (!opening) return;
    const chosen = asked !== null && asked < opening.tapes.length ? asked : liveliestTape(opening.tapes);
    if (chosen !== asked) store.set({ tape: chosen });
    send(lookCommand(store.state));
    tape.replaceChildren(...opening.tapes.map((one, i) => html("option", { value: i, selected: i === chosen }, `tape ${one.name}`)));
    tape.hidden = opening.tapes.length < 2;
  });
  store.on(["picture", "opening", "width"], ({ picture, opening }) => {
    if (!picture || !opening) return;
    place = paintPicture(canvas, picture);
    const info = opening.tapes[picture.tape];
    legend.replaceChildren(...info.symbols.slice(0, 6).flatMap((symbol, i) => {
      const swatch = html("span", { class: "swatch" });
      swatch.style.background = `rgb(${info.colours[i].join()})`;
      return [swatch, ` ${symbol === " " ? "␣" : symbol}  `];
    }), headSwatch(), " head");
    say(words, `Cells ${count(picture.first)} to ${count(picture.last)}, steps ${count(picture.steps[0] ?? 0)} to ${count(picture.steps.at(-1) ?? 0)}${picture.zoomed ? ", a part" : ""}. Drag over a part to zoom, click to go there.`.replaceAll("-", "−"));
    root.dataset.rows = String(picture.steps.length);
  });
  store.on(["picture", "moment", "width"], ({ picture, moment }) => {
    if (!place || !picture || !moment || !picture.steps.length) return;
    const from = picture.steps[0], to = picture.steps.at(-1);
    marker.hidden = moment.step < from || moment.step > to;
    const row = picture.steps.findLastIndex(step => step <= moment.step);
    marker.style.top = `${place.top + (row + 0.5) / picture.steps.length * place.down}px`;
  });
}
