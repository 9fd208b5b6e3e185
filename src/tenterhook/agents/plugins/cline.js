// Cline calls this plug-in around runs and tool calls. Each call has three seconds; beyond that Cline ends the run. So
// tool calls are judged in hook files (../hooks), and what those cannot express is in files that are only read here.
import { createHash } from "node:crypto"
import { readFileSync, unlinkSync } from "node:fs"
// @include ask.js
const ENTRIES = {}
const PATIENCE = 2500 // milliseconds: a hook that takes longer goes on, but its answer is not waited for

let session // its id
let begun = false // whether hooks know of it
let lead // the agent that the person talks to
const teammates = new Set() // agents without a parent that it gives tasks to
let refused // why it must not begin
let sentBack // with this text, when the agent would have stopped, until it goes on
let isSentBack = false // in this run

const first = (answer, milliseconds = PATIENCE) =>
  Promise.race([answer, new Promise((resolve) => setTimeout(resolve, milliseconds, {}))])

const about = ({ conversationId, agentId, parentAgentId }) => ({
  session_id: session ?? conversationId, cwd: process.cwd(), agent_id: agentId, parent_agent_id: parentAgentId,
})

const isBelow = ({ agentId, parentAgentId }) => Boolean(parentAgentId) || teammates.has(agentId)

// The text that a run begins with. That of a person is in a tag.
function promptOf({ messages, agentId, parentAgentId }) {
  const said = messages.findLast(({ role, metadata }) => role === "user" && metadata?.displayRole !== "system")
  const text = (said?.content ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
  const prompt = text.replace(/^<user_input[^>]*>([^]*)<\/user_input>$/, "$1")
  if (!parentAgentId) lead ??= agentId
  if (agentId !== lead && prompt === text) teammates.add(agentId)
  return prompt
}

// What the hook file of an event has left for a call.
function left(event, { snapshot, toolCall }) {
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

// Have Cline go on with a text: again, if no run begins, for it may overlook one that comes while a run ends.
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
      if (isBelow(snapshot)) {
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
      const { deny = call.input?.tenterhook_refused, input, approve, given } = left("PreToolUse", call)
      if (deny) return { skip: true, reason: deny }
      const own = Array.isArray(call.toolCall.input) ? { commands: call.toolCall.input } : call.toolCall.input
      if (JSON.stringify(given) !== JSON.stringify(own)) return {} // left over from another call of the same id
      // another hook may have changed the input since: that is not what was approved
      const isKnown = input || JSON.stringify(call.input) === JSON.stringify(call.toolCall.input)
      return { ...(input && { input }), ...(approve && isKnown && { policy: { autoApprove: true } }) }
    },
    afterTool: async (call) => {
      const { output } = left("PostToolUse", call)
      return output === undefined ? undefined : { result: { ...call.result, output } }
    },
    afterRun: async ({ snapshot, result }) => {
      const ended = { ...about(snapshot), last_assistant_message: result.outputText }
      if (isBelow(snapshot)) await first(ask("SubagentStop", ended))
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
