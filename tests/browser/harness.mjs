// What all tests of the page share: a browser, a lab, pages with what their consoles said, and words for waiting.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "./chromium.mjs";
import { luge, startLab } from "./server.mjs";

/** Every view has something to show. */
export const SHOWN = "document.querySelector('#loss svg') && document.querySelector('#network svg') && document.querySelector('#spacetime').dataset.rows";
/** The page is at a step. */
export const at = step => `document.querySelector('#bar').dataset.step === '${step}'`;
/** What a part of the page says. */
export const text = id => `document.getElementById('${id}').textContent`;
/** Goes to a step as a user who types it. */
export const goTo = step => `(() => { const step = document.getElementById('step'); step.value = '${step}'; document.querySelector('form.goto').requestSubmit(); })()`;
/** Chooses something in a list. */
export const choose = (id, value) => `(() => { const list = document.getElementById('${id}'); list.value = '${value}'; list.dispatchEvent(new Event('change', { bubbles: true })); })()`;
/** The edges of this step are drawn, or said to be none. */
export const edgesAt = step => `document.querySelector('#edges').dataset.step === '${step}'`;
/** The run is proved, or is said not to be. */
export const PROVED = "document.getElementById('result').dataset.proved";

export class Harness {
  static async start() {
    return new Harness(await startLab(), await Browser.start());
  }

  constructor(lab, browser) {
    [this.lab, this.browser, this.pages, this.folder] = [lab, browser, [], mkdtempSync(join(tmpdir(), "luge-reports-"))];
  }

  /** A report on disk, and its address. */
  report(name, ...of) {
    const file = join(this.folder, `${name}.html`);
    luge("report", ...of, "-o", file, "--force");
    return { file, url: pathToFileURL(file).href };
  }

  /** The lab's page at a place of it. */
  async open(hash = "", options = {}) {
    const page = await this.openUrl(this.lab.address + hash, options);
    await page.until(SHOWN);
    return page;
  }

  async openUrl(url, options = {}) {
    const page = await this.browser.open(url, options);
    this.pages.push(page);
    return page;
  }

  /** Runs tests one after the other; how many failed. Whatever a console complains of fails its test. */
  async run(tests, only) {
    let failed = 0;
    for (const [name, test] of Object.entries(tests)) {
      if (only && !name.includes(only)) continue;
      try {
        await test(this);
        assert.deepEqual(this.pages.flatMap(page => page.complaints).slice(0, 5), [], "the console complains");
        console.log(`ok  ${name}`);
      } catch (error) {
        failed++;
        console.log(`BAD ${name}\n${error.stack}`);
      }
      for (const page of this.pages.splice(0)) await page.close();
    }
    return failed;
  }

  async stop() {
    await this.browser.close();
    this.lab.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
