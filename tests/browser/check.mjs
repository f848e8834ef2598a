// The page in a real browser: what a user does, and that the console stays silent.
//
// node tests/browser/check.mjs MEAN.html MODEL.html [PART OF A NAME]; LUGE_BIN names the program, LUGE_CHROMIUM the browser.

import { Harness } from "./harness.mjs";
import { learners } from "./learners.mjs";
import { looks } from "./looks.mjs";
import { machines } from "./machines.mjs";
import { pictures } from "./pictures.mjs";
import { reports } from "./reports.mjs";
import { truth } from "./truth.mjs";

const [mean, model, only] = process.argv.slice(2);
const harness = await Harness.start();
let failed = 0;
try {
  for (const tests of [truth, machines, learners, looks, reports({ mean, model }), pictures]) failed += await harness.run(tests, only);
} finally {
  await harness.stop();
}
console.log(failed ? `${failed} failed` : "all passed");
process.exitCode = failed ? 1 : 0;
