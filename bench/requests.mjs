// The protocol of requests.py for workers in JavaScript: answers requests until stdin ends.

import { createInterface } from "node:readline";

/** `engineFor(commands)` makes an engine for a case: it runs the hooks on a tool's input, and returns how many succeeded. */
export async function serve(engineFor) {
  const engines = new Map();
  for await (const line of createInterface({ input: process.stdin })) {
    const [, rounds, hooks, command] = /^(\d+) (\d+) (.*)$/.exec(line);
    const key = `${hooks} ${command}`;
    if (!engines.has(key)) {
      const commands = Array.from({ length: Number(hooks) }, (_, number) => `${command} #${number + 1}`);
      engines.set(key, await engineFor(commands));
    }
    const ask = engines.get(key);
    const took = [];
    let ran = 0;
    for (let round = 0; round < Number(rounds); round++) {
      const begun = performance.now();
      ran = await ask({ command: "git status --short && git diff --stat" });
      took.push(((performance.now() - begun) * 1000).toFixed(1));
    }
    if (ran !== Number(hooks)) throw new Error(`${ran} hooks ran well, not ${hooks}`);
    process.stdout.write(`${took.join(" ")}\n`);
  }
}
