// Counts frames while the perceptron plays at sixty steps a second, and what the page's memory does meanwhile.
//
// node tests/browser/frames.mjs [SECONDS]; LUGE_BIN names the program. Nothing is asserted: a busy machine draws fewer.

import { at, Harness, PROVED } from "./harness.mjs";

const seconds = Number(process.argv[2] ?? 10);
const COUNT = `new Promise(done => {
  let frames = 0, moments = 0, last = null;
  const start = performance.now();
  const look = () => {
    frames++;
    const { step } = document.getElementById('bar').dataset;
    if (step !== last) moments++;
    last = step;
    const took = (performance.now() - start) / 1000;
    if (took < ${seconds}) requestAnimationFrame(look);
    else done({ frames: frames / took, moments: moments / took });
  };
  requestAnimationFrame(look);
})`;

const harness = await Harness.start();
const page = await harness.open("#p=perceptron&step=3000&speed=6");
await page.until(at(3000));
await page.until(`${PROVED} === 'true'`, 60_000);
await page.ask("Performance.enable");
const heap = async () => {
  await page.ask("HeapProfiler.collectGarbage");
  const { metrics } = await page.ask("Performance.getMetrics");
  return metrics.find(one => one.name === "JSHeapUsedSize").value / 2 ** 20;
};
await page.click("#play");
const before = await heap();
const { frames, moments } = await page.value(COUNT);
console.log(`${frames.toFixed(1)} frames and ${moments.toFixed(1)} moments a second over ${seconds} s`);
console.log(`heap ${before.toFixed(1)} MiB, then ${(await heap()).toFixed(1)} MiB`);
await harness.stop();
