// Drives a headless Chromium over its debugging pipe; nothing but Node is needed.
//
// With LUGE_PAGE=crates/luge-lab/src/assets the page's files come from that folder instead of from the program, so that a
// change can be tried without a build.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PATIENCE = 30_000;
const FOLDER = process.env.LUGE_PAGE;
export const MEDIA = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml", wasm: "application/wasm" };

/** A browser. */
export class Browser {
  static async start() {
    const profile = mkdtempSync(join(tmpdir(), "luge-chromium-"));
    const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-pipe", `--user-data-dir=${profile}`, ...(FOLDER ? ["--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets"] : []), "about:blank"];
    const child = spawn(process.env.LUGE_CHROMIUM ?? "chromium", flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    const browser = new Browser(child, profile);
    await browser.ask("Target.setDiscoverTargets", { discover: true });
    return browser;
  }

  constructor(child, profile) {
    [this.child, this.profile, this.next, this.waiting, this.pages] = [child, profile, 1, new Map(), new Map()];
    let rest = "";
    child.stdio[4].setEncoding("utf8").on("data", data => {
      const parts = (rest + data).split("\0");
      rest = parts.pop();
      parts.forEach(part => this.hear(JSON.parse(part)));
    });
    child.stdio[3].on("error", () => {});
  }

  hear(message) {
    const { id, sessionId, method, params, result, error } = message;
    if (id) {
      const { resolve, reject, method: asked } = this.waiting.get(id) ?? {};
      this.waiting.delete(id);
      if (error) reject?.(new Error(`${asked}: ${error.message}`));
      else resolve?.(result);
    } else if (sessionId) this.pages.get(sessionId)?.hear(method, params);
  }

  ask(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, method });
      this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    });
  }

  /** A tab of this size at an address. */
  async open(url, { width = 1440, height = 1000, dark = false, phone = false } = {}) {
    const { browserContextId } = await this.ask("Target.createBrowserContext");
    const { targetId } = await this.ask("Target.createTarget", { url: "about:blank", browserContextId });
    const { sessionId } = await this.ask("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    this.pages.set(sessionId, page);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await page.ask(`${domain}.enable`);
    await page.ask("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: phone });
    await page.ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    if (FOLDER) await page.ask("Fetch.enable", { patterns: [{ urlPattern: "http://*" }] });
    await page.go(url);
    return page;
  }

  async close() {
    const gone = new Promise(resolve => this.child.once("exit", resolve));
    this.ask("Browser.close").catch(() => {});
    const timer = setTimeout(() => this.child.kill("SIGKILL"), 5000);
    await gone;
    clearTimeout(timer);
    rmSync(this.profile, { recursive: true, force: true });
  }
}

/** A tab, and everything its console complained about. */
export class Page {
  constructor(browser, sessionId, targetId) {
    [this.browser, this.sessionId, this.targetId, this.complaints] = [browser, sessionId, targetId, []];
    // The last message of each kind that came from the engine, and how many there were.
    [this.told, this.counts, this.figures] = [{}, {}, []];
    this.loaded = () => {};
  }

  ask(method, params) {
    return this.browser.ask(method, params, this.sessionId);
  }

  hear(method, params) {
    if (method === "Runtime.exceptionThrown") this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) this.complaints.push(params.args.map(arg => arg.value ?? arg.description).join(" "));
    if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) this.complaints.push(`${params.entry.text} ${params.entry.url ?? ""}`);
    if (method === "Network.webSocketFrameReceived" && params.response.opcode === 1) {
      const told = JSON.parse(params.response.payloadData);
      this.told[told.kind] = told;
      if (told.kind === "figure") this.figures.push(told.figure);
      this.counts[told.kind] = (this.counts[told.kind] ?? 0) + 1;
    }
    if (method === "Page.loadEventFired") this.loaded();
    if (method === "Fetch.requestPaused") this.serve(params);
  }

  /** Answers a request from the folder; a tab that is closed meanwhile needs no answer. */
  serve({ requestId, request }) {
    const answer = (method, more) => this.ask(method, { requestId, ...more }).catch(() => {});
    const { pathname } = new URL(request.url), file = join(FOLDER, pathname === "/" ? "index.html" : pathname);
    if (!existsSync(file)) return answer("Fetch.continueRequest", {});
    const responseHeaders = [{ name: "content-type", value: MEDIA[file.split(".").pop()] }];
    return answer("Fetch.fulfillRequest", { responseCode: 200, responseHeaders, body: readFileSync(file).toString("base64") });
  }

  async go(url) {
    const loaded = new Promise(resolve => { this.loaded = resolve; });
    await this.ask("Page.navigate", { url });
    await loaded;
  }

  /** The value of an expression in the page. */
  async value(expression) {
    const { result, exceptionDetails } = await this.ask("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  }

  /** Waits until an expression is true; how many milliseconds that took. */
  async until(expression, patience = PATIENCE) {
    const started = performance.now();
    for (;;) {
      if (await this.value(`Boolean(${expression})`)) return performance.now() - started;
      if (performance.now() - started > patience) throw new Error(`never true: ${expression}\nthe page says: ${await this.value("document.body.innerText.slice(0, 1500)")}`);
      await new Promise(resolve => setTimeout(resolve, 15));
    }
  }

  async click(selector) {
    const box = await this.value(`(() => { const it = document.querySelector(${JSON.stringify(selector)}); it.scrollIntoView({ block: "center", behavior: "instant" }); const b = it.getBoundingClientRect(); return { x: b.x + b.width / 2, y: b.y + b.height / 2 }; })()`);
    for (const type of ["mousePressed", "mouseReleased"]) await this.ask("Input.dispatchMouseEvent", { type, ...box, button: "left", clickCount: 1 });
  }

  async drag(selector, from, to) {
    const place = () => this.value(`(() => { const it = document.querySelector(${JSON.stringify(selector)}); it.scrollIntoView({ block: "center", behavior: "instant" }); const b = it.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()`);
    // What is scrolled into view is drawn then, and may move what is below it.
    let box = await place(), before;
    do {
      before = box;
      await new Promise(resolve => setTimeout(resolve, 100));
      box = await place();
    } while (String(box) !== String(before));
    const at = ([x, y]) => ({ x: box[0] + x * box[2], y: box[1] + y * box[3] });
    await this.ask("Input.dispatchMouseEvent", { type: "mousePressed", ...at(from), button: "left", clickCount: 1 });
    await this.ask("Input.dispatchMouseEvent", { type: "mouseMoved", ...at([(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]), button: "left" });
    await this.ask("Input.dispatchMouseEvent", { type: "mouseMoved", ...at(to), button: "left" });
    await this.ask("Input.dispatchMouseEvent", { type: "mouseReleased", ...at(to), button: "left", clickCount: 1 });
  }

  async key(key, code = key, keyCode = 0, text = undefined) {
    for (const type of ["keyDown", "keyUp"]) await this.ask("Input.dispatchKeyEvent", { type, key, code, windowsVirtualKeyCode: keyCode, text: type === "keyDown" ? text : undefined });
  }

  async type(text) {
    await this.ask("Input.insertText", { text });
  }

  async shot(clip = undefined, whole = false) {
    const { data } = await this.ask("Page.captureScreenshot", { format: "png", clip: clip ? { ...clip, scale: 1 } : undefined, captureBeyondViewport: whole });
    return Buffer.from(data, "base64");
  }

  async close() {
    await this.browser.ask("Target.closeTarget", { targetId: this.targetId });
  }
}
