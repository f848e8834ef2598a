// The page in a real browser: what a user does, and that the console stays silent.
//
// node tests/browser/check.mjs [PART OF A NAME, OR A FILE SUCH AS truth]; LUGE_BIN names the program, LUGE_CHROMIUM the
// browser, LUGE_SITE the folder of the static site.

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

const only = process.argv[2], { LUGE_SITE: folder } = process.env;
const harness = await Harness.start();
let failed = 0;
try {
  const files = { truth, machines, learners, looks, reports, streams, explain, site: folder ? site(folder) : {}, pictures };
  for (const [file, tests] of Object.entries(files)) if (!(only in files) || file === only) failed += await harness.run(tests, only in files ? "" : only);
} finally {
  await harness.stop();
}
console.log(failed ? `${failed} failed` : "all passed");
process.exitCode = failed ? 1 : 0;
