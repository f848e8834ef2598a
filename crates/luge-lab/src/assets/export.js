// Saves a drawing as a file: SVG with its colours inside, or a PNG of three times its size.

import { html } from "./draw.js";

const KEPT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "paint-order"];

/** The drawing with everything inside that the page's style says of it. */
function standalone(drawing) {
  const copy = drawing.cloneNode(true);
  const [from, to] = [drawing, copy].map(root => [root, ...root.querySelectorAll("*")]);
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    // As attributes: the page's policy forbids styles inside of elements.
    KEPT.forEach(name => to[i].setAttribute(name, style.getPropertyValue(name)));
    to[i].removeAttribute("class");
  });
  const { width, height } = drawing.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  paper.setAttribute("width", width);
  paper.setAttribute("height", height);
  paper.setAttribute("fill", getComputedStyle(document.querySelector(".card")).backgroundColor);
  copy.prepend(paper);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function save(name, blob) {
  const link = html("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Saves a drawing as SVG. */
export function saveSvg(drawing, name) {
  save(`${name}.svg`, new Blob([standalone(drawing).text], { type: "image/svg+xml" }));
}

/** Saves a drawing as PNG. */
export async function savePng(drawing, name) {
  const { text, width, height } = standalone(drawing);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = html("canvas", { width: width * 3, height: height * 3 });
  canvas.getContext("2d").drawImage(image, 0, 0, width * 3, height * 3);
  canvas.toBlob(blob => save(`${name}.png`, blob), "image/png");
}

/** A drawing with its caption and the buttons that save it. */
export function figureOf(name, drawn, caption = "") {
  return html("figure", {}, caption ? html("figcaption", {}, caption) : "", drawn, html("div", { class: "under" }, saveButtons(() => drawn, () => `luge-${name}`)));
}

/** Two buttons that save the drawing which `find` returns at that moment. */
export function saveButtons(find, name) {
  const button = (label, act) => html("button", { type: "button", title: `Save this picture as ${label}`, onclick: () => { const drawing = find(); if (drawing) act(drawing, name()); } }, label);
  return [button("SVG", saveSvg), button("PNG", savePng)];
}
