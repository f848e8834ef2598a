// Starts `luge lab` and says where it is, or runs another command of luge.

import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";

const LUGE = process.env.LUGE_BIN ?? "target/debug/luge";

/** What a command prints; whether it succeeds is not asked. */
export function luge(...words) {
  const { stdout, error } = spawnSync(LUGE, words, { encoding: "utf8", maxBuffer: 1 << 28 });
  if (error) throw error;
  return stdout;
}

export async function startLab() {
  const child = spawn(LUGE, ["lab", "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((resolve, reject) => {
    child.once("exit", code => reject(new Error(`luge lab ended with ${code}`)));
    createInterface({ input: child.stdout }).once("line", resolve);
  });
  return { address, pid: child.pid, stop: () => child.kill() };
}
