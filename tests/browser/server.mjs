// Starts `luge lab` and says where it is.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export async function startLab() {
  const child = spawn(process.env.LUGE_BIN ?? "target/debug/luge", ["lab", "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((resolve, reject) => {
    child.once("exit", code => reject(new Error(`luge lab ended with ${code}`)));
    createInterface({ input: child.stdout }).once("line", resolve);
  });
  return { address, pid: child.pid, stop: () => child.kill() };
}
