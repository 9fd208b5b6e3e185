const ENTRIES = {}
// @include ask.js

const textOf = (content) => content.filter((part) => part.type === "text").map((part) => part.text).join("\n")

export default function (pi) {
  let waiting = [] // texts for the model, sent with the next prompt
  let sentBack = false // whether a hook has sent the agent back since the last prompt

  const decide = (event, ctx, more = {}) => {
    const about = { session_id: ctx.sessionManager.getSessionId(), cwd: ctx.cwd, ...more }
    return ask(event, about, ctx.hasUI ? {} : { PI_UNATTENDED: "1" })
  }
  // Registers a handler only for an event with an entry, because pi waits for each handler.
  const on = (event, handler) => { if (ENTRIES[event]) pi.on(event, handler) }
  const callOf = (event) => ({ tool_name: event.toolName, tool_input: event.input, tool_use_id: event.toolCallId })

  on("session_start", async (event, ctx) => {
    const answer = await decide("session_start", ctx, { source: event.reason })
    if (answer.context) waiting.push(answer.context)
  })
  on("session_shutdown", (event, ctx) => decide("session_shutdown", ctx, { reason: event.reason }))
  on("input", async (event, ctx) => {
    sentBack = false
    const answer = await decide("input", ctx, { prompt: event.text })
    if (answer.deny) {
      if (ctx.hasUI) ctx.ui.notify(answer.deny, "error")
      else console.error(answer.deny)
      return { action: "handled" }
    }
    if (answer.context) waiting.push(answer.context)
    return { action: "continue" }
  })
  pi.on("before_agent_start", () => {
    const content = waiting.join("\n\n")
    waiting = []
    if (content) return { message: { customType: "tenterhook", content, display: false } }
  })
  on("tool_call", async (event, ctx) => {
    const answer = await decide("tool_call", ctx, callOf(event))
    if (answer.deny) return { block: true, reason: answer.deny }
    if (answer.ask && !(ctx.hasUI && (await ctx.ui.confirm(`Run ${event.toolName}?`, answer.ask)))) return { block: true, reason: answer.ask }
    if (answer.input) {
      for (const key of Object.keys(event.input)) delete event.input[key] // in place: pi ignores another object
      Object.assign(event.input, answer.input)
    }
    if (answer.context) pi.sendMessage({ customType: "tenterhook", content: answer.context, display: false }, { deliverAs: "steer" })
  })
  const afterTool = async (event, ctx) => {
    const text = textOf(event.content)
    const [name, result] = event.isError ? ["tool_error", { error: text }] : ["tool_result", { tool_response: text }]
    const answer = await decide(name, ctx, { ...callOf(event), ...result })
    const others = event.content.filter((part) => part.type !== "text")
    const content = answer.output === undefined ? event.content : [{ type: "text", text: answer.output }, ...others]
    const added = [answer.deny, answer.context].filter(Boolean).map((text) => ({ type: "text", text }))
    if (content !== event.content || added.length) return { content: [...content, ...added], details: {} }
  }
  if (ENTRIES.tool_result || ENTRIES.tool_error) pi.on("tool_result", afterTool)
  on("agent_before_settle", async (event, ctx) => {
    if (event.outcome !== "completed") return
    const answer = await decide("agent_before_settle", ctx, { stop_hook_active: sentBack })
    if (!answer.deny) return
    sentBack = true
    const message = { type: "custom_message", customType: "tenterhook", content: answer.deny, display: true }
    return { entries: [...event.entries, message], continue: true }
  })
  on("message_end", async (event, ctx) => {
    const { role, stopReason, errorMessage } = event.message
    if (role === "assistant" && stopReason === "error") await decide("message_end", ctx, { error: "error", error_details: errorMessage })
  })
  on("session_before_compact", async (event, ctx) => {
    const answer = await decide("session_before_compact", ctx, { trigger: event.reason })
    if (answer.deny) return { cancel: true }
  })
  on("session_compact", (event, ctx) => decide("session_compact", ctx, { trigger: event.reason }))
}
