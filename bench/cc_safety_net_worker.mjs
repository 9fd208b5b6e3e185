// cc-safety-net as a library: argv is its folder and a work directory; stdin has one shell line per row, as JSON.

import { createInterface } from "node:readline";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";

const [folder, cwd] = process.argv.slice(2);
const { checkCommand } = await import(pathToFileURL(`${folder}/dist/api.js`).href);

for await (const row of createInterface({ input: process.stdin })) {
  const command = JSON.parse(row);
  const begun = performance.now();
  let answer;
  try {
    answer = checkCommand({ command, cwd }).kind === "deny" ? "deny" : null;
  } catch (error) {
    answer = `error: ${error}`;
  }
  const microseconds = (performance.now() - begun) * 1000;
  process.stdout.write(`${JSON.stringify({ "cc-safety-net": [answer, microseconds] })}\n`);
}
