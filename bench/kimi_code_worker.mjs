// A worker that has Kimi Code's own engine run the hooks: node kimi_code_worker.mjs ENGINE_MODULE WORK_DIR OTHER_TOOLS
// OTHER_TOOLS is a JSON file with a list of matchers that do not match the event.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { serve } from "./requests.mjs";

const [engineModule, workDir, otherTools] = process.argv.slice(2);
const engine = await import(pathToFileURL(engineModule));
engine.init_matchHooks();
engine.init_hostProcessService();
const others = JSON.parse(readFileSync(otherTools, "utf8"));

await serve(async (commands) => {
  const elsewhere = others.map((matcher) => ({ event: "PreToolUse", matcher, command: ":" }));
  const here = commands.map((command) => ({ event: "PreToolUse", command }));
  const byEvent = engine.indexHooks(commands.length ? here : elsewhere);
  const hostProcess = new engine.HostProcessService();
  return async (toolInput) => {
    const inputData = { toolName: "Shell", toolInput, toolCallId: "t1" };
    const args = { matcherValue: "Shell", sessionId: "s1", cwd: workDir, inputData };
    const results = await engine.runMatchedHooks(hostProcess, byEvent, "PreToolUse", args);
    return results.filter((result) => result.exitCode === 0).length;
  };
});
