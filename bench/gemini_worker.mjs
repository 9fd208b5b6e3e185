// A worker that has Gemini CLI's own hook system run the hooks: node gemini_worker.mjs HOOKS_MODULE WORK_DIR OTHER_TOOLS
// OTHER_TOOLS is a JSON file with a list of matchers that do not match the event.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { serve } from "./requests.mjs";

const TOOL = "run_shell_command";
const [hooksModule, workDir, otherTools] = process.argv.slice(2);
const { HookSystem } = await import(pathToFileURL(hooksModule));
console.log = console.debug = console.warn = () => {}; // as its terminal does; stdout is for answers
const others = JSON.parse(readFileSync(otherTools, "utf8"));

function configOf(definitions) {
  const config = {
    getHooks: () => ({ BeforeTool: definitions }),
    getProjectHooks: () => undefined,
    getDisabledHooks: () => [],
    getExtensions: () => [],
    isTrustedFolder: () => true,
    getSessionId: () => "s1",
    getWorkingDir: () => workDir,
    getTelemetryLogPromptsEnabled: () => false,
    getUsageStatisticsEnabled: () => false,
    sanitizationConfig: {},
    storage: { getPlansDir: () => workDir },
  };
  return Object.assign(config, { config });
}

await serve(async (commands) => {
  const elsewhere = others.map((matcher) => ({ matcher, hooks: [{ type: "command", command: ":" }] }));
  const here = { matcher: "", hooks: commands.map((command) => ({ type: "command", command })) };
  const system = new HookSystem(configOf(commands.length ? [here] : elsewhere));
  await system.initialize();
  const plan = system.hookPlanner.createExecutionPlan("BeforeTool", { toolName: TOOL });
  return async (toolInput) => {
    const result = await system.getEventHandler().fireBeforeToolEvent(TOOL, toolInput);
    return result.success ? (plan?.hookConfigs.length ?? 0) : -1;
  };
});
