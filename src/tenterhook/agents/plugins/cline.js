// Cline calls this plug-in before and after runs and tool calls, and ends the run if a call takes more than three seconds.
// Tool calls are therefore decided in hook files (../hooks). What these cannot express in their output they leave in
// files, which are only read here.
import { createHash } from "node:crypto"
import { readFileSync, unlinkSync } from "node:fs"
// @include ask.js
const ENTRIES = {}
const PATIENCE = 2500 // milliseconds; a slower hook keeps running, but Cline does not wait for its answer

let session // the session's id
let begun = false // whether this process has seen a run of the session
let lead // the agent that the person talks to
const teammates = new Set() // agents that the lead gives tasks to; they have no parent
let refused // the reason, if hooks denied the session
let sentBack // the reason why hooks did not let the agent stop, until the next run begins
let isSentBack = false // whether this run began with that reason

const first = (answer, milliseconds = PATIENCE) =>
  Promise.race([answer, new Promise((resolve) => setTimeout(resolve, milliseconds, {}))])

const about = ({ conversationId, agentId, parentAgentId }) => ({
  session_id: session ?? conversationId, cwd: process.cwd(), agent_id: agentId, parent_agent_id: parentAgentId,
})

const isSubagent = ({ agentId, parentAgentId }) => Boolean(parentAgentId) || teammates.has(agentId)

// Returns the text that a run begins with. Cline puts what a person wrote in a tag.
function promptOf({ messages, agentId, parentAgentId }) {
  const said = messages.findLast(({ role, metadata }) => role === "user" && metadata?.displayRole !== "system")
  const text = (said?.content ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
  const prompt = text.replace(/^<user_input[^>]*>([^]*)<\/user_input>$/, "$1")
  if (!parentAgentId) lead ??= agentId
  if (agentId !== lead && prompt === text) teammates.add(agentId)
  return prompt
}

// Returns what the hook file of an event left for a call, and deletes it.
function takeAnswer(event, { snapshot, toolCall }) {
  if (!ENTRIES[event]) return {}
  const key = `${event}/${snapshot.conversationId ?? snapshot.runId ?? snapshot.agentId}/${toolCall.toolCallId}`
  const file = `${ENTRIES[event].answers}/${createHash("sha256").update(key).digest("hex")}`
  try {
    const text = readFileSync(file, "utf8")
    unlinkSync(file)
    return JSON.parse(text)
  } catch {
    return {} // there is none
  }
}

// Queues a text as the next prompt, again if no run begins: Cline may drop one that arrives while a run ends.
function sendBack(text, tries = 3) {
  if (!tries || sentBack !== text) return
  globalThis.__clinePluginHost?.emitEvent("queue_message", { prompt: text })
  setTimeout(sendBack, 1500, text, tries - 1)
}

function begin(...answers) {
  const context = answers.flatMap((answer) => answer.context ?? []).join("\n\n")
  const deny = answers.find((answer) => answer.deny)?.deny
  return deny ? { stop: true, reason: deny } : context ? { appendContext: context } : undefined
}

export default {
  name: `tenterhook ${import.meta.url}`, // of two plug-ins with one name, Cline uses one
  manifest: { capabilities: ["hooks"] },
  setup: (api, context) => { session = context.session?.sessionId },
  hooks: {
    beforeRun: async ({ snapshot }) => {
      const prompt = promptOf(snapshot)
      if (isSubagent(snapshot)) {
        return begin(await first(ask("SubagentStart", { ...about(snapshot), task_description: prompt })))
      }
      const isResumed = process.env.CLINE_HOOK_AGENT_RESUME === "1"
      // this process may have been started in the middle of a session: Cline ends it after half an hour without a call
      const isNew = !begun && (isResumed || !snapshot.messages.some(({ role }) => role === "assistant"))
      begun = true
      const end = Date.now() + PATIENCE
      const source = isResumed ? "resume" : "startup"
      const started = isNew ? ask("SessionStart", { ...about(snapshot), source }) : Promise.resolve({})
      await first(started, PATIENCE / 4) // it comes before the prompt unless it is slow
      isSentBack = prompt === sentBack
      sentBack = undefined
      const prompted = isSentBack ? Promise.resolve({}) : ask("UserPromptSubmit", { ...about(snapshot), prompt })
      const answers = await Promise.all([started, prompted].map((answer) => first(answer, end - Date.now())))
      refused ??= answers[0].deny
      return begin({ deny: refused }, ...answers)
    },
    beforeTool: async (call) => {
      const { deny = call.input?.tenterhook_refused, input, approve, given } = takeAnswer("PreToolUse", call)
      if (deny) return { skip: true, reason: deny }
      const own = Array.isArray(call.toolCall.input) ? { commands: call.toolCall.input } : call.toolCall.input
      if (JSON.stringify(given) !== JSON.stringify(own)) return {} // left over from another call of the same id
      // another hook may have changed the input since: that is not what was approved
      const isKnown = input || JSON.stringify(call.input) === JSON.stringify(call.toolCall.input)
      return { ...(input && { input }), ...(approve && isKnown && { policy: { autoApprove: true } }) }
    },
    afterTool: async (call) => {
      const { output } = takeAnswer("PostToolUse", call)
      return output === undefined ? undefined : { result: { ...call.result, output } }
    },
    afterRun: async ({ snapshot, result }) => {
      const ended = { ...about(snapshot), last_assistant_message: result.outputText }
      if (isSubagent(snapshot)) await first(ask("SubagentStop", ended))
      else if (result.status === "failed") {
        const error = { error: snapshot.lastErrorClass ?? "error", error_details: snapshot.lastError }
        await first(ask("StopFailure", { ...about(snapshot), ...error }))
      } else if (result.status === "completed") {
        // a headless Cline ends with its answer; on a terminal, the reason is the next prompt, whenever it comes
        const asked = ask("Stop", { ...ended, stop_hook_active: isSentBack }).then((answer) => {
          sentBack = answer.deny
          if (sentBack) sendBack(sentBack)
        })
        await first(asked)
      }
    },
  },
}
