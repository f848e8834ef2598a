// The page in a real browser: what a user does, and that the console stays silent.
//
// node tests/browser/check.mjs MEAN.html MODEL.html STREAM.html [PART OF A NAME]; LUGE_BIN names the program, LUGE_CHROMIUM the browser,
// LUGE_SITE the folder of the static site.

import { explain } from "./explain.mjs";
import { Harness } from "./harness.mjs";
import { learners } from "./learners.mjs";
import { looks } from "./looks.mjs";
import { machines } from "./machines.mjs";
import { pictures } from "./pictures.mjs";
import { reports } from "./reports.mjs";
import { site } from "./site.mjs";
import { streams } from "./streams.mjs";
import { truth } from "./truth.mjs";

const [mean, model, stream, only] = process.argv.slice(2);
const harness = await Harness.start();
let failed = 0;
try {
  for (const tests of [truth, machines, learners, looks, reports({ mean, model }), streams({ stream }), explain, ...(process.env.LUGE_SITE ? [site(process.env.LUGE_SITE)] : []), pictures]) failed += await harness.run(tests, only);
} finally {
  await harness.stop();
}
console.log(failed ? `${failed} failed` : "all passed");
process.exitCode = failed ? 1 : 0;
